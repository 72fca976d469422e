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
	return experimentPage{page{r, o, o.look(r)}, e}
}

func (p experimentPage) draw(to draw.Canvas) {
	fill(to, p.look.theme().ground, to.Rectangle)
	inner := draw.Crop(to, pageMargin, -pageMargin, pageMargin*0.8, -pageMargin*0.8)
	body := inner
	body.Max.Y, body.Min.Y = p.drawHeader(to, inner), p.drawCommand(inner)
	charts, texts := split(body, (body.Max.Y-body.Min.Y)*0.74, false)
	columns := len(p.e.Outcomes)
	for i := range columns {
		part, rest := split(charts, (charts.Max.X-charts.Min.X)/vg.Length(columns-i), true)
		charts = rest
		all := PressureExperiment(p.look, &p.e.Outcomes[i])
		for _, c := range all {
			c.title = p.e.Outcomes[i].Kind + ": " + c.title
		}
		if p.e.CacheFileBytes == 0 {
			all = append(all[:1], all[2])
		}
		Stack(part, all)
	}
	p.drawTexts(draw.Crop(texts, chartInset, -chartInset, 0, -4))
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
		one(rowSource, strings.TrimSpace(fmt.Sprintf("%s, %s x %s %s", c.Source, units.Count(p.e.Plan.Samples), c.Shape, c.DType))),
		one(rowBatch, fmt.Sprintf("%s (%s)", units.Count(c.Batch), units.Bytes(p.e.Plan.BatchBytes))),
		one(rowWorkers, fmt.Sprintf("%d x %d", c.Workers, c.Prefetch)), one(rowPin, c.Summary()),
	}
}
