package bench

import (
	"fmt"
	"math"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// Shares and sizes from which a finding speaks.
const (
	starvedShare  = 0.20    // of a step's period waited for data: loading is the limit
	limitShare    = 0.40    // of the period that a lane works if it is the limit: 9 batches keep 8 workers busy for 9/16
	busyEnough    = 0.95    // of the period the device works: nothing to gain from more workers
	cannotMatter  = 0.01    // of the period spent on all copying: under the spread of most machines
	latencyShare  = 0.5     // of a copy's time explained by its bytes on the link: less is latency
	latencyBytes  = 1 << 20 // a larger copy is never called latency-bound
	unlikelyShare = 1.02    // of wall time that a lane may be busy before a clock is doubted
)

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

// moving is the time that getting a batch to the device takes, wherever it is spent.
func (p *perBatch) moving() time.Duration {
	return p.stage(trace.PinCopy) + p.stage(trace.Gather) + max(p.stage(trace.HtoD), p.stage(trace.CopyCall))
}

// device is the longer of the device's two jobs.
func (p *perBatch) device() time.Duration {
	return max(p.stage(trace.HtoD)+p.stage(trace.Gather), p.stage(trace.Step))
}

// findings says in sentences what the figures show beside the speed-up.
func (r *Result) findings() []string {
	var out []string
	for i := range r.Sides {
		side := &r.Sides[i]
		for _, find := range []func(*Side) string{(*Side).starved, r.latencyBound, r.flagWithoutPinning} {
			if text := find(side); text != "" {
				out = append(out, side.named()+text)
			}
		}
	}
	if text := r.cannotMatter(); text != "" {
		out = append(out, text)
	}
	if r.Kind == KindCompare {
		out = append(out, r.payBack()...)
	}
	return out
}

// named starts a sentence about a side of several.
func (s *Side) named() string {
	if s.Label == "" {
		return ""
	}
	return s.Label + ": "
}

// starved: the trainer waits for data while the device idles. Who keeps it
// waiting is told from how busy workers and pin thread are.
func (s *Side) starved() string {
	p := s.perBatch()
	if p == nil {
		return ""
	}
	wait := p.stage(trace.WaitBatch)
	device := p.device()
	if s.Config.Workers == 0 || float64(wait) < starvedShare*float64(p.period) || float64(device) > busyEnough*float64(p.period) {
		return ""
	}
	waits := fmt.Sprintf("the trainer waits %s of %s a batch for data and the device works %s of it",
		units.Duration(wait), units.Duration(p.period), units.Duration(device))
	filling := p.loading() / time.Duration(max(s.Config.Workers-s.Plan.IdleWorkers, 1))
	switch staging := p.stage(trace.PinCopy); {
	case float64(max(filling, staging)) < limitShare*float64(p.period):
		return fmt.Sprintf("handing batches over is the limit, neither loading nor pinning: %s, while each worker works %s of it; larger batches are handed over less often",
			waits, units.Duration(filling))
	case staging > filling:
		return fmt.Sprintf("the staging copy is the limit: %s, while the pin thread copies %s of it; pin direct does without that copy",
			waits, units.Duration(staging))
	}
	return "loading is the limit, not pinning: " + waits + s.moreWorkers(p)
}

// moreWorkers is the advice to take more workers, where they would help.
func (s *Side) moreWorkers(p *perBatch) (text string) {
	device := p.device()
	if need := workersNeeded(p.loading(), device); need > s.Config.Workers {
		text = fmt.Sprintf("; at least %d workers would keep it busy (%s to fill a batch / %s)",
			need, units.Duration(p.loading()), units.Duration(device))
		if cpus := workersNeeded(s.loadingCPU(), device); cpus > s.Plan.UsableCPUs {
			text += fmt.Sprintf(", but filling a batch takes %s of CPU time, which needs %d CPUs, and %d are usable: loading itself has to become cheaper",
				units.Duration(s.loadingCPU()), cpus, s.Plan.UsableCPUs)
		}
	}
	return text
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

// workersNeeded is how many workers, or CPUs, fill batches as fast as the device
// takes them; 0 where that is no sensible number. A hundredth of a worker is noise.
func workersNeeded(filling, device time.Duration) int {
	if device <= 0 || filling <= 0 {
		return 0
	}
	need := math.Ceil(float64(filling)/float64(device) - 0.01)
	if need > 1024 {
		return 0
	}
	return int(need)
}

// latencyBound: a copy is ruled by the cost of the call.
func (r *Result) latencyBound(s *Side) string {
	if s.Trace == nil || r.Device.LinkGBps == nil {
		return ""
	}
	copies := s.Trace.Stage(trace.HtoD)
	if copies.Count == 0 || *copies.P50 <= 0 {
		return ""
	}
	bytes := copies.Bytes / copies.Count
	onLink := float64(bytes) / (*r.Device.LinkGBps * 1e9)
	if bytes > latencyBytes || onLink > latencyShare*copies.P50.Seconds() {
		return ""
	}
	return fmt.Sprintf("copies of %s are latency-bound: %s each, %s; the cost of a copy rules, not the bandwidth of pinned memory",
		units.Bytes(bytes), units.Duration(*copies.P50), units.Throughput(bytes, *copies.P50))
}

// flagWithoutPinning: non_blocking on pageable memory.
func (r *Result) flagWithoutPinning(s *Side) string {
	if !s.Config.NonBlocking || s.Config.Pin != loader.PinOff || r.Device.ID == "cpu" {
		return ""
	}
	return "non_blocking cannot free the host without pinned memory: the copy call itself stages the bytes before it returns"
}

// cannotMatter: all copying together is under a hundredth of a step's period.
func (r *Result) cannotMatter() string {
	worst, moving := 0.0, time.Duration(0)
	for i := range r.Sides {
		p := r.Sides[i].perBatch()
		if p == nil || p.period <= 0 {
			return ""
		}
		if share := float64(p.moving()) / float64(p.period); share >= worst {
			worst, moving = share, p.moving()
		}
	}
	if len(r.Sides) == 0 || worst >= cannotMatter || r.Device.ID == "cpu" {
		return ""
	}
	return fmt.Sprintf("pinning cannot matter here: all copying of a batch takes %s, %s of its period",
		units.Duration(moving), share(worst))
}

// payBack: whether what B saves a step outweighs what its pinning took.
func (r *Result) payBack() []string {
	a, b := &r.Sides[0], &r.Sides[1]
	pa, pb := a.perBatch(), b.perBatch()
	extra := b.Setup.PinDuration - a.Setup.PinDuration
	if pa == nil || pb == nil || extra < time.Millisecond || r.Comparison == nil || r.Comparison.Verdict != stats.Faster {
		return nil
	}
	saved := pa.period - pb.period
	steps, pays := stats.BreakEvenSteps(extra, saved)
	if !pays {
		return nil
	}
	wallA, wallB := a.Repeats[*a.Typical].Wall, b.Repeats[*b.Typical].Wall
	verb := "pays back in"
	if b.Repeats[*b.Typical].Batches < steps {
		verb = "does not pay back in"
	}
	return []string{fmt.Sprintf("pinning took %s before the start and saves %s a batch: it %s this run (%s batches; break-even at %s); B by A is %s without and %s with that time",
		units.Duration(extra), units.Duration(saved), verb, units.Count(b.Repeats[*b.Typical].Batches), units.Count(steps),
		units.Ratio(float64(wallA)/float64(wallB)), units.Ratio(float64(wallA)/float64(wallB+extra)))}
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
