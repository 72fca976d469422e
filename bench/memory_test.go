package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pinscope/bench/pressure"
	"pinscope/cudamem"
)

// machine is a machine made of files, of which so much memory is available.
type machine struct{ root string }

func newMachine(t *testing.T, availableKiB int64) machine {
	m := machine{t.TempDir()}
	m.write(t, "proc/self/status", "Name:\tpinscope\nRssAnon:\t4000 kB\nRssFile:\t2000 kB\nRssShmem:\t1000 kB\nCpus_allowed_list:\t0-7\n")
	m.write(t, "proc/self/cgroup", "0::/\n")
	m.write(t, "proc/self/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n")
	m.write(t, "proc/pressure/memory", "some avg10=1.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=0\n")
	m.available(t, availableKiB)
	return m
}

func (m machine) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	// In place: the sampler has the file open.
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (m machine) available(t *testing.T, kib int64) {
	t.Helper()
	m.write(t, "proc/meminfo", fmt.Sprintf("MemTotal:       %9d kB\nMemFree:        %9d kB\nMemAvailable:   %9d kB\n", 16<<20, kib, kib))
}

// sampled measures on a machine made of files.
func (m machine) sampled(c Config, events func(Event)) (*Result, error) {
	return Run(context.Background(), c, RunOptions{SampleMemory: true, root: pressure.Root(m.root), Events: events})
}

// C47: the watchdog ends a run that leaves the system short; what was measured is
// kept, everything is freed.
func TestC47WatchdogEndsTheRun(t *testing.T) {
	m := newMachine(t, 8<<20)
	c := withSim(settings(t, "samples=100000", "shape=16", "batch=1", "workers=1", "pin=direct", "repeats=3", "epochs=100"), append(still, "compute=1ms")...)
	first := withSim(settings(t, "samples=50", "shape=16", "batch=1", "workers=1", "pin=direct"), append(still, "compute=1ms")...)
	if r, err := m.sampled(first, nil); err != nil || !r.Complete {
		t.Fatalf("with memory left: %v", err)
	}
	begun := time.Now()
	r, err := m.sampled(c, func(e Event) {
		if e.Progress != nil && e.Progress.Batches > 0 {
			m.available(t, 400<<10) // under the floor of 512 MiB
		}
	})
	var short *pressure.Short
	if !errors.As(err, &short) || !strings.Contains(err.Error(), "400 MiB of memory are available, less than the floor of 512 MiB") {
		t.Fatalf("ended with %v", err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("ended after %v", took)
	}
	if r == nil || r.Complete || r.Cancelled || !strings.Contains(r.Error, "floor") {
		t.Fatalf("%+v", r)
	}
	if repeats := r.Sides[0].Repeats; len(repeats) != 1 || repeats[0].Batches == 0 || repeats[0].SamplesPerS == nil {
		t.Errorf("kept: %+v", repeats)
	}
	if left := cudamem.ReadLedger().PinnedBytes; left != 0 {
		t.Errorf("%d bytes are still pinned", left)
	}
}

// What a run's memory was is in the result, in the events, in the text and in the
// trace, on the clock of its repeats.
func TestMemoryOfARun(t *testing.T) {
	m := newMachine(t, 8<<20)
	c := withSim(settings(t, "samples=300", "shape=16", "batch=1", "workers=1", "pin=direct"), append(still, "compute=1ms")...)
	var mu sync.Mutex // events come from any goroutine
	var live LiveMemory
	r, err := m.sampled(c, func(e Event) {
		if e.Progress != nil && e.Progress.Memory.Sample != nil {
			mu.Lock()
			live = e.Progress.Memory
			mu.Unlock()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if live.ResidentBytes == nil || *live.ResidentBytes != 7000<<10 || live.AvailableBytes == nil || *live.AvailableBytes != 8<<30 {
		t.Errorf("live: %+v", live)
	}
	if r.Limits == nil || *r.Limits.TotalBytes != 16<<30 || *r.Limits.AvailableBytes != 8<<30 {
		t.Errorf("limits %+v", r.Limits)
	}
	s, repeat := r.Pressure, r.Sides[0].Repeats[0]
	if s == nil || s.Samples < 3 || s.Cost.ShareOfCore == nil {
		t.Fatalf("series %+v", s)
	}
	inside := 0
	for _, at := range s.At {
		if at >= repeat.Start && at <= repeat.Start+repeat.Wall {
			inside++
		}
	}
	if inside < 2 {
		t.Errorf("%d samples lie in the repeat of %v", inside, repeat.Wall)
	}
	if _, pinned := s.Figure(pressure.Pinned); r.Sides[0].Setup.PinnedBytes > 0 && int64(pinned.Max) != r.Sides[0].Setup.PinnedBytes {
		t.Errorf("pinned %+v, set-up %d", pinned, r.Sides[0].Setup.PinnedBytes)
	}
	var text, trace strings.Builder
	if err := errors.Join(r.Text(&text), r.WriteTrace(&trace)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"RSS anon 3.91 MiB, file 1.95 MiB, shmem 1000 KiB", "lowest available 8 GiB; PSI some 0.0 %, full 0.0 %"} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, want := range []string{`"name":"pinned"`, `"name":"memory available"`, `"name":"PSI memory some"`, `"bytes":8589934592`} {
		if !strings.Contains(trace.String(), want) {
			t.Errorf("no %s in the trace", want)
		}
	}
	if r.Sides[0].Setup.PinnedBytes > 0 && !strings.HasSuffix(r.Sentence, "that nothing can reclaim; 4 GiB is the most you should pin here.") {
		t.Errorf("%s", r.Sentence)
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadResult(strings.NewReader(string(encoded)))
	if err != nil || again.Pressure.Samples != s.Samples || *again.Limits.AvailableBytes != 8<<30 {
		t.Errorf("read back: %v", err)
	}
}

// C47: a plan over the cap of pinned memory needs the override, and then runs with
// a warning that says what is risked.
func TestC47RiskedRunWarns(t *testing.T) {
	m := newMachine(t, 300<<10) // nothing can be spent: an eighth, and 5 % of 16 GiB, are left to others
	c := settings(t, "samples=8", "shape=3x128x128", "batch=64", "workers=1", "pin=direct", "ring-slots=16")
	if _, err := m.sampled(c, nil); !strings.Contains(errorText(err), "0 B can be used") {
		t.Errorf("nothing to spend: %v", err)
	}
	m.available(t, 2<<20)
	c = settings(t, "samples=8", "shape=3x128x128", "batch=64", "workers=1", "pin=direct", "ring-slots=86") // 1.01 GiB
	if r, err := m.sampled(c, nil); r != nil || !strings.Contains(errorText(err), "--risk-memory") {
		t.Errorf("without the override: %v", err)
	}
	c.RiskMemory = true
	r, err := m.sampled(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if warnings := strings.Join(r.Warnings, "\n"); !strings.Contains(warnings, "over the cap of 1,073,741,824 B (1 GiB)") ||
		!strings.Contains(warnings, "may become slow or end programs") {
		t.Errorf("warnings: %s", warnings)
	}
}
