package report

import (
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench"
	"pinscope/bench/units"
)

// WriteExperimentPNG writes the report of a pressure experiment as a PNG of one
// page. It carries the experiment's result file as text of its own, under the
// keyword "Pinscope pressure result".
func WriteExperimentPNG(w io.Writer, e *bench.ExperimentResult, o Options) error {
	img, err := pagePicture(o, newExperimentPage(e, o).draw)
	if err != nil {
		return err
	}
	return writePNG(w, img, o.dpi(), &carried{"Pinscope pressure result", e})
}

// WriteExperimentSVG writes the same page as an SVG.
func WriteExperimentSVG(w io.Writer, e *bench.ExperimentResult, o Options) error {
	return drawSVG(w, pageWidth, pageHeight, newExperimentPage(e, o).draw)
}

// experimentPage is a page whose middle is an experiment.
type experimentPage struct {
	page
	e *bench.ExperimentResult
}

func newExperimentPage(e *bench.ExperimentResult, o Options) experimentPage {
	r := &bench.Result{Simulated: e.Simulated, Tool: e.Tool, Started: e.Started, Command: e.Command, Host: e.Host,
		Device: e.Device, Sentence: e.Sentence, Error: e.Error}
	if len(e.Outcomes) > 0 {
		r.Limits = &e.Outcomes[0].Limits
	}
	return experimentPage{page{r: r, o: o, look: o.look(r), title: experimentTitle}, e}
}

func (p experimentPage) draw(to draw.Canvas) {
	fill(to, p.look.theme().ground, to.Rectangle)
	inner := draw.Crop(to, pageMargin, -pageMargin, pageMargin*0.8, -pageMargin*0.8)
	body := inner
	body.Max.Y, body.Min.Y = p.drawHeader(to, inner), p.drawCommand(inner)
	charts, texts := split(body, (body.Max.Y-body.Min.Y)*0.74, false)
	p.drawOutcomes(charts)
	p.drawTexts(draw.Crop(texts, chartInset, -chartInset, 0, -4))
}

// drawOutcomes draws the ballasts side by side, on the same axes.
func (p experimentPage) drawOutcomes(to draw.Canvas) {
	columns := make([][]*Chart, len(p.e.Outcomes))
	for i := range columns {
		columns[i] = PressureExperiment(p.look, &p.e.Outcomes[i])
		if p.e.CacheFileBytes == 0 {
			columns[i] = append(columns[i][:1], columns[i][2])
		}
	}
	for i, charts := range columns {
		for row, c := range charts {
			c.title = p.e.Outcomes[i].Kind + ": " + c.title
			for _, other := range columns {
				if o := other[row]; !o.empty {
					c.x.max, c.y.max = max(c.x.max, o.x.max), max(c.y.max, o.y.max)
				}
			}
		}
		part, rest := split(to, (to.Max.X-to.Min.X)/vg.Length(len(columns)-i), true)
		Stack(part, charts)
		to = rest
	}
}

func (p experimentPage) drawTexts(to draw.Canvas) {
	width := to.Max.X - to.Min.X
	left, rest := split(to, width*0.36, true)
	middle, right := split(rest, width*0.32, true)
	left, middle = draw.Crop(left, 0, -14, 0, 0), draw.Crop(middle, 0, -14, 0, 0)
	s := p.look.text(smallSize, false, p.look.theme().ink)
	y := drawHead(left, p.look, p.look.say(warningsHead))
	drawParagraphs(left, p.look, s, "· ", p.e.Notes, y)
	drawTable(middle, p.look, p.look.say(settingsHead), nil, p.settings())
	drawTable(right, p.look, p.look.say(machineHead), nil, p.machine())
}

func (p experimentPage) settings() []row {
	c := &p.e.Config
	one := func(name phrase, value string) row { return row{p.look.say(name), []string{value}} }
	return []row{
		one(rowUpTo, units.Percent(p.e.UpTo)), one(rowPerStep, units.Duration(p.e.PerStep)),
		one(rowCacheFile, units.Bytes(p.e.CacheFileBytes)),
		one(rowSource, strings.TrimSpace(fmt.Sprintf("%s, %s x %s %s", c.Source, units.Count(p.e.Plan.Samples), p.e.Plan.Shape, p.e.Plan.DType))),
		one(rowBatch, fmt.Sprintf("%s (%s)", units.Count(c.Batch), units.Bytes(p.e.Plan.BatchBytes))),
		one(rowWorkers, fmt.Sprintf("%d x %d", c.Workers, c.Prefetch)), one(rowPin, c.Summary()),
	}
}
