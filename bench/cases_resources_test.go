//go:build linux

package bench

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pinscope/bench/trace"
	"pinscope/cudamem"
)

// cpuTime is what the process has used so far.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestC36NobodySpins: 20 batches of 491,520 bytes a second leave the CPUs idle,
// and the staging copy takes next to nothing.
func TestC36NobodySpins(t *testing.T) {
	if os.Getenv("PINSCOPE_REALTIME") != "1" {
		t.Skip("measures in real time, alone on the machine: set PINSCOPE_REALTIME=1")
	}
	c := settings(t, "source=delay:100ms", "samples=1600", "shape=3x32x32", "batch=40", "workers=2", "pin=thread", "non-blocking=true")
	var r *Result
	var all time.Duration
	for range tries { // whatever else the machine does may cost this process CPU time too
		before := cpuTime(t)
		r = realTime(t, c, nil)
		if all = cpuTime(t) - before; all < wall(r)/10 {
			break
		}
	}
	if r.Sides[0].Plan.BatchBytes != 491520 {
		t.Errorf("batches of %d bytes", r.Sides[0].Plan.BatchBytes)
	}
	near(t, "wall time, s", wall(r).Seconds(), 2, 0.1)
	if all >= wall(r)/10 {
		t.Errorf("the process used %v of CPU time in %v", all, wall(r))
	}
	staging := stageOf(r, trace.PinCopy)
	if staging.CPU == nil || *staging.CPU == 0 || *staging.CPU >= wall(r)/20 {
		t.Errorf("CPU time of the staging copy: %v in %v", staging.CPU, wall(r))
	}
	if load := stageOf(r, trace.Load); load.CPU == nil || *load.CPU >= wall(r)/20 {
		t.Errorf("CPU time of loading: %v in %v", load.CPU, wall(r))
	}
	var table strings.Builder
	if err := r.WriteCSV(&table); err != nil || !strings.Contains(table.String(), "pin_copy_cpu_s") {
		t.Errorf("%v: no CPU time of the staging copy in\n%s", err, table.String())
	}
}

// memoryNow is a line of /proc/self/status, in bytes.
func memoryNow(t *testing.T, name string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			kilobytes, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Skip("the system does not tell ", name)
	return 0
}

// TestC40PrefetchTakesWhatThePlanSays: 32 and 128 batches in the queue, the ring
// the same; nothing is pinned once it runs, and the process grows as planned.
// Batches are a 28th of the case's.
func TestC40PrefetchTakesWhatThePlanSays(t *testing.T) {
	for prefetch, queue := range map[string]int{"2": 32, "8": 128} {
		// Every slot is filled before the first step is done; without shuffling
		// and with a single batch of data nothing else is touched.
		c := settings(t, "source=cached", "samples=8", "shape=3x192x192", "batch=8", "workers=16", "prefetch="+prefetch,
			"epochs=500", "keep-workers=true", "pin=thread", "ring-slots=4", "non-blocking=true")
		c = withSim(c, append(still, "compute=100us")...)
		debug.FreeOSMemory()
		before := memoryNow(t, "VmRSS")
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak starts anew
			t.Skip("the peak cannot be reset here: ", err)
		}
		cudamem.ResetLedgerPeak()
		r, err := Run(context.Background(), c, RunOptions{NoRecording: true})
		if err != nil {
			t.Fatal(err)
		}
		runtime.KeepAlive(r)
		plan, grown := r.Sides[0].Plan, memoryNow(t, "VmHWM")-before
		if plan.QueueSlots != queue || plan.RingSlots != 4 || plan.QueueInputBytes != int64(queue)*8*3*192*192*4 {
			t.Errorf("prefetch %s: %+v", prefetch, plan)
		}
		near(t, "prefetch "+prefetch+": peak, bytes", float64(grown), float64(plan.HostBytes), 0.1)
		if repeat := r.Sides[0].Repeats[0]; repeat.PinCalls != 0 || repeat.Batches != 500 {
			t.Errorf("prefetch %s: %d pin calls in %d batches", prefetch, repeat.PinCalls, repeat.Batches)
		}
		if r.Sides[0].Setup.PinEffective != PinnedAll {
			t.Logf("prefetch %s: the system locked %d of %d bytes", prefetch, r.Sides[0].Setup.PinnedBytes, plan.PinnedBytes)
		} else if peak := cudamem.ReadLedger().PeakBytes; peak != plan.PinnedBytes {
			t.Errorf("prefetch %s: %d bytes were pinned, planned were %d", prefetch, peak, plan.PinnedBytes)
		}
	}
}

// TestC41ResidentMemoryStays: 20 runs of rising size in one process, and it is as
// large after the last as after the first, within 20 MB.
func TestC41ResidentMemoryStays(t *testing.T) {
	first := int64(0)
	for batch := range 20 {
		c := withSim(settings(t, "samples=200", "shape=3x32x32", "workers=2", "pin=direct"), still...)
		c.Batch = int64(batch + 1)
		realTime(t, c, nil)
		debug.FreeOSMemory()
		if batch == 0 {
			first = memoryNow(t, "VmRSS")
		}
	}
	if grown := memoryNow(t, "VmRSS") - first; grown > 20_000_000 {
		t.Errorf("the process grew by %d bytes", grown)
	}
}

// TestBallastIsHeld: ballast of each kind is resident while it is held, all of it;
// afterwards neither memory nor an open file is left.
func TestBallastIsHeld(t *testing.T) {
	files := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here: ", err)
		}
		return len(names)
	}
	c, e, o := small(t)
	e.UpTo, e.Against, e.CacheFolders = 1.0/16, true, []string{t.TempDir()} // 64 MiB
	var resident int64
	e.OnStep = func(ballast string, step, steps int) {
		switch now := memoryNow(t, "VmRSS"); step {
		case 2: // still none
			resident = now
		case steps:
			near(t, ballast+" ballast, bytes", float64(now-resident), 64<<20, 0.25)
		}
	}
	before := files()
	if _, err := Experiment(context.Background(), c, e, o); err != nil {
		t.Fatal(err)
	}
	if after := files(); after > before {
		t.Errorf("%d files are open, %d were", after, before)
	}
}
