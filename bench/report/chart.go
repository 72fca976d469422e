package report

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench/units"
)

// Chart is a picture with a title, a legend above the data, two axes and notes
// below. It draws itself at any size; marks and labels are chosen for that size.
type Chart struct {
	look     Look
	title    string
	legend   []key
	notes    []string
	x, y     axis
	plotters []plot.Plotter
	empty    bool // nothing to draw
	noX      bool // another chart below shows the x axis
	noGridX  bool
}

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

// Title is what the chart is called, without the word for simulated figures.
func (c *Chart) Title() string { return c.title }

// Notes are the remarks below the data: what was left out, where figures end.
func (c *Chart) Notes() []string { return c.notes }

// Empty says that the chart has nothing to show but "no data".
func (c *Chart) Empty() bool { return c.empty }

const (
	chartInset = vg.Length(6)
	swatch     = vg.Length(10)
	keyGap     = vg.Length(7)
	keyHeight  = vg.Length(10.5)
)

// Draw fills the canvas with the chart.
func (c *Chart) Draw(to draw.Canvas) {
	l := c.layout(to)
	c.paint(l)
}

// layout is where the parts of a chart lie on a canvas.
type layout struct {
	title  draw.Canvas // the whole, less a margin
	keys   [][]placedKey
	notes  []string
	area   draw.Canvas // axes and data
	yTitle vg.Length   // left end of the vertical axis's title
	plot   *plot.Plot
	usable bool // there is room for axes and data
}

type placedKey struct {
	key
	x vg.Length
}

func (c *Chart) layout(to draw.Canvas) layout {
	fill(to, c.look.theme().ground, to.Rectangle)
	inner := draw.Crop(to, chartInset, -chartInset, chartInset*0.7, -chartInset*0.8)
	l := layout{title: inner}
	width, height := inner.Max.X-inner.Min.X, inner.Max.Y-inner.Min.Y
	if width < 30 || height < 20 {
		return l
	}
	top, bottom := titleSize*lineHeight, vg.Length(0)
	if !c.empty {
		l.keys = c.placeKeys(width, max(1, int(height/3/keyHeight)))
		top += vg.Length(len(l.keys))*keyHeight + 3
	}
	l.notes = c.noteLines(width, int(height/4/(smallSize*lineHeight)))
	if len(l.notes) > 0 {
		bottom = vg.Length(len(l.notes)) * smallSize * lineHeight
	}
	if height-top-bottom < 30 {
		return l
	}
	l.area = draw.Crop(inner, 0, 0, bottom, -top)
	l.usable = true
	l.yTitle = l.area.Min.X
	if !c.empty && c.y.label() != "" {
		l.area.Min.X += smallSize * 1.5
	}
	if !c.empty {
		l.plot = c.plot()
		c.fit(l.plot, l.area)
	}
	return l
}

// margins are those left and right of the data.
func (l *layout) margins() (left, right vg.Length) {
	if !l.usable || l.plot == nil {
		return 0, 0
	}
	data := l.plot.DataCanvas(l.area)
	return data.Min.X - l.title.Min.X, l.title.Max.X - data.Max.X
}

func (c *Chart) paint(l layout) {
	s, inner := c.look.title(), l.title
	width := inner.Max.X - inner.Min.X
	if width <= 0 || inner.Max.Y-inner.Min.Y < titleSize {
		return
	}
	write(inner, s, inner.Min.X, inner.Max.Y-titleSize*0.9, shorten(s, c.fullTitle(), width))
	if !l.usable {
		return
	}
	for i, line := range l.notes {
		write(inner, c.look.small(), inner.Min.X, inner.Min.Y+vg.Length(len(l.notes)-1-i)*smallSize*lineHeight+1, line)
	}
	if c.empty {
		s := c.look.label()
		s.XAlign, s.YAlign, s.Color = draw.XCenter, draw.YCenter, c.look.theme().muted
		l.area.FillText(s, l.area.Center(), c.look.say(noData))
		return
	}
	c.drawKeys(inner, l.keys)
	l.plot.Draw(l.area)
	c.drawYTitle(l)
}

// drawYTitle is ours, since gonum centres the title of a logarithmic axis at the
// middle of its values and makes room for it above the data.
func (c *Chart) drawYTitle(l layout) {
	s := c.look.text(smallSize, false, c.look.theme().ink)
	s.Rotation = math.Pi / 2
	data := l.plot.DataCanvas(l.area)
	text := shorten(s, c.y.label(), l.area.Max.Y-l.area.Min.Y)
	width := s.Width(text)
	// Over the middle of the data, unless that would reach beyond the area.
	from := (data.Min.Y + data.Max.Y - width) / 2
	from = max(min(from, l.area.Max.Y-width), l.area.Min.Y)
	// gonum sets a line lower by what the font's ascent is more than its size.
	ascent := s.FontExtents().Ascent - s.Font.Size
	l.title.FillText(s, vg.Point{X: l.yTitle + smallSize*capHeight - ascent, Y: from}, text)
}

func (c *Chart) fullTitle() string {
	if c.look.Simulated {
		return c.title + " (" + c.look.say(simulated) + ")"
	}
	return c.title
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

// noteLines wraps the notes, at most so many lines.
func (c *Chart) noteLines(width vg.Length, most int) []string {
	var lines []string
	if c.look.Simulated && c.empty {
		return nil
	}
	for _, note := range c.notes {
		lines = append(lines, wrap(c.look.small(), note, width)...)
	}
	if len(lines) > most {
		lines = lines[:max(most, 0)]
	}
	return lines
}

// plot makes the gonum plot: axes, grid, data.
func (c *Chart) plot() *plot.Plot {
	p := plot.New()
	th := c.look.theme()
	p.BackgroundColor = nil
	p.Title.Text = ""
	p.Legend.TextStyle = c.look.small()
	for i, a := range []*plot.Axis{&p.X, &p.Y} {
		from := []*axis{&c.x, &c.y}[i]
		a.Min, a.Max = from.min, from.max
		if from.log {
			a.Scale = plot.LogScale{}
		}
		a.Padding = 1
		a.LineStyle = draw.LineStyle{Color: th.muted, Width: 0.6}
		a.Tick.LineStyle = draw.LineStyle{Color: th.muted, Width: 0.6}
		a.Tick.Length = 3
		if from.names != nil {
			a.Tick.Length = 2
		}
		handed := a.Tick.Label
		a.Tick.Label = c.look.text(smallSize, false, th.ink)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = handed.XAlign, handed.YAlign
	}
	if !c.noX {
		p.X.Label.Text = c.x.label()
	}
	p.X.Label.TextStyle = c.look.text(smallSize, false, th.ink)
	p.X.Label.TextStyle.XAlign, p.X.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
	p.X.Label.Padding = 1
	p.Add(grid{c})
	p.Add(c.plotters...)
	return p
}

// fit chooses marks for a size, the vertical ones first: they decide the width
// that is left for the horizontal ones.
func (c *Chart) fit(p *plot.Plot, area draw.Canvas) {
	width, height := area.Max.X-area.Min.X, area.Max.Y-area.Min.Y
	p.X.Tick.Marker = plot.ConstantTicks{{Value: c.x.min, Label: "0"}}
	p.Y.Tick.Marker = plot.ConstantTicks(c.y.marks(height-20, p.Y.Tick.Label, false, width*0.35))
	data := p.DataCanvas(area)
	p.Y.Tick.Marker = plot.ConstantTicks(c.y.marks(data.Max.Y-data.Min.Y, p.Y.Tick.Label, false, width*0.35))
	p.X.Label.Text = shorten(p.X.Label.TextStyle, p.X.Label.Text, width)
	data = p.DataCanvas(area)
	ticks := c.x.marks(data.Max.X-data.Min.X, p.X.Tick.Label, true, 0)
	if c.noX {
		for i := range ticks {
			ticks[i].Label = ""
		}
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
}

// grid are thin lines at the marks.
type grid struct{ c *Chart }

func (g grid) Plot(to draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: g.c.look.theme().grid, Width: 0.5}
	x, y := p.Transforms(&to)
	if g.c.y.names == nil {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			if at := y(t.Value); to.ContainsY(at) {
				to.StrokeLine2(style, to.Min.X, at, to.Max.X, at)
			}
		}
	}
	if g.c.x.names == nil && !g.c.noGridX {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if at := x(t.Value); to.ContainsX(at) {
				to.StrokeLine2(style, at, to.Min.Y, at, to.Max.Y)
			}
		}
	}
}

// Stack draws charts below each other with their data lined up, so that one
// moment lies at one place in all of them. The heights are in proportion to
// weights, 1 where none is given; only the last chart shows the x axis. All must
// have been made with the same [Window].
func Stack(to draw.Canvas, charts []*Chart, weights ...float64) {
	if len(charts) == 0 {
		return
	}
	weight := func(i int) float64 {
		if i < len(weights) && weights[i] > 0 && !math.IsInf(weights[i], 0) {
			return weights[i]
		}
		return 1
	}
	total := 0.0
	for i := range charts {
		total += weight(i)
	}
	height, top := to.Max.Y-to.Min.Y, to.Max.Y
	layouts := make([]layout, len(charts))
	shown := make([]Chart, len(charts)) // copies: the charts themselves stay as they are
	left, right := vg.Length(0), vg.Length(0)
	last := len(charts) - 1
	for last > 0 && charts[last].empty {
		last--
	}
	for i := range charts {
		tile := to
		tile.Max.Y = top
		top -= height * vg.Length(weight(i)/total)
		tile.Min.Y = top
		shown[i] = *charts[i]
		shown[i].noX = i != last
		layouts[i] = shown[i].layout(tile)
		l, r := layouts[i].margins()
		left, right = max(left, l), max(right, r)
	}
	for i := range shown {
		if l := &layouts[i]; l.plot != nil {
			own, ownRight := l.margins()
			l.area = draw.Crop(l.area, left-own, ownRight-right, 0, 0)
			shown[i].fit(l.plot, l.area)
		}
		shown[i].paint(layouts[i])
	}
}

// wrap breaks a text into lines of at most a width. Chinese may be broken
// between any two characters, other text at spaces, and a word longer than the
// line anywhere.
func wrap(s text.Style, line string, width vg.Length) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(line, "\n") {
		lines = append(lines, wrapOne(s, paragraph, width)...)
	}
	return lines
}

func wrapOne(s text.Style, paragraph string, width vg.Length) []string {
	var lines []string
	now, nowWidth := "", vg.Length(0)
	flush := func() {
		if t := strings.TrimRight(now, " "); t != "" {
			lines = append(lines, t)
		}
		now, nowWidth = "", 0
	}
	for _, piece := range pieces(paragraph) {
		w := s.Width(piece)
		if nowWidth+s.Width(strings.TrimRight(piece, " ")) > width && now != "" {
			flush()
		}
		for w > width && len([]rune(piece)) > 1 {
			head := strings.TrimSuffix(shorten(s, piece, width), "…")
			if head == "" {
				head = string([]rune(piece)[:1])
			}
			lines = append(lines, head)
			piece = piece[len(head):]
			w = s.Width(piece)
		}
		if now == "" {
			piece = strings.TrimLeft(piece, " ")
			w = s.Width(piece)
		}
		now += piece
		nowWidth += w
	}
	flush()
	return lines
}

// pieces are what a line must not be broken within: words with the space that
// follows, single Chinese characters.
func pieces(line string) []string {
	var out []string
	start := 0
	for i, r := range line {
		if i > start && (r >= 0x2e80 && r < 0xff00 || line[i-1] == ' ' && r != ' ' || i >= 3 && isHan(line[i-3:i]) && !closing(r)) {
			if !closing(r) {
				out = append(out, line[start:i])
				start = i
			}
		}
	}
	return append(out, line[start:])
}

func isHan(three string) bool {
	r := []rune(three)
	return len(r) == 1 && r[0] >= 0x2e80
}

// closing punctuation does not begin a line.
func closing(r rune) bool { return strings.ContainsRune("，。；：、）！？%)", r) }
