package report

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench"
	"pinscope/bench/units"
)

// Rung is one step of a ladder: what was switched on, and how fast the loop then was.
type Rung struct {
	Name        string
	SamplesPerS float64
	Lo, Hi      float64 // 95 % interval of it; both 0 or NaN: none
}

// RungsOf takes the rungs of a result's ladder, those climbed, in their order. A
// rung without a throughput is NaN and will be counted as left out.
func RungsOf(r *bench.Result) []Rung {
	aside := map[int]bool{}
	if r.Ladder != nil {
		for _, step := range r.Ladder.Steps {
			aside[step.Side] = step.Aside
		}
	}
	var rungs []Rung
	for i := range r.Sides {
		if aside[i] {
			continue
		}
		s := &r.Sides[i]
		rung := Rung{Name: s.Name, SamplesPerS: orNaN(s.SamplesPerS.Median)}
		if in := s.SamplesPerS.Interval; in != nil {
			rung.Lo, rung.Hi = in.Lo, in.Hi
		}
		rungs = append(rungs, rung)
	}
	return rungs
}

// Rates shows the median throughput of each side as a bar with its interval: the
// runs of a sweep.
func Rates(look Look, sides []bench.Side) *Chart {
	c := &Chart{look: look, title: look.say(ratesTitle)}
	intervals := flatWhiskers{ink: look.theme().ink}
	var all []bar
	var names []string
	most, missing := 0.0, 0
	for i := len(sides) - 1; i >= 0; i-- {
		rate := orNaN(sides[i].SamplesPerS.Median)
		if !drawable(rate) || rate < 0 {
			missing++
			continue
		}
		at := float64(len(names))
		names = append(names, sideTitle(&sides[i]))
		all = append(all, bar{to: rate, at: at, ink: look.line(0), text: units.SampleRate(rate), beside: true})
		most = max(most, rate)
		if in := sides[i].SamplesPerS.Interval; in != nil && drawable(in.Lo) && drawable(in.Hi) {
			intervals.add(at, in.Lo, in.Hi)
			most = max(most, in.Hi)
		}
	}
	c.noteLeftOut(missing)
	if len(names) == 0 {
		c.empty = true
		return c
	}
	c.keyOf(intervals)
	c.x = axis{title: look.say(throughputAxis)}
	c.x.spanExactly(0, max(most, 1)*1.1)
	c.y = axis{names: names, min: -0.5, max: float64(len(names)) - 0.5}
	c.plotters = []plot.Plotter{bars{look: look, all: all, thick: 0.6}, intervals}
	return c
}

// Ladder shows a comparison that switches one thing on at a time: each bar
// reaches from the throughput before to the throughput after, with the change;
// the first reaches from 0.
func Ladder(look Look, rungs []Rung) *Chart {
	c := &Chart{look: look, title: look.say(ladderTitle)}
	var good []Rung
	for _, r := range rungs {
		if drawable(r.SamplesPerS) && r.SamplesPerS >= 0 {
			good = append(good, r)
		}
	}
	c.noteLeftOut(len(rungs) - len(good))
	if len(good) == 0 {
		c.empty = true
		return c
	}
	th := look.theme()
	whole, gain, loss := mix(th.ground, th.muted, 0.6), look.line(0), vermilion
	var all []bar
	var intervals flatWhiskers
	intervals.ink = th.ink
	names := make([]string, len(good))
	most, before := 0.0, 0.0
	met := [2]bool{}
	for i, r := range good {
		at := float64(len(good) - 1 - i)
		names[len(good)-1-i] = r.Name
		b := bar{from: before, to: r.SamplesPerS, at: at, ink: gain, beside: true}
		switch {
		case i == 0:
			b.from, b.ink, b.text = 0, whole, units.SampleRate(r.SamplesPerS)
		case before > 0:
			b.text = units.SignedPercent(r.SamplesPerS/before - 1)
			if r.SamplesPerS < before {
				b.ink = loss
			}
		}
		if i > 0 {
			met[index(r.SamplesPerS < before)] = true
		}
		most = max(most, r.SamplesPerS)
		if drawable(r.Lo) && drawable(r.Hi) && r.Hi > r.Lo {
			intervals.add(at, r.Lo, r.Hi)
			most = max(most, r.Hi)
		}
		all = append(all, b)
		before = r.SamplesPerS
	}
	if met[0] {
		c.legend = append(c.legend, key{text: look.say(gainKey), ink: gain})
	}
	if met[1] {
		c.legend = append(c.legend, key{text: look.say(lossKey), ink: loss})
	}
	c.keyOf(intervals)
	c.x = axis{title: look.say(throughputAxis)}
	c.x.spanExactly(0, most*1.18)
	c.y = axis{names: names, min: -0.5, max: float64(len(names)) - 0.5}
	c.plotters = []plot.Plotter{bars{look: look, all: all, thick: 0.6}, intervals}
	return c
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flatWhiskers are intervals along x, below the middle of their place so that
// they do not strike through the bar's text.
type flatWhiskers struct {
	at, lo, hi []float64
	ink        color.Color
}

// keyOf names intervals in the legend, if there are any.
func (c *Chart) keyOf(w flatWhiskers) {
	if len(w.at) > 0 {
		c.legend = append(c.legend, key{text: c.look.say(intervalOnly), ink: c.look.theme().ink, line: true})
	}
}

func (w *flatWhiskers) add(at, lo, hi float64) {
	w.at, w.lo, w.hi = append(w.at, at), append(w.lo, lo), append(w.hi, hi)
}

func (w flatWhiskers) Plot(to draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&to)
	style := draw.LineStyle{Color: w.ink, Width: 0.7}
	for i, at := range w.at {
		lo, hi, middle := x(w.lo[i]), min(x(w.hi[i]), to.Max.X), y(at-0.36)
		to.StrokeLine2(style, lo, middle, hi, middle)
		to.StrokeLine2(style, lo, middle-1.5, lo, middle+1.5)
		to.StrokeLine2(style, hi, middle-1.5, hi, middle+1.5)
	}
}
