//go:build linux

package pressure

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pinscope/cudamem"
)

// childVariable makes a process of this test tell what it sees and end.
const childVariable = "PINSCOPE_PRESSURE_CHILD"

// seenInside is what a process in a limited group tells.
type seenInside struct {
	Limits   Limits   `json:"limits"`
	Decision Decision `json:"decision"`
	Group    string   `json:"group"`
	Max      *float64 `json:"max"`
	Used     *float64 `json:"used"`
}

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	waitForGroup()
	var seen seenInside
	seen.Limits = ReadLimits("")
	seen.Decision = Guard(pinnedRing(256*12_582_912), seen.Limits, true)
	s := newSampler(cudamem.NewPlainClock(), Options{})
	s.take()
	sample, _ := s.Latest()
	seen.Group, seen.Max, seen.Used = s.Stop().Group, sample.Value(GroupMax), sample.Value(GroupUsed)
	if err := json.NewEncoder(os.Stdout).Encode(seen); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// waitForGroup ends when the parent has moved this process and closes its input.
func waitForGroup() { _, _ = os.Stdin.Read(make([]byte, 1)) }

// C45 on the machine at hand: a child of this test in a real group of 2 GiB.
func TestRealGroupOfVersion1(t *testing.T) {
	chain := Root("").legacy("memory")
	if len(chain) == 0 {
		t.Skip("no memory controller of version 1 is mounted")
	}
	group := makeGroup(t, chain[0].folder, "memory.limit_in_bytes")
	checkInside(t, group)
}

func TestRealGroupOfVersion2(t *testing.T) {
	chain := Root("").unified()
	if len(chain) == 0 {
		t.Skip("no version 2 hierarchy is mounted")
	}
	// A group with processes may not pass controllers on, so that the new group is
	// a sister of our own, where we are not at the top.
	parent := chain[min(1, len(chain)-1)].folder
	passed, _ := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
	if !strings.Contains(" "+strings.TrimSpace(string(passed))+" ", " memory ") {
		t.Skipf("%s passes no memory controller on (%q)", parent, strings.TrimSpace(string(passed)))
	}
	group := makeGroup(t, parent, "memory.max")
	checkInside(t, group)
}

func makeGroup(t *testing.T, parent, limitFile string) string {
	t.Helper()
	group := filepath.Join(parent, fmt.Sprintf("pinscope-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(func() {
		// The kernel may take a moment to count the child out of the group.
		for range 100 {
			if os.Remove(group) == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("the control group %s could not be removed", group)
	})
	if err := os.WriteFile(filepath.Join(group, limitFile), []byte("2147483648\n"), 0o644); err != nil {
		t.Skipf("no limit can be set here: %v", err)
	}
	return group
}

func checkInside(t *testing.T, group string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"=1")
	input, err := child.StdinPipe()
	must(t, err)
	var output strings.Builder
	child.Stdout, child.Stderr = &output, os.Stderr
	must(t, child.Start())
	moved := os.WriteFile(filepath.Join(group, "cgroup.procs"), fmt.Appendln(nil, child.Process.Pid), 0o644)
	must(t, input.Close())
	must(t, child.Wait())
	if moved != nil {
		t.Skipf("no process can be moved here: %v", moved)
	}
	var seen seenInside
	must(t, json.Unmarshal([]byte(output.String()), &seen))
	l, d := seen.Limits, seen.Decision
	if l.RAMBytes == nil || *l.RAMBytes <= 8*gib {
		t.Skip("the machine has no more than 8 GiB")
	}
	if show(l.TotalBytes) != 2*gib || l.Source != FromContainer || !strings.Contains(l.LimitedBy, "pinscope-test-") {
		t.Errorf("total %v, source %q, limited by %q", show(l.TotalBytes), l.Source, l.LimitedBy)
	}
	if l.AvailableBytes == nil || *l.AvailableBytes > 2*gib || *l.AvailableBytes < gib {
		t.Errorf("available %v", show(l.AvailableBytes))
	}
	if d.Verdict != Refused || show(d.TotalBytes) != 2*gib || d.Source != "container limit" {
		t.Errorf("3 GiB ring: %v: %s", d.Verdict, d.Text)
	}
	if show(seen.Max) != float64(2*gib) || seen.Used == nil || *seen.Used >= float64(2*gib) || !strings.Contains(seen.Group, "pinscope-test-") {
		t.Errorf("group %q: max %v, used %v", seen.Group, show(seen.Max), show(seen.Used))
	}
}
