package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"

	"pinscope/bench/gpuwatch"
	"pinscope/bench/trace"
)

// Utilization is what a driver's slow counter said at a moment: a share, 0 to 1.
type Utilization struct {
	At    time.Duration // on the run's clock, rising
	Share float64
}

// UtilizationOf takes from what a driver said how long a kernel ran; where it said
// nothing there is no point.
func UtilizationOf(s *gpuwatch.Series) []Utilization {
	var out []Utilization
	if s == nil {
		return out
	}
	for i := range s.Samples {
		if percent := s.Samples[i].GPUPercent; percent != nil {
			out = append(out, Utilization{s.Samples[i].At, float64(*percent) / 100})
		}
	}
	return out
}

// GPUBusy shows how busy the engines were, batch by batch, from the events of
// copies and steps: the time an engine worked between the starts of one batch
// and of the next, by that time. A driver's counter, where there is one, lies
// over it as a dashed line; it is a mean over up to a second and misses what
// happens from batch to batch.
func GPUBusy(look Look, t *trace.Trace, slow []Utilization, w Window) *Chart {
	c := &Chart{look: look, title: look.say(busyTitle)}
	if !w.set() {
		w = Whole(t)
	}
	if t == nil || !w.set() {
		c.empty = true
		return c
	}
	c.x = w.axis(look)
	c.y = axis{title: look.say(busyAxis), unit: inPercent, min: 0, max: 1.04}
	c.empty = true
	for _, engine := range []struct {
		kind trace.LaneKind
		name phrase
		ink  int
	}{{trace.ComputeEngine, computeBusy, int(trace.Step)}, {trace.CopyEngine, copyBusy, int(trace.HtoD)}} {
		p := busyPerBatch(t, engine.kind, w)
		if len(p.xs) == 0 {
			continue
		}
		c.empty = false
		ink := stageInk[engine.ink]
		c.plotters = append(c.plotters, curve{points: p, ink: ink, width: 1.1, steps: true, under: engine.kind == trace.ComputeEngine})
		c.legend = append(c.legend, key{text: look.say(engine.name), ink: ink, line: true})
	}
	c.addSlow(slow, w)
	return c
}

func (c *Chart) addSlow(slow []Utilization, w Window) {
	var xs, ys []float64
	for i, s := range slow {
		// Those next to the window too: the line goes through it.
		if i+1 < len(slow) && slow[i+1].At < w.From || i > 0 && slow[i-1].At > w.To {
			continue
		}
		xs, ys = append(xs, float64(s.At-w.From)), append(ys, s.Share)
	}
	p, leftOut := finite(xs, ys)
	c.noteLeftOut(leftOut)
	if len(p.xs) == 0 {
		return
	}
	c.empty = false
	ink := c.look.theme().ink
	c.plotters = append(c.plotters, plot.Plotter(curve{points: p, ink: ink, width: 1, dashed: true}))
	c.legend = append(c.legend, key{text: c.look.say(slowBusy), ink: ink, line: true, dashed: true})
}

// busyPerBatch is a step for each batch that is followed by the next one on the
// engine's lanes; where batches in between were not kept there is a gap.
func busyPerBatch(t *trace.Trace, kind trace.LaneKind, w Window) points {
	var all []trace.Span
	for i := range t.Lanes {
		if t.Lanes[i].Kind == kind {
			all = append(all, t.Lanes[i].Spans...)
		}
	}
	byStart := func(a, b trace.Span) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(all, byStart) {
		slices.SortStableFunc(all, byStart)
	}
	var p points
	for i := 0; i < len(all); {
		batch, busy := all[i].Batch, time.Duration(0)
		j, end := i, all[i].Start
		for ; j < len(all) && all[j].Batch == batch; j++ {
			busy += max(0, all[j].End()-max(end, all[j].Start))
			end = max(end, all[j].End())
		}
		next, share := end, math.NaN()
		if j < len(all) {
			next = all[j].Start
			if all[j].Batch == batch+1 && next > all[i].Start {
				share = min(1, float64(busy)/float64(next-all[i].Start))
			}
		}
		// The last batch has no next one to measure its period by.
		if next >= w.From && all[i].Start <= w.To {
			p.xs = append(p.xs, float64(all[i].Start-w.From))
			p.ys = append(p.ys, share)
			if j == len(all) || math.IsNaN(share) || next > w.To {
				p.xs, p.ys = append(p.xs, float64(next-w.From)), append(p.ys, share)
			}
		}
		i = j
	}
	return p
}
