//go:build !headless

package window

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pinscope/ui/client"
	"pinscope/ui/words"
)

// doctor is the page that says what limits pinning here. It asks the runner when
// it is told to, never by itself: that may wake a GPU.
type doctor struct {
	say     words.Language
	border  *border
	program string
	ask     *widget.Button
	text    *widget.Label
	content fyne.CanvasObject
}

func newDoctor(say words.Language, b *border, program string) *doctor {
	d := &doctor{say: say, border: b, program: program, text: widget.NewLabel("")}
	d.text.TextStyle.Monospace, d.text.Selectable = true, true
	d.ask = widget.NewButtonWithIcon(say.Say("Examine this machine"), theme.SearchIcon(), d.examine)
	head := container.NewBorder(nil, nil, d.ask, nil, caption(say.Say("What is here, what limits pinning, and what to do about it. Nothing is changed.")))
	d.content = container.NewBorder(head, nil, nil, nil, container.NewScroll(d.text))
	return d
}

func (d *doctor) examine() {
	d.ask.Disable()
	go func() {
		text, err := client.Output(d.program, "doctor")
		if err != nil {
			text = err.Error()
		}
		d.border.do(func() {
			d.text.SetText(text)
			d.ask.Enable()
		})
	}()
}
