package report

import (
	"image"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench"
	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// Options are how a report is drawn. The zero value is English, light, 150 DPI.
type Options struct {
	Language Language
	Dark     bool
	DPI      int // of PNG, 30 to 1200; 0: 150
}

func (o Options) look(r *bench.Result) Look {
	return Look{Language: o.Language, Dark: o.Dark, Simulated: r.Simulated}
}

// defaultDPI prints sharply, and makes a page as wide as a full-HD wall.
const defaultDPI = 150

// A4 lying, in points: so it fills a sheet and a projector's picture.
const (
	pageWidth  = 297 * vg.Millimeter
	pageHeight = 210 * vg.Millimeter
	pageMargin = vg.Length(18)
)

// WritePNG writes a result's report as a PNG of one page that carries the result;
// [Extract] takes it out again.
func WritePNG(w io.Writer, r *bench.Result, o Options) error {
	img, err := pagePicture(o, newPage(r, o).draw)
	if err != nil {
		return err
	}
	return writePNG(w, img, o.dpi(), &carried{resultKeyword, r})
}

func (o Options) dpi() int {
	if o.DPI == 0 {
		return defaultDPI
	}
	return o.DPI
}

// pagePicture draws a page of A4.
func pagePicture(o Options, paint func(draw.Canvas)) (image.Image, error) {
	dots := func(l vg.Length) int { return int(l.Dots(float64(o.dpi())) + 0.5) }
	return picture(dots(pageWidth), dots(pageHeight), o.dpi(), paint)
}

// WriteSVG writes a result's report as an SVG of one page. Its texts are texts:
// they can be searched, and are set in Noto Sans SC or what the viewer has.
func WriteSVG(w io.Writer, r *bench.Result, o Options) error {
	return drawSVG(w, pageWidth, pageHeight, newPage(r, o).draw)
}

// page is one report.
type page struct {
	r     *bench.Result
	o     Options
	look  Look
	title phrase
}

func newPage(r *bench.Result, o Options) page {
	return page{r: r, o: o, look: o.look(r), title: reportTitle}
}

// draw lays the page out: what was found above, causes and costs in the middle,
// what it was measured with below.
func (p page) draw(to draw.Canvas) {
	fill(to, p.look.theme().ground, to.Rectangle)
	inner := draw.Crop(to, pageMargin, -pageMargin, pageMargin*0.8, -pageMargin*0.8)
	top := p.drawHeader(to, inner)
	bottom := p.drawCommand(inner)
	body := inner
	body.Max.Y, body.Min.Y = top, bottom
	height := body.Max.Y - body.Min.Y

	charts, texts := split(body, height*0.72, false)
	left, right := split(charts, (charts.Max.X-charts.Min.X)*0.6, true)
	upper, lower := split(left, height*0.515, false)
	p.drawTimelines(upper)
	StageBars(p.look, p.r.Sides).Draw(lower)
	answer := 0.27
	if len(p.r.Sides) > 2 {
		answer = 0.4 // a row for each side
	}
	upper, lower = split(right, height*vg.Length(answer), false)
	p.drawSpeed(upper)
	p.drawMemory(lower)
	p.drawTexts(draw.Crop(texts, chartInset, -chartInset, 0, -4))
}

// split cuts a canvas in two: the first so high from the top, or so wide from the left.
func split(c draw.Canvas, size vg.Length, across bool) (first, second draw.Canvas) {
	first, second = c, c
	if across {
		first.Max.X = c.Min.X + size
		second.Min.X = first.Max.X
		return first, second
	}
	first.Min.Y = c.Max.Y - size
	second.Max.Y = first.Min.Y
	return first, second
}

// drawHeader draws title, band and sentence, and gives where the body begins.
func (p page) drawHeader(to, inner draw.Canvas) vg.Length {
	th := p.look.theme()
	head := p.look.text(13, true, th.ink)
	y := inner.Max.Y - 13
	about := p.look.text(labelSize, false, th.muted)
	right := strings.Join([]string{p.r.Device.Name, p.r.Host.Name, p.r.Started.Format("2006-01-02 15:04 MST")}, "  ·  ")
	right = shorten(about, right, (inner.Max.X-inner.Min.X)*0.6)
	write(to, head, inner.Min.X+chartInset, y, p.look.say(p.title))
	write(to, about, inner.Max.X-chartInset-about.Width(right), y, right)
	y -= 8
	if p.r.Simulated {
		y = p.drawBand(to, y)
	}
	s := p.look.text(11, true, th.ink)
	y -= 12
	texts := []string{p.r.Sentence}
	if p.r.Error != "" {
		texts = append(texts, p.r.Error)
	}
	lines := []string{}
	for _, t := range texts {
		lines = append(lines, wrap(s, t, inner.Max.X-inner.Min.X-2*chartInset)...)
	}
	const most = 4
	for i, line := range lines {
		if i == most {
			break
		}
		write(to, s, inner.Min.X+chartInset, y, line)
		y -= 11 * 1.3
	}
	return y + 5
}

// drawBand says across the whole page that the GPU was not real.
func (p page) drawBand(to draw.Canvas, y vg.Length) vg.Length {
	const height = 16
	band := rect(to.Min.X, y-height, to.Max.X, y)
	fill(to, orange, band)
	s := p.look.text(10, true, color.NRGBA{0, 0, 0, 255})
	text := p.look.say(simulatedBand) + ": " + p.look.say(simulatedNote)
	write(to, s, to.Min.X+(to.Max.X-to.Min.X-s.Width(text))/2, y-height/2-10*capHeight/2, text)
	return y - height - 2
}

// steadyBatches is how many batches the timelines show.
const steadyBatches = 6

// drawTimelines draws the timelines of two sides, or of one with what lies below it.
func (p page) drawTimelines(to draw.Canvas) {
	sides := p.shownSides()
	traces := make([]*trace.Trace, len(sides))
	for i, s := range sides {
		traces[i] = s.Trace
	}
	windows, batches := Steady(traces, steadyBatches)
	var charts []*Chart
	var weights []float64
	for i, s := range sides {
		c := Timeline(p.look, s.Trace, windows[i])
		c.title = p.look.say(timelineOf, sideTitle(s))
		c.notes = nil
		if !windows[i].set() {
			c.notes = []string{p.look.say(noTrace)}
		} else if i == len(sides)-1 {
			note := p.look.say(windowNote, units.Duration(windows[i].To-windows[i].From), batchList(batches))
			if len(sides) > 1 {
				note += p.look.say(sameScale)
			}
			c.notes = []string{note}
		}
		charts = append(charts, c)
		weights = append(weights, 1+float64(len(c.y.names))*0.12)
	}
	if len(charts) == 2 {
		charts[0].legend, charts[1].legend = joinKeys(charts[0].legend, charts[1].legend), nil
	}
	if len(sides) == 1 && windows[0].set() {
		charts = append(charts, GPUBusy(p.look, sides[0].Trace, UtilizationOf(p.r.GPU), windows[0]))
		weights = append(weights, 1)
	}
	Stack(to, charts, weights...)
}

func batchList(batches []int64) string {
	texts := make([]string, len(batches))
	for i, b := range batches {
		texts[i] = units.Count(b)
	}
	if len(texts) > 1 && texts[0] == texts[1] {
		texts = texts[:1]
	}
	return strings.Join(texts, " / ")
}

// shownSides are the sides that have a place on the page: the first and the last.
func (p page) shownSides() []*bench.Side {
	switch n := len(p.r.Sides); n {
	case 0:
		return nil
	case 1:
		return []*bench.Side{&p.r.Sides[0]}
	default:
		return []*bench.Side{&p.r.Sides[0], &p.r.Sides[n-1]}
	}
}

// joinKeys are the entries of both legends, in the order a batch meets them.
func joinKeys(a, b []key) []key {
	var out []key
	seen := map[string]bool{}
	for len(a)+len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && indexOfKey(a, b[0].text) < 0 && !seen[b[0].text] {
			from = &b
		}
		k := (*from)[0]
		*from = (*from)[1:]
		if !seen[k.text] {
			seen[k.text] = true
			out = append(out, k)
		}
	}
	return out
}

func indexOfKey(keys []key, text string) int {
	for i := range keys {
		if keys[i].text == text {
			return i
		}
	}
	return -1
}

// drawSpeed draws the answer: the speed-up, the rungs of a ladder, the runs of a
// sweep, or the repeats of a single run.
func (p page) drawSpeed(to draw.Canvas) {
	switch p.r.Kind {
	case bench.KindCompare:
		SpeedUp(p.look, p.r.Comparison).Draw(to)
	case bench.KindLadder:
		Ladder(p.look, RungsOf(p.r)).Draw(to)
	case bench.KindSweep:
		Rates(p.look, p.r.Sides).Draw(to)
	default:
		Throughput(p.look, p.r.Sides).Draw(to)
	}
}

// drawMemory draws memory over the whole run with the time lost waiting for it
// below, or else what was planned.
func (p page) drawMemory(to draw.Canvas) {
	var charts []*Chart
	if p.r.Pressure != nil {
		m := MemoryOf(p.r.Pressure, p.r.Limits)
		use, stall := MemoryUse(p.look, m, Window{}), MemoryStall(p.look, m, Window{})
		if len(p.r.Sides) == 2 {
			use.shadeRepeats(p.r.Sides, m.window(Window{}))
		}
		if !use.empty {
			charts = append(charts, use)
		}
		if !stall.empty && len(p.r.Sides) <= 2 { // else there is no room
			charts = append(charts, stall)
		}
	}
	if len(charts) == 0 {
		charts = append(charts, MemoryPlan(p.look, p.r.Sides))
	}
	Stack(to, charts, 1.15)
}

// drawTexts draws verdict, settings and machine in three columns.
func (p page) drawTexts(to draw.Canvas) {
	width := to.Max.X - to.Min.X
	left, rest := split(to, width*0.36, true)
	middle, right := split(rest, width*0.35, true)
	left = draw.Crop(left, 0, -14, 0, 0)
	middle = draw.Crop(middle, 0, -14, 0, 0)
	s := p.look.text(smallSize, false, p.look.theme().ink)
	y := drawHead(left, p.look, p.look.say(verdictHead))
	y = drawParagraphs(left, p.look, s, "· ", p.verdicts(), y)
	if len(p.r.Warnings) > 0 && y-titleSize*2 > left.Min.Y {
		left.Max.Y = y + smallSize*0.5
		y = drawHead(left, p.look, p.look.say(warningsHead))
		drawParagraphs(left, p.look, s, "· ", p.r.Warnings, y)
	}
	var labels []string
	for _, side := range p.shownSides() {
		labels = append(labels, side.Label)
	}
	drawTable(middle, p.look, p.look.say(settingsHead), labels, p.settings())
	drawTable(right, p.look, p.look.say(machineHead), nil, p.machine())
}

// drawCommand draws the command that repeats the result along the foot of the
// page, and gives where it ends.
func (p page) drawCommand(inner draw.Canvas) vg.Length {
	if p.r.Command == "" {
		return inner.Min.Y
	}
	th := p.look.theme()
	head, s := p.look.text(smallSize, true, th.ink), p.look.text(smallSize, false, th.ink)
	name := p.look.say(commandHead)
	x := inner.Min.X + chartInset
	indent := head.Width(name) + 8
	lines := wrap(s, p.r.Command, inner.Max.X-chartInset*2-x-indent)
	const most = 3
	if len(lines) > most {
		lines = append(lines[:most-1], lines[most-1]+" …")
	}
	y := inner.Min.Y + vg.Length(len(lines)-1)*smallSize*lineHeight + 4
	fill(inner, th.panel, rect(inner.Min.X, inner.Min.Y-1, inner.Max.X, y+smallSize*1.2))
	write(inner, head, x, y, name)
	for i, line := range lines {
		write(inner, s, x+indent, y-vg.Length(i)*smallSize*lineHeight, line)
	}
	return y + smallSize*1.2 + 2
}
