package report

import (
	"cmp"
	"slices"

	"pinscope/bench/stats"
)

// ScalingLine is throughput over the number of workers, for one way of pinning
// or whatever else the lines differ in.
type ScalingLine struct {
	Name   string
	Points []ScalingPoint // in any order
}

// ScalingPoint is one run. A summary without a median is not drawn.
type ScalingPoint struct {
	Workers     int
	SamplesPerS stats.Summary
}

// WorkerScaling shows throughput by workers with intervals, and beside the first
// line what it would be if each worker brought as much as the first.
func WorkerScaling(look Look, lines []ScalingLine) *Chart {
	c := &Chart{look: look, title: look.say(scalingTitle)}
	lo, hi := bounds()
	most, leftOut := 1, 0
	var ideal *points
	for i, line := range lines {
		sorted := slices.Clone(line.Points)
		slices.SortStableFunc(sorted, func(a, b ScalingPoint) int { return cmp.Compare(a.Workers, b.Workers) })
		var p points
		w := whiskers{ink: look.line(i)}
		for _, at := range sorted {
			m := at.SamplesPerS.Median
			if m == nil {
				continue
			}
			if !drawable(*m) || at.Workers < 0 {
				leftOut++
				continue
			}
			p.xs, p.ys = append(p.xs, float64(at.Workers)), append(p.ys, *m)
			most = max(most, at.Workers)
			if in := at.SamplesPerS.Interval; in != nil {
				w.xs, w.lo, w.hi = append(w.xs, float64(at.Workers)), append(w.lo, in.Lo), append(w.hi, in.Hi)
			}
		}
		if len(p.xs) == 0 {
			continue
		}
		l, h := bounds(p.ys, w.lo, w.hi)
		lo, hi = min(lo, l), max(hi, h)
		if ideal == nil {
			ideal = proportional(p)
		}
		c.plotters = append(c.plotters, w, curve{points: p, ink: w.ink, width: 1.2}, dots{p, w.ink, 2.4, mark(i)})
		c.legend = append(c.legend, key{text: line.Name, ink: w.ink, line: true, mark: mark(i)})
	}
	c.noteLeftOut(leftOut)
	if lo > hi {
		c.empty = true
		return c
	}
	if ideal != nil && len(ideal.xs) > 0 {
		c.plotters = append(c.plotters, curve{points: *ideal, ink: look.theme().muted, width: 0.8, dashed: true})
		c.legend = append(c.legend, key{text: look.say(idealKey), ink: look.theme().muted, line: true, dashed: true})
	}
	c.x = axis{title: look.say(workersAxis), whole: true, min: -0.3, max: float64(most) * 1.04}
	c.y = axis{title: look.say(throughputAxis)}
	c.y.span(min(lo, 0), hi)
	return c
}

// proportional is the straight line through 0 and the first point with workers.
func proportional(p points) *points {
	for i, workers := range p.xs {
		if workers > 0 {
			last := p.xs[len(p.xs)-1]
			if i == len(p.xs)-1 {
				return nil
			}
			return &points{[]float64{0, last}, []float64{0, p.ys[i] / workers * last}}
		}
	}
	return nil
}
