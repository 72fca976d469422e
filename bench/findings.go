package bench

import (
	"fmt"
	"slices"
	"time"

	"pinscope/bench/stats"
	"pinscope/bench/trace"
	"pinscope/bench/units"
	"pinscope/bench/verdict"
)

// unlikelyShare is the part of wall time that a lane may be busy before a clock is doubted.
const unlikelyShare = 1.02

// perBatch is what one batch cost on each stage in the typical repeat, as a mean
// over the repeat: the figures that add up. It is nil when no repeat counts.
type perBatch struct {
	period time.Duration // wall time of a batch
	stage  func(trace.Stage) time.Duration
}

func (s *Side) perBatch() *perBatch {
	if s.Typical == nil || s.Trace == nil {
		return nil
	}
	r := s.Repeats[*s.Typical]
	if r.Batches == 0 {
		return nil
	}
	return &perBatch{
		period: r.Wall / time.Duration(r.Batches),
		stage: func(stage trace.Stage) time.Duration {
			return s.Trace.Stage(stage).Total / time.Duration(r.Batches)
		},
	}
}

// loading is the time a worker takes to fill a batch.
func (p *perBatch) loading() time.Duration { return p.stage(trace.Load) + p.stage(trace.Collate) }

// findings says in sentences what the figures show beside the speed-up.
func (r *Result) findings() []string {
	var out []string
	all := []verdict.Figures{}
	spoken := r.spoken()
	for i := range r.Sides {
		f := r.figures(&r.Sides[i])
		if f == nil {
			continue
		}
		all = append(all, *f)
		if !slices.Contains(spoken, i) {
			continue
		}
		for _, text := range verdict.Findings(*f) {
			out = append(out, r.Sides[i].named()+text)
		}
	}
	if text := verdict.CannotMatter(all); text != "" && len(all) == len(r.Sides) {
		out = append(out, text)
	}
	if r.Kind == KindCompare {
		out = append(out, r.payBack()...)
	}
	return out
}

// spoken are the sides that are worth words: of many the last word.
func (r *Result) spoken() []int {
	switch {
	case r.Kind == KindLadder && r.Ladder != nil:
		return []int{r.Ladder.Total.Side}
	case r.Kind == KindSweep && r.Sweep != nil && r.Sweep.Best >= 0:
		return []int{r.Sweep.Best}
	case r.Kind == KindLadder || r.Kind == KindSweep:
		return nil
	}
	all := make([]int, len(r.Sides))
	for i := range all {
		all[i] = i
	}
	return all
}

// named starts a sentence about a side of several.
func (s *Side) named() string {
	if s.Label == "" {
		return ""
	}
	return s.Label + ": "
}

// loadingCPU is the CPU time that filling a batch takes, as a mean; 0 where that
// was not measured.
func (s *Side) loadingCPU() (cpu time.Duration) {
	batches := s.Repeats[*s.Typical].Batches
	for _, stage := range []trace.Stage{trace.Load, trace.Collate} {
		if sum := s.Trace.Stage(stage); sum.CPU != nil {
			cpu += *sum.CPU / time.Duration(batches)
		}
	}
	return cpu
}

// payBack: whether what B saves a step outweighs what its pinning took. B's time
// is A's by the speed-up that is claimed, so that one run gives one answer.
func (r *Result) payBack() []string {
	a, b := &r.Sides[0], &r.Sides[1]
	extra := b.Setup.PinDuration - a.Setup.PinDuration
	if a.perBatch() == nil || b.perBatch() == nil || extra < time.Millisecond || r.Comparison == nil || r.Comparison.Verdict != stats.Faster {
		return nil
	}
	wallA, batches := a.Repeats[*a.Typical].Wall, b.Repeats[*b.Typical].Batches
	wallB := time.Duration(float64(wallA) / *r.Comparison.Ratio)
	saved := (wallA - wallB) / time.Duration(batches)
	steps, pays := stats.BreakEvenSteps(extra, saved)
	if !pays {
		return nil
	}
	verb := "pays back in"
	if batches < steps {
		verb = "does not pay back in"
	}
	return []string{fmt.Sprintf("pinning took %s before the start and saves %s a batch: it %s this run (%s batches; break-even at %s); B by A is %s without and %s with that time",
		units.Duration(extra), units.Duration(saved), verb, units.Count(batches), units.Count(steps),
		units.Ratio(*r.Comparison.Ratio), units.Ratio(float64(wallA)/float64(wallB+extra)))}
}

// doubts says what makes the figures hard to believe.
func (r *Result) doubts() []string {
	var out []string
	for i := range r.Sides {
		out = append(out, r.Sides[i].doubts()...)
	}
	return out
}

func (s *Side) doubts() []string {
	var out []string
	if s.Typical == nil {
		return out
	}
	r := s.Repeats[*s.Typical]
	if s.Trace != nil {
		for _, lane := range s.Trace.Lanes {
			if lane.Busy != nil && float64(*lane.Busy) > unlikelyShare*float64(r.Wall) {
				out = append(out, fmt.Sprintf("%sthe lane %q was busy for longer than the run took (%s of %s): a clock is wrong",
					s.named(), lane.Name, units.Duration(*lane.Busy), units.Duration(r.Wall)))
			}
		}
	}
	if s.Config.Verify {
		out = append(out, s.named()+"every batch was verified on the device: the times are not to be used")
	}
	if r.BadSamples > 0 {
		out = append(out, fmt.Sprintf("%s%s could not be read; others were taken in their place", s.named(), plural(r.BadSamples, "sample")))
	}
	return out
}
