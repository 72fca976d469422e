package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pinscope/bench/loader"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
	"pinscope/bench/units"
	"pinscope/cudamem"
)

// Axis is a setting that a sweep varies.
type Axis struct {
	Setting string   `json:"setting"` // as its flag is spelled: "batch"
	Values  []string `json:"values"`
}

// ParseAxis reads an axis such as "batch=16,32,64". The error is an *InputError.
func ParseAxis(text string) (Axis, error) {
	name, values, ok := strings.Cut(text, "=")
	name = strings.ReplaceAll(strings.TrimSpace(name), "_", "-")
	if !ok || name == "" || values == "" {
		return Axis{}, &InputError{Field: "vary", Value: fmt.Sprintf("%q", text), Allowed: "NAME=VALUE,VALUE,..., such as batch=16,32,64"}
	}
	axis := Axis{Setting: name}
	for value := range strings.SplitSeq(values, ",") {
		value = strings.TrimSpace(value)
		if slices.Contains(axis.Values, value) {
			return Axis{}, &InputError{Field: "vary", Value: text, Problem: fmt.Sprintf("%s has the value %q twice", name, value)}
		}
		axis.Values = append(axis.Values, value)
	}
	return axis, nil
}

// fixed are the settings that all cells of a sweep share, and why.
var fixed = map[string]string{
	"preset": "it sets all other settings", "device": "cells of different devices cannot take turns",
	"sim": "cells of different devices cannot take turns", "repeats": "each round runs each cell once",
	"warmup": "each round runs each cell once", "risk-memory": "it is no part of the loop",
}

// mostCells is how many cells a sweep may have: some hours of short runs.
const mostCells = 1000

// Cell is one point of a sweep's grid.
type Cell struct {
	Settings []string `json:"settings"` // "batch=16", one for each axis
	Why      string   `json:"why"`      // it is left out; "" when it is measured
	config   Config
}

// name is what the cell is called.
func (c Cell) name() string { return strings.Join(c.Settings, " ") }

// Sweep is a grid of configurations.
type Sweep struct {
	Axes    []Axis `json:"axes"`
	LeftOut []Cell `json:"left_out"` // that cannot be, or did not fit

	// Pareto are the sides that no other one beats in both throughput and pinned
	// memory, from least pinned memory on.
	Pareto []int `json:"pareto"`
	Best   int   `json:"best"` // side of the highest throughput, -1 if none was finished

	// ByBest compares each side with the best, round by round.
	ByBest []stats.Comparison `json:"by_best"`

	cells []Cell
	base  Config
	prior *Result // that goes on
}

// NewSweep makes the grid of all axes over base. Combinations that cannot be, such
// as a ring's settings with pin off, are left out; a value that is wrong in every
// combination is an *InputError.
func NewSweep(base Config, axes []Axis) (*Sweep, error) {
	s := &Sweep{Axes: axes, LeftOut: []Cell{}, Pareto: []int{}, Best: -1, base: base}
	cells := [][]string{{}}
	for i, axis := range axes {
		if why, no := fixed[axis.Setting]; no {
			return nil, &InputError{Field: "vary", Value: axis.Setting, Problem: axis.Setting + " cannot be varied: " + why}
		}
		if slices.ContainsFunc(axes[:i], func(a Axis) bool { return a.Setting == axis.Setting }) {
			return nil, &InputError{Field: "vary", Value: axis.Setting, Problem: axis.Setting + " is varied twice"}
		}
		var grown [][]string
		for _, cell := range cells {
			for _, value := range axis.Values {
				grown = append(grown, append(slices.Clone(cell), axis.Setting+"="+value))
			}
		}
		if cells = grown; len(cells) > mostCells {
			return nil, &InputError{Field: "vary", Value: axis.Setting, Problem: fmt.Sprintf("the grid has more than %d cells; give fewer values", mostCells)}
		}
	}
	if len(axes) == 0 {
		return nil, &InputError{Field: "vary", Problem: "nothing is varied; give --vary NAME=VALUE,VALUE,... at least once"}
	}
	fits := map[string]bool{} // settings that some cell allows
	wrong := map[string]error{}
	for _, settings := range cells {
		cell := Cell{Settings: settings}
		var err error
		if cell.config, err = ParseSettings(base, settings...); err == nil {
			err = s.settle(&cell.config).Validate()
		}
		if err != nil {
			cell.Why = firstLine(err.Error())
			s.LeftOut = append(s.LeftOut, cell)
		} else {
			s.cells = append(s.cells, cell)
		}
		for _, setting := range settings {
			fits[setting] = fits[setting] || err == nil
			wrong[setting] = cmp.Or(wrong[setting], err)
		}
	}
	for _, axis := range axes {
		for _, value := range axis.Values {
			if setting := axis.Setting + "=" + value; !fits[setting] {
				return nil, ForFlag("vary", wrong[setting])
			}
		}
	}
	return s, nil
}

// SweepOf is the sweep of some cells, each with a value for the same settings, over
// base. The error is an *InputError.
func SweepOf(base Config, cells [][]string) (*Sweep, error) {
	s := &Sweep{LeftOut: []Cell{}, Pareto: []int{}, Best: -1, base: base}
	for _, settings := range cells {
		cell := Cell{Settings: settings}
		var err error
		if cell.config, err = ParseSettings(base, settings...); err != nil {
			return nil, err
		}
		if err := s.settle(&cell.config).Validate(); err != nil {
			return nil, err
		}
		s.cells = append(s.cells, cell)
		for i, setting := range settings {
			name, value, _ := strings.Cut(setting, "=")
			if i == len(s.Axes) {
				s.Axes = append(s.Axes, Axis{Setting: name})
			}
			if axis := &s.Axes[i]; !slices.Contains(axis.Values, value) {
				axis.Values = append(axis.Values, value)
			}
		}
	}
	return s, nil
}

// settle drops a ring's settings where there is none to have them, unless they
// are varied themselves.
func (s *Sweep) settle(c *Config) *Config {
	varied := func(name string) bool {
		return slices.ContainsFunc(s.Axes, func(a Axis) bool { return a.Setting == name })
	}
	if c.Pin == loader.PinOff && !varied("ring-slots") {
		c.RingSlots = 0
	}
	if !c.Pin.Pins() && !varied("host-memory") {
		c.HostMemory = cudamem.Pageable
	}
	return c
}

// ResumeSweep is the sweep of a result that was stopped, to go on where it was.
// The error is an *InputError.
func ResumeSweep(prior *Result) (*Sweep, error) {
	if prior.Kind != KindSweep || prior.Sweep == nil {
		return nil, &InputError{Field: "resume", Value: string(prior.Kind), Problem: fmt.Sprintf("the file holds a %s, not a sweep", prior.Kind)}
	}
	s := &Sweep{Axes: prior.Sweep.Axes, LeftOut: prior.Sweep.LeftOut, Pareto: []int{}, Best: -1, prior: prior}
	for i := range prior.Sides {
		s.cells = append(s.cells, Cell{Settings: strings.Fields(prior.Sides[i].Name), config: prior.Sides[i].Config})
	}
	s.base = s.cells[0].config
	return s, nil
}

// Configs are the configurations of the cells that are measured.
func (s *Sweep) Configs() []Config {
	out := make([]Config, len(s.cells))
	for i, c := range s.cells {
		out[i] = c.config
	}
	return out
}

// Names are what those cells are called, in the same order.
func (s *Sweep) Names() []string {
	out := make([]string, len(s.cells))
	for i, c := range s.cells {
		out[i] = c.name()
	}
	return out
}

// CommandLine is the command line that makes the same sweep again.
func (s *Sweep) CommandLine() string {
	if s.prior != nil {
		return s.prior.Command
	}
	words := []string{s.base.CommandLine(string(KindSweep))}
	for _, axis := range s.Axes {
		words = append(words, "--vary", quote(axis.Setting+"="+strings.Join(axis.Values, ",")))
	}
	return strings.Join(words, " ")
}

// RunSweep measures a sweep, interleaved: in each round each cell has one turn, in
// random order. See Run. save is called after each round with what was measured
// so far, which ResumeSweep takes; an error of it ends the sweep. It may be nil.
func RunSweep(ctx context.Context, sweep *Sweep, o RunOptions, save func(*Result) error) (*Result, error) {
	o.Names = sweep.Names()
	o.SpansPerLane = cmp.Or(o.SpansPerLane, manySpans)
	o.sweep, o.save = sweep, save
	return measure(ctx, KindSweep, sweep.Configs(), o)
}

// resume takes over what an earlier session measured: whole rounds, since the
// turns of a round belong together. It gives how many.
func (s *session) resume() (rounds int, err error) {
	prior := s.o.sweep.prior
	if prior == nil {
		return 0, nil
	}
	if prior.Device.ID != s.result.Device.ID || !maps.Equal(prior.Device.Model, s.result.Device.Model) || prior.Device.UUID != s.result.Device.UUID {
		return 0, &InputError{Field: "resume", Value: prior.Device.ID, Problem: fmt.Sprintf(
			"the file was measured on %s (%s), this is %s (%s)", prior.Device.ID, prior.Device.Name, s.result.Device.ID, s.result.Device.Name)}
	}
	if len(s.sides) != len(prior.Sides) {
		return 0, &InputError{Field: "resume", Value: prior.Device.ID, Problem: "memory no longer holds some of its cells: " + list(s.result.Warnings)}
	}
	rounds = s.sides[0].config.Repeats
	for i := range prior.Sides {
		rounds = min(rounds, len(prior.Sides[i].measured()))
	}
	for i, side := range s.sides {
		from := &prior.Sides[i]
		side.setups = from.Setup
		counted := 0
		for j, repeat := range from.Repeats {
			if repeat.counts() {
				counted++
			}
			if !repeat.Warmup && (!repeat.counts() || counted > rounds) {
				continue
			}
			side.repeats = append(side.repeats, repeat)
			t := from.Trace
			if t == nil || from.Typical == nil || *from.Typical != j {
				t = &trace.Trace{Lanes: []trace.LaneTrace{}, Stages: repeat.Stages, OverlapShare: repeat.OverlapShare}
			}
			side.traces = append(side.traces, t)
		}
	}
	s.result.Started, s.result.Pressure = prior.Started, prior.Pressure
	for _, warning := range prior.Warnings {
		s.warn(warning)
	}
	return rounds, nil
}

// saved hands out what was measured so far.
func (s *session) saved() error {
	if s.o.save == nil {
		return nil
	}
	r := *s.result
	r.Sides, r.Warnings = []Side{}, slices.Clone(r.Warnings)
	for _, side := range s.sides {
		r.Sides = append(r.Sides, side.summary())
	}
	r.chart(s.o.sweep)
	r.Error = "stopped between two rounds" // if it is ever read
	return s.o.save(&r)
}

// chart fills in the sweep's outcome.
func (r *Result) chart(sweep *Sweep) {
	out := &Sweep{Axes: sweep.Axes, LeftOut: slices.Clone(sweep.LeftOut), Pareto: []int{}, Best: -1, ByBest: []stats.Comparison{}}
	for i := range r.Sides {
		if m := r.Sides[i].SamplesPerS.Median; m != nil && (out.Best < 0 || *m > *r.Sides[out.Best].SamplesPerS.Median) {
			out.Best = i
		}
	}
	for _, cell := range sweep.cells {
		if !slices.ContainsFunc(r.Sides, func(s Side) bool { return s.Name == cell.name() }) {
			cell.Why = r.whyLeftOut(cell)
			out.LeftOut = append(out.LeftOut, cell)
		}
	}
	if r.Sweep = out; out.Best < 0 {
		return
	}
	for i := range r.Sides {
		out.ByBest = append(out.ByBest, stats.Speedup(r.rounds(i, out.Best)))
	}
	out.Pareto = r.pareto()
}

// whyLeftOut finds the warning that a cell was left out.
func (r *Result) whyLeftOut(cell Cell) string {
	for _, warning := range r.Warnings {
		if _, why, found := strings.Cut(warning, "("+cell.name()+") is left out: "); found {
			return why
		}
	}
	return "left out"
}

// pareto are the sides that no other one beats with as little pinned memory. One
// that pins more has to be faster for sure, by the same rounds.
func (r *Result) pareto() []int {
	var order []int
	for i := range r.Sides {
		if r.Sides[i].SamplesPerS.Median != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.Sides[a].Setup.PinnedBytes, r.Sides[b].Setup.PinnedBytes),
			cmp.Compare(*r.Sides[b].SamplesPerS.Median, *r.Sides[a].SamplesPerS.Median))
	})
	front := []int{}
	for _, i := range order {
		if len(front) > 0 {
			last := front[len(front)-1]
			c := stats.Speedup(r.rounds(i, last))
			sure := c.Verdict == stats.Faster || c.Verdict == stats.CannotTell && *r.Sides[i].SamplesPerS.Median > *r.Sides[last].SamplesPerS.Median
			if !sure {
				continue
			}
		}
		front = append(front, i)
	}
	return front
}

// sweepSentence is the answer of a sweep, in words.
func (r *Result) sweepSentence() string {
	s := r.Sweep
	if s == nil || s.Best < 0 {
		return "no round was finished: there is nothing to report."
	}
	best := &r.Sides[s.Best]
	text := fmt.Sprintf("the best of %s is %s with %s samples/s", plural(int64(len(r.Sides)), "cell"), best.Name, units.SampleRate(*best.SamplesPerS.Median))
	if i := best.SamplesPerS.Interval; i != nil {
		text += fmt.Sprintf(" (95 %% interval %s..%s)", units.SampleRate(i.Lo), units.SampleRate(i.Hi))
	}
	text += r.price(best)
	if alike := s.alike(); alike > 0 {
		text += fmt.Sprintf("; %s cannot be told apart from it", plural(int64(alike), "other cell"))
	}
	if i := r.cheapest(); i != s.Best {
		text += fmt.Sprintf("; within 5 %% of it the least pinned memory, %s, is that of %s", units.Bytes(r.Sides[i].Setup.PinnedBytes), r.Sides[i].Name)
	}
	return text + "."
}

// alike is how many cells cannot be told apart from the best.
func (s *Sweep) alike() (n int) {
	for i, c := range s.ByBest {
		if i != s.Best && c.Ratio != nil && c.Verdict != stats.Slower {
			n++
		}
	}
	return n
}

// cheapest is the side that pins least among those within 5 % of the best.
func (r *Result) cheapest() int {
	const within = 0.95
	at := r.Sweep.Best
	for i := range r.Sides {
		c := r.Sweep.ByBest[i]
		if c.Ratio != nil && *c.Ratio >= within && r.Sides[i].Setup.PinnedBytes < r.Sides[at].Setup.PinnedBytes {
			at = i
		}
	}
	return at
}
