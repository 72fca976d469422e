package bench

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/bench/stats"
	"pinscope/bench/trace"
	"pinscope/cudamem"
)

// settings are the defaults of case tests: one repeat, no warm-up, the simulated
// GPU, data that costs nothing to load; given settings come on top.
func settings(t *testing.T, given ...string) Config {
	t.Helper()
	base := DefaultConfig()
	base.Device, base.Source, base.Repeats, base.Warmup, base.Epochs, base.Shuffle = "sim", "delay:0s", 1, 0, 1, false
	c, err := ParseSettings(base, given...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// withSim adds model values to a configuration.
func withSim(c Config, values ...string) Config {
	sim := map[string]string{}
	for k, v := range c.Sim {
		sim[k] = v
	}
	for _, pair := range values {
		k, v, _ := strings.Cut(pair, "=")
		sim[k] = v
	}
	c.Sim = sim
	return c
}

var still = []string{"latency=0", "launch=0", "jitter=0", "copy-engines=2"}

// inBubble measures in virtual time.
func inBubble(t *testing.T, c Config) *Result {
	t.Helper()
	var result *Result
	synctest.Test(t, func(t *testing.T) { result = realTime(t, c, cudamem.NewPlainClock()) })
	return result
}

// realTime measures one configuration; a nil clock is the precise one.
func realTime(t *testing.T, c Config, clock cudamem.Clock) *Result {
	t.Helper()
	r, err := Run(context.Background(), c, RunOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if got := cudamem.ReadLedger().PinnedBytes; got != 0 {
		t.Errorf("%d bytes are still pinned", got)
	}
	for _, repeat := range r.Sides[0].Repeats {
		if repeat.PinCalls != 0 || repeat.Fallbacks != 0 || repeat.Mismatches != 0 {
			t.Errorf("repeat %d: %d pin calls, %d fallbacks, %d mismatches", repeat.Position, repeat.PinCalls, repeat.Fallbacks, repeat.Mismatches)
		}
	}
	return r
}

func wall(r *Result) time.Duration { return r.Sides[0].Repeats[0].Wall }

func stageOf(r *Result, s trace.Stage) trace.StageSummary { return r.Sides[0].Trace.Stage(s) }

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want) {
		t.Errorf("%s: %g, want %g within %g", what, got, want, relative)
	}
}

const (
	pageableBlocking     = "pin=off non-blocking=false copy-stream=shared"
	pinnedBlocking       = "pin=direct non-blocking=false copy-stream=shared"
	pinnedOwnStream      = "pin=direct non-blocking=true copy-stream=dedicated"
	pageableOwnStream    = "pin=off non-blocking=true copy-stream=dedicated"
	pinnedSharedStream   = "pin=direct non-blocking=true copy-stream=shared"
	pageableSharedStream = "pin=off non-blocking=true copy-stream=shared"
)

// with adds settings; a ring is left out where there is none.
func with(base []string, more string) []string {
	out := append(slices.Clone(base), strings.Fields(more)...)
	if strings.Contains(more, "pin=off") {
		out = slices.DeleteFunc(out, func(s string) bool { return strings.HasPrefix(s, "ring-slots=") })
	}
	return out
}

// TestC12PositiveControl: when copying is the limit, pinning and overlap show,
// and by how much follows by arithmetic.
func TestC12PositiveControl(t *testing.T) {
	const batchBytes, labelBytes, steps = 154140672, 256 * 8, 100
	base := []string{"samples=25600", "batch=256", "workers=1", "prefetch=1", "ring-slots=3"}
	step := 12.845e-3
	pageable, pinned := (batchBytes+labelBytes)/6e9, (batchBytes+labelBytes)/12e9
	cases := []struct {
		name, setting    string
		seconds, rounded float64 // by arithmetic; as CASES.md gives it
	}{
		{"pageable, blocking", pageableBlocking, steps * (pageable + step), 3.854},
		{"pinned, blocking", pinnedBlocking, steps * (pinned + step), 2.569},
		// The first copy has nothing to hide under; the copies are the longer stage by 0.17 us.
		{"pinned, non_blocking", pinnedOwnStream, steps*math.Max(pinned, step) + math.Min(pinned, step), 1.297},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := inBubble(t, withSim(settings(t, with(base, c.setting)...), append(still, "link-gbps=12", "pageable-gbps=6", "compute=12.845ms")...))
			near(t, "seconds against the arithmetic", wall(r).Seconds(), c.seconds, 1e-6)
			near(t, "seconds against the case", wall(r).Seconds(), c.rounded, 0.03)
			if r.Sides[0].Repeats[0].Batches != steps {
				t.Errorf("%d steps", r.Sides[0].Repeats[0].Batches)
			}
		})
	}
}

// TestC07TooFewWorkers: the period, the busy share and the wait follow from 634 ms
// of load and 100 ms of compute.
func TestC07TooFewWorkers(t *testing.T) {
	for _, c := range []struct {
		workers            string
		period, busy, wait float64 // ms, share, ms
		advice             bool
		pin                string
	}{
		{"2", 317, 0.315, 217, true, "off"},
		{"4", 158.5, 0.631, 58.5, true, "off"},
		{"7", 100, 1, 0, false, "off"},
		{"8", 100, 1, 0, false, "off"},
		{"2", 317, 0.315, 217, true, "direct"},
	} {
		t.Run(c.workers+" workers, pin "+c.pin, func(t *testing.T) {
			const batches = 280
			config := settings(t, "source=delay:634ms", "samples=280", "shape=16", "batch=1", "prefetch=2",
				"workers="+c.workers, "pin="+c.pin, "non-blocking=false", "sync-steps=true")
			r := inBubble(t, withSim(config, append(still, "link-gbps=inf", "pageable-gbps=inf", "compute=100ms")...))
			// Start-up: the first batch takes 634 ms to load, the last one 100 ms to compute.
			if c.busy < 1 {
				near(t, "wall, s", wall(r).Seconds(), batches*c.period/1e3+0.1, 0.01)
			} else {
				near(t, "wall, s", wall(r).Seconds(), 0.634+batches*0.1, 0.01)
			}
			period := wall(r).Seconds() / batches * 1e3
			near(t, "period, ms", period, c.period, 0.03)
			near(t, "busy share", stageOf(r, trace.Step).Total.Seconds()/wall(r).Seconds(), c.busy, 0.03)
			wait := stageOf(r, trace.WaitBatch).Total.Seconds() / batches * 1e3
			if startUp := 634.0 / batches; math.Abs(wait-c.wait) > startUp+1 {
				t.Errorf("wait %.1f ms a batch, want %.1f", wait, c.wait)
			}
			findings := strings.Join(r.Findings, "\n")
			if got := strings.Contains(findings, "loading is the limit"); got != c.advice {
				t.Errorf("says that loading is the limit: %v; %q", got, findings)
			}
			if c.advice && !strings.Contains(findings, "at least 7 workers") {
				t.Errorf("no advice of 7 workers: %q", findings)
			}
		})
	}
}

// TestC07PinningGivesNothingWhenLoadingIsTheLimit is C07's comparison.
func TestC07PinningGivesNothingWhenLoadingIsTheLimit(t *testing.T) {
	base := settings(t, "source=delay:634ms", "samples=60", "shape=16", "batch=1", "workers=2", "repeats=6")
	base = withSim(base, append(still, "link-gbps=12", "pageable-gbps=6", "compute=100ms")...)
	r := compareInBubble(t, base, "pin=off non-blocking=false", "pin=direct non-blocking=true")
	near(t, "B by A", *r.Comparison.Ratio, 1, 0.001)
	if r.Comparison.Verdict != stats.NoDifference || !strings.Contains(strings.Join(r.Findings, " "), "loading is the limit") {
		t.Errorf("verdict %v, findings %q", r.Comparison.Verdict, r.Findings)
	}
}

func compareInBubble(t *testing.T, base Config, a, b string) *Result {
	t.Helper()
	sideA, errA := ParseSettings(base, strings.Fields(a)...)
	sideB, errB := ParseSettings(base, strings.Fields(b)...)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	var r *Result
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = Compare(context.Background(), sideA, sideB, RunOptions{Clock: cudamem.NewPlainClock()}); err != nil {
			t.Fatal(err)
		}
	})
	return r
}

// TestC03TinyTensors: 6 us and 4,000 B at 12 GB/s are 6.333 us, or 0.63 GB/s, and
// that is said to be latency, not bad bandwidth.
func TestC03TinyTensors(t *testing.T) {
	for _, setting := range []string{pageableBlocking, pinnedBlocking, pinnedSharedStream, pinnedOwnStream} {
		c := settings(t, with([]string{"samples=1000", "shape=1000", "batch=1", "workers=1"}, setting)...)
		r := inBubble(t, withSim(c, append(still, "latency=6us", "link-gbps=12", "pageable-gbps=12", "compute=1us")...))
		copies := stageOf(r, trace.HtoD)
		if copies.Count != 1000 || copies.Bytes != 4000*1000 {
			t.Fatalf("%s: %d copies of %d bytes", setting, copies.Count, copies.Bytes)
		}
		near(t, setting+": copy, s", copies.P50.Seconds(), 6.333e-6, 1e-3)
		gbps, _ := stats.GBps(4000, *copies.P50)
		near(t, setting+": GB/s", gbps, 0.63, 0.005)
		findings := strings.Join(r.Findings, "\n")
		if !strings.Contains(findings, "latency-bound") {
			t.Errorf("%s: findings %q", setting, findings)
		}
	}
}

// TestC04WaitFellTheStepDidNot: the headline is the whole run's time, 1.016x, not
// the wait that fell to nothing.
func TestC04WaitFellTheStepDidNot(t *testing.T) {
	base := settings(t, "samples=6400", "batch=64", "workers=1", "prefetch=1", "repeats=6")
	base = withSim(base, append(still, "link-gbps=12", "pageable-gbps=6", "compute=400ms")...)
	r := compareInBubble(t, base, pageableBlocking, pinnedOwnStream+" ring-slots=3")
	near(t, "A's period, ms", r.Sides[0].Repeats[0].Wall.Seconds()*1e3/100, 406.4, 0.001)
	near(t, "B's period, ms", r.Sides[1].Repeats[0].Wall.Seconds()*1e3/100, 400, 0.001)
	near(t, "B by A", *r.Comparison.Ratio, 1.016, 0.005)
	wait := r.Sides[0].Trace.Stage(trace.HtoD)
	near(t, "A's copy, ms", wait.P50.Seconds()*1e3, 6.42, 0.005)
	if !strings.Contains(r.Sentence, "1.6 %") {
		t.Errorf("sentence: %s", r.Sentence)
	}
}

// TestC20NonBlockingNeedsPinnedMemoryAndAStream: time in the copy call, and how
// much of the copies hides under steps.
func TestC20NonBlockingNeedsPinnedMemoryAndAStream(t *testing.T) {
	copyTime := 4194304 / 12e9
	for _, c := range []struct {
		setting     string
		callTakes   float64 // s in the copy call and waiting for it
		hidden      [2]float64
		explanation bool
	}{
		{pageableBlocking, copyTime, [2]float64{0, 0}, false},
		{pinnedBlocking, copyTime, [2]float64{0, 0}, false},
		{pageableSharedStream, copyTime, [2]float64{0, 0}, true},
		{pinnedSharedStream, 0, [2]float64{0, 0}, false},
		{pageableOwnStream, copyTime, [2]float64{0.8, 1}, true},
		{pinnedOwnStream, 0, [2]float64{0.8, 1}, false},
	} {
		t.Run(c.setting, func(t *testing.T) {
			config := settings(t, with([]string{"samples=500", "shape=1024x1024", "batch=1", "workers=1", "ring-slots=4"}, c.setting)...)
			r := inBubble(t, withSim(config, append(still, "link-gbps=12", "pageable-gbps=12", "compute=350us")...))
			side := r.Sides[0]
			call := *side.Trace.Stage(trace.CopyCall).P50
			if !side.Config.NonBlocking {
				call += *side.Trace.Stage(trace.WaitCopy).P50
			}
			if c.callTakes == 0 && call > 100*time.Microsecond {
				t.Errorf("the copy call took %v", call)
			}
			// On a shared stream a pageable copy first waits for the step before it.
			if c.callTakes > 0 && call.Seconds() < 0.99*c.callTakes {
				t.Errorf("the copy call took %v, want at least %g s", call, c.callTakes)
			}
			share := side.Repeats[0].OverlapShare
			if share == nil || *share < c.hidden[0] || *share > c.hidden[1] {
				t.Errorf("hidden share %v, want %v", share, c.hidden)
			}
			if got := strings.Contains(strings.Join(r.Findings, " "), "cannot free the host without pinned memory"); got != c.explanation {
				t.Errorf("explains the flag: %v; %q", got, r.Findings)
			}
		})
	}
}

// TestC14TokensAreTooSmallToMatter also sees that without workers loading and
// computing never overlap.
func TestC14TokensAreTooSmallToMatter(t *testing.T) {
	for _, workers := range []string{"0", "1"} {
		c := settings(t, "source=tokens", "samples=6400", "batch=64", "workers="+workers, "pin=thread", "non-blocking=true")
		r := inBubble(t, withSim(c, append(still, "latency=6us", "link-gbps=12", "compute=50ms")...))
		near(t, "copy of the inputs, s", stageOf(r, trace.HtoD).P50.Seconds(), 16.92e-6, 1e-3)
		if share := stageOf(r, trace.HtoD).P50.Seconds() / 50e-3; share > 0.001 {
			t.Errorf("copy is %g of a step", share)
		}
		if !strings.Contains(strings.Join(r.Findings, " "), "pinning cannot matter here") {
			t.Errorf("workers %s: findings %q", workers, r.Findings)
		}
	}
	c := settings(t, "source=delay:5ms", "samples=64", "shape=256", "dtype=int64", "batch=1", "workers=0", "pin=thread")
	r := inBubble(t, withSim(c, append(still, "link-gbps=12", "compute=50ms")...))
	near(t, "load and compute one after the other, s", wall(r).Seconds(), 64*0.055, 1e-3)
}

// TestC01SlowDownIsShown: the pin thread cannot keep up; the slow-down is signed
// and names the stage that grew.
func TestC01SlowDownIsShown(t *testing.T) {
	r := &Result{Kind: KindCompare, NotValid: []string{}, Sides: []Side{
		replay("A", 57961, 0), replay("B", 47589, 5*time.Microsecond)}}
	r.compare()
	text := r.sentence()
	for _, want := range []string{"0.82x (-17.9 %)", "slower", "staging copy"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in: %s", want, text)
		}
	}
	r.Sides = []Side{replay("A", 31412.6, 0), replay("B", 32541.5, 0)}
	r.compare()
	if text := r.sentence(); !strings.Contains(text, "3.6 % faster") || !strings.Contains(r.Comparison.String(), "1.04x") {
		t.Errorf("%s; %s", text, r.Comparison)
	}
}

// replay is a side as if it had been measured at a rate.
func replay(label string, samplesPerS float64, pinCopy time.Duration) Side {
	s := Side{Label: label, Trace: &trace.Trace{}}
	typical := 0
	s.Typical = &typical
	if pinCopy > 0 {
		s.Trace.Stages = []trace.StageSummary{{Stage: trace.PinCopy, Count: 1000, Total: 1000 * pinCopy, P50: &pinCopy}}
	}
	for range 6 {
		s.Repeats = append(s.Repeats, Repeat{Complete: true, Batches: 1000, Wall: time.Second, SamplesPerS: &samplesPerS})
	}
	return s
}

// TestC11EqualSidesShowNoDifference with jitter, and a true 2 % is found.
func TestC11EqualSidesShowNoDifference(t *testing.T) {
	base := settings(t, "samples=200", "shape=16", "batch=1", "workers=1", "repeats=5", "pin=off", "non-blocking=false")
	noisy := withSim(base, append(still, "link-gbps=12", "pageable-gbps=6", "compute=1ms", "jitter=5%")...)
	r := compareInBubble(t, noisy, "pin=off", "pin=off")
	if r.Comparison.Verdict != stats.NoDifference || !r.Comparison.Interval.Holds(1) {
		t.Errorf("A/A: %+v", r.Comparison)
	}
	// 244,896 bytes take 40.8 us at 6 GB/s and half of that at 12: 1.0408 ms by 1.0204 ms.
	faster := withSim(base, append(still, "link-gbps=12", "pageable-gbps=6", "compute=1ms", "jitter=1%")...)
	faster.Shape, faster.Repeats = Shape{61224}, 6
	r = compareInBubble(t, faster, pageableBlocking, pinnedBlocking)
	near(t, "B by A", *r.Comparison.Ratio, 1.02, 0.005)
	if r.Comparison.Verdict != stats.Faster || r.Comparison.Interval.Holds(1) || len(r.Sides[0].Repeats) != 6 || r.Sides[0].SamplesPerS.Interval == nil {
		t.Errorf("true 2 %%: %+v", r.Comparison)
	}
}

// TestC16SlotsAreNeverRefilledTooEarly: 10,000 batches through a ring of one and
// of two slots.
func TestC16SlotsAreNeverRefilledTooEarly(t *testing.T) {
	for _, ring := range []string{"1", "2"} {
		c := settings(t, "source=tokens", "samples=120000", "shape=1024", "dtype=int64", "batch=12", "workers=2", "prefetch=8",
			"pin=direct", "non-blocking=true", "copy-stream=dedicated", "ring-slots="+ring)
		c = withSim(c, append(still, "link-gbps=12", "compute=0s")...)
		r := inBubble(t, c)
		repeat := r.Sides[0].Repeats[0]
		if repeat.Checked != 10000 || repeat.Mismatches != 0 {
			t.Errorf("ring %s: %d checked, %d mismatches", ring, repeat.Checked, repeat.Mismatches)
		}
	}
}

// TestC02StagingIsAStageOfItsOwn: it is there with a pin thread, gone with a ring
// that workers fill, and nothing is pinned after set-up.
func TestC02StagingIsAStageOfItsOwn(t *testing.T) {
	for pin, copies := range map[string]int64{"off": 0, "thread": 100, "direct": 0} {
		c := settings(t, "samples=6400", "shape=16", "batch=64", "workers=4", "pin="+pin)
		r := inBubble(t, withSim(c, still...))
		if got := stageOf(r, trace.PinCopy).Count; got != copies {
			t.Errorf("pin %s: %d staging copies, want %d", pin, got, copies)
		}
		wantPins := map[string]int{"off": 0, "thread": 4, "direct": 10}[pin]
		if u := r.Sides[0].Setup; u.PinCalls != wantPins || r.Sides[0].Repeats[0].PinCalls != 0 {
			t.Errorf("pin %s: %d pins before and %d after the start, want %d and 0", pin, u.PinCalls, r.Sides[0].Repeats[0].PinCalls, wantPins)
		}
	}
}

// TestC43RefusedPinGoesOnWithLess: 41 of 64 slots fit under the limit; a later
// run with a ring of 8 works.
func TestC43RefusedPinGoesOnWithLess(t *testing.T) {
	c := settings(t, "samples=640", "shape=3x128x128", "batch=64", "workers=2", "pin=direct", "ring-slots=64", "risk-memory=true")
	c = withSim(c, append(still, "pin-limit=524288000")...)
	r := inBubble(t, c)
	u := r.Sides[0].Setup
	if u.RingSlotsGot != 41 || u.RingSlotsAsked != 64 || u.PinEffective != PinnedPart {
		t.Errorf("%+v", u)
	}
	if !strings.Contains(u.Refused, "host memory can be locked") || strings.Contains(u.Refused, "GPU out of memory") {
		t.Errorf("refusal: %s", u.Refused)
	}
	if r := inBubble(t, withSim(settings(t, "samples=640", "shape=3x128x128", "batch=64", "workers=2", "pin=direct", "ring-slots=8"),
		append(still, "pin-limit=524288000")...)); r.Sides[0].Setup.RingSlotsGot != 8 {
		t.Errorf("after it: %+v", r.Sides[0].Setup)
	}
}

// TestC23PartlyPinnedIsNotCompared: the speed-up is withheld and the reason given.
func TestC23PartlyPinnedIsNotCompared(t *testing.T) {
	base := settings(t, "samples=640", "shape=1024", "batch=64", "workers=1", "repeats=6")
	base = withSim(base, append(still, "pin-limit=800KiB")...)
	r := compareInBubble(t, base, "pin=off", "pin=direct ring-slots=4")
	if r.Sides[0].Setup.PinEffective != PinnedNone || r.Sides[0].Setup.PinnedBytes != 0 {
		t.Errorf("A: %+v", r.Sides[0].Setup)
	}
	if r.Sides[1].Setup.PinEffective != PinnedPart || len(r.NotValid) == 0 || !strings.Contains(r.Sentence, "no speed-up is claimed") {
		t.Errorf("B: %+v; %q; %s", r.Sides[1].Setup, r.NotValid, r.Sentence)
	}
}

// TestC51PinningMustPayBack: 2.01 s of pinning, 12.845 ms saved a step: 157 steps.
// Bytes and rates are a 32nd of the case's, which leaves all times as they are and
// needs 129 MiB instead of 4 GiB.
func TestC51PinningMustPayBack(t *testing.T) {
	for _, c := range []struct {
		samples, text string
	}{{"800", "does not pay back in this run (100 batches; break-even at 157)"}, {"1600", "pays back in this run (200 batches; break-even at 157)"}} {
		base := settings(t, "samples="+c.samples, "batch=8", "workers=1", "prefetch=1", "repeats=6")
		base = withSim(base, append(still, "link-gbps=0.375", "pageable-gbps=0.1875", "compute=12.845ms", "pin-s-per-gib=16")...)
		r := compareInBubble(t, base, pageableBlocking, pinnedBlocking+" ring-slots=28")
		near(t, "set-up, s", r.Sides[1].Setup.PinDuration.Seconds(), 2.01, 0.005)
		if findings := strings.Join(r.Findings, "\n"); !strings.Contains(findings, c.text) {
			t.Errorf("findings %q, want %q", findings, c.text)
		}
	}
}

// TestC41NothingIsLeftAfterManyRuns: 20 sizes one after the other.
func TestC41NothingIsLeftAfterManyRuns(t *testing.T) {
	for batch := 1; batch <= 20; batch++ {
		c := settings(t, "samples=200", "shape=3x32x32", "workers=2", "pin=direct")
		c.Batch = int64(batch)
		if r := inBubble(t, withSim(c, still...)); r.Sides[0].Setup.PinnedBytes == 0 && r.Sides[0].Setup.PinEffective == PinnedAll {
			t.Errorf("batch %d: nothing was pinned", batch)
		}
		if got := cudamem.ReadLedger().PinnedBytes; got != 0 {
			t.Errorf("batch %d: %d bytes left pinned", batch, got)
		}
	}
}

// TestC37CancelKeepsWhatWasMeasured: the repeats so far are in the result, which
// says that it was cancelled.
func TestC37CancelKeepsWhatWasMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := withSim(settings(t, "samples=1000", "shape=16", "batch=1", "workers=8", "pin=direct", "repeats=3"), append(still, "compute=1ms")...)
		ctx, cancel := context.WithCancelCause(context.Background())
		clock := cudamem.NewPlainClock()
		time.AfterFunc(1050*time.Millisecond, func() { cancel(ErrCancelled) })
		r, err := Run(ctx, c, RunOptions{Clock: clock})
		if !errors.Is(err, ErrCancelled) || r == nil || !r.Cancelled || r.Complete {
			t.Fatalf("%v, %+v", err, r)
		}
		if now := clock.Now(); now > 3*time.Second {
			t.Errorf("ended after %v", now)
		}
		repeats := r.Sides[0].Repeats
		if len(repeats) != 2 || !repeats[0].Complete || repeats[1].Complete || repeats[1].Batches == 0 {
			t.Errorf("repeats: %+v", repeats)
		}
		if r.Sides[0].SamplesPerS.Count != 1 || cudamem.ReadLedger().PinnedBytes != 0 {
			t.Errorf("%d repeats count, %d bytes pinned", r.Sides[0].SamplesPerS.Count, cudamem.ReadLedger().PinnedBytes)
		}
	})
}

// TestC58WarmupIsKeptAndNotCounted: set-up has its own row, the first repeats are
// marked.
func TestC58WarmupIsKeptAndNotCounted(t *testing.T) {
	c := withSim(settings(t, "samples=64", "shape=16", "batch=1", "workers=1", "warmup=3", "repeats=2"), append(still, "compute=1ms")...)
	r := inBubble(t, c)
	repeats := r.Sides[0].Repeats
	if len(repeats) != 5 || !repeats[2].Warmup || repeats[3].Warmup || r.Sides[0].SamplesPerS.Count != 2 || *r.Sides[0].Typical < 3 {
		t.Errorf("%d repeats, %d count, typical %d", len(repeats), r.Sides[0].SamplesPerS.Count, *r.Sides[0].Typical)
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "(") || !strings.Contains(text.String(), "Set-up") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// TestC64SimulatedSaysSo: in the result, the sentence, the text, the CSV and the trace.
func TestC64SimulatedSaysSo(t *testing.T) {
	r := inBubble(t, withSim(settings(t, "samples=64", "shape=16", "batch=1", "workers=1"), append(still, "compute=1ms")...))
	var text, csv, trace, json strings.Builder
	if err := errors.Join(r.Text(&text), r.WriteCSV(&csv), r.WriteTrace(&trace), r.WriteJSON(&json)); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ text, want string }{
		"text": {text.String(), "SIMULATED"}, "sentence": {r.Sentence, "SIMULATED"}, "CSV": {csv.String(), "simulated"},
		"trace": {strings.ToLower(trace.String()), "simulated"}, "JSON": {json.String(), `"simulated": true`}, "model": {json.String(), `"compute": "1ms"`},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s does not say %q", what, c.want)
		}
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// TestC97SizesDoNotWrap is in the plan's tests; here a run of such a size ends
// before anything is allocated.
func TestC97RunRefusesWhatCannotBe(t *testing.T) {
	c := settings(t, "shape=65536x65536", "batch=4294967296")
	r, err := Run(context.Background(), c, RunOptions{})
	var input *InputError
	if r != nil || !errors.As(err, &input) {
		t.Errorf("%v, %v", r, err)
	}
}
