//go:build !headless

package window

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"pinscope/bench"
	"pinscope/bench/report"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

// memory is the page that shows what a result took of host memory.
type memory struct {
	say     words.Language
	border  *border
	look    func(simulated bool) report.Look
	body    *fyne.Container
	content fyne.CanvasObject
}

func newMemory(say words.Language, b *border, look func(bool) report.Look) *memory {
	m := &memory{say: say, border: b, look: look, body: container.NewVBox()}
	m.content = container.NewVScroll(m.body)
	m.show(nil)
	return m
}

func (m *memory) show(r *bench.Result) {
	if r == nil {
		m.body.Objects = []fyne.CanvasObject{wrapped(m.say.Say("No result yet: the plan on the left says what the settings would take."))}
		m.body.Refresh()
		return
	}
	c := newChart(m.border, fyne.NewSize(300, 220))
	c.show(report.MemoryPlan(m.look(r.Simulated), r.Sides).Image)
	m.body.Objects = []fyne.CanvasObject{
		c, heading(m.say.Say("Planned and pinned")), table(view.MemoryRows(m.say, r), 1),
		caption(m.say.Say("PyTorch's allocator rounds each pinned tensor up to a power of two; the rings here are exact.")),
	}
	m.body.Refresh()
}
