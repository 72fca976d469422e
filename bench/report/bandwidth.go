package report

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench/bandwidth"
	"pinscope/bench/units"
)

// Bandwidth is how fast copies of different sizes were.
type Bandwidth struct {
	Lines    []BandwidthLine
	LinkGBps *float64 // the most the link carries, GB (1e9 bytes) a second; nil: unknown
}

// BandwidthLine is one kind of memory, or one direction.
type BandwidthLine struct {
	Name   string
	Points []BandwidthPoint // in any order
}

// BandwidthPoint is one size. A nil rate is a copy that was not measured: it is
// not drawn and not counted as left out.
type BandwidthPoint struct {
	Bytes int64
	GBps  *float64
}

// BandwidthOf takes one direction of a bandwidth test: the median rate of each
// kind of memory at each size.
func BandwidthOf(r *bandwidth.Result, d bandwidth.Direction) Bandwidth {
	b := Bandwidth{LinkGBps: r.Link.LimitGBps}
	at := map[string]int{}
	for i := range r.Cells {
		cell := &r.Cells[i]
		if cell.Direction != d {
			continue
		}
		name := cell.Kind.String()
		if _, known := at[name]; !known {
			at[name] = len(b.Lines)
			b.Lines = append(b.Lines, BandwidthLine{Name: name})
		}
		line := &b.Lines[at[name]]
		line.Points = append(line.Points, BandwidthPoint{cell.Bytes, cell.GBps.Median})
	}
	return b
}

// plausibleOver is how far over the link's limit a rate may be before it is
// marked: limits are rounded, clocks are not perfect.
const plausibleOver = 1.02

// BandwidthBySize shows each kind of memory as a line over the size of a copy,
// both axes logarithmic, and the link's limit. Rates of 0 have no place on such
// an axis: they are left out, and if there is nothing else the axis is linear.
// Rates above the link's limit are crossed out.
func BandwidthBySize(look Look, data Bandwidth) *Chart {
	c := &Chart{look: look, title: look.say(bandwidthTitle)}
	c.x = axis{title: look.say(sizeAxis), log: true, binary: true}
	c.y = axis{title: look.say(bandwidthAxis), unit: inUnit("GB/s"), log: true}
	lines, leftOut, zeros := data.lines()
	if len(lines) == 0 && zeros > 0 {
		c.y.log = false
		lines, leftOut, zeros = data.linesFrom(0)
	}
	c.noteLeftOut(leftOut)
	if len(lines) == 0 {
		c.empty = true
		return c
	}
	if zeros > 0 {
		c.notes = append(c.notes, look.say(zerosLeftOut, units.Count(int64(zeros))))
	}
	var xs, ys [][]float64
	var wrong points
	for i, line := range lines {
		ink, shape := look.line(i), mark(i)
		c.plotters = append(c.plotters, curve{points: line.points, ink: ink, width: 1.2}, dots{line.points, ink, 2.2, shape})
		c.legend = append(c.legend, key{text: line.name, ink: ink, line: true, mark: shape})
		xs, ys = append(xs, line.xs), append(ys, line.ys)
		for j, rate := range line.ys {
			if data.LinkGBps != nil && rate > *data.LinkGBps*plausibleOver {
				wrong.xs, wrong.ys = append(wrong.xs, line.xs[j]), append(wrong.ys, rate)
			}
		}
	}
	c.x.span(bounds(xs...))
	lo, hi := bounds(ys...)
	if limit := data.LinkGBps; limit != nil && drawable(*limit) && *limit > 0 {
		lo, hi = min(lo, *limit), max(hi, *limit)
		c.plotters = append(c.plotters, level{at: *limit, ink: look.theme().ink, dashed: true})
		c.legend = append(c.legend, key{text: look.say(linkLimit, units.GBps(*limit)), ink: look.theme().ink, line: true, dashed: true})
	}
	c.y.span(lo, hi)
	if len(wrong.xs) > 0 {
		c.plotters = append(c.plotters, dots{wrong, look.theme().ink, 4.5, draw.CrossGlyph{}})
		c.notes = append(c.notes, look.say(aboveLimit, units.Count(int64(len(wrong.xs)))))
	}
	return c
}

type namedPoints struct {
	points
	name string
}

// lines are the rates above 0.
func (b Bandwidth) lines() (lines []namedPoints, leftOut, zeros int) {
	return b.linesFrom(1e-12)
}

// linesFrom are the rates of at least so much; fewer than that are zeros.
func (b Bandwidth) linesFrom(least float64) (lines []namedPoints, leftOut, zeros int) {
	for _, line := range b.Lines {
		sorted := slices.Clone(line.Points)
		slices.SortStableFunc(sorted, func(a, b BandwidthPoint) int { return cmp.Compare(a.Bytes, b.Bytes) })
		p := namedPoints{name: line.Name}
		for _, at := range sorted {
			switch {
			case at.GBps == nil:
			case at.Bytes <= 0 || !drawable(*at.GBps) || *at.GBps < 0:
				leftOut++
			case *at.GBps < least:
				zeros++
			default:
				p.xs, p.ys = append(p.xs, float64(at.Bytes)), append(p.ys, *at.GBps)
			}
		}
		if len(p.xs) > 0 {
			lines = append(lines, p)
		}
	}
	return lines, leftOut, zeros
}
