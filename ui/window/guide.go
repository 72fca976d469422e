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

// newGuide is the page of lessons; load puts a lesson's settings into the form.
func newGuide(say words.Language, load func(view.Lesson)) fyne.CanvasObject {
	box := container.NewVBox(wrapped(say.Say("Six lessons. Each has settings that show what it says, on a simulated GPU, so that they work on every machine.")))
	for _, lesson := range view.Lessons(say) {
		try := widget.NewButtonWithIcon(say.Say("Load these settings"), theme.DownloadIcon(), func() { load(lesson) })
		box.Add(widget.NewCard("", "", container.NewVBox(
			heading(lesson.Title), wrapped(lesson.Text), wrapped("▶ "+lesson.Try), container.NewHBox(try))))
	}
	return container.NewVScroll(box)
}
