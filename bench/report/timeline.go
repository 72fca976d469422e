package report

import (
	"math"
	"slices"

	"gonum.org/v1/plot"

	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// Timeline shows what each lane did when: a row for each worker, the pin thread,
// the trainer and the engines, in the colours of the stages. A wait is pale and
// hatched. Spans carry the number of their batch where there is room; those
// shorter than a dot are merged, a dot's width of them into one, so that any
// number of spans is drawn in bounded memory.
func Timeline(look Look, t *trace.Trace, w Window) *Chart {
	c := &Chart{look: look, title: look.say(timelineTitle)}
	if !w.set() {
		w = Whole(t)
	}
	if t == nil || !w.set() {
		c.empty = true
		return c
	}
	lanes := lanesInOrder(t)
	c.x = w.axis(look)
	c.y = axis{min: -0.5, max: float64(len(lanes)) - 0.5, names: make([]string, len(lanes))}
	var met [trace.Stages]bool
	thinned, merged := int64(1), false
	for i, lane := range lanes {
		c.y.names[len(lanes)-1-i] = look.lane(lane.Kind, lane.Index)
		thinned = max(thinned, lane.KeptEvery)
		for _, s := range lane.Spans {
			if s.End() >= w.From && s.Start <= w.To && int(s.Stage) < trace.Stages {
				met[s.Stage] = true
				merged = merged || s.Dur < (w.To-w.From)/4000
			}
		}
	}
	for s := range trace.Stage(trace.Stages) {
		if met[s] {
			c.legend = append(c.legend, key{text: look.stage(s), ink: stageInk[s], hatched: isWait(s)})
		}
	}
	if thinned > 1 && firstBatch(lanes, w) < t.CompleteFrom {
		c.notes = append(c.notes, look.say(keptBlocks, units.Count(thinned), units.Count(t.BatchBlock)))
	}
	if merged {
		c.notes = append(c.notes, look.say(pixelNote))
	}
	c.plotters = []plot.Plotter{spans{look: look, lanes: lanes, window: w}}
	return c
}

func lanesInOrder(t *trace.Trace) []*trace.LaneTrace {
	lanes := make([]*trace.LaneTrace, len(t.Lanes))
	for i := range t.Lanes {
		lanes[i] = &t.Lanes[i]
	}
	slices.SortStableFunc(lanes, func(a, b *trace.LaneTrace) int {
		if a.Kind != b.Kind {
			return int(a.Kind) - int(b.Kind)
		}
		return a.Index - b.Index
	})
	return lanes
}

// firstBatch is the lowest batch in sight.
func firstBatch(lanes []*trace.LaneTrace, w Window) int64 {
	first := int64(math.MaxInt64)
	for _, lane := range lanes {
		for _, s := range lane.Spans {
			if s.Batch >= 0 && s.End() >= w.From && s.Start <= w.To {
				first = min(first, s.Batch)
			}
		}
	}
	return first
}
