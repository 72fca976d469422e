package report

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// write draws a line of text from the left end of its baseline.
func write(c draw.Canvas, s text.Style, x, baseline vg.Length, line string) {
	if line == "" {
		return
	}
	face := faces().Lookup(s.Font, s.Font.Size)
	c.SetColor(s.Color)
	c.FillString(face, vg.Point{X: x, Y: baseline}, line)
}

// capHeight is the height of a capital of the typeface, as a share of its size
// (733 of 1,000 units, table OS/2 of the files).
const capHeight = 0.733

// lineHeight is the distance of baselines, as a share of the size.
const lineHeight = 1.35

// shorten cuts a line to a width, the cut shown by an ellipsis.
func shorten(s text.Style, line string, width vg.Length) string {
	if s.Width(line) <= width {
		return line
	}
	runes := []rune(line)
	// Binary search: width grows with the number of characters.
	lo, hi := 0, len(runes)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if s.Width(string(runes[:mid])+"…") <= width {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	if lo == 0 {
		return ""
	}
	return string(runes[:lo]) + "…"
}

// fill paints a rectangle.
func fill(c draw.Canvas, ink color.Color, r vg.Rectangle) {
	if r.Max.X <= r.Min.X || r.Max.Y <= r.Min.Y {
		return
	}
	c.SetColor(ink)
	c.Fill(r.Path())
}

func rect(x0, y0, x1, y1 vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: x0, Y: y0}, Max: vg.Point{X: x1, Y: y1}}
}

// pixel is the size of a dot of the canvas; a quarter of a point where it has none.
func pixel(c draw.Canvas) vg.Length {
	if dotted, ok := c.Canvas.(interface{ DPI() float64 }); ok && dotted.DPI() > 0 {
		return vg.Length(72 / dotted.DPI())
	}
	return 0.25
}

// hatch adds diagonal lines over a rectangle to a path.
func hatch(path vg.Path, r vg.Rectangle, apart vg.Length) vg.Path {
	w, h := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y
	// Lines rise at 45 degrees, on a grid of the whole canvas so that neighbours agree.
	first := vg.Length(int((r.Min.X-h)/apart)) * apart
	for x := first; x < r.Max.X; x += apart {
		// The line runs from (x, bottom) to (x+h, top).
		from, to := max(x, r.Min.X), min(x+h, r.Max.X)
		if to <= from || w <= 0 {
			continue
		}
		path.Move(vg.Point{X: from, Y: r.Min.Y + from - x})
		path.Line(vg.Point{X: to, Y: r.Min.Y + to - x})
	}
	return path
}

// inParts hands over a path some of its pieces at a time, each begun by a Move.
// vgimg's rasteriser keeps what it meets in a row of dots as a list that it walks
// from the left for each new piece: a path of many costs their square.
func inParts(path vg.Path, draw func(vg.Path)) {
	const most = 12
	start, moves := 0, 0
	for i, comp := range path {
		if comp.Type != vg.MoveComp {
			continue
		}
		if moves == most {
			draw(path[start:i])
			start, moves = i, 0
		}
		moves++
	}
	if start < len(path) {
		draw(path[start:])
	}
}
