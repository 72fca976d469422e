//go:build !headless

package window

import (
	"image"

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
	look := m.look(r.Simulated)
	m.body.Objects = nil
	if r.Pressure != nil {
		m.add(420, stacked(look, report.MemoryOf(r.Pressure, r.Limits)))
	}
	m.add(220, report.MemoryPlan(look, r.Sides).Image)
	m.body.Objects = append(m.body.Objects,
		heading(m.say.Say("Planned and pinned")), table(view.MemoryRows(m.say, r), 1),
		caption(m.say.Say("PyTorch's allocator rounds each pinned tensor up to a power of two; the rings here are exact.")))
	m.body.Refresh()
}

// add puts a chart on the page.
func (m *memory) add(height float32, d draw) {
	c := newChart(m.border, fyne.NewSize(300, height))
	c.show(d)
	m.body.Objects = append(m.body.Objects, c)
}

// stacked draws what the memory system showed over the whole run, on one time axis.
func stacked(look report.Look, m report.Memory) draw {
	return func(width, height, dpi int) (image.Image, error) {
		charts, weights := []*report.Chart{report.MemoryUse(look, m, report.Window{})}, []float64{2}
		for _, c := range []*report.Chart{report.MemoryStall(look, m, report.Window{}), report.Reclaim(look, m, report.Window{})} {
			if !c.Empty() {
				charts, weights = append(charts, c), append(weights, 1)
			}
		}
		return report.StackImage(charts, width, height, dpi, weights...)
	}
}
