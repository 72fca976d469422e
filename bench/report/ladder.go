package report

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench"
	"pinscope/bench/stats"
	"pinscope/bench/units"
)

// Rung is one step of a ladder: what was switched on, and how fast the loop then was.
type Rung struct {
	Name        string
	SamplesPerS float64
	Lo, Hi      float64 // 95 % interval of it; both 0 or NaN: none

	Step *stats.Comparison // by the rung before; nil for the first
}

// RungsOf takes the rungs of a result's ladder, those climbed, in their order. A
// rung without a throughput is NaN and will be counted as left out.
func RungsOf(r *bench.Result) []Rung {
	steps := map[int]*bench.LadderStep{}
	if r.Ladder != nil {
		for i := range r.Ladder.Steps {
			steps[r.Ladder.Steps[i].Side] = &r.Ladder.Steps[i]
		}
	}
	var rungs []Rung
	for i := range r.Sides {
		step := steps[i]
		if step != nil && step.Aside {
			continue
		}
		s := &r.Sides[i]
		rung := Rung{Name: s.Name, SamplesPerS: orNaN(s.SamplesPerS.Median)}
		if step != nil {
			rung.Step = &step.Comparison
		}
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
// reaches from the throughput before to the throughput after, with the change that
// the rounds show, in the colour of what can be claimed of it; the first reaches
// from 0.
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
	var all []bar
	var intervals flatWhiskers
	intervals.ink = th.ink
	names := make([]string, len(good))
	most, before := 0.0, 0.0
	met := [len(stepStyles)]bool{}
	for i, r := range good {
		at := float64(len(good) - 1 - i)
		names[len(good)-1-i] = r.Name
		b := bar{from: before, to: r.SamplesPerS, at: at, beside: true}
		if i == 0 {
			b.ink, b.text = mix(th.ground, th.muted, 0.3), units.SampleRate(r.SamplesPerS)
		} else {
			claim := r.claim()
			met[claim] = true
			b.ink, b.hatched = look.stepInk(claim), stepStyles[claim].hatched
			if r.Step != nil && r.Step.Ratio != nil {
				b.text = units.SignedPercent(*r.Step.Ratio - 1)
			}
		}
		most = max(most, r.SamplesPerS)
		if drawable(r.Lo) && drawable(r.Hi) && r.Hi > r.Lo {
			intervals.add(at, r.Lo, r.Hi)
			most = max(most, r.Hi)
		}
		all = append(all, b)
		before = r.SamplesPerS
	}
	for _, claim := range []stats.Verdict{stats.Faster, stats.Slower, stats.NoDifference, stats.CannotTell} {
		if met[claim] {
			c.legend = append(c.legend, key{text: look.say(stepStyles[claim].key), ink: look.stepInk(claim), hatched: stepStyles[claim].hatched})
		}
	}
	c.keyOf(intervals)
	c.x = axis{title: look.say(throughputAxis)}
	c.x.spanExactly(0, most*1.18)
	c.y = axis{names: names, min: -0.5, max: float64(len(names)) - 0.5}
	c.plotters = []plot.Plotter{bars{look: look, all: all, thick: 0.6}, intervals}
	return c
}

// stepStyles is how the step of a ladder is drawn by what can be claimed of it.
var stepStyles = [...]struct {
	key     phrase
	hatched bool
}{
	stats.CannotTell:   {key: untoldKey, hatched: true},
	stats.NoDifference: {key: evenKey},
	stats.Faster:       {key: gainKey},
	stats.Slower:       {key: lossKey},
}

func (l Look) stepInk(claim stats.Verdict) color.NRGBA {
	switch claim {
	case stats.Faster:
		return l.line(0)
	case stats.Slower:
		return vermilion
	default:
		return grey
	}
}

// claim is what can be said of the rung by the one before. A file may say anything.
func (r *Rung) claim() stats.Verdict {
	if r.Step == nil || int(r.Step.Verdict) >= len(stepStyles) {
		return stats.CannotTell
	}
	return r.Step.Verdict
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
