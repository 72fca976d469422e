package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pinscope/bench"
)

// kept finds where the program says that it has put a result.
var kept = regexp.MustCompile(`the result was kept in (\S+): see it with pinscope report`)

// checkKept fails unless standard error names a place that holds a whole result,
// and standard output its summary: what was measured is not lost.
func checkKept(t *testing.T, stdout, stderr string) {
	t.Helper()
	found := kept.FindStringSubmatch(stderr)
	if found == nil {
		t.Fatalf("no place named in: %s", stderr)
	}
	file, err := os.Open(found[1])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if r, err := bench.ReadResult(file); err != nil || !r.Complete {
		t.Errorf("%s: %v, %+v", found[1], err, r)
	}
	if !strings.Contains(stdout, "Throughput") || !strings.Contains(stdout, "samples/s") {
		t.Errorf("no summary in: %s", stdout)
	}
}

// manyRows makes each kind of output longer than the page that is left.
var manyRows = slices.Clip(append(quick, "--repeats", "40"))

// C81: a file system that fills up while the file is written.
func TestDiskFull(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	defer func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	}()
	const page = 4 << 10
	if err := os.WriteFile(filepath.Join(folder, "filler"), make([]byte, 64<<10-page), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--json", "--csv", "--trace"} {
		path := filepath.Join(folder, "result")
		code, stdout, stderr := call(append(manyRows, flag, path)...)
		if want := "pinscope: write " + path + ": no space left on device\n"; code != exitFailed || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: exit code %d: %swant %s", flag, code, stderr, want)
		}
		if left, _ := os.ReadDir(folder); len(left) != 1 {
			t.Errorf("%s: files left behind: %v", flag, left)
		}
		checkKept(t, stdout, stderr)
	}
	t.Setenv("TMPDIR", folder) // no room there either
	code, _, stderr := call(append(manyRows, "--json", filepath.Join(folder, "result"))...)
	if code != exitFailed || !strings.Contains(stderr, "the result could not be kept anywhere: ") {
		t.Errorf("no room at all: exit code %d: %s", code, stderr)
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("files left behind: %v", left)
	}
}

// C81: a device that is always full, and standard output on it.
func TestFullDevice(t *testing.T) {
	const full = "/dev/full"
	device, err := os.OpenFile(full, os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no such device here: ", err)
	}
	defer device.Close()
	t.Setenv("TMPDIR", t.TempDir())
	for _, flag := range []string{"--json", "--csv", "--trace"} {
		code, stdout, stderr := call(append(quick, flag, full)...)
		if want := "pinscope: write /dev/full: no space left on device\n"; code != exitFailed || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: exit code %d: %s", flag, code, stderr)
		}
		checkKept(t, stdout, stderr)
	}
	for _, args := range [][]string{append(quick, "--json", "-"), append(quick, "--events"), quick, append(quick, "--dry-run"), {"presets"}, {"--help"}} {
		var stderr strings.Builder
		code := Main(t.Context(), args, device, &stderr, noWindow)
		if code != exitFailed || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%q: exit code %d: %s", args, code, stderr.String())
		}
		if strings.Contains(stderr.String(), "kept in") {
			t.Errorf("%q: what was meant for standard output was kept: %s", args, stderr.String())
		}
	}
}

// C81: when even the fallback has no room, that is said, and nothing half written
// stays there.
func TestNoPlaceAtAll(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	code, stdout, stderr := call(append(quick, "--csv", "/dev/full")...)
	if code != exitFailed || !strings.Contains(stderr, "the result could not be kept anywhere") || !strings.Contains(stdout, "Throughput") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// nobody is a user without rights, by the number that Debian and others give it.
const nobody = 65534

// C82: the folder turns read-only during the run; the next run is refused. Root could still write to it,
// so that the run is another user's.
func TestFolderTurnsReadOnly(t *testing.T) {
	base, err := os.MkdirTemp("", "pinscope-test-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	program, out, temporary := filepath.Join(base, "program"), filepath.Join(base, "out"), filepath.Join(base, "tmp")
	copyProgram(t, program)
	for _, folder := range []string{base, out, temporary} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var user *syscall.SysProcAttr
	if os.Getuid() == 0 {
		user = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		for _, folder := range []string{out, temporary} {
			if err := os.Chown(folder, nobody, nobody); err != nil {
				t.Skip("the folder cannot be given to another user: ", err)
			}
		}
	}
	command := func(outputs ...string) *exec.Cmd {
		c := exec.Command(program, append(append(quick, "--source", "delay:20ms"), outputs...)...)
		c.Env, c.Dir, c.SysProcAttr = append(os.Environ(), childEnv+"=1", "TMPDIR="+temporary), base, user
		return c
	}
	child := command("--json", filepath.Join(out, "r.json"), "--csv", filepath.Join(out, "r.csv"))
	pipe, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	child.Stderr = &stderr
	if err := child.Start(); err != nil {
		t.Skip("the program cannot be started as another user: ", err)
	}
	stdout := bufio.NewReader(pipe)
	if first, err := stdout.ReadString('\n'); err != nil || !strings.HasPrefix(first, "Plan: ") {
		t.Fatalf("%v: %s%s", err, first, stderr.String())
	}
	if err := os.Chmod(out, 0o555); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stdout)
	_ = child.Wait()
	if code := child.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, name := range []string{"r.json", "r.csv"} {
		if want := "pinscope: write " + filepath.Join(out, name) + ": permission denied\n"; !strings.Contains(stderr.String(), want) {
			t.Errorf("%swant %s", stderr.String(), want)
		}
	}
	checkKept(t, string(rest), stderr.String())
	direct := command("--json", "/dev/null", "--csv", "/dev/full") // devices, which need nothing beside them
	text, _ := direct.CombinedOutput()
	if code := direct.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(string(text), "pinscope: write /dev/full: no space left on device\n") {
		t.Errorf("devices: exit code %d: %s", code, text)
	}
	refused := command("--json", filepath.Join(out, "r.json"))
	text, _ = refused.CombinedOutput()
	if want := "pinscope: json: the folder " + out + " cannot be written to: permission denied\n"; string(text) != want || refused.ProcessState.ExitCode() != exitInput {
		t.Errorf("a second run: exit code %d: %swant %s", refused.ProcessState.ExitCode(), text, want)
	}
	if left, _ := os.ReadDir(out); len(left) != 0 {
		t.Errorf("files left behind: %v", left)
	}
}

// C37: a second signal ends the program at once, here one that waits for somebody
// to read its result.
func TestSecondSignal(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "r.json"), 0o600); err != nil {
		t.Skip("no pipe can be made here: ", err)
	}
	child, stdout := startChild(t, folder)
	begun, gone := time.Now(), make(chan struct{})
	go func() {
		defer close(gone)
		readAll(stdout)
	}()
	for sent, ended := 0, false; !ended; sent++ {
		if sent == 40 {
			t.Fatalf("still there after %d signals in %v", sent, time.Since(begun))
		}
		_ = child.Process.Signal(syscall.SIGINT) // it may be gone
		select {
		case <-gone:
			ended = true
		case <-time.After(50 * time.Millisecond):
		}
	}
	_ = child.Wait()
	if status := child.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT { // 130 in a shell
		t.Errorf("ended by %v", child.ProcessState)
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("files left behind: %v", left)
	}
}

// copyProgram copies the test program to where others can start it.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(file, from); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o755); err != nil {
		t.Fatal(err)
	}
}
