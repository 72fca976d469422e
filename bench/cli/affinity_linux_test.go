package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// C34: usable CPUs are those of the affinity, not the machine's.
func TestUsableCPUs(t *testing.T) {
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		t.Skip("no taskset here: ", err)
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !set.IsSet(first) {
		first++
	}
	child := exec.Command(taskset, "-c", fmt.Sprint(first), os.Args[0],
		"run", "--preset", "tiny", "--workers", "8", "--device", "sim:laptop", "--dry-run")
	child.Env = append(os.Environ(), childEnv+"=1")
	out, err := child.Output()
	if err != nil || !strings.Contains(string(out), "workers 8, usable CPUs 1") {
		t.Errorf("%v: %s", err, out)
	}
}
