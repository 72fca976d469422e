package whatif

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/trace"
)

// virtualConfig is a configuration in which only given times pass, as the bubble has it.
func virtualConfig(t *testing.T, more ...string) bench.Config {
	t.Helper()
	c := settings(t, append([]string{"source=delay:3ms±1ms", "samples=400", "shape=20000", "batch=8", "workers=2",
		"pin=direct", "copy-stream=dedicated", "epochs=2"}, more...)...)
	c.Sim = map[string]string{"latency": "6us", "launch": "0", "link-gbps": "0.6", "pageable-gbps": "0.3", "compute": "1500us"}
	return c
}

// TestWhatIfIsWhatWouldBe: a result measured once, with settings changed on top, is
// what the changed settings take when they are run.
func TestWhatIfIsWhatWouldBe(t *testing.T) {
	measured := inBubble(t, virtualConfig(t))
	base, err := FromResult(measured, "", map[trace.Stage]time.Duration{trace.PinCopy: 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		"", "workers=8", "workers=0", "pin=off", "pin=thread", "pin=off non-blocking=false", "copy-stream=shared", "batch=5",
		"link-gbps=55", "compute=5ms", "pin=off pageable-gbps=2", "ring-slots=1", "device=sim:h200 steps-per-batch=3",
	} {
		t.Run(change, func(t *testing.T) {
			changed, err := base.With(strings.Fields(change)...)
			if err != nil {
				t.Fatal(err)
			}
			p, err := changed.Predict()
			if err != nil {
				t.Fatal(err)
			}
			config, err := changed.Runnable()
			if err != nil {
				t.Fatal(err)
			}
			config.Sim["pin-s-per-gib"] = "0"
			real := inBubble(t, config)
			if want := wallOf(real); p.Wall != want || !p.Predicted || !p.Simulated || p.Trace == nil {
				t.Errorf("predicted %v, in fact %v", p.Wall, want)
			}
			if err := p.CheckAgainst(real); err != nil || p.Check.Error > 1e-9 || p.Check.Error < -1e-9 {
				t.Errorf("%v, check %+v", err, p.Check)
			}
			if r := p.Reference; r == nil || r.Wall != wallOf(measured) || r.Error > 1e-9 || r.Error < -1e-9 {
				t.Errorf("the measured run itself: %+v", r)
			}
		})
	}
}

func wallOf(r *bench.Result) time.Duration { return r.Sides[0].Repeats[0].Wall }

// realResult is a result as a real GPU would leave it: 64 batches of 64 samples of
// 602,112 B, collated at 9.634 GB/s, copied at 55 GB/s.
func realResult(t *testing.T, more ...string) *bench.Result {
	t.Helper()
	c := settings(t, append([]string{"source=cached", "samples=4096", "batch=64", "workers=4", "pin=direct", "device=cuda:0"}, more...)...)
	rec := trace.NewRecorder(trace.Options{})
	at := func(kind trace.LaneKind, stages map[trace.Stage]time.Duration) {
		lane := rec.Lane(kind, 0, "test")
		now := time.Duration(0)
		for b := range int64(64) {
			for stage, d := range stages {
				lane.Add(stage, b, now, now+d, 0)
				now += d
			}
		}
	}
	at(trace.Worker, map[trace.Stage]time.Duration{trace.Collate: 4 * time.Millisecond})
	at(trace.Trainer, map[trace.Stage]time.Duration{trace.CopyCall: 5 * time.Microsecond, trace.Launch: 8 * time.Microsecond})
	at(trace.CopyEngine, map[trace.Stage]time.Duration{trace.HtoD: 700 * time.Microsecond})
	at(trace.ComputeEngine, map[trace.Stage]time.Duration{trace.Step: 300 * time.Microsecond})
	typical, rate := 0, 20000.0
	return &bench.Result{Host: bench.Host{CPUs: 16}, Device: bench.Device{ID: "cuda:0", Name: "NVIDIA H200"}, Sides: []bench.Side{{
		Config: c, Typical: &typical, Trace: rec.Trace(), Repeats: []bench.Repeat{{Complete: true, Wall: time.Second, SamplesPerS: &rate}},
		Plan: bench.Plan{Shape: c.Shape, DType: c.DType, Samples: 4096, EpochBatches: 64, TotalBatches: 64, LastRows: 64, BatchBytes: 64 * 602112, BatchLabelBytes: 512,
			RingSlots: 10, DeviceSlots: 2},
	}}}
}

// TestWhereTimesComeFrom: what was measured is drawn from, what was not is derived,
// and each says so.
func TestWhereTimesComeFrom(t *testing.T) {
	for _, c := range []struct {
		change, stage string
		how           How
		mean          time.Duration // 0: another's to say
		from          string
	}{
		{"", "collate", Measured, 4 * time.Millisecond, "64 spans"},
		{"", "htod", Measured, 700 * time.Microsecond, "64 spans"},
		{"", "step", Measured, 300 * time.Microsecond, "64 spans"},
		{"", "copy call", Measured, 5 * time.Microsecond, "64 spans"},
		{"", "launch", Measured, 8 * time.Microsecond, "64 spans"},
		{"batch=32", "collate", Derived, 2 * time.Millisecond, "times 0.5"},
		{"batch=32", "step", Derived, 150 * time.Microsecond, "times 0.5"},
		{"batch=128", "htod", Derived, 1400 * time.Microsecond, "times 2"},
		{"out-features=100", "step", Derived, 3 * time.Millisecond, "times 10"},
		{"pin=thread", "pin copy", Derived, 4 * time.Millisecond, "collate"}, // as many bytes at the same rate
		{"pin=thread", "htod", Measured, 700 * time.Microsecond, "64 spans"},
		{"pin=off", "htod", Derived, 0, "9.63 GB/s"},
		{"pin=off pageable-gbps=14", "htod", Derived, 0, "14.00 GB/s, as given"},
		{"link-gbps=25", "htod", Derived, 0, "25.00 GB/s, as given"},
		{"pin=dataset", "collate", Assumed, 0, "no time"},
		{"pin=dataset", "gather", Derived, 0, "55.40 GB/s, of the model h200"},
	} {
		base, err := FromResult(realResult(t), "", nil)
		if err == nil {
			base, err = base.With(strings.Fields(c.change)...)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := base.Predict()
		if err != nil {
			t.Fatalf("%s: %v", c.change, err)
		}
		var found *Origin
		for i := range p.Origins {
			if p.Origins[i].Stage == c.stage {
				found = &p.Origins[i]
			}
		}
		if found == nil || found.How != c.how || !strings.Contains(found.From, c.from) ||
			(found.Mean == nil) != (c.mean == 0) || found.Mean != nil && *found.Mean != c.mean {
			t.Errorf("%s: %s: %+v", c.change, c.stage, found)
		}
		if p.Simulated || !strings.HasPrefix(p.Sentence(), "PREDICTED: ") {
			t.Errorf("%s", p.Sentence())
		}
	}
}

// TestRealDeviceByArithmetic: 4 ms to collate a batch, 0.7 to copy it, 0.3 for the
// step, 64 batches. The labels' copies and the calls, under 25 us a batch, come on top.
func TestRealDeviceByArithmetic(t *testing.T) {
	base, err := FromResult(realResult(t, "copy-stream=dedicated"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for change, ms := range map[string]float64{
		"":                              16*4 + 4*0.7 + 0.3, // 4 workers, the last round copied one by one
		"workers=1":                     64*4 + 0.7 + 0.3,
		"workers=16":                    4 + 64*0.7 + 0.3, // the link is the limit
		"copy-stream=shared workers=16": 4 + 64*(0.7+0.3),
	} {
		changed, err := base.With(strings.Fields(change)...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := changed.Predict()
		if err != nil {
			t.Fatal(err)
		}
		near(t, change+": wall, ms", p.Wall.Seconds()*1e3, ms, 0.025)
	}
}

// TestSpansAreDrawn: the seed decides which; a last batch that is not full has none.
func TestSpansAreDrawn(t *testing.T) {
	r := realResult(t)
	for _, lane := range r.Sides[0].Trace.Lanes {
		for i := range lane.Spans {
			lane.Spans[i].Dur = lane.Spans[i].Dur * time.Duration(50+i) / 80
		}
	}
	r.Sides[0].Plan.LastRows = 1
	walls := map[time.Duration]bool{}
	for _, seed := range []string{"seed=0", "seed=1", "seed=1"} {
		base, err := with(FromResult(r, "", nil))(seed)
		if err != nil {
			t.Fatal(err)
		}
		p, err := base.Predict()
		if err != nil {
			t.Fatal(err)
		}
		walls[p.Wall] = true
		if from := p.Origins[0].From; from != "63 of 64 spans (thinned, or of batches that are not full)" {
			t.Error(from)
		}
	}
	if len(walls) != 2 {
		t.Errorf("two seeds, the second twice, gave %v", walls)
	}
}

// TestWhatCannotBePredicted says what is missing, and how to give it.
func TestWhatCannotBePredicted(t *testing.T) {
	for name, c := range map[string]struct {
		base    func() (*Base, error)
		missing bool
		says    string
	}{
		"nothing measured":  {func() (*Base, error) { return FromSettings(settings(t, "source=cached"), nil) }, true, "--stage collate=TIME"},
		"real device":       {func() (*Base, error) { return FromSettings(settings(t, "device=cuda:0"), nil) }, true, "cuda:0 has no model"},
		"CPU":               {func() (*Base, error) { return FromSettings(settings(t, "device=cpu"), nil) }, true, "cpu has no model"},
		"unknown model":     {func() (*Base, error) { return FromSettings(settings(t, "device=sim:voodoo"), nil) }, false, "voodoo"},
		"wrong model value": {func() (*Base, error) { return with(FromSettings(settings(t), nil))("latency=soon") }, false, "latency"},
		"wrong setting":     {func() (*Base, error) { return with(FromSettings(settings(t), nil))("workers=many") }, false, "workers"},
		"another source":    {func() (*Base, error) { return with(FromResult(realResult(t), "", nil))("source=randn") }, true, "load"},
		"another device":    {func() (*Base, error) { return with(FromResult(realResult(t), "", nil))("device=cpu") }, true, "cpu has no model"},
		"no such side":      {func() (*Base, error) { return FromResult(realResult(t), "B", nil) }, false, `no side "B"`},
		"no trace":          {func() (*Base, error) { return FromResult(&bench.Result{Sides: make([]bench.Side, 1)}, "", nil) }, false, "no finished repeat"},
	} {
		b, err := c.base()
		if err == nil {
			_, err = b.Predict()
		}
		var input *bench.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.says) || errors.As(err, new(*MissingError)) != c.missing {
			t.Errorf("%s: %v", name, err)
		}
	}
	base, _ := with(FromResult(realResult(t), "", nil))("link-gbps=9")
	if _, err := base.Runnable(); err == nil || !strings.Contains(err.Error(), "link-gbps") {
		t.Errorf("running a real GPU with another link: %v", err)
	}
}

// with changes one setting of a base.
func with(b *Base, err error) func(setting string) (*Base, error) {
	return func(setting string) (*Base, error) {
		if err != nil {
			return nil, err
		}
		return b.With(setting)
	}
}

// TestDrawing: equal seeds draw equally, each sample about as often; short batches
// take their part.
func TestDrawing(t *testing.T) {
	samples := []time.Duration{10, 20, 30, 40}
	a, b, other := Drawn(samples, 1), Drawn(samples, 1), Drawn(samples, 2)
	count, differ := map[time.Duration]int{}, 0
	for i := range int64(40000) {
		d := a.at(i, 8, 8)
		count[d]++
		if d != b.at(i, 8, 8) {
			t.Fatal("equal seeds draw differently")
		}
		if d != other.at(i, 8, 8) {
			differ++
		}
	}
	for _, d := range samples {
		if n := count[d]; n < 9700 || n > 10300 { // 10,000, standard deviation 87
			t.Errorf("%v was drawn %d times", d, n)
		}
	}
	if differ < 20000 {
		t.Errorf("another seed draws otherwise only %d times", differ)
	}
	always := Always(1000)
	per := always.PerRow()
	if always.at(0, 2, 8) != 1000 || per.at(0, 2, 8) != 250 || per.at(0, 8, 8) != 1000 {
		t.Error("a quarter of a batch takes its part only where that is asked for")
	}
	if scaled := per.Scaled(2.5); scaled.at(0, 8, 8) != 2500 || per.at(0, 8, 8) != 1000 {
		t.Error("scaling")
	}
}

// TestRefusals: a pipeline that cannot be.
func TestRefusals(t *testing.T) {
	good := modelInput(t, settings(t))
	for name, spoil := range map[string]func(*Input){
		"slots": func(in *Input) { in.FillSlots = 0 }, "ring": func(in *Input) { in.Pin, in.RingSlots = loader.PinThread, 0 },
		"device slots": func(in *Input) { in.DeviceSlots = 0 }, "steps": func(in *Input) { in.StepsPerBatch = 0 },
		"classes": func(in *Input) { in.Classes = 0 }, "workers": func(in *Input) { in.Workers = -1 },
		"batch": func(in *Input) { in.Batch = 0 }, "no batches": func(in *Input) { in.Samples, in.DropLast = 1, true },
		"model": func(in *Input) { in.Device.LinkGBps = -1 },
	} {
		in := good
		spoil(&in)
		if _, err := Predict(in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
