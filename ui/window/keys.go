//go:build !headless

package window

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// Fyne gives a key to the focused widget alone. The widgets here pass on the keys
// that mean the same everywhere (Esc, F1).

type entry struct {
	widget.Entry
	keys func(fyne.KeyName) bool
}

func newEntry(keys func(fyne.KeyName) bool) *entry {
	e := &entry{keys: keys}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey is called by Fyne.
func (e *entry) TypedKey(key *fyne.KeyEvent) {
	if !e.keys(key.Name) {
		e.Entry.TypedKey(key)
	}
}

type choice struct {
	widget.Select
	keys func(fyne.KeyName) bool
}

func newChoice(options []string, changed func(string), keys func(fyne.KeyName) bool) *choice {
	c := &choice{keys: keys}
	c.Options, c.OnChanged, c.PlaceHolder = options, changed, "…"
	c.ExtendBaseWidget(c)
	return c
}

// TypedKey is called by Fyne.
func (c *choice) TypedKey(key *fyne.KeyEvent) {
	if !c.keys(key.Name) {
		c.Select.TypedKey(key)
	}
}

type check struct {
	widget.Check
	keys func(fyne.KeyName) bool
}

func newCheck(text string, changed func(bool), keys func(fyne.KeyName) bool) *check {
	c := &check{keys: keys}
	c.Text, c.OnChanged = text, changed
	c.ExtendBaseWidget(c)
	return c
}

// TypedKey is called by Fyne.
func (c *check) TypedKey(key *fyne.KeyEvent) {
	if !c.keys(key.Name) {
		c.Check.TypedKey(key)
	}
}
