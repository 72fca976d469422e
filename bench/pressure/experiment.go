package pressure

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pinscope/bench/units"
	"pinscope/cudamem"
)

// Stall shares at which the system counts as strained: a hundredth of the time
// with every task waiting for memory, a twentieth with some.
const (
	strainFull = 0.01
	strainSome = 0.05
)

// Experiment holds more and more memory and measures at each step what that does.
type Experiment struct {
	Root  Root
	Clock cudamem.Clock

	Kind     string  // of the ballast, in words: "pinned", "pageable"
	Pinned   bool    // whether Alloc page-locks
	Alloc    Alloc   // takes ballast
	Ballast  []int64 // bytes held at each step, rising; see BallastSteps
	Override bool    // to pin more than the cap, as in Guard
	Rules    Rules   // of the watchdog; zero: DefaultRules

	// Measure runs the loader for a while and gives its rate. It ends early when
	// ctx is done, with an error.
	Measure func(ctx context.Context) (samplesPerSecond float64, err error)

	Cache  *CacheReader // reads beside each measurement; nil: no reader
	OnStep func(Step)   // told of each step, on Run's goroutine; nil: nobody
}

// Step is what was seen with so much ballast held. A nil figure is unknown.
type Step struct {
	BallastBytes     int64         `json:"ballast_bytes"`
	Grow             time.Duration `json:"grow_ns"` // that taking the step's ballast took
	SamplesPerSecond *float64      `json:"samples_per_second"`
	Cache            *CacheReading `json:"cache"`
	Elapsed          time.Duration `json:"elapsed_ns"` // of the measurement

	LeastAvailableBytes *float64 `json:"least_available_bytes"`
	SomeShare           *float64 `json:"memory_some_share"` // of Elapsed, PSI
	FullShare           *float64 `json:"memory_full_share"`
	MajorFaults         *float64 `json:"major_faults"` // this and the next: during the measurement
	ScannedPages        *float64 `json:"scanned_pages"`
	StolenPages         *float64 `json:"stolen_pages"`
	AllocStalls         *float64 `json:"alloc_stalls"`
	RefaultPages        *float64 `json:"refault_pages"`
	SwapOutPages        *float64 `json:"swap_out_pages"`
	PinnedBytes         *float64 `json:"pinned_bytes"` // most in our own ledger

	Ended string `json:"ended,omitempty"` // why the measurement was ended; empty: it was not
	Cost  Cost   `json:"cost"`            // of the sampler
}

// Outcome is the result of an experiment.
type Outcome struct {
	Kind   string `json:"kind"`
	Limits Limits `json:"limits"` // before it began
	Steps  []Step `json:"steps"`
	Ended  string `json:"ended,omitempty"` // why it stopped before the last step; empty: it did not

	RateKnee    *Knee  `json:"rate_knee"`    // of SamplesPerSecond
	CacheKnee   *Knee  `json:"cache_knee"`   // of the cache reader's rate
	StrainBytes *int64 `json:"strain_bytes"` // ballast of the first step with the system strained, or ended by the watchdog

	// SafeBytes is the most ballast before any of the three; nil if the first
	// step already had one.
	SafeBytes *int64 `json:"safe_bytes"`
	Text      string `json:"text"` // the finding in a sentence
}

// BallastSteps are so many equal steps from nothing up to a share (0 to 1) of
// what is available, and never above what the guard lets a run take. Nothing comes
// twice, so that one lucky value at the start is not taken for the usual. It gives
// nil when what is available is unknown or next to nothing.
func BallastSteps(l Limits, share float64, steps int) []int64 {
	spendable := l.SpendableBytes()
	if spendable == nil || steps < 1 || !(share > 0) {
		return nil
	}
	top := *spendable
	if wanted := share * float64(*l.AvailableBytes); wanted < float64(top) {
		top = int64(wanted)
	}
	if top < int64(steps)*pageBytes {
		return nil
	}
	out := make([]int64, 1, steps+2)
	for i := range int64(steps) + 1 {
		// Divided first: top times i may be too large.
		out = append(out, (top/int64(steps)*i)/pageBytes*pageBytes)
	}
	return out
}

// Run does the steps and gives back all ballast before it returns. It stops early
// when the watchdog ends a step or ballast is refused; that is no error, and with
// an error too the outcome holds what was measured. A need that the guard refuses is one, before anything is taken.
func (e Experiment) Run(ctx context.Context) (out Outcome, err error) {
	out = Outcome{Kind: e.Kind, Limits: ReadLimits(e.Root)}
	if len(e.Ballast) == 0 {
		return out, errors.New("pressure: experiment: no steps: too little memory is available, or how much is unknown")
	}
	if e.Rules == (Rules{}) {
		e.Rules = DefaultRules(out.Limits)
	}
	top := e.Ballast[len(e.Ballast)-1]
	need := Need{{Name: "ballast", Bytes: top, Pinned: e.Pinned, Settings: []string{"up-to"}}}
	if d := Guard(need, out.Limits, e.Override); d.Verdict == Unchecked || !d.Runs() {
		return out, fmt.Errorf("pressure: experiment: %s", d.Text)
	}
	ballast := NewBallast(e.Alloc, e.Pinned, func() Limits { return ReadLimits(e.Root) })
	defer func() { err = errors.Join(err, ballast.Release()) }()
	defer out.conclude()
	for _, bytes := range e.Ballast {
		step, err := e.step(ctx, ballast, bytes)
		if err != nil {
			return out, err
		}
		out.Steps = append(out.Steps, step)
		if e.OnStep != nil {
			e.OnStep(step)
		}
		if step.Ended != "" {
			out.Ended = step.Ended
			break
		}
	}
	return out, nil
}

// step grows the ballast and measures beside it.
func (e Experiment) step(ctx context.Context, ballast *Ballast, bytes int64) (Step, error) {
	dog, guarded, release := NewWatchdog(ctx, e.Rules)
	defer release()
	sampler := Start(guarded, e.Clock, Options{Root: e.Root, Look: dog.Look})
	step := Step{BallastBytes: bytes}

	start := e.Clock.Now()
	err := ballast.GrowTo(guarded, bytes)
	step.Grow = e.Clock.Now() - start
	if err != nil {
		sampler.Stop()
		if ctx.Err() != nil {
			return step, context.Cause(ctx)
		}
		step.BallastBytes, step.Ended = ballast.Bytes(), err.Error()
		return step, nil
	}
	// Growing makes pressure of its own: the figures are those of a sampler that
	// starts after it.
	sampler.Stop()
	sampler = Start(guarded, e.Clock, Options{Root: e.Root, Look: dog.Look})
	start = e.Clock.Now()
	rate, reading, err := e.measure(guarded)
	step.Elapsed = e.Clock.Now() - start
	series := sampler.Stop()
	step.fill(&series)
	step.Cache = reading
	var short *Short
	switch {
	case errors.As(context.Cause(guarded), &short):
		step.Ended = short.Error()
	case err != nil:
		return step, fmt.Errorf("pressure: measure with %d bytes of ballast: %w", bytes, err)
	default:
		step.SamplesPerSecond = &rate
	}
	return step, nil
}

// measure runs the loader with the cache reader beside it.
func (e Experiment) measure(ctx context.Context) (rate float64, reading *CacheReading, err error) {
	if e.Cache == nil {
		rate, err = e.Measure(ctx)
		return rate, nil, err
	}
	beside, stop := context.WithCancel(ctx)
	defer stop()
	var reader sync.WaitGroup
	var got CacheReading
	var readErr error
	reader.Go(func() { got, readErr = e.Cache.Run(beside) })
	rate, err = e.Measure(ctx)
	stop()
	reader.Wait()
	return rate, &got, errors.Join(err, readErr)
}

// fill takes the step's figures from what the sampler saw.
func (s *Step) fill(series *Series) {
	s.Cost = series.Cost
	delta := func(f Figure) *float64 {
		if _, sum := series.Figure(f); sum != nil {
			return &sum.Delta
		}
		return nil
	}
	if _, sum := series.Figure(Available); sum != nil {
		s.LeastAvailableBytes = &sum.Min
	}
	if _, sum := series.Figure(Pinned); sum != nil {
		s.PinnedBytes = &sum.Max
	}
	s.SomeShare, s.FullShare = series.StallShare(MemorySomeStall), series.StallShare(MemoryFullStall)
	s.MajorFaults, s.ScannedPages, s.StolenPages = delta(MajorFaults), delta(ScannedPages), delta(StolenPages)
	s.AllocStalls, s.RefaultPages, s.SwapOutPages = delta(AllocStalls), delta(RefaultPages), delta(SwapOutPages)
}

// strained says whether the system suffered.
func (s *Step) strained() bool {
	return s.Ended != "" || s.FullShare != nil && *s.FullShare >= strainFull || s.SomeShare != nil && *s.SomeShare >= strainSome
}

// conclude finds the knees and what is safe.
func (o *Outcome) conclude() {
	if len(o.Steps) == 0 {
		return
	}
	var rates, caches []Point
	for i := range o.Steps {
		s := &o.Steps[i]
		rates = append(rates, Point{s.BallastBytes, s.SamplesPerSecond})
		if s.Cache != nil && s.Cache.Bytes > 0 {
			caches = append(caches, Point{s.BallastBytes, &s.Cache.BytesPerSecond})
		}
		if o.StrainBytes == nil && s.strained() {
			o.StrainBytes = &s.BallastBytes
		}
	}
	o.RateKnee, o.CacheKnee = o.caused(FindKnee(rates)), o.caused(FindKnee(caches))
	for i := range o.Steps {
		bytes := o.Steps[i].BallastBytes
		if o.reached(bytes) {
			break
		}
		o.SafeBytes = &bytes
	}
	o.Text = o.sentence()
}

// caused drops a knee that memory cannot have caused: where from there on no page
// was even looked at by reclaim and nobody waited for memory, something else on
// the machine took the time.
func (o *Outcome) caused(k *Knee) *Knee {
	for i := range o.Steps {
		if s := &o.Steps[i]; k != nil && s.BallastBytes >= k.Bytes && !s.calm() {
			return k
		}
	}
	return nil
}

// calm says that the system is known to have been at ease.
func (s *Step) calm() bool {
	for _, f := range []*float64{s.ScannedPages, s.StolenPages, s.SwapOutPages, s.SomeShare} {
		if f == nil || *f > 0 {
			return false
		}
	}
	return s.Ended == ""
}

// reached says that with so much ballast something suffered.
func (o *Outcome) reached(bytes int64) bool {
	return o.RateKnee != nil && bytes >= o.RateKnee.Bytes || o.CacheKnee != nil && bytes >= o.CacheKnee.Bytes ||
		o.StrainBytes != nil && bytes >= *o.StrainBytes
}

func (o *Outcome) sentence() string {
	most := units.Bytes(o.Steps[len(o.Steps)-1].BallastBytes)
	switch {
	case o.RateKnee == nil && o.CacheKnee == nil && o.StrainBytes == nil:
		return fmt.Sprintf("%s of %s memory were held and nothing suffered.", most, o.Kind)
	case o.SafeBytes == nil:
		return "The system suffers before any ballast is held."
	}
	text := fmt.Sprintf("%s of %s memory were held without harm", units.Bytes(*o.SafeBytes), o.Kind)
	if o.RateKnee != nil {
		text += "; " + o.RateKnee.Text("throughput")
	}
	if o.CacheKnee != nil {
		text += "; " + o.CacheKnee.Text("reading of cached files")
	}
	if o.StrainBytes != nil {
		text += fmt.Sprintf("; at %s the system was strained", units.Bytes(*o.StrainBytes))
	}
	return text + "."
}
