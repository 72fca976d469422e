package bench

import (
	"strings"
	"testing"
	"time"

	"pinscope/bench/stats"
	"pinscope/bench/trace"
)

// Of a period of 20 ms the trainer waits 16: it depends on what workers and pin
// thread do meanwhile who is the limit.
func TestStarvedNamesTheLimit(t *testing.T) {
	const batches = 100
	for name, tc := range map[string]struct {
		workers, idle   int
		load, stage     time.Duration // of a batch
		want, mustNotBe string
	}{
		"loading":               {2, 0, 38 * time.Millisecond, 2 * time.Millisecond, "loading is the limit, not pinning: the trainer waits 16 ms of 20 ms", "staging"},
		"loading, most idle":    {16, 14, 38 * time.Millisecond, 0, "loading is the limit", "handing"},
		"staging":               {2, 0, 20 * time.Millisecond, 15 * time.Millisecond, "the staging copy is the limit", "loading is"},
		"handing over":          {2, 0, 2 * time.Millisecond, time.Millisecond, "handing batches over is the limit", "loading is"},
		"handing over, at most": {1, 0, 7 * time.Millisecond, 7 * time.Millisecond, "while each worker works 7 ms of it", "workers would"},
	} {
		t.Run(name, func(t *testing.T) {
			s := replay("", 1000, 0)
			s.Config.Workers, s.Plan.IdleWorkers, s.Plan.UsableCPUs = tc.workers, tc.idle, 64
			s.Repeats[0].Batches, s.Repeats[0].Wall = batches, batches*20*time.Millisecond
			for stage, took := range map[trace.Stage]time.Duration{trace.WaitBatch: 16 * time.Millisecond, trace.Load: tc.load,
				trace.PinCopy: tc.stage, trace.Step: 3 * time.Millisecond} {
				s.Trace.Stages = append(s.Trace.Stages, trace.StageSummary{Stage: stage, Count: batches, Total: batches * took})
			}
			r := Result{Sides: []Side{s}}
			if got := strings.Join(r.findings(), " "); !strings.Contains(got, tc.want) || strings.Contains(got, tc.mustNotBe) {
				t.Errorf("%q, want %q without %q", got, tc.want, tc.mustNotBe)
			}
		})
	}
}

// TestSentenceSaysWhatMakesItInvalid: --quiet shows nothing else.
func TestSentenceSaysWhatMakesItInvalid(t *testing.T) {
	rate := 1000.0
	side := func(change func(*Side)) *Result {
		s := replay("", rate, 0)
		s.SamplesPerS = stats.Summarize(s.measured())
		change(&s)
		return &Result{Kind: KindRun, Complete: true, Sides: []Side{s}}
	}
	for _, c := range []struct {
		name, want string
		result     *Result
	}{
		{"verified", "this is no speed", side(func(s *Side) { s.Config.Verify = true })},
		{"part of a ring", "only 3 of 8 slots are pinned", side(func(s *Side) {
			s.Setup = Setup{PinEffective: PinnedPart, RingSlotsLocked: 3, RingSlotsAsked: 8}
		})},
		{"unlocked", "lock only part", side(func(s *Side) { s.Setup.PinEffective = PinnedSim })},
	} {
		if got := c.result.sentence(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	r := side(func(*Side) {})
	if got := r.sentence(); strings.Contains(got, "repeat") {
		t.Errorf("complete: %s", got)
	}
	r.Complete = false
	if got := r.sentence(); !strings.Contains(got, "ended early, after 6 repeats") {
		t.Errorf("cancelled: %s", got)
	}
}
