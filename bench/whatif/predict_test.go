package whatif

import (
	"testing"

	"pinscope/bench/trace"
)

// disjoint checks that nothing runs twice at once on a lane.
func disjoint(t *testing.T, of *trace.Trace) {
	t.Helper()
	for _, lane := range of.Lanes {
		for i := 1; i < len(lane.Spans); i++ {
			if before, s := lane.Spans[i-1], lane.Spans[i]; s.Start < before.End() {
				t.Fatalf("%s: %v of batch %d starts before %v of batch %d ends", lane.Name, s.Stage, s.Batch, before.Stage, before.Batch)
			}
		}
	}
}

// TestQueueDepth: loading is quick and steps are slow, so when the trainer asks, all
// slots lie filled, or what is left of 20 batches; at the first time none does.
func TestQueueDepth(t *testing.T) {
	for pin, want := range map[string]struct {
		most int
		sum  float64
	}{
		"pin=direct ring-slots=6": {6, 14*6 + 5 + 4 + 3 + 2 + 1},
		"pin=thread ring-slots=4": {4, 16*4 + 3 + 2 + 1},
	} {
		o := predict(t, "source=delay:1ms samples=20 batch=1 shape=16 workers=2 sync-steps=true "+pin, "compute=10ms")
		if q := o.Trace.Queue; q.Count != 20 || q.Empty != 1 || q.Max != want.most || q.Mean != want.sum/20 {
			t.Errorf("%s: %d times, %d empty, at most %d, mean %g; want at most %d, mean %g", pin, q.Count, q.Empty, q.Max, q.Mean, want.most, want.sum/20)
		}
		disjoint(t, o.Trace)
	}
}

// TestWorkersTakeTurns: each is busy on a lane of its own.
func TestWorkersTakeTurns(t *testing.T) {
	o := predict(t, "source=delay:5ms±4ms samples=300 batch=1 shape=16 workers=3 pin=direct", "compute=1ms")
	disjoint(t, o.Trace)
	for _, lane := range o.Trace.Lanes {
		if lane.Kind == trace.Worker && (lane.Count < 150 || lane.Count > 250) { // two spans a batch, 200 on average
			t.Errorf("%s has %d spans", lane.Name, lane.Count)
		}
	}
}

// TestNothingRecorded is the same run without spans.
func TestNothingRecorded(t *testing.T) {
	in := modelInput(t, settings(t, "source=delay:5ms±4ms", "samples=300", "batch=1", "shape=16", "pin=thread"))
	with, err := Predict(in)
	if err != nil {
		t.Fatal(err)
	}
	in.Off = true
	without, err := Predict(in)
	if err != nil || without.Wall != with.Wall || len(without.Trace.Lanes) != 0 || len(with.Trace.Lanes) == 0 {
		t.Errorf("%v: %v and %v, %d lanes", err, with.Wall, without.Wall, len(without.Trace.Lanes))
	}
}
