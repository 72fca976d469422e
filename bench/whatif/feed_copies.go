package whatif

import (
	"math"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/trace"
	"pinscope/bench/units"
	"pinscope/cudamem/sim"
)

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
	if given {
		return "as given"
	}
	d := f.device().measured
	if model, known := nearest(d); known {
		return "of the model " + model.Name
	}
	if d.LinkGBps != nil {
		return "the most that its link can do; give --set link-gbps=N for what it does"
	}
	return "of the default model; give --set link-gbps=N"
}
