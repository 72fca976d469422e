package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/bench/source"
	"pinscope/bench/trace"
	"pinscope/cudamem"
	"pinscope/cudamem/sim"
)

// TestC30FailingConsumer: 300 workers have full queues when the third step fails.
// The run ends, with the step's error; nobody works on and nothing is pinned.
func TestC30FailingConsumer(t *testing.T) {
	before := runtime.NumGoroutine()
	c := settings(t, "samples=23425", "shape=16", "batch=64", "workers=300", "prefetch=2", "pin=thread", "non-blocking=true")
	begun := time.Now()
	r, err := Run(context.Background(), c, RunOptions{openDevice: func(clock cudamem.Clock) (cudamem.Device, error) {
		model, err := sim.Lookup("laptop")
		if err != nil {
			return nil, err
		}
		return sim.OpenFaulty(model, clock, sim.Faults{FailLaunchAt: 3})
	}})
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v to end", took)
	}
	if err == nil || !strings.Contains(err.Error(), "batch 2") || r == nil || r.Complete || r.Sides[0].Repeats[0].Batches > 2 {
		t.Fatalf("%v, %+v", err, r)
	}
	if p := r.Sides[0].Plan; p.EpochBatches != 367 || p.QueueSlots != 600 || len(p.Warnings) == 0 || !strings.Contains(p.Warnings[0], "workers 300") {
		t.Errorf("plan %+v", p)
	}
	if got := cudamem.ReadLedger().PinnedBytes; got != 0 {
		t.Errorf("%d bytes are still pinned", got)
	}
	for range 100 { // goroutines that have said they are done may take a moment to be gone
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// hanging is a source of which one sample never comes.
type hanging struct {
	source.Source
	sample  int64
	release chan struct{}
}

type hangingFiller struct {
	source.Filler
	from *hanging
}

func (h *hanging) NewFiller(streaming bool) source.Filler {
	return hangingFiller{h.Source.NewFiller(streaming), h}
}

func (f hangingFiller) Fill(dst, label []byte, index int64) error {
	if index == f.from.sample {
		<-f.from.release
		return errors.New("released")
	}
	return f.Filler.Fill(dst, label, index)
}

// TestC31WorkerThatNeverAnswers: after the timeout the run ends and names worker
// and sample; the batches before it are in the result.
func TestC31WorkerThatNeverAnswers(t *testing.T) {
	for _, pin := range []string{"off", "thread"} {
		synctest.Test(t, func(t *testing.T) {
			clock := cudamem.NewPlainClock()
			release := make(chan struct{})
			defer close(release)
			c := withSim(settings(t, "samples=1000", "shape=16", "batch=10", "workers=4", "pin="+pin, "timeout=5s"), still...)
			r, err := Run(context.Background(), c, RunOptions{Clock: clock, wrapSource: func(s source.Source) source.Source {
				return &hanging{s, 100, release}
			}})
			if err == nil || !strings.Contains(err.Error(), "has given no batch for 5 s (sample 100)") || !strings.Contains(err.Error(), "worker ") {
				t.Errorf("pin %s: %v", pin, err)
			}
			if errors.As(err, new(*InputError)) {
				t.Errorf("pin %s: wrong input: %v", pin, err)
			}
			if r == nil || r.Complete || r.Cancelled || r.Sides[0].Repeats[0].Batches != 10 || r.Sides[0].Repeats[0].Complete {
				t.Errorf("pin %s: result %+v", pin, r)
			}
			if now := clock.Now(); now > 8*time.Second { // 5 s, and 2 s of grace for the worker
				t.Errorf("pin %s: ended after %v", pin, now)
			}
		})
	}
}

// TestC33NoWorkers: options that assume workers are ignored, with one note.
func TestC33NoWorkers(t *testing.T) {
	for _, pin := range []string{"off", "thread", "direct"} {
		c := settings(t, "samples=1000", "shape=16", "batch=64", "workers=0", "prefetch=4", "keep-workers=true", "epochs=2", "pin="+pin)
		r := inBubble(t, withSim(c, still...))
		if repeat := r.Sides[0].Repeats[0]; !repeat.Complete || repeat.Batches != 32 || repeat.Samples != 2000 {
			t.Errorf("pin %s: %+v", pin, repeat)
		}
		ignored := slices.DeleteFunc(slices.Clone(r.Sides[0].Plan.Notes), func(note string) bool { return !strings.Contains(note, "ignored") })
		if len(ignored) != 1 || !strings.Contains(ignored[0], "prefetch and keep-workers") {
			t.Errorf("pin %s: notes %q", pin, r.Sides[0].Plan.Notes)
		}
	}
}

// TestC84TraceOfARun: what Perfetto reads back is what was recorded. On each
// thread slices are disjoint or nested, no time is negative, and (C86) the
// device begins nothing before it was asked to.
func TestC84TraceOfARun(t *testing.T) {
	c := settings(t, "source=delay:1ms±1ms", "samples=12800", "shape=3x16x16", "batch=64", "workers=4", "pin=thread",
		"non-blocking=true", "copy-stream=dedicated")
	r := realTime(t, withSim(c, "compute=200us", "link-gbps=1"), nil)
	recorded := r.Sides[0].Trace
	if r.Sides[0].Repeats[0].Batches != 200 {
		t.Fatalf("%d steps", r.Sides[0].Repeats[0].Batches)
	}
	checkSubmission(t, recorded)

	var file bytes.Buffer
	if err := r.WriteTrace(&file); err != nil {
		t.Fatal(err)
	}
	slices, names := readTrace(t, file.Bytes())
	lengths := map[string][]float64{}
	for thread, read := range slices {
		checkNesting(t, names[thread], read)
		lane, _, _ := strings.Cut(names[thread], " (") // a second row of the same lane
		for _, s := range read {
			lengths[lane] = append(lengths[lane], s.length)
		}
	}
	if len(recorded.Lanes) != 4+4 {
		t.Errorf("%d lanes: 4 workers, pin thread, trainer, copies and steps are 8", len(recorded.Lanes))
	}
	for _, lane := range recorded.Lanes {
		if lane.Reversed != 0 || lane.KeptEvery != 1 {
			t.Errorf("%s: %d spans reversed, one of %d kept", lane.Name, lane.Reversed, lane.KeptEvery)
		}
		checkLengths(t, lane, lengths[lane.Name])
	}
}

// checkSubmission compares the device's spans with the calls that asked for them.
func checkSubmission(t *testing.T, recorded *trace.Trace) {
	t.Helper()
	asked := map[trace.Stage]map[int64]time.Duration{trace.CopyCall: {}, trace.Launch: {}}
	for _, lane := range recorded.Lanes {
		for _, s := range lane.Spans {
			if of := asked[s.Stage]; of != nil {
				of[s.Batch] = s.Start
			}
		}
	}
	by := map[trace.Stage]trace.Stage{trace.HtoD: trace.CopyCall, trace.Step: trace.Launch}
	seen := 0
	for _, lane := range recorded.Lanes {
		for _, s := range lane.Spans {
			call, ofDevice := by[s.Stage]
			if !ofDevice {
				continue
			}
			seen++
			if from, known := asked[call][s.Batch]; !known || s.Start < from {
				t.Errorf("%s of batch %d begins at %v, was asked for at %v", s.Stage, s.Batch, s.Start, from)
			}
		}
	}
	if seen != 400 {
		t.Errorf("%d spans of the device, want 200 copies and 200 steps", seen)
	}
}

// traceSlice is a slice as a viewer reads it, in microseconds.
type traceSlice struct{ start, length float64 }

// readTrace gives the slices and the name of each thread.
func readTrace(t *testing.T, file []byte) (map[[2]int][]traceSlice, map[[2]int]string) {
	t.Helper()
	var read struct {
		TraceEvents []struct {
			Ph, Name string
			Pid, Tid int
			Ts, Dur  float64
			Args     struct{ Name string }
		}
	}
	if err := json.Unmarshal(file, &read); err != nil {
		t.Fatal(err)
	}
	slices, names := map[[2]int][]traceSlice{}, map[[2]int]string{}
	for _, e := range read.TraceEvents {
		thread := [2]int{e.Pid, e.Tid}
		switch {
		case e.Ts < 0 || e.Dur < 0:
			t.Errorf("%s at %g for %g us", e.Name, e.Ts, e.Dur)
		case e.Ph == "X":
			slices[thread] = append(slices[thread], traceSlice{e.Ts, e.Dur})
		case e.Name == "thread_name":
			names[thread] = e.Args.Name
		}
	}
	return slices, names
}

// checkNesting fails if slices of one thread overlap without one holding the other.
func checkNesting(t *testing.T, thread string, read []traceSlice) {
	t.Helper()
	slices.SortFunc(read, func(a, b traceSlice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.length, a.length))
	})
	const rounding = 1e-6 // us; sums of decimal fractions
	var open []float64    // ends
	for _, s := range read {
		for len(open) > 0 && open[len(open)-1] <= s.start+rounding {
			open = open[:len(open)-1]
		}
		end := s.start + s.length
		if len(open) > 0 && end > open[len(open)-1]+rounding {
			t.Errorf("%s: %g..%g us reaches beyond the slice it began in, which ends at %g us", thread, s.start, end, open[len(open)-1])
		}
		open = append(open, end)
	}
}

// checkLengths compares what was read back of a lane with what was recorded.
func checkLengths(t *testing.T, lane trace.LaneTrace, read []float64) {
	t.Helper()
	if len(read) != len(lane.Spans) || int64(len(read)) != lane.Count {
		t.Errorf("%s: %d slices, %d spans kept of %d", lane.Name, len(read), len(lane.Spans), lane.Count)
		return
	}
	var want []float64
	for _, s := range lane.Spans {
		want = append(want, float64(s.Dur)/1e3)
	}
	slices.Sort(want)
	slices.Sort(read)
	for i := range want {
		if math.Abs(want[i]-read[i]) > 1 {
			t.Errorf("%s: a slice of %g us, recorded %g us", lane.Name, read[i], want[i])
		}
	}
}

// TestC78UndefinedIsNull: one measured step, no time at all, and a run that ends
// before its first step all give JSON that any parser takes, null for what is not
// defined, and empty cells.
func TestC78UndefinedIsNull(t *testing.T) {
	free := append(still, "link-gbps=inf", "pageable-gbps=inf", "compute=0s")
	one := withSim(settings(t, "samples=1", "shape=16", "batch=1", "workers=1"), free...)
	slow := one
	slow.Source = "delay:1s"
	for name, tc := range map[string]struct {
		config   Config
		complete bool
		null     []string // JSON keys
		empty    []string // CSV columns
	}{
		"one step": {withSim(one, "compute=1ms"), true, []string{"interval"}, nil},
		"no time at all": {one, true, []string{"samples_per_s", "median", "interval", "typical_repeat", "trace"},
			[]string{"samples_per_s"}},
		"cancelled before step 1": {slow, false, []string{"samples_per_s", "median", "overlap_share", "trace"},
			[]string{"samples_per_s", "overlap_share", "step_ms_per_batch"}},
	} {
		t.Run(name, func(t *testing.T) {
			var r *Result
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				var err error
				r, err = Run(ctx, tc.config, RunOptions{Clock: cudamem.NewPlainClock(), Events: func(e Event) {
					if e.Plan != nil && !tc.complete {
						cancel(ErrCancelled)
					}
				}})
				if r == nil || (err == nil) != tc.complete || r.Complete != tc.complete {
					t.Fatalf("%v, %+v", err, r)
				}
			})
			var file, table bytes.Buffer
			if err := errors.Join(r.WriteJSON(&file), r.WriteCSV(&table)); err != nil {
				t.Fatal(err)
			}
			for _, key := range tc.null {
				if !strings.Contains(file.String(), fmt.Sprintf("%q: null", key)) {
					t.Errorf("%s is not null in\n%s", key, file.String())
				}
			}
			if _, err := ReadResult(&file); err != nil { // a parser that takes no NaN and no infinity
				t.Error(err)
			}
			checkTable(t, table.String(), tc.empty)
		})
	}
}

// checkTable reads a CSV as RFC 4180 has it: rows of the same length that end in
// CRLF; and looks for columns that should be empty.
func checkTable(t *testing.T, table string, empty []string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll() // refuses rows of different length
	if err != nil || len(rows) < 2 || strings.Count(table, "\r\n") != len(rows) {
		t.Fatalf("%v, %d rows in %q", err, len(rows), table)
	}
	for i, cell := range rows[1] {
		if lower := strings.ToLower(cell); strings.Contains(lower, "nan") || strings.Contains(lower, "inf") || lower == "null" {
			t.Errorf("%s is %q", rows[0][i], cell)
		}
		if slices.Contains(empty, rows[0][i]) && cell != "" {
			t.Errorf("%s is %q, not empty", rows[0][i], cell)
		}
	}
	for _, name := range empty {
		if !slices.Contains(rows[0], name) {
			t.Errorf("no column %s in %q", name, rows[0])
		}
	}
}

// TestPageableThreadCopiesAndPinsNothing: there is a staging copy of each batch,
// and the copy to the device is as slow as without the thread.
func TestPageableThreadCopiesAndPinsNothing(t *testing.T) {
	c := settings(t, "samples=6400", "shape=64x64", "batch=64", "workers=1", "pin=pageable-thread", "non-blocking=true")
	r := inBubble(t, withSim(c, append(still, "link-gbps=12", "pageable-gbps=6", "compute=1ms")...))
	side := r.Sides[0]
	if got := side.Trace.Stage(trace.PinCopy).Count; got != 100 {
		t.Errorf("%d staging copies, want 100", got)
	}
	if u := side.Setup; u.PinCalls != 0 || u.PinnedBytes != 0 || u.PinEffective != PinnedNone || u.RingSlotsGot != 4 {
		t.Errorf("set-up: %+v", u)
	}
	if p := side.Plan; p.RingKind != "pageable" || p.PinnedBytes != 0 || p.RingBytes == 0 || p.PyTorchInputBytes != 0 {
		t.Errorf("plan: %+v", p)
	}
	near(t, "copy, s", side.Trace.Stage(trace.HtoD).P50.Seconds(), 64*64*64*4/6e9, 0.001)
}
