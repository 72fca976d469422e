// Package settings keeps what the window remembers from one time to the next, in a
// file of its own. (Fyne's preferences are written in place and read again while
// they are written, which loses them now and then.)
package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/google/renameio/v2"
)

// Settings are what is remembered. The zero value of a field means that nothing was.
type Settings struct {
	Language string   `json:"language,omitempty"`
	Variant  string   `json:"variant,omitempty"` // "light", "dark"; "": as the system
	Percent  int      `json:"scale_percent,omitempty"`
	Width    float32  `json:"width,omitempty"` // of the window, in Fyne's units
	Height   float32  `json:"height,omitempty"`
	Split    float64  `json:"split,omitempty"`  // share of the form, 0 to 1
	Folder   string   `json:"folder,omitempty"` // where a file was saved last
	Form     []string `json:"form,omitempty"`   // as flags
}

// File is the user's file: under XDG_CONFIG_HOME, usually ~/.config/pinscope/window.json.
func File() string { return filepath.Join(xdg.ConfigHome, "pinscope", "window.json") }

// Load reads a file. What is missing or cannot be read is not remembered.
func Load(file string) Settings {
	var s Settings
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return Settings{}
	}
	return s.sane()
}

// sane forgets figures that no window has.
func (s Settings) sane() Settings {
	if !(s.Width >= 200 && s.Width <= 20000 && s.Height >= 200 && s.Height <= 20000) {
		s.Width, s.Height = 0, 0
	}
	if !(s.Split >= 0.05 && s.Split <= 0.95) {
		s.Split = 0
	}
	if s.Percent < 50 || s.Percent > 300 {
		s.Percent = 0
	}
	return s
}

// Save writes the file, whole or not at all.
func (s Settings) Save(file string) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = renameio.WriteFile(file, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("settings: save: %w", err)
	}
	return nil
}
