package report

import (
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench"
	"pinscope/bench/stats"
	"pinscope/bench/units"
)

// SpeedUp shows how much faster B was than A in each pair of repeats, in the
// order they were run, with their median and its interval. The line at 0 is no
// difference.
func SpeedUp(look Look, cmp *stats.Comparison) *Chart {
	c := &Chart{look: look, title: look.say(speedUpTitle)}
	var xs, ys []float64
	if cmp != nil {
		for i, ratio := range cmp.Ratios {
			xs, ys = append(xs, float64(i+1)), append(ys, ratio-1)
		}
	}
	p, leftOut := finite(xs, ys)
	c.noteLeftOut(leftOut)
	if len(p.xs) == 0 {
		c.empty = true
		return c
	}
	c.x = axis{title: look.say(pairAxis), whole: true, min: 0.5, max: float64(len(xs)) + 0.5}
	c.y = axis{title: look.say(speedUpAxis), unit: inPercent}
	lo, hi := bounds(p.ys, []float64{0})
	ink := look.side(1)
	c.legend = append(c.legend, key{text: look.say(everyPair), ink: ink, mark: draw.BoxGlyph{}})
	if in := cmp.Interval; in != nil && drawable(in.Lo) && drawable(in.Hi) {
		lo, hi = bounds([]float64{lo, hi, in.Lo - 1, in.Hi - 1})
		c.plotters = append(c.plotters, band{in.Lo - 1, in.Hi - 1, ink})
		c.legend = append(c.legend, key{text: look.say(intervalLevel, levelText(in.Level), units.SignedPercent(in.Lo-1),
			units.SignedPercent(in.Hi-1)), ink: mix(look.theme().ground, ink, 0.3)})
	} else {
		c.notes = append(c.notes, look.say(noInterval, stats.LeastForInterval))
	}
	muted := look.theme().muted
	c.plotters = append(c.plotters, level{at: 0, ink: muted, dashed: true})
	if cmp.Ratio != nil && drawable(*cmp.Ratio) {
		c.plotters = append(c.plotters, level{at: *cmp.Ratio - 1, ink: ink})
		c.legend = append(c.legend, key{text: look.say(medianKey, units.SignedPercent(*cmp.Ratio-1)), ink: ink, line: true})
	}
	c.legend = append(c.legend, key{text: look.say(noDifference), ink: muted, line: true, dashed: true})
	margin := max(hi/2-lo/2, 0.005) * 0.3
	c.y.spanExactly(lo-margin, hi+margin)
	c.plotters = append(c.plotters, dots{p, ink, 2.6, draw.BoxGlyph{}})
	return c
}

// levelText is what may be claimed: 95 %, or the level of an interval that does
// not reach it.
func levelText(level float64) string {
	return units.Number(100*min(level, stats.Level), 0) + " %"
}

// Throughput shows every repeat of every side in the order they were run, warm-up
// hollow, with the median and its interval of those that count.
func Throughput(look Look, sides []bench.Side) *Chart {
	c := &Chart{look: look, title: look.say(throughputTitle)}
	lo, hi := bounds()
	last, missing, anyWarm := 1.0, 0, false
	var intervals []whiskers
	for i := range sides {
		side := &sides[i]
		ink, shape := look.side(i), mark(i)
		var counted, warm points
		for _, r := range side.Repeats {
			if r.SamplesPerS == nil || !drawable(*r.SamplesPerS) {
				missing++
				continue
			}
			p := &counted
			if r.Warmup {
				p = &warm
			}
			p.xs, p.ys = append(p.xs, float64(r.Position+1)), append(p.ys, *r.SamplesPerS)
			last = max(last, float64(r.Position+1))
		}
		l, h := bounds(counted.ys, warm.ys)
		lo, hi = min(lo, l), max(hi, h)
		if len(counted.xs)+len(warm.xs) == 0 {
			continue
		}
		if in := side.SamplesPerS.Interval; in != nil && drawable(in.Lo) && drawable(in.Hi) {
			intervals = append(intervals, whiskers{lo: []float64{in.Lo}, hi: []float64{in.Hi}, ink: ink})
			lo, hi = min(lo, in.Lo), max(hi, in.Hi)
		}
		if m := side.SamplesPerS.Median; m != nil && drawable(*m) {
			c.plotters = append(c.plotters, level{at: *m, ink: ink})
		}
		c.plotters = append(c.plotters, dots{counted, ink, 2.4, shape}, dots{warm, ink, 2.4, hollow(i)})
		c.legend = append(c.legend, key{text: sideTitle(side), ink: ink, line: true, mark: shape})
		anyWarm = anyWarm || len(warm.xs) > 0
	}
	if lo > hi {
		c.empty = true
		return c
	}
	muted := look.theme().muted
	// The intervals stand in a margin of their own, behind the last repeat.
	step := max(1, last/24)
	for i := range intervals {
		intervals[i].xs = []float64{last + 0.5 + step*float64(i+1)}
		c.plotters = append(c.plotters, intervals[i])
	}
	c.legend = append(c.legend, key{text: look.say(medianAndInterval), ink: muted, line: true})
	if anyWarm {
		c.legend = append(c.legend, key{text: look.say(warmupKey), ink: muted, mark: draw.RingGlyph{}})
	}
	if missing > 0 {
		c.notes = append(c.notes, look.say(notCounted, units.Count(int64(missing))))
	}
	c.x = axis{title: look.say(repeatAxis), whole: true, min: 0.5, max: last + 0.5 + step*(float64(len(intervals))+0.5), last: last}
	c.y = axis{title: look.say(throughputAxis)}
	c.y.span(lo, hi)
	return c
}

// hollow is the mark of a side with nothing inside.
func hollow(n int) draw.GlyphDrawer {
	return []draw.GlyphDrawer{draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}[n%3]
}

// sideTitle is a side's letter and what sets it apart.
func sideTitle(s *bench.Side) string {
	name := s.Name
	if name == "" {
		name = s.Config.Summary()
	}
	if s.Label == "" {
		return name
	}
	return s.Label + ": " + name
}
