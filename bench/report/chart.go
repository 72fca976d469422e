package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
func (c *Chart) Draw(to draw.Canvas) { c.paint(c.layout(to)) }

// layout is where the parts of a chart lie on a canvas.
type layout struct {
	whole  draw.Canvas
	inner  draw.Canvas // less a margin
	keys   [][]placedKey
	notes  []string
	area   draw.Canvas // axes and data
	yTitle vg.Length   // left end of the vertical axis's title
	plot   *plot.Plot
	usable bool // there is room for axes and data
}

func (c *Chart) layout(to draw.Canvas) layout {
	inner := draw.Crop(to, chartInset, -chartInset, chartInset*0.7, -chartInset*0.8)
	l := layout{whole: to, inner: inner}
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

func (c *Chart) paint(l layout) {
	fill(l.whole, c.look.theme().ground, l.whole.Rectangle)
	s, inner := c.look.title(), l.inner
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
	l.inner.FillText(s, vg.Point{X: l.yTitle + smallSize*capHeight - ascent, Y: from}, text)
}

func (c *Chart) fullTitle() string {
	if c.look.Simulated {
		return c.title + " (" + c.look.say(simulated) + ")"
	}
	return c.title
}

// noteLines wraps the notes, at most so many lines.
func (c *Chart) noteLines(width vg.Length, most int) []string {
	var lines []string
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
	if g.c.x.names == nil {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if at := x(t.Value); to.ContainsX(at) {
				to.StrokeLine2(style, at, to.Min.Y, at, to.Max.Y)
			}
		}
	}
}
