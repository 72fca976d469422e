package whatif

import (
	"fmt"
	"math"
	"slices"
	"time"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/source"
	"pinscope/bench/trace"
	"pinscope/bench/units"
	"pinscope/cudamem/sim"
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
	// Slots of a kind of their own are filled differently: pinned ones past the cache.
	like := func(c bench.Config) bool { return c.Source == f.config.Source && c.Pin == f.config.Pin }
	any := func(c bench.Config) bool { return c.Source == f.config.Source && c.Pin != loader.PinDataset }
	for _, fits := range []func(bench.Config) bool{like, any} {
		for _, was := range []trace.Stage{trace.Collate, trace.Load} {
			if f.config.Pin == loader.PinDataset && was == trace.Load {
				continue
			}
			if on, s, found := f.measured.find(was, fits); found && (f.config.Pin != loader.PinDataset || on.side.Config.Pin == loader.PinDataset) {
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

// calls is what the trainer spends on queueing and on waking up.
func (f *feed) calls() error {
	f.copyCall()
	f.wakeUps()
	if f.in.HostSteps {
		return nil
	}
	if s, ok := f.asked(trace.Launch); ok {
		f.in.Launch = s
		return nil
	}
	on, s, found := f.measured.find(trace.Launch, anyConfiguration)
	if !found || on.device.ID == "cpu" {
		f.say(trace.Launch, Stage{}, Assumed, "no time of the trainer: it was not measured")
		return nil
	}
	more := float64(f.config.StepsPerBatch) / float64(on.side.Config.StepsPerBatch)
	f.in.Launch = f.drawn(trace.Launch, on, s, more, "the steps on a batch")
	return nil
}

// copyCall is the call out of pinned memory; out of pageable memory it is part of the copy.
func (f *feed) copyCall() {
	s, ok := f.asked(trace.CopyCall)
	if ok {
		f.in.CopyCall = s
	}
	if ok || f.in.InPlace || !f.config.Pin.Pins() {
		return
	}
	if on, s, found := f.measured.find(trace.CopyCall, func(c bench.Config) bool { return c.Pin.Pins() }); found {
		f.in.CopyCall = f.drawn(trace.CopyCall, on, s, 1, "")
		return
	}
	f.say(trace.CopyCall, Stage{}, Assumed, "no time: calls out of pinned memory were not measured")
}

// fewWaits are too few for a distribution: one that was disturbed would be drawn
// time and again, so the quickest is taken.
const fewWaits = 8

// wakeUps is how long the trainer and the pin thread take to go on when a wait is over.
func (f *feed) wakeUps() {
	if f.measured == nil {
		return
	}
	all := f.measured.waits
	for _, other := range f.measured.others {
		all.wake = slices.Concat(all.wake, other.waits.wake)
		all.poll = slices.Concat(all.poll, other.waits.poll)
		all.batch = slices.Concat(all.batch, other.waits.batch)
		all.pin = slices.Concat(all.pin, other.waits.pin)
	}
	for i, kind := range []struct {
		to      *Stage
		samples []time.Duration
		name    string
		from    string
	}{
		{&f.in.Wake, all.wake, "wake up", "waits for the device, after it was done"},
		{&f.in.Poll, all.poll, "look", "waits for the device, which was done"},
		{&f.in.WakeNext, all.batch, "take", "waits for a batch, after it was there"},
		{&f.in.WakePin, all.pin, "pin take", "waits of the pin thread for a batch, after it was there"},
	} {
		if len(kind.samples) == 0 {
			continue
		}
		*kind.to = Drawn(kind.samples, f.config.Seed-golden*uint64(i+1))
		if len(kind.samples) < fewWaits {
			*kind.to = Always(slices.Min(kind.samples))
		}
		mean := kind.to.Mean()
		f.origins = append(f.origins, Origin{kind.name, Measured, fmt.Sprintf("%d %s", len(kind.samples), kind.from), &mean})
	}
}

// copies is what the link spends on a batch.
func (f *feed) copies() error {
	stage := trace.HtoD
	if f.config.Pin == loader.PinDataset {
		stage = trace.Gather
	}
	if f.in.InPlace {
		return nil
	}
	if s, ok := f.asked(stage); ok {
		f.in.Times.Copy = &s
		return nil
	}
	model := &f.in.Device
	if f.device().simulated() {
		if !f.config.Pin.Pins() && model.PageableGBps == 0 {
			return f.staging()
		}
		f.say(stage, Stage{}, Modelled, "%s, %s", linkText(model, f.config.Pin.Pins()), latencyText(model))
		return nil
	}
	return f.realCopies(stage, model)
}

func linkText(model *sim.Model, pinned bool) string {
	gbps := model.LinkGBps
	if !pinned {
		gbps = min(gbps, model.PageableGBps)
	}
	if math.IsInf(gbps, 1) {
		return "an endless link"
	}
	return units.GBps(gbps)
}

func latencyText(model *sim.Model) string {
	return "latency " + units.Duration(model.Latency)
}

// staging is how the simulated GPU takes pageable memory: the host really copies
// each chunk, then the model moves it.
func (f *feed) staging() error {
	const inline = 64 << 10 // copies of up to so much are taken along by the call
	on, _, found := f.measured.find(trace.CopyCall, func(c bench.Config) bool { return !c.Pin.Pins() })
	if found && on.device.Simulated && on.batchBytes() > inline && len(on.waits.stage) > 0 {
		f.in.Staging = f.say(trace.HtoD, Drawn(on.waits.stage, f.config.Seed+golden).Scaled(f.growth(on)), Derived,
			"staged as in %d copy calls measured, once their stream was free, then by the model", len(on.waits.stage))
		return nil
	}
	gbps, from, err := f.hostCopy()
	if err != nil {
		return err
	}
	f.in.Staging = f.say(trace.HtoD, Always(rounded(float64(f.batchBytes())/gbps)), Derived,
		"staged at %s, %s, then by the model", units.GBps(gbps), from)
	return nil
}

// realCopies is what a real GPU's link spends: as measured, where that was the same
// kind of copy over the same link, else derived.
func (f *feed) realCopies(stage trace.Stage, model *sim.Model) error {
	on, s, same := f.measured.find(stage, func(c bench.Config) bool { return c.Pin.Pins() == f.config.Pin.Pins() })
	_, linkSet := f.over["link-gbps"]
	_, pageableSet := f.over["pageable-gbps"]
	_, latencySet := f.over["latency"]
	pinned := f.config.Pin.Pins()
	if same && !latencySet && !(linkSet && pinned) && !(pageableSet && !pinned) {
		drawn := f.drawn(stage, on, s, f.growth(on), moreBytes)
		f.in.Times.Copy = &drawn
		if !pinned {
			model.PageableGBps = float64(on.batchBytes()) / float64(max(s.quantile(0.5), 1)) // the labels' copies
		}
		return nil
	}
	if pinned {
		f.say(stage, Stage{}, Derived, "%s, %s, %s", linkText(model, true), f.linkFrom(linkSet), latencyText(model))
		return nil
	}
	from := "as given"
	if !pageableSet {
		gbps, how, err := f.hostCopy()
		if err != nil {
			return err
		}
		model.PageableGBps, from = min(gbps, model.LinkGBps), how
	}
	f.say(stage, Stage{}, Derived, "pageable at %s, %s, %s", units.GBps(model.PageableGBps), from, latencyText(model))
	return nil
}

// linkFrom says how the rate of a real device's link is known.
func (f *feed) linkFrom(given bool) string {
	switch d := f.device().measured; {
	case given:
		return "as given"
	default:
		if model, known := nearest(d); known {
			return "of the model " + model.Name
		}
		if d.LinkGBps != nil {
			return "the most that its link can do; give --set link-gbps=N for what it does"
		}
		return "of the default model; give --set link-gbps=N"
	}
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
