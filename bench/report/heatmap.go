package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench/units"
)

// Heat is a grid of one figure over two settings.
type Heat struct {
	XTitle, YTitle string
	X, Y           []string    // the settings' values, in order
	Values         [][]float64 // [y][x]; NaN: not measured
	Unit           string      // of the values: "samples/s"
	Decimals       int         // shown of them
}

// SweepMap shows a grid as colours from dark (least) to light (greatest), with
// the value in each cell where there is room. Cells without a value are hatched.
func SweepMap(look Look, h Heat) *Chart {
	c := &Chart{look: look, title: look.say(sweepTitle)}
	lo, hi := bounds(h.Values...)
	leftOut := 0
	for _, row := range h.Values {
		for _, v := range row {
			if !drawable(v) && !math.IsNaN(v) {
				leftOut++
			}
		}
	}
	c.noteLeftOut(leftOut)
	if lo > hi || len(h.X) == 0 || len(h.Y) == 0 {
		c.empty = true
		return c
	}
	c.x = axis{title: h.XTitle, names: h.X, min: -0.5, max: float64(len(h.X)) - 0.5}
	c.y = axis{title: h.YTitle, names: h.Y, min: -0.5, max: float64(len(h.Y)) - 0.5}
	for _, v := range []float64{lo, lo/2 + hi/2, hi} {
		c.legend = append(c.legend, key{text: units.Number(v, h.Decimals) + " " + h.Unit, ink: heatInk(v, lo, hi)})
		if lo == hi {
			break
		}
	}
	c.plotters = []plot.Plotter{cells{look: look, heat: h, lo: lo, hi: hi}}
	return c
}

// heatStops are seven colours of viridis, at equal distances (Smith and van der
// Walt, matplotlib's default): lightness rises evenly, so that it survives colour
// blindness and print without colour.
var heatStops = [...]color.NRGBA{rgb(0x440154), rgb(0x443983), rgb(0x31688e), rgb(0x21918c), rgb(0x35b779), rgb(0x90d743), rgb(0xfde725)}

func heatInk(v, lo, hi float64) color.NRGBA {
	if !(hi > lo) {
		return heatStops[len(heatStops)/2]
	}
	at := (v/2 - lo/2) / (hi/2 - lo/2) * float64(len(heatStops)-1)
	i := min(max(int(at), 0), len(heatStops)-2)
	return mix(heatStops[i], heatStops[i+1], at-float64(i))
}

type cells struct {
	look   Look
	heat   Heat
	lo, hi float64
}

func (g cells) Plot(to draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&to)
	s := g.look.text(smallSize, false, g.look.theme().ink)
	fits := g.fits(x(1)-x(0), y(1)-y(0))
	for j := range g.heat.Y {
		for i := range g.heat.X {
			r := rect(x(float64(i)-0.5), y(float64(j)-0.5), x(float64(i)+0.5), y(float64(j)+0.5))
			v := math.NaN()
			if j < len(g.heat.Values) && i < len(g.heat.Values[j]) {
				v = g.heat.Values[j][i]
			}
			if !drawable(v) {
				paintBar(to, g.look, r, grey, true)
				continue
			}
			ink := heatInk(v, g.lo, g.hi)
			fill(to, ink, r)
			if fits {
				text := units.Number(v, g.heat.Decimals)
				s.Color = over(ink)
				write(to, s, (r.Min.X+r.Max.X-s.Width(text))/2, (r.Min.Y+r.Max.Y)/2-smallSize*capHeight/2, text)
			}
		}
	}
}

// fits says whether every value can be written into its cell: some with and some
// without would look as if those without were missing.
func (g cells) fits(width, height vg.Length) bool {
	if height < smallSize*lineHeight {
		return false
	}
	s := g.look.small()
	for _, row := range g.heat.Values {
		for _, v := range row {
			if drawable(v) && s.Width(units.Number(v, g.heat.Decimals))+3 > width {
				return false
			}
		}
	}
	return true
}
