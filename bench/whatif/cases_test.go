package whatif

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pinscope/bench/trace"
)

// These are the cases of CASES.md that follow by arithmetic: jitter 0, the labels'
// copy of each batch included. Like the simulated GPU the model rounds every copy
// to a nanosecond, once, and so does ns.

const (
	pageableBlocking  = "pin=off non-blocking=false copy-stream=shared"
	pinnedBlocking    = "pin=direct non-blocking=false copy-stream=shared"
	pinnedShared      = "pin=direct non-blocking=true copy-stream=shared"
	pinnedOwnStream   = "pin=direct non-blocking=true copy-stream=dedicated"
	pageableShared    = "pin=off non-blocking=true copy-stream=shared"
	pageableOwnStream = "pin=off non-blocking=true copy-stream=dedicated"
	exact             = 1e-9
)

var still = []string{"latency=0", "launch=0", "jitter=0", "copy-engines=2"}

// predict is the outcome of settings, both separated by spaces.
func predict(t *testing.T, set, sim string) Outcome {
	t.Helper()
	fields := strings.Fields(set)
	if strings.Contains(set, "pin=off") {
		fields = slices.DeleteFunc(fields, func(s string) bool { return strings.HasPrefix(s, "ring-slots=") })
	}
	c := settings(t, fields...)
	c.Sim = map[string]string{}
	for _, pair := range append(slices.Clone(still), strings.Fields(sim)...) {
		key, value, _ := strings.Cut(pair, "=")
		c.Sim[key] = value
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	o, err := Predict(modelInput(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// ns is the time of bytes at a rate, in seconds, whole nanoseconds.
func ns(bytes, gbps float64) float64 { return math.Round(bytes/gbps) * 1e-9 }

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want) {
		t.Errorf("%s: %.12g, want %.12g within %g", what, got, want, relative)
	}
}

// C03: 6 us for each of two copies, 4,000 B and 8 B of label, at 12 GB/s; 1 us of
// step. Waiting for each copy, or on one stream, all of it adds up; on a stream of
// their own all copies but the first hide the steps.
func TestC03(t *testing.T) {
	const batches = 1000
	label, input, step := 6e-6+ns(8, 12), 6e-6+ns(4000, 12), 1e-6
	near(t, "a copy, us", input*1e6, 6.333, 1e-9)
	for setting, want := range map[string]float64{
		pageableBlocking: batches * (label + input + step),
		// A pageable copy of so few bytes does not hold its caller up, so waiting is all the same.
		pageableShared:    batches * (label + input + step),
		pageableOwnStream: batches*(label+input) + step,
		pinnedBlocking:    batches * (label + input + step),
		pinnedShared:      batches * (label + input + step),
		pinnedOwnStream:   batches*(label+input) + step,
	} {
		o := predict(t, "samples=1000 shape=1000 batch=1 workers=1 "+setting, "latency=6us link-gbps=12 pageable-gbps=12 compute=1us")
		near(t, setting+": wall, s", o.Wall.Seconds(), want, exact)
		near(t, setting+": copies, s", o.Trace.Stage(trace.HtoD).Total.Seconds(), batches*input, exact)
	}
}

// C04: 6.42 ms of copy are no longer waited for and 400 ms of step stay: 1.016x.
func TestC04(t *testing.T) {
	const batches, bytes, labels = 100, 38535168, 64 * 8
	sim := "link-gbps=12 pageable-gbps=6 compute=400ms"
	base := "samples=6400 batch=64 workers=4 ring-slots=3 "
	blocking := predict(t, base+pageableBlocking, sim)
	near(t, "pageable, blocking, s", blocking.Wall.Seconds(), batches*(ns(bytes, 6)+ns(labels, 6)+0.4), exact)
	near(t, "its copy, ms", float64(blocking.Trace.Stage(trace.HtoD).P50.Microseconds())/1e3, 6.42, 1e-3)
	ahead := predict(t, base+pinnedOwnStream, sim)
	near(t, "pinned, own stream, s", ahead.Wall.Seconds(), ns(bytes, 12)+ns(labels, 12)+batches*0.4, exact)
	near(t, "speed-up", ahead.SamplesPerS()/blocking.SamplesPerS(), 1.016, 0.005/1.016)
}

// C07: loading takes 634 ms a batch and worker, the step 100 ms. W workers give
// their first batches together at 634 ms, and from then on W batches every 634 ms
// if that is longer than W steps; the trainer waits for each step.
func TestC07(t *testing.T) {
	const batches, load, step = 280, 0.634, 0.1
	for workers, want := range map[int]float64{
		2: batches/2*load + 2*step, 4: batches/4*load + 4*step, 7: load + batches*step, 8: load + batches*step,
	} {
		for _, pin := range []string{"off", "direct"} {
			o := predict(t, "source=delay:634ms samples=280 shape=16 batch=1 sync-steps=true non-blocking=false pin="+pin+
				" workers="+string(rune('0'+workers)), "link-gbps=inf pageable-gbps=inf compute=100ms")
			near(t, "wall, s", o.Wall.Seconds(), want, exact)
			near(t, "busy, s", o.Trace.Stage(trace.Step).Total.Seconds(), batches*step, exact)
			// What is not a step, the trainer waits for a batch.
			near(t, "waits, s", o.Trace.Stage(trace.WaitBatch).Total.Seconds(), want-batches*step, exact)
		}
	}
}

// C12: three ways of bringing 154 MB to a step of 12.845 ms, a hundred times. On
// their own stream copies, the longer stage by 0.2 us, follow one another, and the
// last step follows the last copy.
func TestC12(t *testing.T) {
	const batches, bytes, labels, step = 100, 154140672, 256 * 8, 12.845e-3
	pageable, pinned := ns(bytes, 6)+ns(labels, 6), ns(bytes, 12)+ns(labels, 12)
	for setting, c := range map[string]struct{ seconds, rounded float64 }{
		pageableBlocking: {batches * (pageable + step), 3.854},
		pinnedBlocking:   {batches * (pinned + step), 2.569},
		pinnedOwnStream:  {batches*pinned + step, 1.297},
	} {
		o := predict(t, "samples=25600 batch=256 workers=1 prefetch=1 ring-slots=3 "+setting, "link-gbps=12 pageable-gbps=6 compute=12.845ms")
		near(t, setting+": wall, s", o.Wall.Seconds(), c.seconds, exact)
		near(t, setting+": as the case rounds it, s", o.Wall.Seconds(), c.rounded, 1e-3)
	}
}

// C14: two tensors of 131,072 B, inputs and targets, are 16.92 us each. Without
// workers nothing overlaps; with one the copies hide on a stream of their own.
func TestC14(t *testing.T) {
	const batches = 1000
	tensor, step := 6e-6+ns(131072, 12), 50e-3
	near(t, "a tensor, us", tensor*1e6, 16.923, 1e-4)
	base := "source=tokens samples=64000 shape=256 dtype=int64 batch=64 pin=thread non-blocking=true copy-stream=dedicated workers="
	sim := "latency=6us link-gbps=12 compute=50ms"
	near(t, "no workers, s", predict(t, base+"0", sim).Wall.Seconds(), batches*(2*tensor+step), exact)
	near(t, "one worker, s", predict(t, base+"1", sim).Wall.Seconds(), 2*tensor+batches*step, exact)
	if share := 2 * tensor / step; share > 0.001 {
		t.Errorf("the copies are %g of a step", share)
	}
}

// C20: how long the call holds its caller up, and how much of the copies is hidden.
func TestC20(t *testing.T) {
	const batches = 500
	label, input, step := ns(8, 12), ns(4194304, 12), 350e-6
	period := label + input + step
	for setting, c := range map[string]struct{ wall, call, hidden float64 }{
		// On a shared stream who waits for the copy waits for the step before it, too.
		pageableBlocking: {batches * period, batches*period - step, 0},
		pinnedBlocking:   {batches * period, batches*period - step, 0},
		pageableShared:   {batches * period, batches*period - step, 0},
		pinnedShared:     {batches * period, 0, 0},
		// Steps are the longer stage: all copies but the first are under a step.
		pinnedOwnStream: {label + input + batches*step, 0, float64(batches-1) / batches},
	} {
		o := predict(t, "samples=500 shape=1024x1024 batch=1 workers=1 ring-slots=4 "+setting, "link-gbps=12 pageable-gbps=12 compute=350us")
		near(t, setting+": wall, s", o.Wall.Seconds(), c.wall, exact)
		inCall := o.Trace.Stage(trace.CopyCall).Total + o.Trace.Stage(trace.WaitCopy).Total
		near(t, setting+": in the call and waiting, s", inCall.Seconds(), c.call, exact)
		near(t, setting+": hidden", *o.Trace.OverlapShare, c.hidden, exact)
	}
	// Out of pageable memory the trainer is held up by each copy, and queues the
	// step only then: copies and steps still overlap, a step late.
	o := predict(t, "samples=500 shape=1024x1024 batch=1 workers=1 "+pageableOwnStream, "link-gbps=12 pageable-gbps=12 compute=350us")
	near(t, "pageable, own stream: in the call, s", o.Trace.Stage(trace.CopyCall).Total.Seconds(), batches*(label+input), 0.02)
	if share := *o.Trace.OverlapShare; share < 0.8 {
		t.Errorf("hidden %g", share)
	}
}

// C51: pinning 4 GiB at 0.5 s/GiB takes 2 s and saves 12.845 ms a batch, so it
// pays back after 157 batches.
func TestC51(t *testing.T) {
	const bytes, labels = 154140672, 256 * 8
	saved := ns(bytes, 6) + ns(labels, 6) - ns(bytes, 12) - ns(labels, 12)
	for _, batches := range []int{100, 156, 157, 200} {
		base := fmt.Sprintf("batch=256 workers=1 prefetch=1 ring-slots=3 samples=%d ", 256*batches)
		sim := "link-gbps=12 pageable-gbps=6 compute=12.845ms"
		off, on := predict(t, base+pageableBlocking, sim), predict(t, base+pinnedBlocking, sim)
		gain := (off.Wall - on.Wall).Seconds()
		near(t, "gain, s", gain, float64(batches)*saved, exact)
		const pinning = 28 * 154140672 / float64(1<<30) * 0.5 // 28 slots, 2.01 s
		if got, want := gain > pinning, batches >= 157; got != want {
			t.Errorf("%v batches gain %g s, pinning takes %g s: pays back %v", batches, gain, pinning, got)
		}
	}
}
