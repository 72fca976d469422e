package report

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench/units"
)

// key is an entry of the legend. What is drawn beside it: a line with a mark, or
// a box.
type key struct {
	text    string
	ink     color.NRGBA
	line    bool
	dashed  bool
	mark    draw.GlyphDrawer
	hatched bool
}

type placedKey struct {
	key
	x vg.Length
}

// placeKeys flows the legend into rows; what does not fit is counted.
func (c *Chart) placeKeys(width vg.Length, most int) [][]placedKey {
	var rows [][]placedKey
	x, s := width+1, c.look.small()
	for i, k := range c.legend {
		k.text = shorten(s, k.text, width-swatch-3)
		w := swatch + 3 + s.Width(k.text)
		if x+w > width {
			if len(rows) == most {
				c.countRest(rows, len(c.legend)-i, width)
				break
			}
			rows, x = append(rows, nil), 0
		}
		last := &rows[len(rows)-1]
		*last = append(*last, placedKey{k, x})
		x += w + keyGap
	}
	return rows
}

// countRest replaces the end of a full legend by how many entries are missing.
func (c *Chart) countRest(rows [][]placedKey, missing int, width vg.Length) {
	last := rows[len(rows)-1]
	last = last[:len(last)-1]
	x := vg.Length(0)
	if n := len(last); n > 0 {
		x = last[n-1].x + swatch + 3 + c.look.small().Width(last[n-1].text) + keyGap
	}
	rows[len(rows)-1] = append(last, placedKey{key{text: "… +" + units.Count(int64(missing+1))}, x})
}

func (c *Chart) drawKeys(to draw.Canvas, rows [][]placedKey) {
	s := c.look.small()
	s.Color = c.look.theme().ink
	for i, row := range rows {
		base := to.Max.Y - titleSize*lineHeight - vg.Length(i)*keyHeight - keyHeight*0.8
		for _, k := range row {
			x := to.Min.X + k.x
			c.drawSwatch(to, k.key, x, base+smallSize*capHeight/2)
			if k.ink != (color.NRGBA{}) {
				x += swatch + 3
			}
			write(to, s, x, base, k.text)
		}
	}
}

func (c *Chart) drawSwatch(to draw.Canvas, k key, x, middle vg.Length) {
	if k.ink == (color.NRGBA{}) {
		return
	}
	if !k.line && k.mark == nil {
		paintBar(to, c.look, rect(x, middle-3, x+swatch, middle+3), k.ink, k.hatched)
		return
	}
	if k.line {
		to.StrokeLine2(lineStyle(k.ink, 1.2, k.dashed), x, middle, x+swatch, middle)
	}
	if k.mark != nil {
		to.DrawGlyphNoClip(draw.GlyphStyle{Color: k.ink, Radius: 2.2, Shape: k.mark}, vg.Point{X: x + swatch/2, Y: middle})
	}
}

func lineStyle(ink color.Color, width vg.Length, dashed bool) draw.LineStyle {
	s := draw.LineStyle{Color: ink, Width: width}
	if dashed {
		s.Dashes = []vg.Length{3, 2}
	}
	return s
}

// paintBar paints a box, or a pale hatched one.
func paintBar(to draw.Canvas, look Look, r vg.Rectangle, ink color.NRGBA, hatched bool) {
	if !hatched {
		fill(to, ink, r)
		return
	}
	ground := look.theme().ground
	fill(to, mix(ground, ink, paleShare), r)
	to.SetLineStyle(draw.LineStyle{Color: mix(ground, ink, hatchShare), Width: hatchWidth})
	inParts(hatch(nil, r, hatchApart), to.Stroke)
}

// How pale a wait is, and how its hatching looks.
const (
	paleShare  = 0.16
	hatchShare = 0.75
	hatchWidth = vg.Length(0.5)
	hatchApart = vg.Length(3.5)
)
