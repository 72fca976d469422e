//go:build !headless

package window

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pinscope/bench"
	"pinscope/bench/report"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

// overview is the first page: the answer, doubts, charts, tables.
type overview struct {
	say     words.Language
	border  *border
	look    func(simulated bool) report.Look
	body    *fyne.Container
	content fyne.CanvasObject
	scroll  *container.Scroll
	rates   *chart        // while a run is under way
	stages  *widget.Label // likewise

	repeats, warnings int // shown of it
}

func newOverview(say words.Language, b *border, look func(bool) report.Look) *overview {
	o := &overview{say: say, border: b, look: look, body: container.NewVBox()}
	o.scroll = container.NewVScroll(o.body)
	o.content = o.scroll
	return o
}

// welcome is shown before there is any result.
func (o *overview) welcome() {
	o.replace(
		heading(o.say.Say("What does pinned memory do to a training loop on this machine?")),
		wrapped(o.say.Say("Choose a preset on the left and press Compare: A does not pin and waits for its copies, B pins and goes on. "+
			"The answer comes with an interval, and no measurable difference is an answer too.")),
		wrapped(o.say.Say("Run measures the settings on the left alone. Ladder switches one thing on at a time, from pageable memory to a pinned data set. Nothing runs by itself.")),
		wrapped(o.say.Say("New to this? The guide has six short lessons, each with settings that show what it says.")),
	)
}

func (o *overview) replace(objects ...fyne.CanvasObject) {
	o.rates, o.stages = nil, nil
	o.body.Objects = objects
	o.body.Refresh()
	o.scroll.ScrollToTop()
}

// running shows the repeats of a run so far.
func (o *overview) running(r *bench.Result, warnings []string) {
	if o.rates == nil {
		rates, stages := newChart(o.border, fyne.NewSize(300, 230)), wrapped("")
		o.replace(heading(o.say.Say("Measuring")), rates, container.NewVBox(), stages)
		o.rates, o.stages = rates, stages
		o.body.Refresh()
	}
	if r != nil {
		throughput := report.Throughput(o.look(r.Simulated), r.Sides)
		o.rates.show(throughput.Image)
	}
	o.body.Objects[2] = list("⚠", widget.WarningImportance, warnings)
	o.body.Refresh()
}

// live shows what the stages take in the repeat under way.
func (o *overview) live(text string) {
	if o.stages != nil && o.stages.Text != text {
		o.stages.SetText(text)
	}
}

// failed says why there is no result.
func (o *overview) failed(why string) {
	text := wrapped(why)
	text.Importance = widget.DangerImportance
	o.replace(heading(o.say.Say("No result")), text)
}

// show shows a result.
func (o *overview) show(r *bench.Result) {
	v := view.OverviewOf(o.say, r)
	look := o.look(r.Simulated)
	objects := []fyne.CanvasObject{o.head(v, r.Simulated)}
	if v.Ended != "" {
		text := wrapped("⚠ " + v.Ended)
		text.Importance = widget.DangerImportance
		objects = append(objects, text)
	}
	objects = append(objects,
		list("⚠", widget.WarningImportance, v.Warnings),
		list("•", widget.MediumImportance, v.Findings),
		o.charts(r, look),
		heading(o.say.Say("Throughput")), table(v.Rates, 2))
	if v.Stages != nil {
		objects = append(objects, heading(o.say.Say("Stages, typical repeat")), table(v.Stages, 1))
	}
	objects = append(objects, heading(o.say.Say("About this result")), facts(v.Facts))
	o.replace(objects...)
}

// head is the answer: a sign and a figure, and the sentence beside them.
func (o *overview) head(v view.Overview, simulated bool) fyne.CanvasObject {
	figure := widget.NewLabelWithStyle(v.Mark.Sign()+" "+v.Headline, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	figure.SizeName = theme.SizeNameHeadingText
	switch v.Mark {
	case view.Faster:
		figure.Importance = widget.SuccessImportance
	case view.Slower:
		figure.Importance = widget.DangerImportance
	}
	left := container.NewVBox(figure)
	if simulated {
		left.Add(badge(o.say.Say("SIMULATED")))
	}
	sentence := wrapped(v.Sentence)
	return container.NewBorder(nil, nil, left, nil, sentence)
}

// badge is a word that must not be overlooked.
func badge(text string) *widget.Label {
	label := widget.NewLabelWithStyle(text, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	label.Importance = widget.WarningImportance
	return label
}

func (o *overview) charts(r *bench.Result, look report.Look) fyne.CanvasObject {
	var charts []*report.Chart
	switch r.Kind {
	case bench.KindCompare:
		charts = append(charts, report.SpeedUp(look, r.Comparison))
	case bench.KindLadder:
		charts = append(charts, report.Ladder(look, view.Rungs(r)))
	}
	charts = append(charts, report.Throughput(look, r.Sides), report.StageBars(look, r.Sides))
	box := container.New(&flow{least: 300, height: 220})
	for _, c := range charts {
		if !c.Empty() {
			box.Add(o.picture(c))
		}
	}
	return box
}

func (o *overview) picture(from interface {
	Image(width, height, dpi int) (image.Image, error)
}) *chart {
	c := newChart(o.border, fyne.NewSize(280, 200))
	c.show(from.Image)
	return c
}

// flow puts objects beside each other, as many as have room at a least width,
// all as wide as each other.
type flow struct {
	least, height float32
	rows          int
}

// Layout is called by Fyne.
func (f *flow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	perRow := max(1, min(int(size.Width/f.least), len(objects)))
	width := size.Width / float32(perRow)
	for i, o := range objects {
		o.Move(fyne.NewPos(float32(i%perRow)*width, float32(i/perRow)*f.height))
		o.Resize(fyne.NewSize(width-2, f.height-2))
	}
	f.rows = (len(objects) + perRow - 1) / perRow
}

// MinSize is called by Fyne.
func (f *flow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	rows := f.rows
	if rows == 0 {
		rows = len(objects)
	}
	return fyne.NewSize(f.least, f.height*float32(rows))
}
