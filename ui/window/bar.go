//go:build !headless

package window

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pinscope/ui/view"
	"pinscope/ui/words"
)

// bar is the line of buttons at the top, and how far a run has come.
type bar struct {
	say                       words.Language
	run, compare, ladder, end *widget.Button
	share                     *widget.ProgressBar
	text                      string // on the progress bar
	content                   fyne.CanvasObject
	allowed, running          bool
}

func newBar(say words.Language, run, compare, ladder, stop func(), more fyne.CanvasObject) *bar {
	b := &bar{say: say, allowed: true}
	b.run = widget.NewButtonWithIcon(say.Say("Run"), theme.MediaPlayIcon(), run)
	b.compare = widget.NewButtonWithIcon(say.Say("Compare"), theme.MediaFastForwardIcon(), compare)
	b.compare.Importance = widget.HighImportance
	b.ladder = widget.NewButtonWithIcon(say.Say("Ladder"), theme.MoveUpIcon(), ladder)
	b.end = widget.NewButtonWithIcon(say.Say("Stop"), theme.MediaStopIcon(), stop)
	b.end.Importance = widget.DangerImportance
	b.share = widget.NewProgressBar()
	b.share.TextFormatter = func() string { return b.text }
	buttons := container.NewHBox(b.run, b.compare, b.ladder, b.end)
	b.content = container.NewBorder(nil, nil, buttons, more, b.share)
	b.show(false)
	return b
}

// show switches between starting and stopping.
func (b *bar) show(running bool) {
	b.running = running
	if running {
		b.progress(view.Progress{Bar: b.say.Say("starting")})
		b.share.Show()
	} else {
		b.share.Hide()
	}
	b.enable()
}

// allow says whether the settings can be run.
func (b *bar) allow(valid bool) {
	b.allowed = valid
	b.enable()
}

func (b *bar) enable() {
	for _, button := range []*widget.Button{b.run, b.compare, b.ladder} {
		if b.allowed && !b.running {
			button.Enable()
		} else {
			button.Disable()
		}
	}
	if b.running {
		b.end.Enable()
	} else {
		b.end.Disable()
	}
}

func (b *bar) progress(p view.Progress) {
	b.text = p.Bar
	b.share.SetValue(p.Share)
	b.share.Refresh() // the text may change where the share does not
}
