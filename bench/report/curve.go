package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curve is a line through points, or steps that hold each value until the next.
// However many points there are, a dot's width of them costs four.
type curve struct {
	points
	ink    color.NRGBA
	width  vg.Length
	dashed bool
	steps  bool
	under  bool // fill what lies below
}

func (l curve) Plot(to draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&to)
	column := pixel(to)
	style := lineStyle(l.ink, l.width, l.dashed)
	for _, piece := range l.pieces() {
		line := thin(piece, x, y, column, l.steps)
		if l.under && len(line) > 1 {
			l.fillUnder(to, line)
		}
		if len(line) == 1 {
			to.DrawGlyph(draw.GlyphStyle{Color: l.ink, Radius: 1.5, Shape: draw.CircleGlyph{}}, line[0])
			continue
		}
		for _, clipped := range to.ClipLinesXY(line) {
			stroke(to, style, clipped)
		}
	}
}

// Lines longer than this are drawn in parts, for the reason of inParts.
const mostPoints = 48

// fillUnder fills what lies below a line.
func (l curve) fillUnder(to draw.Canvas, line []vg.Point) {
	for len(line) > 1 {
		part := line
		if len(line) > 4*mostPoints {
			part = line[:mostPoints]
		}
		area := append([]vg.Point{{X: part[0].X, Y: to.Min.Y}}, part...)
		area = append(area, vg.Point{X: part[len(part)-1].X, Y: to.Min.Y})
		to.FillPolygon(paleOf(l.ink), to.ClipPolygonXY(area))
		line = line[len(part)-1:]
	}
}

// stroke draws a line in parts that overlap by a segment, so that corners stay
// whole; dashes go on from part to part.
func stroke(to draw.Canvas, style draw.LineStyle, line []vg.Point) {
	for len(line) > 1 {
		part := line
		if len(line) > mostPoints {
			part = line[:mostPoints]
		}
		to.StrokeLines(style, part)
		next := len(part) - 2
		if len(part) == len(line) {
			return
		}
		if len(style.Dashes) > 0 {
			next++
			for i := 1; i < len(part); i++ {
				style.DashOffs += vg.Length(math.Hypot(float64(part[i].X-part[i-1].X), float64(part[i].Y-part[i-1].Y)))
			}
		}
		line = line[next:]
	}
}

func paleOf(c color.NRGBA) color.NRGBA {
	c.A = 70
	return c
}

// pieces are the stretches between values that are missing.
func (l curve) pieces() []points {
	var out []points
	start := -1
	for i := range l.xs {
		good := drawable(l.xs[i]) && drawable(l.ys[i])
		switch {
		case good && start < 0:
			start = i
		case !good && start >= 0:
			out = append(out, points{l.xs[start:i], l.ys[start:i]})
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, points{l.xs[start:], l.ys[start:]})
	}
	return out
}

// thin turns points into places, at most the first, lowest, highest and last of
// each column of dots.
func thin(p points, x, y func(float64) vg.Length, column vg.Length, steps bool) []vg.Point {
	var out []vg.Point
	add := func(at vg.Point) {
		if n := len(out); n > 0 {
			if out[n-1] == at {
				return
			}
			if steps {
				out = append(out, vg.Point{X: at.X, Y: out[n-1].Y})
			}
		}
		out = append(out, at)
	}
	for i := 0; i < len(p.xs); {
		first := vg.Point{X: x(p.xs[i]), Y: y(p.ys[i])}
		low, high, last := first, first, first
		j := i + 1
		for ; j < len(p.xs); j++ {
			at := vg.Point{X: x(p.xs[j]), Y: y(p.ys[j])}
			if math.Floor(float64(at.X/column)) != math.Floor(float64(first.X/column)) {
				break
			}
			if at.Y < low.Y {
				low = at
			}
			if at.Y > high.Y {
				high = at
			}
			last = at
		}
		add(first)
		if j-i > 2 {
			if low.X <= high.X {
				add(low)
				add(high)
			} else {
				add(high)
				add(low)
			}
		}
		add(last)
		i = j
	}
	return out
}
