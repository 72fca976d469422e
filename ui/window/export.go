//go:build !headless

package window

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/widget"

	"pinscope/bench"
	"pinscope/bench/report"
	"pinscope/ui/view"
	"pinscope/ui/words"
)

// writers write a result in each form, by the form's ending.
func writers(o report.Options) map[string]func(*bench.Result, io.Writer) error {
	return map[string]func(*bench.Result, io.Writer) error{
		".png":        func(r *bench.Result, to io.Writer) error { return report.WritePNG(to, r, o) },
		".svg":        func(r *bench.Result, to io.Writer) error { return report.WriteSVG(to, r, o) },
		".json":       (*bench.Result).WriteJSON,
		".csv":        (*bench.Result).WriteCSV,
		".trace.json": (*bench.Result).WriteTrace,
		".txt":        (*bench.Result).Text,
	}
}

// export asks for a name and writes the result in a form. The file appears when
// it is whole: no Fyne dialog is used, since that makes an empty file first.
func (w *Window) export(format view.Format) {
	if w.result == nil {
		w.fail(errors.New(w.say.Say("there is no result to save")))
		return
	}
	folder := cmp.Or(w.remembered.Folder, home())
	name := newEntry(w.keys)
	name.SetText("pinscope-" + string(w.result.Kind) + format.Ending)
	target := caption("")
	show := func() {
		path, err := view.SavePath(w.say, folder, name.Text, format.Ending)
		switch _, exists := os.Stat(path); {
		case err != nil:
			target.SetText("⚠ " + err.Error())
		case exists == nil:
			target.SetText("⚠ " + w.say.Say("%s exists", path))
		default:
			target.SetText(path)
		}
	}
	name.OnChanged = func(string) { show() }
	browse := widget.NewButton(w.say.Say("Folder…"), func() {
		d := dialog.NewFolderOpen(func(chosen fyne.ListableURI, err error) {
			if err == nil && chosen != nil {
				folder = chosen.Path()
				w.remembered.Folder = folder
				show()
			}
		}, w.win)
		if at, err := storage.ListerForURI(storage.NewFileURI(folder)); err == nil {
			d.SetLocation(at)
		}
		d.Show()
	})
	show()
	body := container.NewVBox(container.NewBorder(nil, nil, nil, browse, name), target)
	d := dialog.NewCustomConfirm(format.Name, w.say.Say("Save"), w.say.Say("Cancel"), body, func(yes bool) {
		if yes {
			w.saveAs(folder, name.Text, format)
		}
	}, w.win)
	name.OnSubmitted = func(string) { d.Confirm() }
	d.Resize(fyne.NewSize(560, 180))
	d.Show()
	w.win.Canvas().Focus(name)
}

// confirm asks whether to do something that cannot be undone; act is also what the
// button that does it is called.
func confirm(parent fyne.Window, say words.Language, act, question string, do func()) {
	d := dialog.NewConfirm(act, question, func(yes bool) {
		if yes {
			do()
		}
	}, parent)
	d.SetConfirmText(act)
	d.SetDismissText(say.Say("Cancel"))
	d.SetConfirmImportance(widget.DangerImportance)
	d.Show()
}

func home() string {
	if folder, err := os.UserHomeDir(); err == nil {
		return folder
	}
	return string(filepath.Separator)
}

// saveAs writes the result, asking before a file is replaced.
func (w *Window) saveAs(folder, name string, format view.Format) {
	path, err := view.SavePath(w.say, folder, name, format.Ending)
	if err != nil {
		w.fail(err)
		return
	}
	result := w.result
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		w.write(result, path, format)
		return
	}
	confirm(w.win, w.say, w.say.Say("Replace"), w.say.Say("%s exists. Replace it?", path), func() { w.write(result, path, format) })
}

// write draws and writes off the Fyne goroutine.
func (w *Window) write(r *bench.Result, path string, format view.Format) {
	write := writers(w.reportOptions())[format.Ending]
	go func() {
		err := bench.WriteFile(path, func(to io.Writer) error { return write(r, to) })
		w.border.do(func() {
			if err != nil {
				w.fail(err)
				return
			}
			w.note(w.say.Say("saved: %s", path))
		})
	}()
}

// openFile asks for a result file or a PNG report and shows it.
func (w *Window) openFile() {
	d := dialog.NewFileOpen(func(file fyne.URIReadCloser, err error) {
		if err == nil && file != nil {
			path := file.URI().Path()
			_ = file.Close() // it is read by its name
			w.openPath(path)
		}
	}, w.win)
	d.SetFilter(storage.NewExtensionFileFilter([]string{".json", ".png"}))
	d.Resize(wide(w.win))
	d.Show()
}

// openPath shows a result file, the result inside a PNG report, or a preset.
func (w *Window) openPath(path string) {
	go func() {
		result, preset, err := readAny(path)
		w.border.do(func() {
			switch {
			case err != nil:
				w.fail(err)
			case result != nil:
				w.showResult(result, filepath.Base(path))
			default:
				w.loadConfig(*preset)
				w.note(w.say.Say("settings loaded: %s", path))
			}
		})
	}()
}

func readAny(path string) (*bench.Result, *bench.Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if filepath.Ext(path) == ".png" || filepath.Ext(path) == ".PNG" {
		r, err := report.Extract(file)
		return r, nil, err
	}
	result, err := bench.ReadResult(file)
	if err == nil {
		return result, nil, nil
	}
	if preset, presetErr := bench.LoadPreset(path); presetErr == nil {
		return nil, &preset, nil
	}
	return nil, nil, err
}
