package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pinscope/bench"
)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
)

// kib is a line of a file such as /proc/meminfo, in bytes; 0: it is not there.
func kib(path, name string) int64 {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name+":"); found {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// child is this test program as pinscope.
func child(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), childEnv+"=1")
	return c
}

// holding starts an experiment and waits until it holds locked ballast.
func holding(t *testing.T, folder string, args ...string) (program *exec.Cmd, locked int64, output *bytes.Buffer) {
	t.Helper()
	available := kib("/proc/meminfo", "MemAvailable")
	if available < gib {
		t.Skip("less than 1 GiB is available")
	}
	share := float64(256*mib) / float64(available)
	program = child(append([]string{"pressure", "--device", "sim:laptop", "--workers", "1", "--cache-folder", folder,
		"--up-to", fmt.Sprintf("%.4f%%", 100*share), "--steps", "1", "--seconds", "0.5"}, args...)...)
	output = &bytes.Buffer{}
	program.Stdout, program.Stderr = output, output
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = program.Process.Kill()
		_ = program.Wait()
	})
	status := fmt.Sprintf("/proc/%d/status", program.Process.Pid)
	for range 2000 {
		locked = kib(status, "VmLck") // counts what is asked for, before the pages are there
		switch resident := kib(status, "RssAnon") > 240*mib; {
		case resident && locked > 240*mib:
			return program, locked, output
		case resident:
			t.Skip("memory cannot be locked here")
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("no ballast was seen: %s", output)
	return nil, 0, nil
}

// A program that is killed leaves nothing locked, and no file.
func TestKilledLeavesNothingPinned(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many programs; the detector sees the same code in other tests")
	}
	folder := t.TempDir()
	program, locked, _ := holding(t, folder)
	before := kib("/proc/meminfo", "Mlocked")
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait()
	for range 1000 {
		if now := kib("/proc/meminfo", "Mlocked"); now <= before-locked/2 {
			break // others may lock memory meanwhile
		}
		time.Sleep(5 * time.Millisecond)
	}
	if now := kib("/proc/meminfo", "Mlocked"); now > before-locked/2 {
		t.Errorf("%d bytes are locked on the machine, %d were while %d were held", now, before, locked)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("files left behind: %v", left)
	}
}

// SIGINT gives the ballast back, keeps what was measured and ends with 130.
func TestPressureInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many programs; the detector sees the same code in other tests")
	}
	folder := t.TempDir()
	file := filepath.Join(t.TempDir(), "p.json")
	program, _, output := holding(t, folder, "--json", file)
	if err := program.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_ = program.Wait()
	if code := program.ProcessState.ExitCode(); code != exitInterrupted || time.Since(begun) > 2*time.Second {
		t.Errorf("exit code %d after %v: %s", code, time.Since(begun), output)
	}
	text, err := os.ReadFile(file)
	var r bench.ExperimentResult
	if err != nil || json.Unmarshal(text, &r) != nil || !r.Cancelled || r.Complete || len(r.Outcomes) != 1 || len(r.Outcomes[0].Steps) < 2 {
		t.Errorf("result: %v, %.200s", err, text)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("files left behind: %v", left)
	}
}

// limitedGroup makes a control group that may hold 2 GiB.
func limitedGroup(t *testing.T) (folder string) {
	t.Helper()
	const root = "/sys/fs/cgroup"
	parent, limit := root, "memory.max"
	if text, err := os.ReadFile(root + "/cgroup.subtree_control"); err != nil || !strings.Contains(string(text), "memory") {
		parent, limit = root+"/memory", "memory.limit_in_bytes" // version 1
	}
	group := filepath.Join(parent, fmt.Sprintf("pinscope-cli-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("no control group can be made here: ", err)
	}
	t.Cleanup(func() {
		for range 200 { // the kernel may take a moment to count the child out of it
			if os.Remove(group) == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("the control group %s could not be removed", group)
	})
	if err := os.WriteFile(filepath.Join(group, limit), []byte("2147483648\n"), 0o644); err != nil {
		t.Skip("no limit can be set here: ", err)
	}
	return group
}

// inside runs the program in a control group: a shell moves itself there first.
func inside(t *testing.T, group string, args ...string) (code int, output string) {
	t.Helper()
	program := childIn(group, args...)
	text, _ := program.CombinedOutput()
	if code = program.ProcessState.ExitCode(); code == 99 {
		t.Skip("no process can be moved here: ", string(text))
	}
	return code, string(text)
}

// childIn is the program in a control group.
func childIn(group string, args ...string) *exec.Cmd {
	program := child()
	program.Path, program.Args = "/bin/sh", append([]string{"sh", "-c",
		`echo $$ > "$0/cgroup.procs" || exit 99; exec "$@"`, group, os.Args[0]}, args...)
	return program
}

// C47 in a real control group whose limit closes in on a run: the watchdog ends it
// with a sentence and exit code 1, and what was measured is kept.
func TestWatchdogInALimitedGroup(t *testing.T) {
	group := limitedGroup(t)
	used, limit := "memory.current", "memory.max"
	if _, err := os.Stat(filepath.Join(group, used)); err != nil {
		used, limit = "memory.usage_in_bytes", "memory.limit_in_bytes"
	}
	file := filepath.Join(t.TempDir(), "r.json")
	program := childIn(group, "run", "--device", "sim:laptop", "--preset", "tiny", "--workers", "1", "--source", "delay:50ms",
		"--epochs", "1000", "--json", file, "--events")
	var stderr bytes.Buffer
	program.Stderr = &stderr
	pipe, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Process.Kill() })
	closed := false
	for events := json.NewDecoder(pipe); ; {
		var event bench.Event
		if events.Decode(&event) != nil {
			break
		}
		if event.Progress == nil || event.Progress.Batches == 0 || closed {
			continue
		}
		closed = true
		text, _ := os.ReadFile(filepath.Join(group, used))
		now, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		// The floor is a twentieth of 2 GiB.
		if err := os.WriteFile(filepath.Join(group, limit), fmt.Appendln(nil, now+40*mib), 0o644); err != nil {
			t.Skip("the limit cannot be lowered here: ", err)
		}
	}
	_ = program.Wait()
	switch code := program.ProcessState.ExitCode(); {
	case code == 99:
		t.Skip("no process can be moved here: ", stderr.String())
	case code != exitFailed || !strings.Contains(stderr.String(), "of memory are available, less than the floor of 102.4 MiB"):
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	reader, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if r, err := bench.ReadResult(reader); err != nil || r.Complete || r.Cancelled || r.Sides[0].Repeats[0].Batches == 0 {
		t.Errorf("%v: %+v", err, r)
	}
}

// C45 and C47 in a real control group: a ring of 3 GiB under a limit of 2 GiB is
// refused before a byte is pinned; one of 0.6 times what is available needs the
// override, and runs with a warning. The kernel ends neither.
func TestRingInALimitedGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many programs; the detector sees the same code in other tests")
	}
	if kib("/proc/meminfo", "MemAvailable") < 3*gib {
		t.Skip("less than 3 GiB are available")
	}
	group := limitedGroup(t)
	const slot = 12_582_912 // 64 samples of 3x128x128 float32
	run := func(slots int64, more ...string) (int, string) {
		return inside(t, group, append([]string{"run", "--device", "sim:laptop", "--source", "delay:0s", "--samples", "64", "--shape", "3x128x128",
			"--batch", "64", "--workers", "1", "--epochs", "1", "--pin", "direct", "--ring-slots", fmt.Sprint(slots), "--repeats", "1",
			"--warmup", "0"}, more...)...)
	}
	code, output := run(256, "--risk-memory")
	flat := strings.Join(strings.Fields(output), " ")
	if code != exitInput || !strings.Contains(flat, "pinscope: ring-slots: 3,22") || !strings.Contains(flat, "container limit 2,147,483,648 B") {
		t.Errorf("3 GiB: exit code %d: %s", code, output)
	}
	if text, err := os.ReadFile(filepath.Join(group, "memory.max_usage_in_bytes")); err == nil { // version 1
		if most, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); most > 256*mib {
			t.Errorf("3 GiB: the group held %d bytes before the ring was refused", most)
		}
	}
	slots := 2 * gib * 6 / 10 / slot
	if code, output = run(slots); code != exitInput || !strings.Contains(output, "--risk-memory") {
		t.Errorf("0.6 x: exit code %d: %s", code, output)
	}
	file := filepath.Join(t.TempDir(), "r.json")
	code, output = run(slots, "--risk-memory", "--json", file)
	if code != exitFine || !strings.Contains(strings.Join(strings.Fields(output), " "), "the system may become slow or end programs") {
		t.Fatalf("0.6 x, risked: exit code %d: %s", code, output)
	}
	reader, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	r, err := bench.ReadResult(reader)
	if err != nil || !r.Complete || r.Limits.Source != "container limit" || *r.Limits.TotalBytes != 2*gib {
		t.Errorf("%v: %+v", err, r.Limits)
	}
}

// C49: 8 workers run to the end where the shared-memory mount cannot even be
// written to.
func TestSharedMemoryMountIsNotUsed(t *testing.T) {
	program := child()
	program.Path, program.Args = "/bin/sh", []string{"sh", "-c",
		`mount --make-rprivate / && mount -t tmpfs -o ro,size=64m tmpfs /dev/shm || exit 99; exec "$@"`, "sh", os.Args[0],
		"run", "--device", "sim:laptop", "--source", "cached", "--samples", "64", "--shape", "3x64x64", "--batch", "16", "--workers", "8",
		"--epochs", "50", "--repeats", "1", "--warmup", "0", "--quiet"}
	program.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	text, err := program.CombinedOutput()
	if program.ProcessState == nil || program.ProcessState.ExitCode() == 99 {
		t.Skipf("no mount can be made here: %v, %s", err, text)
	}
	if err != nil || !strings.Contains(string(text), "samples/s") {
		t.Errorf("%v: %s", err, text)
	}
}
