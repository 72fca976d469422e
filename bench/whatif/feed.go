package whatif

import (
	"fmt"
	"time"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/source"
	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// How says where the time of a stage comes from.
type How string

// The ways to know the time of a stage.
const (
	Given    How = "given"    // by the user, or by the source
	Measured How = "measured" // drawn from the spans of a result
	Modelled How = "model"    // of the simulated GPU
	Derived  How = "derived"  // from something else that was measured
	Assumed  How = "assumed"  // nothing is known: no time
)

// Origin is where the time of a stage comes from.
type Origin struct {
	Stage string         `json:"stage"`
	How   How            `json:"how"`
	From  string         `json:"from"`    // in words
	Mean  *time.Duration `json:"mean_ns"` // of a full batch; nil where that is another's to say
}

// feed works out the input of one prediction, and where it comes from.
type feed struct {
	*Base
	plan    bench.Plan
	in      Input
	origins []Origin
	notes   []string
}

// feed puts the input together. The error is a *bench.InputError where a time is
// missing.
func (b *Base) feed() (*feed, error) {
	spec, err := b.spec()
	if err != nil {
		return nil, err
	}
	target := b.device()
	f := &feed{Base: b}
	if f.in.Device, err = target.model(); err != nil {
		return nil, err
	}
	if f.plan, err = bench.NewPlan(b.config, spec, target.info(), bench.Limits{UsableCPUs: b.cpus}); err != nil {
		return nil, err
	}
	f.in.Pipeline = NewPipeline(b.config, f.plan, spec, target.id == "cpu")
	for _, step := range []func() error{f.fill, f.pinCopy, f.calls, f.copies, f.steps} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	f.doubts()
	return f, nil
}

// say notes where a stage's time comes from, and gives it back.
func (f *feed) say(stage trace.Stage, s Stage, how How, from string, args ...any) Stage {
	o := Origin{Stage: stage.String(), How: how, From: fmt.Sprintf(from, args...)}
	if len(s.samples) > 0 {
		mean := s.Mean()
		o.Mean = &mean
	}
	f.origins = append(f.origins, o)
	return s
}

// asked is the time that was given for a stage.
func (f *feed) asked(stages ...trace.Stage) (Stage, bool) {
	for _, stage := range stages {
		if d, ok := f.given[stage]; ok {
			return f.say(stage, Always(d).PerRow(), Given, "for a full batch"), true
		}
	}
	return Stage{}, false
}

// drawn draws from the spans of a side, scaled where a batch is not what it was.
func (f *feed) drawn(stage trace.Stage, on *measured, s spans, scale float64, scaled string) Stage {
	drawn := Drawn(s.durations, f.config.Seed+golden*uint64(stage+1)).PerRow()
	from := s.String()
	if on != f.measured {
		from += " of side " + on.side.Label
	}
	if scale == 1 {
		return f.say(stage, drawn, Measured, "%s", from)
	}
	return f.say(stage, drawn.Scaled(scale), Derived, "%s, times %.3g for %s", from, scale, scaled)
}

// growth is how many times as many input bytes a batch has as it had on a side.
func (f *feed) growth(on *measured) float64 {
	return float64(f.batchBytes()) / float64(on.batchBytes())
}

func (f *feed) batchBytes() int64 { return f.config.Batch * f.in.Spec.SampleBytes }

const moreBytes = "the bytes of a batch"

// fill is what a worker spends on a batch.
func (f *feed) fill() (err error) {
	if s, ok := f.asked(trace.Load, trace.Collate); ok {
		f.in.Fill = s
		return nil
	}
	if kind, _, err := source.Parse(f.config.Source); err == nil && kind == "delay" {
		return f.paced()
	}
	stage := f.in.fillStage()
	// With pin dataset a worker does something else altogether. Apart from that the
	// same mode is best: pinned slots are filled past the cache.
	fits := func(c bench.Config) bool {
		return c.Source == f.config.Source && (c.Pin == loader.PinDataset) == (f.config.Pin == loader.PinDataset)
	}
	best := func(c bench.Config) bool { return fits(c) && c.Pin == f.config.Pin }
	for _, fits := range []func(bench.Config) bool{best, fits} {
		for _, was := range []trace.Stage{trace.Collate, trace.Load} {
			if on, s, found := f.measured.find(was, fits); found {
				f.in.Fill = f.drawn(stage, on, s, f.growth(on), moreBytes)
				return nil
			}
		}
	}
	if f.config.Pin == loader.PinDataset {
		f.say(stage, Stage{}, Assumed, "no time: workers only write numbers of samples")
		return nil
	}
	return missing(stage)
}

// paced takes the load time of source delay from the source.
func (f *feed) paced() error {
	opened, err := source.Open(sourceOptions(f.config))
	if err != nil {
		return &bench.InputError{Field: "source", Value: f.config.Source, Problem: err.Error()}
	}
	if pacer, ok := opened.NewFiller(false).(source.Pacer); ok {
		f.in.Fill = f.say(trace.Load, Paced(pacer), Given, "source %s", f.config.Source)
	}
	return opened.Close()
}

// pinCopy is what the pin thread spends on a batch.
func (f *feed) pinCopy() error {
	if !f.config.Pin.HasThread() {
		return nil
	}
	if s, ok := f.asked(trace.PinCopy); ok {
		f.in.PinCopy = s
		return nil
	}
	if on, s, found := f.measured.find(trace.PinCopy, anyConfiguration); found {
		f.in.PinCopy = f.drawn(trace.PinCopy, on, s, f.growth(on), moreBytes)
		return nil
	}
	gbps, from, err := f.hostCopy()
	if err != nil {
		return err
	}
	took := Always(rounded(float64(f.batchBytes()) / gbps)).PerRow()
	f.in.PinCopy = f.say(trace.PinCopy, took, Derived, "%s a batch at %s, %s", units.Bytes(f.batchBytes()), units.GBps(gbps), from)
	return nil
}

// hostCopy is how fast the host copies a batch, and how that is known.
func (f *feed) hostCopy() (gbps float64, from string, err error) {
	median := func(on *measured, s spans) float64 {
		return float64(on.batchBytes()) / float64(max(s.quantile(0.5), 1))
	}
	if on, s, found := f.measured.find(trace.PinCopy, anyConfiguration); found {
		return median(on, s), "as the pin thread was measured to copy", nil
	}
	if on, s, found := f.measured.find(trace.Collate, func(c bench.Config) bool { return c.Pin != loader.PinDataset }); found {
		return median(on, s), "the rate at which a worker was measured to collate", nil
	}
	gbps, err = f.copyRate.measure()
	return gbps, "which one thread of this machine was measured to copy just now", err
}

// steps is what the device spends on the steps on a batch.
func (f *feed) steps() error {
	if s, ok := f.asked(trace.Step); ok {
		f.in.Times.Step = &s
		return nil
	}
	if f.device().simulated() {
		model, from := &f.in.Device, "roofline of the device"
		if model.FixedStep {
			from = units.Duration(model.Step) + " a step"
		}
		if model.Launch > 0 {
			from += ", launch " + units.Duration(model.Launch)
		}
		f.say(trace.Step, Stage{}, Modelled, "%s", from)
		return nil
	}
	m := f.measured
	s := m.spans[trace.Step]
	if len(s.durations) == 0 {
		return missing(trace.Step)
	}
	// A step of a linear layer reads its input and weights, whose products it sums.
	work := func(c bench.Config, batchBytes int64) float64 {
		return float64(batchBytes) * float64(c.OutFeatures) * float64(c.StepsPerBatch)
	}
	scale := work(f.config, f.batchBytes()) / work(m.side.Config, m.batchBytes())
	drawn := f.drawn(trace.Step, m, s, scale, "the work of a batch")
	if f.in.InPlace && m.side.Plan.DeviceSlots > 0 && !f.in.HostSteps {
		f.notes = append(f.notes, "Steps that read host memory were not measured: they take at least as long as the link.")
		link := rounded(float64(f.batchBytes()) / f.in.Device.LinkGBps)
		for i, d := range drawn.samples {
			drawn.samples[i] = max(d, link)
		}
	}
	f.in.Times.Step = &drawn
	return nil
}

// doubts notes what the model cannot know.
func (f *feed) doubts() {
	c := f.config
	if f.measured != nil && f.measured.brief {
		f.notes = append(f.notes, fmt.Sprintf("What was measured comes from a calibration of %s batches just now, on this machine.",
			units.Count(f.measured.side.Plan.TotalBatches)))
	}
	if c.Workers > f.cpus {
		f.notes = append(f.notes, fmt.Sprintf("%d workers on %d usable CPUs: each is predicted as if it had one to itself.", c.Workers, f.cpus))
	}
	if m := f.measured; m != nil && m.side.Config.Workers != c.Workers && f.in.Fill.pacer == nil {
		f.notes = append(f.notes, fmt.Sprintf("Host stages take as long as they were measured to with %d workers; with %d they share memory and CPUs differently.",
			m.side.Config.Workers, c.Workers))
	}
	if len(f.in.Device.Ramp) > 0 {
		f.notes = append(f.notes, "The link starts idle, as in a first repeat.")
	}
}
