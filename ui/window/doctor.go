//go:build !headless

package window

import (
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pinscope/bench/doctor"
	"pinscope/ui/client"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

// doctorPage is the page that says what limits pinning here. It asks the runner when
// it is told to, never by itself: that may wake a GPU.
type doctorPage struct {
	say      words.Language
	border   *border
	program  string
	settings func() []string // the form's, as flags
	ask      *widget.Button
	body     *fyne.Container
	content  fyne.CanvasObject
}

func newDoctor(say words.Language, b *border, program string, settings func() []string) *doctorPage {
	d := &doctorPage{say: say, border: b, program: program, settings: settings, body: container.NewVBox()}
	d.ask = widget.NewButtonWithIcon(say.Say("Examine this machine"), theme.SearchIcon(), d.examine)
	head := container.NewBorder(nil, nil, d.ask, nil, caption(say.Say("What is here, what limits pinning, and what to do about it. Nothing is changed.")))
	d.content = container.NewBorder(head, nil, nil, nil, container.NewVScroll(d.body))
	return d
}

func (d *doctorPage) examine() {
	d.ask.Disable()
	args := append([]string{"doctor", "--json"}, d.settings()...)
	go func() {
		var report doctor.Report
		text, err := client.Output(d.program, args...)
		if err == nil {
			err = json.Unmarshal([]byte(text), &report)
		}
		d.border.do(func() {
			d.ask.Enable()
			if err != nil {
				d.body.Objects = []fyne.CanvasObject{wrapped(err.Error())}
				d.body.Refresh()
				return
			}
			d.show(report)
		})
	}()
}

func (d *doctorPage) show(r doctor.Report) {
	machine, advice := view.Findings(d.say, r)
	d.body.Objects = []fyne.CanvasObject{findingList(machine), heading(d.say.Say("Rules of thumb with your numbers")), findingList(advice)}
	d.body.Refresh()
}

func findingList(from []view.Finding) fyne.CanvasObject {
	form := container.New(&pairs{})
	for _, f := range from {
		head := widget.NewLabelWithStyle(f.Head, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
		if f.Bad {
			head.Importance = widget.WarningImportance
		}
		form.Add(head)
		form.Add(wrapped(f.Text))
	}
	return form
}
