package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal opens a terminal of its own: what is written to one end comes out
// of the other.
func openTerminal(t *testing.T) (terminal, other *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { other.Close() })
	number, err := unix.IoctlGetInt(int(other.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(other.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal, other
}

// Sentences are broken into lines on a terminal, and nowhere else.
func TestSentencesFit(t *testing.T) {
	terminal, other := openTerminal(t)
	args := []string{"run", "--samples", "50", "--drop-last"}
	if code := Main(t.Context(), args, new(bytes.Buffer), terminal, noWindow); code != exitInput {
		t.Errorf("exit code %d", code)
	}
	text := make([]byte, 4096)
	n, err := other.Read(text)
	lines := strings.Split(strings.TrimSpace(string(text[:n])), "\r\n")
	if err != nil || len(lines) < 2 {
		t.Fatalf("%v: not broken: %q", err, text[:n])
	}
	for _, line := range lines {
		if len(line) > textWidth {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if _, _, stderr := call(args...); strings.Join(lines, " ")+"\n" != stderr {
		t.Errorf("got %q, want the words of %q", lines, stderr)
	}
}

func TestIsTerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if isTerminal(null) || isTerminal(&pipe{to: null}) || isTerminal(new(bytes.Buffer)) {
		t.Error("something else is taken for a terminal")
	}
	if terminal, _ := openTerminal(t); !isTerminal(terminal) || !isTerminal(&pipe{to: terminal}) {
		t.Error("a terminal is taken for something else")
	}
}
