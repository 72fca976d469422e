package view

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"pinscope/ui/words"
)

// Format is a form in which a result can be saved.
type Format struct {
	Name   string // as the menu calls it
	Ending string // of files, with its dot
}

// Formats are all forms.
func Formats(l words.Language) []Format {
	return []Format{
		{l.Say("PNG report"), ".png"},
		{l.Say("SVG report"), ".svg"},
		{l.Say("Result (JSON)"), ".json"},
		{l.Say("Table (CSV)"), ".csv"},
		{l.Say("Trace for Perfetto"), ".trace.json"},
		{l.Say("Text"), ".txt"},
	}
}

// endings are those that are replaced when another one is wanted; anything else
// behind a dot is part of a name. The longer come first.
var endings = []string{".trace.json", ".png", ".svg", ".json", ".csv", ".txt", ".md", ".pdf", ".jpg", ".jpeg"}

// SavePath is the file that a typed name means: with the ending of its form, in
// the folder unless the name brings its own.
func SavePath(l words.Language, folder, name, ending string) (string, error) {
	name = strings.TrimSpace(name)
	base := filepath.Base(name)
	if name == "" || strings.HasSuffix(name, string(filepath.Separator)) || base == "." || base == ".." || strings.ToLower(base) == ending {
		return "", errors.New(l.Say("a name for the file is missing"))
	}
	if strings.ContainsRune(name, 0) {
		return "", errors.New(l.Say("the name holds a character that files cannot have"))
	}
	lower := strings.ToLower(name)
	if !strings.HasSuffix(lower, ending) || ending == ".json" && strings.HasSuffix(lower, ".trace.json") {
		if i := slices.IndexFunc(endings, func(e string) bool { return strings.HasSuffix(lower, e) && lower != e }); i >= 0 {
			name = name[:len(name)-len(endings[i])]
		}
		name += ending
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(folder, name)
	}
	return name, nil
}
