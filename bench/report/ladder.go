package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench/units"
)

// Rung is one step of a ladder: what was switched on, and how fast the loop then was.
type Rung struct {
	Name        string
	SamplesPerS float64
	Lo, Hi      float64 // 95 % interval of it; both 0 or NaN: none
}

// Ladder shows a comparison that switches one thing on at a time: each bar
// reaches from the throughput before to the throughput after, with the change;
// the first and last are whole.
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
			b.from, b.ink, b.text = 0, whole, units.Number(r.SamplesPerS, 0)
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
	ink        interface {
		RGBA() (r, g, b, a uint32)
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
