package doctor

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"pinscope/bench/pressure"
)

// Level is how a finding is meant.
type Level uint8

// Levels; the zero value is that it could not be told.
const (
	Unknown Level = iota
	Good
	Warn
	Bad
)

var levelNames = [...]string{"unknown", "good", "warn", "bad"}

// String is the level in a word.
func (l Level) String() string {
	if int(l) >= len(levelNames) {
		return fmt.Sprintf("Level(%d)", uint8(l))
	}
	return levelNames[l]
}

// MarshalText gives the word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText takes a word.
func (l *Level) UnmarshalText(text []byte) error {
	i := slices.Index(levelNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("doctor: level %q: unknown", text)
	}
	*l = Level(i)
	return nil
}

// Finding is one thing that was looked at.
type Finding struct {
	Topic string `json:"topic"` // "memory lock limit"
	Level Level  `json:"level"`
	Found string `json:"found"`        // what, with its numbers
	Why   string `json:"why"`          // it matters, or does not
	Do    string `json:"do,omitempty"` // what to type or change; empty: nothing to do
}

// Report is what the doctor says.
type Report struct {
	Findings []Finding       `json:"findings"` // of the machine
	Advice   []Finding       `json:"advice"`   // general rules, applied to the run in question
	Ring     pressure.Ring   `json:"ring"`     // the most to pin
	Limits   pressure.Limits `json:"limits"`
}

// Worst is the worst level of all findings.
func (r Report) Worst() Level {
	worst := Unknown
	for _, f := range slices.Concat(r.Findings, r.Advice) {
		worst = max(worst, f.Level)
	}
	return worst
}

// Text writes a line a finding.
func (r Report) Text(to io.Writer) error {
	w := bufio.NewWriter(to)
	for _, f := range r.Findings {
		w.WriteString(f.line())
	}
	w.WriteString("\nRules of thumb with your numbers:\n")
	for _, f := range r.Advice {
		w.WriteString(f.line())
	}
	return w.Flush() // the first error of all
}

func (f Finding) line() string {
	colon := ":"
	if strings.HasSuffix(f.Topic, "?") {
		colon = ""
	}
	text := fmt.Sprintf("%-7s %s%s %s - %s.", f.Level, f.Topic, colon, f.Found, f.Why)
	if f.Do != "" {
		text += " Do: " + f.Do
	}
	return text + "\n"
}
