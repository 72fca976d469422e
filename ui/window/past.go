//go:build !headless

package window

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pinscope/bench"
	"pinscope/ui/history"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

// past is the page of saved results.
type past struct {
	say    words.Language
	parent fyne.Window
	border *border
	folder *history.Folder
	open   func(file string, r *bench.Result)
	failed func(error)

	all, shown []history.Entry
	chosen     []string // names, in the order they were chosen
	search     *entry
	list       *widget.List
	count      *widget.Label
	buttons    map[string]*widget.Button
	content    fyne.CanvasObject
}

func newPast(say words.Language, parent fyne.Window, b *border, folder *history.Folder, keys func(fyne.KeyName) bool,
	open func(string, *bench.Result), failed func(error)) *past {
	p := &past{say: say, parent: parent, border: b, folder: folder, open: open, failed: failed, buttons: map[string]*widget.Button{}}
	p.search = newEntry(keys)
	p.search.SetPlaceHolder(say.Say("Search"))
	p.search.OnChanged = func(string) { p.filter() }
	p.list = widget.NewList(func() int { return len(p.shown) }, newPastRow, p.row)
	p.list.OnSelected = func(i widget.ListItemID) {
		p.list.Unselect(i)
		p.toggle(p.shown[i].Name)
	}
	p.count = widget.NewLabel("")
	bar := container.NewHBox(
		p.button("open", say.Say("Open"), theme.FolderOpenIcon(), p.openChosen),
		p.button("compare", say.Say("Compare chosen"), theme.ListIcon(), p.compare),
		p.button("note", say.Say("Note"), theme.DocumentCreateIcon(), p.note),
		p.button("rename", say.Say("Rename"), theme.DocumentIcon(), p.rename),
		p.button("delete", say.Say("Delete"), theme.DeleteIcon(), p.remove))
	top := container.NewVBox(container.NewHScroll(bar), p.search)
	p.content = container.NewBorder(top, p.count, nil, nil, p.list)
	p.enable()
	return p
}

func (p *past) button(key, text string, icon fyne.Resource, act func()) *widget.Button {
	p.buttons[key] = widget.NewButtonWithIcon(text, icon, act)
	return p.buttons[key]
}

// newPastRow is a row of the list: whether it is chosen, and two lines.
func newPastRow() fyne.CanvasObject {
	mark := widget.NewIcon(theme.CheckButtonIcon())
	title := widget.NewLabelWithStyle("", fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	title.Truncation = fyne.TextTruncateEllipsis
	more := widget.NewLabel("")
	more.Truncation, more.SizeName = fyne.TextTruncateEllipsis, theme.SizeNameCaptionText
	return container.NewBorder(nil, nil, mark, nil, container.NewVBox(title, more))
}

func (p *past) row(i widget.ListItemID, o fyne.CanvasObject) {
	parts := o.(*fyne.Container).Objects // the lines first, then what stands left of them
	lines, mark := parts[0].(*fyne.Container).Objects, parts[1].(*widget.Icon)
	title, more := view.EntryLines(p.say, p.shown[i])
	lines[0].(*widget.Label).SetText(title)
	lines[1].(*widget.Label).SetText(more)
	mark.SetResource(theme.CheckButtonIcon())
	if slices.Contains(p.chosen, p.shown[i].Name) {
		mark.SetResource(theme.CheckButtonCheckedIcon())
	}
}

// refresh reads the folder again.
func (p *past) refresh() {
	go func() {
		entries, err := p.folder.List()
		p.border.do(func() {
			if err != nil {
				p.failed(err)
				return
			}
			p.all = entries
			p.filter()
		})
	}()
}

func (p *past) filter() {
	p.shown = nil
	names := map[string]bool{}
	for _, e := range p.all {
		if e.Matches(p.search.Text) {
			p.shown = append(p.shown, e)
			names[e.Name] = true
		}
	}
	p.chosen = slices.DeleteFunc(p.chosen, func(name string) bool { return !names[name] })
	p.list.Refresh()
	p.enable()
}

func (p *past) toggle(name string) {
	if i := slices.Index(p.chosen, name); i >= 0 {
		p.chosen = slices.Delete(p.chosen, i, i+1)
	} else {
		p.chosen = append(p.chosen, name)
	}
	p.list.Refresh()
	p.enable()
}

func (p *past) enable() {
	can := map[string]bool{"open": len(p.chosen) == 1, "note": len(p.chosen) == 1, "rename": len(p.chosen) == 1,
		"compare": len(p.chosen) >= 2, "delete": len(p.chosen) >= 1}
	for key, b := range p.buttons {
		if can[key] {
			b.Enable()
		} else {
			b.Disable()
		}
	}
	text := p.say.Say("Results: %d, chosen: %d", len(p.shown), len(p.chosen))
	if len(p.all) == 0 {
		text = p.say.Say("No results yet: each run is kept here.")
	}
	p.count.SetText(text)
}

// load reads results off the Fyne goroutine.
func (p *past) load(names []string, then func([]*bench.Result)) {
	go func() {
		var results []*bench.Result
		var failed error
		for _, name := range names {
			r, err := p.folder.Load(name)
			if err != nil {
				failed = err
				break
			}
			results = append(results, r)
		}
		p.border.do(func() {
			if failed != nil {
				p.failed(failed)
				return
			}
			then(results)
		})
	}()
}

func (p *past) openChosen() {
	name := p.chosen[0]
	p.load(p.chosen[:1], func(r []*bench.Result) { p.open(name, r[0]) })
}

// compare shows chosen results side by side, doubts first.
func (p *past) compare() {
	names := slices.Clone(p.chosen)
	p.load(names, func(results []*bench.Result) {
		var doubts []string
		for _, r := range results[1:] {
			for _, d := range view.Doubts(p.say, results[0], r) {
				if !slices.Contains(doubts, d) {
					doubts = append(doubts, d)
				}
			}
		}
		body := container.NewVBox(list("⚠", widget.WarningImportance, doubts), table(view.Against(p.say, names, results), 3),
			caption(p.say.Say("Repeats of different runs are not paired: a change counts only where the intervals are apart. For an interval of the change itself, use Compare.")))
		d := dialog.NewCustom(p.say.Say("Compare chosen"), p.say.Say("Close"), container.NewVScroll(body), p.parent)
		d.Resize(wide(p.parent))
		d.Show()
	})
}

// wide is the size of a large dialog.
func wide(parent fyne.Window) fyne.Size {
	size := parent.Canvas().Size()
	return fyne.NewSize(size.Width*0.9, size.Height*0.85)
}

func (p *past) note() {
	name, before := p.chosen[0], ""
	for _, e := range p.all {
		if e.Name == name {
			before = e.Note
		}
	}
	p.ask(p.say.Say("Note"), before, func(text string) error { return p.folder.Note(name, strings.TrimSpace(text)) })
}

func (p *past) rename() {
	name := p.chosen[0]
	p.ask(p.say.Say("Rename"), name, func(text string) error { return p.folder.Rename(name, text) })
}

// ask lets the user edit a text, and does with it what act does.
func (p *past) ask(title, text string, act func(string) error) {
	input := widget.NewEntry()
	input.SetText(text)
	d := dialog.NewCustomConfirm(title, p.say.Say("Save"), p.say.Say("Cancel"), input, func(yes bool) {
		if !yes {
			return
		}
		if err := act(input.Text); err != nil {
			p.failed(err)
		}
		p.chosen = nil
		p.refresh()
	}, p.parent)
	d.Resize(fyne.NewSize(460, 140))
	d.Show()
	p.parent.Canvas().Focus(input)
}

func (p *past) remove() {
	names := slices.Clone(p.chosen)
	question := p.say.Say("Delete %s? This cannot be undone.", quoted(names))
	confirm(p.parent, p.say, p.say.Say("Delete"), question, func() {
		for _, name := range names {
			if err := p.folder.Delete(name); err != nil {
				p.failed(err)
				break
			}
		}
		p.chosen = nil
		p.refresh()
	})
}

func quoted(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("“%s” … (%d)", names[0], len(names))
	}
	return "“" + strings.Join(names, "”, “") + "”"
}
