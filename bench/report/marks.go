package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// points are values over something, in the order of x. A y that is not a number
// breaks the line.
type points struct{ xs, ys []float64 }

// finite leaves out the points that cannot be drawn, and counts them.
func finite(xs, ys []float64) (p points, leftOut int) {
	n := min(len(xs), len(ys))
	for i := range n {
		if !drawable(xs[i]) || !drawable(ys[i]) {
			leftOut++
			continue
		}
		p.xs, p.ys = append(p.xs, xs[i]), append(p.ys, ys[i])
	}
	return p, leftOut
}

// drawable keeps clear of the greatest numbers, whose differences overflow.
func drawable(v float64) bool { return math.Abs(v) < 1e300 }

// bounds are the least and greatest drawable values; lo > hi without any.
func bounds(all ...[]float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, values := range all {
		for _, v := range values {
			if drawable(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi
}

// dots are points, each a mark. Marks that would cover each other dot for dot are
// drawn once.
type dots struct {
	points
	ink    color.NRGBA
	radius vg.Length
	shape  draw.GlyphDrawer
}

func (d dots) Plot(to draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&to)
	dot := pixel(to)
	across := int((to.Max.X-to.Min.X)/dot/2) + 2
	drawn := make([]bool, across*(int((to.Max.Y-to.Min.Y)/dot/2)+2))
	style := draw.GlyphStyle{Color: d.ink, Radius: d.radius, Shape: d.shape}
	for i := range d.xs {
		if !drawable(d.xs[i]) || !drawable(d.ys[i]) {
			continue
		}
		at := vg.Point{X: x(d.xs[i]), Y: y(d.ys[i])}
		if !to.Contains(at) {
			continue
		}
		cell := int((at.X-to.Min.X)/dot/2) + across*int((at.Y-to.Min.Y)/dot/2)
		if !drawn[cell] {
			drawn[cell] = true
			to.DrawGlyphNoClip(style, at)
		}
	}
}

// The marks of lines, in order of use.
func mark(n int) draw.GlyphDrawer {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}}
	return shapes[n%len(shapes)]
}

// level is a horizontal line across the chart, band a pale strip.
type level struct {
	at     float64
	ink    color.NRGBA
	dashed bool
}

func (l level) Plot(to draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&to)
	at := y(l.at)
	if !to.ContainsY(at) {
		return
	}
	to.StrokeLine2(lineStyle(l.ink, 1, l.dashed), to.Min.X, at, to.Max.X, at)
}

type band struct {
	lo, hi float64
	ink    color.NRGBA
}

func (b band) Plot(to draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&to)
	lo, hi := max(y(b.lo), to.Min.Y), min(y(b.hi), to.Max.Y)
	fill(to, paleOf(b.ink), rect(to.Min.X, lo, to.Max.X, hi))
}

// strips are stretches of x, pale behind all else.
type strips struct {
	from, to []float64
	ink      color.NRGBA
}

const stripShare = 0.13

func (s strips) Plot(to draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&to)
	ink := s.ink
	ink.A = uint8(math.Round(255 * stripShare))
	for i := range s.from {
		fill(to, ink, rect(max(x(s.from[i]), to.Min.X), to.Min.Y, min(x(s.to[i]), to.Max.X), to.Max.Y))
	}
}

// upright is a vertical line at a value of x.
type upright struct {
	at     float64
	ink    color.NRGBA
	dashed bool
}

func (u upright) Plot(to draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&to)
	if at := x(u.at); to.ContainsX(at) {
		to.StrokeLine2(lineStyle(u.ink, 1, u.dashed), at, to.Min.Y, at, to.Max.Y)
	}
}

// whiskers are intervals of y at values of x.
type whiskers struct {
	xs, lo, hi []float64
	ink        color.NRGBA
}

func (w whiskers) Plot(to draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&to)
	style := lineStyle(w.ink, 0.8, false)
	for i := range w.xs {
		if !drawable(w.lo[i]) || !drawable(w.hi[i]) {
			continue
		}
		at, lo, hi := x(w.xs[i]), y(w.lo[i]), y(w.hi[i])
		to.StrokeLine2(style, at, lo, at, hi)
		to.StrokeLine2(style, at-2, lo, at+2, lo)
		to.StrokeLine2(style, at-2, hi, at+2, hi)
	}
}

// bar is a box from one value of x to another, at a place on the y axis.
type bar struct {
	from, to, at float64
	ink          color.NRGBA
	hatched      bool
	text         string // inside, where there is room; else beside, if beside is set
	beside       bool
}

// bars are horizontal bars, thick (0 to 1) as a share of a place.
type bars struct {
	look  Look
	all   []bar
	thick float64
}

func (b bars) Plot(to draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&to)
	s := b.look.text(smallSize, false, b.look.theme().ink)
	for _, one := range b.all {
		r := rect(max(x(min(one.from, one.to)), to.Min.X), y(one.at-b.thick/2), min(x(max(one.from, one.to)), to.Max.X), y(one.at+b.thick/2))
		paintBar(to, b.look, r, one.ink, one.hatched)
		if one.text == "" || r.Max.Y-r.Min.Y < smallSize*0.9 {
			continue
		}
		width := s.Width(one.text)
		base := (r.Min.Y+r.Max.Y)/2 - smallSize*capHeight/2
		switch {
		case width+3 <= r.Max.X-r.Min.X:
			s.Color = over(one.ink)
			at := (r.Min.X + r.Max.X - width) / 2
			if one.hatched {
				s.Color = b.look.theme().ink
				fill(to, mix(b.look.theme().ground, one.ink, paleShare), rect(at-1, base-1.5, at+width+1, base+smallSize*capHeight+1.5))
			}
			write(to, s, at, base, one.text)
		case one.beside:
			s.Color = b.look.theme().ink
			at := r.Max.X + 2
			if at+width > to.Max.X {
				at = r.Min.X - 2 - width
			}
			if at >= to.Min.X {
				write(to, s, at, base, one.text)
			}
		}
	}
}
