package whatif

import (
	"math"
	"slices"
	"testing"
	"time"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/trace"
)

// TestWakingUp: on a shared stream each batch is copied, the trainer wakes up, and
// only then is the step queued; looking at steps that are done is hidden under one.
func TestWakingUp(t *testing.T) {
	const batches = 100
	c := settings(t, "samples=100", "batch=1", "shape=1024x1024", "workers=1", "pin=direct", "non-blocking=false")
	c.Sim = map[string]string{"latency": "0", "launch": "0", "link-gbps": "12", "compute": "300us"}
	in := modelInput(t, c)
	in.Wake, in.Poll = Always(80*time.Microsecond), Always(15*time.Microsecond)
	o, err := Predict(in)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "wall, s", o.Wall.Seconds(), batches*(ns(8, 12)+ns(4194304, 12)+80e-6+300e-6), exact)
	near(t, "looking, s", o.Trace.Stage(trace.WaitStep).Total.Seconds(), (batches-4)*15e-6+300e-6, exact) // and the last step at the end

	// A batch takes 1 ms to load and 80 us to be taken.
	in = modelInput(t, settings(t, "samples=100", "batch=1", "shape=8", "workers=1", "pin=direct", "source=delay:1ms"))
	in.Device.Latency, in.Device.Launch, in.Device.LinkGBps, in.Device.FixedStep = 0, 0, math.Inf(1), true
	in.WakeNext = Always(80 * time.Microsecond)
	if o, err = Predict(in); err != nil {
		t.Fatal(err)
	}
	near(t, "wall, s", o.Wall.Seconds(), batches*1e-3+80e-6, exact)
}

// TestWaitsAreMeasured: each wait is held against what it waited for.
func TestWaitsAreMeasured(t *testing.T) {
	recorder := trace.NewRecorder(trace.Options{})
	add := func(kind trace.LaneKind, stage trace.Stage, batch int64, from, to time.Duration) {
		lane := recorder.Lane(kind, 0, "test")
		lane.Add(stage, batch, from, to, 0)
	}
	add(trace.Worker, trace.Load, 0, 0, 100)
	add(trace.Trainer, trace.WaitBatch, 0, 50, 107) // taken 7 after it was there
	add(trace.CopyEngine, trace.HtoD, 0, 110, 200)
	add(trace.Trainer, trace.WaitCopy, 0, 115, 230) // woken 30 after it was done
	add(trace.ComputeEngine, trace.Step, 0, 230, 300)
	add(trace.Worker, trace.Load, 4, 100, 200)
	add(trace.Trainer, trace.WaitBatch, 4, 300, 301)  // it was there
	add(trace.Trainer, trace.WaitStep, 4, 301, 316)   // for step 0, four flights before: done
	add(trace.Trainer, trace.WaitStep, 9, 301, 316)   // for step 5, whose span is not there
	add(trace.PinThread, trace.PinWait, 4, 150, 206)  // taken 6 after it was there
	add(trace.PinThread, trace.RingWait, 4, 206, 250) // then waits for a ring slot
	add(trace.Trainer, trace.CopyCall, 1, 250, 340)   // behind step 0, so staging took 40
	side := &bench.Side{Trace: recorder.Trace(), Plan: bench.Plan{DeviceSlots: 2}, Config: bench.Config{Workers: 1, Pin: loader.PinDirect}}
	w := newWaits(side)
	if !slices.Equal(w.pin, []time.Duration{6}) || w.stage != nil { // out of pinned memory nothing is staged
		t.Errorf("%+v", w)
	}
	side.Config.Pin = loader.PinOff
	if w := newWaits(side); !slices.Equal(w.stage, []time.Duration{40}) {
		t.Errorf("%+v", w)
	}
	side.Config.CopyStream = loader.Dedicated
	if w := newWaits(side); !slices.Equal(w.stage, []time.Duration{90}) { // behind copy 0 alone
		t.Errorf("%+v", w)
	}
	if !slices.Equal(w.wake, []time.Duration{30}) || !slices.Equal(w.poll, []time.Duration{15}) || !slices.Equal(w.batch, []time.Duration{7}) {
		t.Errorf("%+v", w)
	}
}

// TestOtherSides: what the chosen side did not have comes from the one that had it.
func TestOtherSides(t *testing.T) {
	r := realResult(t)
	r.Sides[0].Label = "A"
	other := realResult(t, "pin=off", "non-blocking=false").Sides[0]
	other.Label = "B"
	for i, lane := range other.Trace.Lanes {
		for j := range lane.Spans {
			if lane.Spans[j].Stage == trace.HtoD {
				other.Trace.Lanes[i].Spans[j].Dur = 4 * time.Millisecond
			}
		}
	}
	r.Sides = append(r.Sides, other)
	base, err := with(FromResult(r, "a", nil))("pin=off")
	if err != nil {
		t.Fatal(err)
	}
	p, err := base.Predict()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Origins, func(o Origin) bool { return o.Stage == "htod" })
	if o := p.Origins[i]; o.How != Measured || *o.Mean != 4*time.Millisecond || o.From != "64 spans of side B" {
		t.Errorf("%+v", o)
	}
}

// TestStagingTakesTheHost: 4 MiB go through staging memory in two chunks, 4 ms in
// all, over an endless link; the trainer does nothing else meanwhile.
func TestStagingTakesTheHost(t *testing.T) {
	const batches = 50
	c := settings(t, "samples=50", "batch=1", "shape=1024x1024", "workers=1", "pin=off", "copy-stream=dedicated")
	c.Sim = map[string]string{"latency": "0", "launch": "0", "link-gbps": "inf", "compute": "1ms"}
	in := modelInput(t, c)
	in.Staging = Always(4 * time.Millisecond)
	o, err := Predict(in)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "wall, s", o.Wall.Seconds(), batches*4e-3+1e-3, exact)
	near(t, "in the call, s", o.Trace.Stage(trace.CopyCall).Total.Seconds(), batches*4e-3, exact)
}
