package whatif

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pinscope/bench"
	"pinscope/bench/source"
	"pinscope/bench/trace"
	"pinscope/cudamem"
	"pinscope/cudamem/sim"
)

// Base is what predictions start from: settings, and what is known about how long
// each stage takes. A Base does not change; any goroutine may use it.
type Base struct {
	config   bench.Config
	over     map[string]string // values of the device model that were set, on a real device
	given    map[trace.Stage]time.Duration
	measured *measured // nil: nothing was measured
	cpus     int       // usable
	copyRate *copyRate // of this machine, measured when it is first needed
}

// FromSettings starts from a configuration on the simulated GPU, whose copies and
// steps come from its model. Stages that the host spends time on have to be given,
// for a full batch; load and collate are the same stage. The error is a
// *bench.InputError.
func FromSettings(c bench.Config, given map[trace.Stage]time.Duration) (*Base, error) {
	b := &Base{config: c, given: maps.Clone(given), cpus: bench.SystemLimits().UsableCPUs, copyRate: &copyRate{}}
	return b, b.check()
}

// FromResult starts from a measured side: "A", "B", or "" for the first. Its spans
// give the distribution of each stage's time; a stage that it did not have is taken
// from another side of the result that had it.
func FromResult(r *bench.Result, side string, given map[trace.Stage]time.Duration) (*Base, error) {
	var chosen *measured
	var others []*measured
	for i := range r.Sides {
		s := &r.Sides[i]
		asked := side != "" && strings.EqualFold(s.Label, side) || side == "" && i == 0
		m, err := newMeasured(r, s)
		switch {
		case err == nil && asked:
			chosen = m
		case err == nil:
			others = append(others, m)
		case asked:
			return nil, err
		}
	}
	if chosen == nil {
		return nil, &bench.InputError{Field: "side", Value: side, Problem: fmt.Sprintf("the result has no side %q", side)}
	}
	for _, other := range others {
		if sameData(other.side.Config, chosen.side.Config) {
			chosen.others = append(chosen.others, other)
		}
	}
	b := &Base{config: chosen.side.Config, given: maps.Clone(given), measured: chosen, cpus: max(r.Host.CPUs, 1), copyRate: &copyRate{}}
	return b, b.check()
}

// Config is the configuration that is predicted.
func (b *Base) Config() bench.Config { return b.config }

// With changes settings, spelled as sweeps do ("workers=8", "pin=direct"), or
// values of the device's model, spelled as in --sim ("link-gbps=55").
func (b *Base) With(settings ...string) (*Base, error) {
	next := *b
	next.over = maps.Clone(b.over)
	var rest []string
	simulated := b.device().simulated()
	values := map[string]string{}
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		if !isModelKey(key) {
			rest = append(rest, s)
			continue
		}
		values[key] = value
	}
	config, err := bench.ParseSettings(b.config, rest...)
	if err != nil {
		return nil, err
	}
	if simulated {
		config.Sim = merged(config.Sim, values)
	} else {
		next.over = merged(next.over, values)
	}
	next.config = config
	return &next, next.check()
}

// Give sets the time of a stage for a full batch.
func (b *Base) Give(stage trace.Stage, d time.Duration) *Base {
	next := *b
	next.given = maps.Clone(b.given)
	if next.given == nil {
		next.given = map[trace.Stage]time.Duration{}
	}
	next.given[stage] = d
	return &next
}

// CanGive says whether the time of a stage can be given: it is work, not a wait.
func CanGive(stage trace.Stage) bool {
	switch stage {
	case trace.Load, trace.Collate, trace.PinCopy, trace.CopyCall, trace.Launch, trace.HtoD, trace.Gather, trace.Step:
		return true
	}
	return false
}

// Runnable is the configuration that a run takes to check the prediction. The
// error, a *bench.InputError, says what cannot be had for real.
func (b *Base) Runnable() (bench.Config, error) {
	if len(b.over) > 0 {
		return b.config, &bench.InputError{Field: "check", Problem: "a real device cannot be given another " +
			strings.Join(slices.Sorted(maps.Keys(b.over)), ", ")}
	}
	config := b.config
	if d := b.device(); d.simulated() {
		model, err := d.model()
		config.Device, config.Sim = d.id, model.Settings()
		return config, err
	}
	return config, nil
}

func merged(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

// isModelKey says whether a setting is one of the device model's. The seed is the
// configuration's too, which is meant.
func isModelKey(key string) bool {
	_, is := (&sim.Model{}).Settings()[key]
	return is && key != "seed"
}

// check validates settings and device.
func (b *Base) check() error {
	if err := b.config.Validate(); err != nil {
		return err
	}
	_, err := b.device().model()
	return err
}

// spec is what the data set holds. A measured one that is not here any more is
// taken from the plan, as long as it is still the one that is asked for.
func (b *Base) spec() (source.Spec, error) {
	spec, err := source.Probe(sourceOptions(b.config))
	if err == nil {
		return spec, nil
	}
	if m := b.measured; m != nil && sameData(m.side.Config, b.config) {
		return m.spec(), nil
	}
	return spec, &bench.InputError{Field: "source", Value: b.config.Source, Problem: err.Error()}
}

// sameData says whether two configurations read the same samples.
func sameData(a, b bench.Config) bool {
	return a.Source == b.Source && a.Samples == b.Samples && a.Shape.String() == b.Shape.String() && a.DType == b.DType
}

// target is the device that a prediction is for.
type target struct {
	id       string // "sim:laptop", "cuda:0", "cpu"
	sim      map[string]string
	over     map[string]string
	measured *bench.Device // the same one, as it was measured; nil: it was not
}

func (b *Base) device() target {
	t := target{id: b.config.Device, sim: b.config.Sim, over: b.over}
	if m := b.measured; m != nil && m.side.Config.Device == b.config.Device {
		t.id, t.measured = m.device.ID, &m.device
	}
	if t.id == "auto" || t.id == "sim" {
		t.id = "sim:" + sim.Presets()[0]
	}
	return t
}

func (t target) simulated() bool { return strings.HasPrefix(t.id, "sim:") }

// info is what a plan needs to know of the device.
func (t target) info() cudamem.Info {
	return cudamem.Info{ID: t.id, Simulated: t.simulated(), InPlace: t.id == "cpu"}
}

// model is the simulated GPU's own, or for a measured device the nearest one:
// only its latency and, where nothing better is known, its link are used.
func (t target) model() (sim.Model, error) {
	if !t.simulated() {
		if t.measured == nil {
			return sim.Model{}, noModel(t.id)
		}
		model, _ := nearest(t.measured)
		model.Jitter = 0 // the measured spans have theirs
		return model, set(&model, t.over)
	}
	model, err := sim.Lookup(strings.TrimPrefix(t.id, "sim:"))
	if err != nil {
		return model, &bench.InputError{Field: "device", Value: t.id, Problem: err.Error()}
	}
	if t.measured != nil {
		if err := set(&model, t.measured.Model); err != nil {
			return model, &bench.InputError{Field: "device", Value: t.id, Problem: err.Error()}
		}
	}
	return model, set(&model, t.sim)
}

func set(model *sim.Model, values map[string]string) error {
	for key, value := range values {
		if err := model.Set(key, value); err != nil {
			return &bench.InputError{Field: "sim", Value: key + "=" + value, Problem: err.Error()}
		}
	}
	return nil
}

// nearest is the preset of the same card, by its name, or the default one with
// the link that the device says it has.
func nearest(d *bench.Device) (model sim.Model, known bool) {
	name := strings.ReplaceAll(strings.ToLower(d.Name), " ", "")
	best := ""
	for _, preset := range sim.Presets() {
		card, _, _ := strings.Cut(preset, "-")
		if strings.Contains(name, card) && len(card) > len(best) && card != sim.Presets()[0] {
			best = card
			model, _ = sim.Lookup(preset)
		}
	}
	if best != "" {
		return model, true
	}
	model, _ = sim.Lookup(sim.Presets()[0])
	if d.LinkGBps != nil {
		model.LinkGBps = *d.LinkGBps
	}
	return model, false
}
