package view

import (
	"strings"

	"pinscope/ui/history"
	"pinscope/ui/words"
)

// EntryLines are the two lines that the list of results shows of one.
func EntryLines(l words.Language, e history.Entry) (title, more string) {
	title = e.Name
	if e.Note != "" {
		title += " — " + e.Note
	}
	if e.Broken != "" {
		return title, "⚠ " + l.Say("cannot be read: %s", e.Broken)
	}
	parts := []string{e.Started.Local().Format("2006-01-02 15:04"), e.Answer, e.Device}
	if e.Simulated {
		parts = append(parts, l.Say("SIMULATED"))
	}
	if !e.Complete {
		parts = append(parts, "⚠ "+l.Say("incomplete"))
	}
	return title, strings.Join(append(parts, e.Settings), " · ")
}
