//go:build !headless

package window

import (
	"maps"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pinscope/bench"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

// form is the settings, on the left.
type form struct {
	say     words.Language
	parent  fyne.Window
	keys    func(fyne.KeyName) bool
	changed func() // the values are different now

	values  view.Form
	loading bool // values are being put into fields, not typed
	presets *choice
	fields  map[string]*field
	content fyne.CanvasObject
}

// field is one row: its label, what it is filled in with, and a hint or what is wrong.
type field struct {
	view    view.Field
	set     func(string)
	caption *widget.Label
}

func newForm(say words.Language, parent fyne.Window, keys func(fyne.KeyName) bool, values view.Form, open map[string]bool, changed func()) *form {
	f := &form{say: say, parent: parent, keys: keys, changed: changed, values: view.Form{}, fields: map[string]*field{}}
	box := container.NewVBox(f.presetRow())
	for i, s := range view.Sections(say) {
		box.Add(f.section(s, open, i))
	}
	f.content = container.NewVScroll(box)
	f.load(values)
	return f
}

func (f *form) presetRow() fyne.CanvasObject {
	var names []string
	for _, p := range bench.Presets() {
		names = append(names, p.Name)
	}
	note := caption(f.say.Say("Settings to start from; changing one leaves the preset."))
	f.presets = newChoice(names, func(name string) {
		if f.loading {
			return
		}
		for _, p := range bench.Presets() {
			if p.Name == name {
				values := view.FormOf(p.Config)
				values["device"], values["sim"] = f.values["device"], f.values["sim"] // the machine is no matter of presets
				f.load(values)
				note.SetText(f.say.Say(p.Description))
				f.changed()
			}
		}
	}, f.keys)
	f.presets.PlaceHolder = f.say.Say("no preset")
	label := widget.NewLabelWithStyle(f.say.Say("Preset"), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	return container.New(&snug{}, container.NewBorder(nil, nil, label, nil, f.presets), note)
}

// section is a heading that shows and hides its fields.
func (f *form) section(s view.Section, open map[string]bool, index int) fyne.CanvasObject {
	key := string(rune('0' + index))
	rows := container.NewVBox()
	for _, v := range s.Fields {
		rows.Add(f.field(v))
	}
	head := widget.NewButton(s.Title, nil)
	head.Alignment, head.Importance = widget.ButtonAlignLeading, widget.LowImportance
	show := func() {
		head.SetIcon(theme.MenuExpandIcon())
		rows.Hide()
		if open[key] {
			head.SetIcon(theme.MenuDropDownIcon())
			rows.Show()
		}
	}
	head.OnTapped = func() {
		open[key] = !open[key]
		show()
	}
	show()
	return container.NewVBox(head, rows)
}

func (f *form) field(v view.Field) fyne.CanvasObject {
	out := &field{view: v, caption: caption(v.Hint)}
	f.fields[v.Flag] = out
	label := widget.NewLabel(v.Label)
	var input fyne.CanvasObject
	switch v.Kind {
	case view.Switch:
		c := newCheck(v.Label, func(on bool) { f.typed(v.Flag, map[bool]string{true: "true", false: "false"}[on]) }, f.keys)
		out.set = func(text string) { c.SetChecked(text == "true") }
		return container.New(&snug{}, c, out.caption)
	case view.Choice:
		c := newChoice(v.Choices, func(text string) { f.typed(v.Flag, text) }, f.keys)
		out.set = c.SetSelected
		input = c
	case view.Source:
		input, out.set = f.source(v)
	default:
		input, out.set = f.entry(v)
	}
	var unit fyne.CanvasObject
	if v.Unit != "" {
		unit = widget.NewLabel(v.Unit)
	}
	return container.New(&snug{}, container.NewBorder(nil, nil, fixedWidth(label, 108), unit, input), out.caption)
}

// fixedWidth gives an object a width of its own, so that fields stand in line.
func fixedWidth(o fyne.CanvasObject, width float32) fyne.CanvasObject {
	spacer := container.NewGridWrap(fyne.NewSize(max(width, o.MinSize().Width), o.MinSize().Height), o)
	return spacer
}

// entry is a text field, with a button that offers values where there are any.
func (f *form) entry(v view.Field) (fyne.CanvasObject, func(string)) {
	e := newEntry(f.keys)
	e.OnChanged = func(text string) { f.typed(v.Flag, text) }
	if len(v.Choices) == 0 {
		return e, e.SetText
	}
	offer := widget.NewButtonWithIcon("", theme.MenuDropDownIcon(), nil)
	offer.OnTapped = func() {
		var items []*fyne.MenuItem
		for _, name := range v.Choices {
			items = append(items, fyne.NewMenuItem(name, func() { e.SetText(name) }))
		}
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(offer)
		widget.ShowPopUpMenuAtPosition(fyne.NewMenu("", items...), f.parent.Canvas(), at.AddXY(0, offer.Size().Height))
	}
	return container.NewBorder(nil, nil, nil, offer, e), e.SetText
}

// source is a kind of data set and, where it needs one, a file, folder or time.
func (f *form) source(v view.Field) (fyne.CanvasObject, func(string)) {
	var kind *choice
	argument := newEntry(f.keys)
	browse := widget.NewButtonWithIcon("", theme.FolderOpenIcon(), nil)
	second := container.NewBorder(nil, nil, nil, browse, argument)
	tell := func() { f.typed(v.Flag, view.JoinSource(kind.Selected, argument.Text)) }
	show := func() {
		second.Show()
		browse.Show()
		switch kind.Selected {
		case "npy", "images":
		case "delay":
			browse.Hide()
		default:
			second.Hide()
		}
	}
	kind = newChoice(v.Choices, func(string) {
		if !f.loading {
			argument.SetText(map[string]string{"delay": "20ms"}[kind.Selected])
			f.adapt(kind.Selected)
		}
		show()
		tell()
	}, f.keys)
	argument.OnChanged = func(string) { tell() }
	browse.OnTapped = func() { f.browse(kind.Selected, argument.SetText) }
	return container.NewVBox(kind, second), func(text string) {
		name, of := view.SplitSource(text)
		kind.SetSelected(name)
		argument.SetText(of)
		show()
	}
}

// adapt changes with the kind of source what has to change with it: tokens are
// rows of int64, files bring their own number of samples.
func (f *form) adapt(kind string) {
	c, err := bench.ParseArgs(bench.DefaultConfig(), []string{"--source", view.JoinSource(kind, "x")})
	if err != nil {
		return
	}
	fresh := view.FormOf(c)
	for _, flag := range []string{"samples", "shape", "dtype"} {
		f.fields[flag].set(fresh[flag])
	}
}

func (f *form) browse(kind string, chosen func(string)) {
	if kind == "images" {
		dialog.NewFolderOpen(func(folder fyne.ListableURI, err error) {
			if err == nil && folder != nil {
				chosen(folder.Path())
			}
		}, f.parent).Show()
		return
	}
	dialog.NewFileOpen(func(file fyne.URIReadCloser, err error) {
		if err == nil && file != nil {
			chosen(file.URI().Path())
			_ = file.Close() // nothing was read
		}
	}, f.parent).Show()
}

// typed takes what a field holds now.
func (f *form) typed(flag, text string) {
	if f.values[flag] == text {
		return
	}
	f.values[flag] = text
	if f.loading {
		return
	}
	f.values["preset"] = ""
	f.showPreset()
	f.changed()
}

func (f *form) showPreset() {
	before := f.loading
	f.loading = true
	if name := f.values["preset"]; name != "" {
		f.presets.SetSelected(name)
	} else {
		f.presets.ClearSelected()
	}
	f.loading = before
}

// load puts values into all fields.
func (f *form) load(values view.Form) {
	f.loading = true
	values = maps.Clone(values)
	for flag, field := range f.fields {
		field.set(values[flag])
	}
	f.values = values
	f.showPreset()
	f.loading = false
}

// mark shows what is wrong with which field, and hints everywhere else.
func (f *form) mark(problems map[string]string) {
	for flag, field := range f.fields {
		text, importance := field.view.Hint, widget.LowImportance
		if problem := problems[flag]; problem != "" {
			text, importance = "⚠ "+problem, widget.DangerImportance
		}
		if field.caption.Text != text || field.caption.Importance != importance {
			field.caption.Importance = importance
			field.caption.SetText(text)
		}
	}
}

// others are the problems of no field that is shown.
func (f *form) others(problems map[string]string) string {
	var texts []string
	for flag, problem := range problems {
		if f.fields[flag] == nil {
			texts = append(texts, strings.TrimSpace(flag+" "+problem))
		}
	}
	return strings.Join(texts, "; ")
}
