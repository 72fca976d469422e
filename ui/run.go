//go:build !headless

package ui

import (
	_ "embed"
	"errors"
	"fmt"
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"

	"pinscope/ui/display"
	"pinscope/ui/history"
	"pinscope/ui/locale"
	"pinscope/ui/settings"
	"pinscope/ui/window"
)

// icon is assets/icon.png, smaller.
//
//go:embed icon.png
var icon []byte

// appID is that of FyneApp.toml.
const appID = "io.github.pinscope"

// Fyne's packages have been initialised by now.
func init() { locale.Restore() }

// Run opens the window on some result files, PNG reports or presets, and returns
// when it is closed. The error is one sentence that says why there is no window,
// and what works without one. It must be called on the main goroutine.
func Run(files []string) error {
	if err := display.Check(); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the window cannot find its own program, which runs the measurements: %w", err)
	}
	results, err := history.Open(history.UserFolder())
	if err != nil {
		return err
	}
	return show(program, results, files)
}

// show gives an error in place of the panic that the window library raises where
// a display is there and cannot be drawn on.
func show(program string, results *history.Folder, files []string) (err error) {
	started := false
	defer func() {
		if problem := recover(); problem != nil {
			if started {
				panic(problem) // a mistake in the window: its trace is wanted
			}
			err = errors.New(fmt.Sprint("no window can be opened on this display (", problem, "); use for instance: pinscope compare --preset article"))
		}
	}()
	// Told its ID only when it is made, Fyne keeps its preferences in memory: in a
	// file it would watch them while it writes them, and complain of that.
	app.SetMetadata(fyne.AppMetadata{Name: "Pinscope"})
	a := app.NewWithID("")
	app.SetMetadata(fyne.AppMetadata{ID: appID, Name: "Pinscope"})
	a.SetIcon(fyne.NewStaticResource("icon.png", icon))
	window.Open(a, window.Options{Program: program, History: results, Settings: settings.File(), Files: files})
	started = true
	a.Run()
	return nil
}
