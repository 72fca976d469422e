//go:build !headless

package window

import (
	"cmp"
	"fmt"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pinscope/bench"
	"pinscope/bench/report/fonts"
	"pinscope/ui/locale"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

func (w *Window) menu() *fyne.MainMenu {
	quit := item(w.say.Say("Quit"), fyne.KeyQ, 0, w.close)
	quit.IsQuit = true
	file := fyne.NewMenu(w.say.Say("File"), item(w.say.Say("Open…"), fyne.KeyO, 0, w.openFile), fyne.NewMenuItemSeparator())
	shortcuts := map[string]fyne.KeyName{".png": fyne.KeyS, ".txt": fyne.KeyT}
	for _, format := range view.Formats(w.say) {
		file.Items = append(file.Items, item(w.say.Say("Save: %s…", format.Name), shortcuts[format.Ending], 0, func() { w.export(format) }))
	}
	file.Items = append(file.Items, fyne.NewMenuItemSeparator(), quit)
	return fyne.NewMainMenu(file,
		fyne.NewMenu(w.say.Say("Run"),
			item(w.say.Say("Run"), fyne.KeyR, 0, func() { w.start(bench.KindRun) }),
			item(w.say.Say("Compare"), fyne.KeyR, fyne.KeyModifierShift, func() { w.start(bench.KindCompare) }),
			item(w.say.Say("Ladder: one thing at a time"), fyne.KeyL, 0, func() { w.start(bench.KindLadder) }),
			item(w.say.Say("Stop (Esc)"), "", 0, w.stop)),
		fyne.NewMenu(w.say.Say("Copy"), w.copyItems()...),
		fyne.NewMenu(w.say.Say("View"), w.viewItems()...),
		fyne.NewMenu(w.say.Say("Help"),
			item(w.say.Say("Guide (F1)"), "", 0, func() { w.keys(fyne.KeyF1) }),
			item(w.say.Say("About"), "", 0, w.about)))
}

// item is a menu item; with a key, Ctrl and the key (and more) call it too.
func item(text string, key fyne.KeyName, more fyne.KeyModifier, act func()) *fyne.MenuItem {
	i := fyne.NewMenuItem(text, act)
	if key != "" {
		i.Shortcut = &desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault | more}
	}
	return i
}

func (w *Window) copyItems() []*fyne.MenuItem {
	copied := func(text string, err error) {
		if err != nil {
			w.fail(err)
			return
		}
		w.app.Clipboard().SetContent(text)
		w.note(w.say.Say("copied"))
	}
	return []*fyne.MenuItem{
		item(w.say.Say("Result as text"), fyne.KeyC, fyne.KeyModifierShift, func() { copied(w.resultText()) }),
		item(w.say.Say("Command line"), fyne.KeyL, fyne.KeyModifierShift, func() { copied(w.commandLine()) }),
		item(w.say.Say("As PyTorch"), fyne.KeyP, fyne.KeyModifierShift, func() {
			c, err := w.settings()
			copied(view.PyTorch(c), err)
		}),
	}
}

// settings are the form's.
func (w *Window) settings() (bench.Config, error) {
	c, problems := w.form.values.Read()
	if len(problems) > 0 {
		return c, fmt.Errorf("%s", w.say.Say("Some settings are not allowed: see the marked fields."))
	}
	return c, nil
}

func (w *Window) resultText() (string, error) {
	if w.result == nil {
		return "", fmt.Errorf("%s", w.say.Say("there is no result to copy"))
	}
	return view.Text(w.result)
}

// commandLine repeats the result that is shown; without one, the settings.
func (w *Window) commandLine() (string, error) {
	if w.result != nil && w.result.Command != "" {
		return w.result.Command, nil
	}
	c, err := w.settings()
	return c.CommandLine(string(bench.KindCompare)), err
}

func (w *Window) viewItems() []*fyne.MenuItem {
	var items []*fyne.MenuItem
	for _, l := range words.Languages() {
		i := fyne.NewMenuItem(l.Name(), func() { w.setLanguage(l) })
		i.Checked = l == w.say
		items = append(items, i)
	}
	items = append(items, fyne.NewMenuItemSeparator())
	for i, page := range w.tabs.Items {
		items = append(items, item(page.Text, fyne.KeyName(strconv.Itoa(i+1)), 0, func() { w.tabs.SelectIndex(i) }))
	}
	items = append(items, fyne.NewMenuItemSeparator())
	now := w.remembered.Variant
	for _, v := range [][2]string{{"", w.say.Say("As the system")}, {"light", w.say.Say("Light")}, {"dark", w.say.Say("Dark")}} {
		i := fyne.NewMenuItem(v[1], func() {
			w.remembered.Variant = v[0]
			w.rebuild()
		})
		i.Checked = v[0] == now
		items = append(items, i)
	}
	items = append(items, fyne.NewMenuItemSeparator())
	for _, percent := range []int{80, 100, 125, 150, 200} {
		i := fyne.NewMenuItem(w.say.Say("Size %d %%", percent), func() {
			w.remembered.Percent = percent
			w.rebuild()
		})
		i.Checked = percent == cmp.Or(w.remembered.Percent, 100)
		items = append(items, i)
	}
	return items
}

func (w *Window) setLanguage(l words.Language) {
	w.remembered.Language = string(l)
	w.say = l
	w.rebuild()
}

// rebuild makes the window anew, in its language and looks.
func (w *Window) rebuild() {
	w.applyLooks()
	w.build()
	w.save()
	if w.plan != nil && w.runner != nil { // otherwise build has asked for a new one
		w.showPlan(*w.plan)
	}
}

func (w *Window) applyLooks() {
	scale := float32(cmp.Or(w.remembered.Percent, 100)) / 100
	w.app.Settings().SetTheme(newLooks(w.remembered.Variant, scale))
}

// setSystemWords has Fyne's own dialogs speak the language: they follow the
// environment, which is read again when translations are added.
func setSystemWords(l words.Language) {
	name := map[words.Language]string{words.English: "en_US.UTF-8", words.Chinese: "zh_CN.UTF-8"}[l]
	locale.As(name, func() {
		_ = lang.AddTranslationsForLocale([]byte("{}"), fyne.Locale("en")) // nothing is added that could be wrong
	})
}

// moreActions are the buttons at the right end of the bar.
func (w *Window) moreActions() fyne.CanvasObject {
	save := widget.NewButtonWithIcon(w.say.Say("Save"), theme.DocumentSaveIcon(), nil)
	save.OnTapped = func() {
		var items []*fyne.MenuItem
		for _, format := range view.Formats(w.say) {
			items = append(items, fyne.NewMenuItem(format.Name+"…", func() { w.export(format) }))
		}
		w.popUp(save, items)
	}
	copying := widget.NewButtonWithIcon(w.say.Say("Copy"), theme.ContentCopyIcon(), nil)
	copying.OnTapped = func() { w.popUp(copying, w.copyItems()) }
	return container.NewHBox(save, copying)
}

// popUp shows a menu under a button.
func (w *Window) popUp(under *widget.Button, items []*fyne.MenuItem) {
	at := w.app.Driver().AbsolutePositionForObject(under)
	widget.ShowPopUpMenuAtPosition(fyne.NewMenu("", items...), w.win.Canvas(), at.AddXY(0, under.Size().Height))
}

func (w *Window) about() {
	tool := bench.ThisTool()
	license := wrapped(fonts.License)
	body := container.NewVScroll(container.NewVBox(
		wrapped(fmt.Sprintf("Pinscope %s\n%s, %s", tool.Version, tool.Build, tool.Go)),
		wrapped(w.say.Say("Results are kept in %s.", w.options.History.Path())),
		wrapped(w.say.Say("MIT licence. The typeface is %s:", fonts.Family)), license))
	d := dialog.NewCustom(w.say.Say("About"), w.say.Say("Close"), body, w.win)
	d.Resize(wide(w.win))
	d.Show()
}
