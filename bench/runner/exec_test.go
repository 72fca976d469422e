//go:build unix

package runner

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain lets this program stand in for the plain pinscope that hands over.
func TestMain(m *testing.M) {
	if os.Getenv("RUNNER_TEST_EXEC") == "" {
		os.Exit(m.Run())
	}
	code, err := Exec(find(os.Args[0]), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(code)
}

// install puts a copy of this program, as pinscope, and a script, as the CUDA
// runner, into a folder.
func install(t *testing.T, script string) (program string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program = filepath.Join(dir, "pinscope")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("RUNNER_TEST_EXEC", "1")
	writeFile(t, filepath.Join(dir, Name), "#!/bin/sh\n"+script, 0o755)
	return program
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestExecPassesEverything(t *testing.T) {
	program := install(t, `read line; echo "out $line"; echo "err" >&2; for a; do echo "[$a]"; done; exit 7`)
	cmd := exec.Command(program, "run", "--shape", "3x2", "two words", "")
	cmd.Stdin = strings.NewReader("hello\n")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("ended with %v, want exit code 7", err)
	}
	if got, want := out.String(), "out hello\n[run]\n[--shape]\n[3x2]\n[two words]\n[]\n"; got != want {
		t.Errorf("standard output %q, want %q", got, want)
	}
	if errs.String() != "err\n" {
		t.Errorf("standard error %q", errs.String())
	}
}

// A Ctrl+C on a terminal goes to the whole process group: the runner must see it once.
func TestExecSignals(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		group  bool
		code   int
	}{{syscall.SIGINT, true, 130}, {syscall.SIGINT, false, 130}, {syscall.SIGTERM, false, 143}} {
		t.Run(fmt.Sprintf("%v to group %v", c.signal, c.group), func(t *testing.T) {
			// The script counts signals until it is told to end. A signal that comes while
			// the shell's read waits makes it fail, so it reads again.
			program := install(t, `n=0; trap 'n=$((n+1)); c=130' INT; trap 'n=$((n+1)); c=143' TERM
				echo ready; t=0
				while [ $t -lt 100 ]; do
					t=$((t+1)); read line || continue
					[ "$line" != end ] || exit $c
					echo "$line $n"
				done; exit 99`)
			cmd := exec.Command(program)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			lines.Scan() // ready
			target := cmd.Process.Pid
			if c.group {
				target = -target
			}
			if err := syscall.Kill(target, c.signal); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(in, "signals")
			lines.Scan()
			if lines.Text() != "signals 1" {
				t.Errorf("the runner says %q, want one signal", lines.Text())
			}
			fmt.Fprintln(in, "end")
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != c.code {
				t.Errorf("ended with %v, want exit code %d", err, c.code)
			}
		})
	}
}

func TestExecOfNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), Name)
	if _, err := Exec(missing, nil); err == nil || !strings.Contains(err.Error(), "runner: start "+missing) {
		t.Errorf("error %v", err)
	}
}

func TestFind(t *testing.T) {
	beside, path, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	self := filepath.Join(beside, "pinscope")
	writeFile(t, self, "", 0o755)
	link := filepath.Join(elsewhere, "p")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	check := func(what, self, want string) {
		t.Helper()
		if got := find(self); got != want {
			t.Errorf("%s: found %q, want %q", what, got, want)
		}
	}
	check("none", self, "")
	writeFile(t, filepath.Join(beside, Name), "", 0o644)
	check("not executable", self, "")
	onPath := filepath.Join(path, Name)
	writeFile(t, onPath, "", 0o755)
	check("on PATH", self, onPath)
	check("the program itself on PATH", onPath, "")
	if err := os.Chmod(filepath.Join(beside, Name), 0o755); err != nil {
		t.Fatal(err)
	}
	check("beside before PATH", self, filepath.Join(beside, Name))
	check("beside what a link leads to", link, filepath.Join(beside, Name))
	check("the program itself", filepath.Join(beside, Name), onPath)
	t.Chdir(beside)
	t.Setenv("PATH", ".")
	check("in the current folder", link, filepath.Join(beside, Name)) // as its neighbour, not by PATH
	check("in the current folder by PATH alone", filepath.Join(elsewhere, "q"), "")
}
