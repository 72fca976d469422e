package report

import (
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// row is a line of a table: a name and a value for each side, or one for all.
type row struct {
	name   string
	values []string
}

// tableHeight is the distance of a table's rows, as a share of the text's size.
const tableHeight = 1.27

// same says that all sides have one value.
func (r row) same() bool {
	for _, v := range r.values {
		if v != r.values[0] {
			return false
		}
	}
	return true
}

// drawTable draws a heading and rows from the top of a canvas, as many as there
// is room for, and gives how many it drew. Values that differ are bold; where all
// are the same, one stands for all.
func drawTable(to draw.Canvas, look Look, head string, columns []string, rows []row) int {
	headBase := to.Max.Y - titleSize*0.9
	y := drawHead(to, look, head)
	names, values := look.small(), look.text(smallSize, false, look.theme().ink)
	bold := look.text(smallSize, true, look.theme().ink)
	left := vg.Length(0)
	for _, r := range rows {
		left = max(left, names.Width(r.name))
	}
	width := to.Max.X - to.Min.X
	left = min(max(left+8, look.title().Width(head)+8), width*0.5)
	count := 1
	for _, r := range rows {
		count = max(count, len(r.values))
	}
	each := (width - left) / vg.Length(count)
	if len(columns) > 1 {
		for i, name := range columns {
			write(to, bold, to.Min.X+left+each*vg.Length(i), headBase, name)
		}
	}
	for i, r := range rows {
		style, cells, cell := values, r.values, each
		if len(cells) > 1 {
			if r.same() {
				cells, cell = cells[:1], width-left
			} else {
				style = bold
			}
		} else {
			cell = width - left
		}
		lines := 1
		wrapped := make([][]string, len(cells))
		for j, v := range cells {
			wrapped[j] = wrap(style, v, cell-4)
			lines = max(lines, len(wrapped[j]))
		}
		if y-vg.Length(lines-1)*smallSize*tableHeight < to.Min.Y {
			return i
		}
		write(to, names, to.Min.X, y, shorten(names, r.name, left-4))
		for j := range cells {
			for k, line := range wrapped[j] {
				write(to, style, to.Min.X+left+each*vg.Length(j), y-vg.Length(k)*smallSize*tableHeight, line)
			}
		}
		y -= vg.Length(lines) * smallSize * tableHeight
	}
	return len(rows)
}

// drawHead draws a heading and gives the baseline of the line below.
func drawHead(to draw.Canvas, look Look, head string) vg.Length {
	if head == "" {
		return to.Max.Y - smallSize
	}
	base := to.Max.Y - titleSize*0.9
	write(to, look.title(), to.Min.X, base, shorten(look.title(), head, to.Max.X-to.Min.X))
	return base - smallSize*lineHeight - 2
}

// drawParagraphs draws texts below each other, each with a mark, from a baseline
// down; what does not fit is counted in a last line. It gives the next baseline.
func drawParagraphs(to draw.Canvas, look Look, s text.Style, mark string, texts []string, y vg.Length) vg.Length {
	indent := s.Width(mark)
	pitch := s.Font.Size * lineHeight
	var lines []string
	for _, t := range texts {
		for i, line := range wrap(s, t, to.Max.X-to.Min.X-indent) {
			if i == 0 {
				line = "\x00" + line
			}
			lines = append(lines, line)
		}
	}
	room := int((y-to.Min.Y)/pitch) + 1
	for i, line := range lines {
		if i >= room {
			break
		}
		if i == room-1 && len(lines) > room {
			write(to, s, to.Min.X+indent, y, look.say(moreLines, len(lines)-i))
			return y - pitch
		}
		body, first := strings.CutPrefix(line, "\x00")
		if first {
			write(to, s, to.Min.X, y, mark)
		}
		write(to, s, to.Min.X+indent, y, body)
		y -= pitch
	}
	return y
}
