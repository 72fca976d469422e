package report

import (
	"gonum.org/v1/plot"

	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// QueueDepth shows how many batches were ready each time the trainer asked for
// one. 0 means that the trainer had to wait.
func QueueDepth(look Look, q *trace.QueueSummary, w Window) *Chart {
	c := &Chart{look: look, title: look.say(queueTitle)}
	if q == nil || len(q.Points) == 0 {
		c.empty = true
		return c
	}
	if !w.set() {
		w = Window{q.Points[0].At, q.Points[len(q.Points)-1].At}
	}
	var p points
	for i, point := range q.Points {
		// The one before the window is in force at its start.
		if point.At > w.To || i+1 < len(q.Points) && q.Points[i+1].At < w.From {
			continue
		}
		p.xs, p.ys = append(p.xs, float64(point.At-w.From)), append(p.ys, float64(point.Depth))
	}
	if len(p.xs) == 0 {
		c.empty = true
		return c
	}
	_, most := bounds(p.ys)
	c.x = w.axis(look)
	c.y = axis{title: look.say(queueAxis), whole: true, min: 0, max: max(1, most) * 1.1}
	ink := look.line(0)
	c.plotters = []plot.Plotter{curve{points: p, ink: ink, width: 1.1, steps: true, under: true}}
	c.notes = append(c.notes, look.say(queueNote, units.Count(q.Empty), units.Count(q.Count), units.Number(q.Mean, 1)))
	if q.KeptEvery > 1 {
		c.notes = append(c.notes, look.say(keptPoints, units.Count(q.KeptEvery), "1,024"))
	}
	return c
}

// noteLeftOut says how many points were no numbers.
func (c *Chart) noteLeftOut(n int) {
	if n > 0 {
		c.notes = append(c.notes, c.look.say(leftOut, units.Count(int64(n))))
	}
}
