package view

import (
	"pinscope/bench/doctor"
	"pinscope/ui/words"
)

// Finding is one thing that the doctor looked at.
type Finding struct {
	Head string // a sign for the level, and what was looked at
	Text string // what was found, why it matters, what to do
	Bad  bool   // the level is warn or bad
}

// levelSigns are told apart by shape.
var levelSigns = map[doctor.Level]string{doctor.Unknown: "?", doctor.Good: "○", doctor.Warn: "▲", doctor.Bad: "■"}

// Findings are a report's findings about the machine and, after them, its advice.
func Findings(l words.Language, r doctor.Report) (machine, advice []Finding) {
	return findings(l, r.Findings), findings(l, r.Advice)
}

func findings(l words.Language, from []doctor.Finding) []Finding {
	var out []Finding
	for _, f := range from {
		text := f.Found
		if f.Why != "" {
			text += " - " + f.Why
		}
		if f.Do != "" {
			text += "\n" + l.Say("Do: %s", f.Do)
		}
		out = append(out, Finding{Head: levelSigns[f.Level] + " " + f.Topic, Text: text, Bad: f.Level >= doctor.Warn})
	}
	return out
}
