package cli

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const goneText = "pinscope: the reader of standard output has gone\n"

// leave starts the program, reads some lines of what it says and goes.
func leave(t *testing.T, folder string, lines int, args ...string) (code int, stderr string) {
	t.Helper()
	child := exec.Command(os.Args[0], args...)
	child.Env = append(os.Environ(), childEnv+"=1", "TMPDIR="+folder)
	var told strings.Builder
	child.Stderr = &told
	pipe, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for from := bufio.NewReader(pipe); lines > 0; lines-- {
		if _, err := from.ReadString('\n'); err != nil {
			t.Errorf("it said too little: %v", err)
		}
	}
	pipe.Close()
	_ = child.Wait() // the exit code is looked at
	return child.ProcessState.ExitCode(), told.String()
}

// A reader that goes, wherever that meets the run, ends it by exit code 1 with the
// result written.
func TestReaderGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes end otherwise there")
	}
	for i := range 20 {
		folder := t.TempDir()
		file := filepath.Join(folder, "r.json")
		code, stderr := leave(t, folder, 1+i/2, append(quick, "--samples", "16", "--repeats", "200", "--events", "--json", file)...)
		if code != exitFailed || stderr != goneText {
			t.Errorf("exit code %d: %s", code, stderr)
		}
		if r := readResult(t, file); !r.Complete && !r.Cancelled {
			t.Errorf("neither complete nor cancelled: %s", r.Error)
		}
	}
}

// What was meant for standard output is not kept elsewhere: nobody waits for it.
func TestReaderOfResultGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes end otherwise there")
	}
	folder := t.TempDir()
	if code, stderr := leave(t, folder, 1, append(quick, "--repeats", "50", "--quiet", "--json", "-")...); code != exitFailed || !strings.Contains(stderr, goneText) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("files left behind: %v", left)
	}
}
