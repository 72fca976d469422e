package bench

import (
	"bufio"
	"strings"
	"testing"
	"unicode/utf8"
)

// Lines are filled by characters, of which some take several bytes.
func TestWrapCountsCharacters(t *testing.T) {
	var out strings.Builder
	w := &textWriter{Writer: bufio.NewWriter(&out)}
	w.wrap("Größe ", strings.Repeat("äöü ", 30))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	// Six of indent, then 18 words of three and the spaces between them: 77 of 80.
	if len(lines) != 2 || utf8.RuneCountInString(lines[0]) != 77 || !strings.HasPrefix(lines[1], "      ä") {
		t.Errorf("%q", lines)
	}
}
