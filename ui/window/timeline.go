//go:build !headless

package window

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pinscope/bench"
	"pinscope/bench/report"
	"pinscope/bench/trace"
	"pinscope/bench/units"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

// timeline is the page that shows what each lane did when, for each side.
type timeline struct {
	say     words.Language
	border  *border
	look    func(simulated bool) report.Look
	result  *bench.Result
	windows []report.Window // of each side
	charts  []*movable
	box     *fyne.Container
	scale   *widget.Label
	content fyne.CanvasObject
}

// shownBatches is how many batches are shown at first.
const shownBatches = 6

func newTimeline(say words.Language, b *border, look func(bool) report.Look) *timeline {
	t := &timeline{say: say, border: b, look: look, box: container.New(&even{}), scale: widget.NewLabel("")}
	button := func(icon fyne.Resource, text string, act func()) *widget.Button {
		return widget.NewButtonWithIcon(text, icon, act)
	}
	bar := container.NewHBox(
		button(theme.ZoomInIcon(), "", func() { t.zoom(0.5, 0.5) }),
		button(theme.ZoomOutIcon(), "", func() { t.zoom(2, 0.5) }),
		button(theme.NavigateBackIcon(), "", func() { t.move(-0.5) }),
		button(theme.NavigateNextIcon(), "", func() { t.move(0.5) }),
		button(theme.ZoomFitIcon(), say.Say("All"), t.fit),
		button(nil, say.Say("%d batches", shownBatches), t.steady),
		t.scale)
	hint := caption(say.Say("The wheel zooms, the mouse pulls. A wait is pale and hatched."))
	t.content = container.NewBorder(container.NewHScroll(bar), hint, nil, nil, container.NewVScroll(t.box))
	t.show(nil)
	return t
}

// show shows a result's spans; nil shows that there is none.
func (t *timeline) show(r *bench.Result) {
	t.result, t.charts = r, nil
	t.box.Objects = nil
	if r == nil || len(t.traces()) == 0 {
		t.box.Add(container.NewCenter(widget.NewLabel(t.say.Say("No finished repeat: there is no timeline."))))
		t.scale.SetText("")
		t.box.Refresh()
		return
	}
	for i := range r.Sides {
		side := &r.Sides[i]
		if side.Trace == nil {
			continue
		}
		c := newMovable(t.border, fyne.NewSize(300, 120))
		c.scrolled = func(steps, at float32) { t.zoom(pow(0.8, steps), float64(at)) }
		c.dragged = func(share float32) { t.move(-float64(share)) }
		t.charts = append(t.charts, c)
		name := widget.NewLabelWithStyle(strings.TrimSpace(side.Label+" "+view.Settings(t.say, side.Config)), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
		t.box.Add(container.New(&snug{}, name, c))
	}
	t.box.Refresh()
	t.steady()
}

// pow is base to the power of whole and half steps of a wheel.
func pow(base float64, steps float32) float64 {
	out := 1.0
	for ; steps >= 0.5; steps-- {
		out *= base
	}
	for ; steps <= -0.5; steps++ {
		out /= base
	}
	return out
}

// traces are those of the sides that have one.
func (t *timeline) traces() []*trace.Trace {
	var out []*trace.Trace
	for i := range t.result.Sides {
		if tr := t.result.Sides[i].Trace; tr != nil {
			out = append(out, tr)
		}
	}
	return out
}

func (t *timeline) steady() {
	if t.result != nil {
		t.windows, _ = report.Steady(t.traces(), shownBatches)
		t.redraw()
	}
}

// fit shows everything; all sides on the scale of the longest.
func (t *timeline) fit() {
	if t.result == nil {
		return
	}
	longest := time.Duration(0)
	for i, tr := range t.traces() {
		t.windows[i] = report.Whole(tr)
		longest = max(longest, t.windows[i].To-t.windows[i].From)
	}
	for i := range t.windows {
		t.windows[i].To = t.windows[i].From + longest
	}
	t.redraw()
}

// leastShown and mostShown are how little and how much time fits into the page.
const (
	leastShown = 5 * time.Microsecond
	mostShown  = time.Hour
)

// zoom shows factor times as much time; what lies at a share of the width stays there.
func (t *timeline) zoom(factor, at float64) {
	for i, w := range t.windows {
		length := w.To - w.From
		longer := min(max(time.Duration(float64(length)*factor), leastShown), mostShown)
		w.From += time.Duration(float64(length-longer) * at)
		w.To = w.From + longer
		t.windows[i] = w
	}
	t.redraw()
}

// move shows what lies a share of the width further on.
func (t *timeline) move(share float64) {
	for i, w := range t.windows {
		by := time.Duration(float64(w.To-w.From) * share)
		t.windows[i] = report.Window{From: w.From + by, To: w.To + by}
	}
	t.redraw()
}

func (t *timeline) redraw() {
	if t.result == nil || len(t.charts) == 0 {
		return
	}
	look := t.look(t.result.Simulated)
	for i, tr := range t.traces() {
		t.charts[i].show(report.Timeline(look, tr, t.windows[i]).Image)
	}
	t.scale.SetText(t.say.Say("%s shown", units.Duration(t.windows[0].To-t.windows[0].From)))
}

// even gives all objects the same share of the height.
type even struct{}

// Layout is called by Fyne.
func (e *even) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	height := size.Height / float32(max(len(objects), 1))
	for i, o := range objects {
		o.Move(fyne.NewPos(0, float32(i)*height))
		o.Resize(fyne.NewSize(size.Width, height-2))
	}
}

// MinSize is called by Fyne.
func (e *even) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(0, 0)
	for _, o := range objects {
		size = fyne.NewSize(max(size.Width, o.MinSize().Width), size.Height+o.MinSize().Height)
	}
	return size
}
