package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/source"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
	"pinscope/bench/train"
	"pinscope/cudamem"
)

// side is one configuration being measured.
type side struct {
	session *session
	label   string
	name    string // what sets it apart, in a ladder or a sweep
	config  Config
	plan    Plan
	node    *int // bound to; nil: none

	source  source.Source
	loader  *loader.Loader
	trainer *train.Trainer
	setups  Setup
	repeats []Repeat
	traces  []*trace.Trace // one for each of repeats, nil where it was let go
}

// makePlan works out what the side needs; it reads headers and lists folders.
func (s *side) makePlan(limits Limits) (err error) {
	spec, err := source.Probe(s.sourceOptions())
	switch {
	case s.session.ctx.Err() != nil:
		return context.Cause(s.session.ctx)
	case err != nil:
		return &InputError{Field: "source", Value: s.config.Source, Problem: err.Error()}
	}
	if s.node, err = numaNode(s.config.NUMA, s.session.device.Info()); err != nil {
		return err
	}
	s.plan, err = NewPlan(s.config, spec, s.session.device.Info(), limits)
	return err
}

func (s *side) sourceOptions() source.Options {
	return source.Options{Name: s.config.Source, Samples: s.config.Samples, Shape: s.config.Shape,
		DType: s.config.DType, Classes: s.config.OutFeatures, Seed: s.config.Seed, OnBad: s.config.OnBad,
		Context: s.session.ctx, InMemory: s.config.Pin == loader.PinDataset}
}

// setup opens the source and allocates slots and device memory. The calling
// goroutine is bound.
func (s *side) setup() error { return onNode(s.node, s.allocate) }

func (s *side) allocate() (err error) {
	begun := s.session.clock.Now()
	if s.source, err = s.session.data.open(s); err != nil {
		return s.blameFile(err, err)
	}
	s.setups.SourceDuration = s.session.clock.Now() - begun
	if s.loader, err = loader.New(s.session.device, s.source, s.session.clock, s.loaderOptions()); err != nil {
		return err
	}
	dataset, _ := s.source.(source.InMemory)
	if s.trainer, err = train.New(s.session.device, s.session.clock, dataset, s.trainOptions()); err != nil {
		return err
	}
	s.noteSetup(s.loader.Setup())
	return nil
}

func (s *side) loaderOptions() loader.Options {
	c, p := s.config, s.plan
	return loader.Options{
		Sampler: loader.Sampler{Samples: p.Samples, Batch: c.Batch, Epochs: int64(c.Epochs), Seed: c.Seed,
			Shuffle: c.Shuffle, DropLast: c.DropLast},
		Workers: c.Workers, KeepWorkers: c.KeepWorkers, Pin: c.Pin, HostMemory: c.HostKind(),
		QueueSlots: p.QueueSlots, RingSlots: p.RingSlots, Check: s.check(), Timeout: time.Duration(c.Timeout),
		AllowPartialRing: true, BindWorker: bindWorker(s.node),
	}
}

// check is how much of each batch is digested.
func (s *side) check() loader.Check {
	switch {
	case s.config.Verify:
		return loader.CheckAll
	case s.session.device.Info().AlwaysDigests:
		return loader.CheckLines
	default:
		return loader.CheckNone
	}
}

func (s *side) trainOptions() train.Options {
	c := s.config
	return train.Options{
		Spec: s.source.Spec(), Batch: c.Batch, Classes: c.OutFeatures, LearningRate: float32(c.LearningRate),
		Seed: c.Seed, StepsPerBatch: c.StepsPerBatch, NonBlocking: c.NonBlocking,
		Dedicated: c.CopyStream == loader.Dedicated, SyncSteps: c.SyncSteps || c.Workers == 0,
		DeviceSlots: max(s.plan.DeviceSlots, 1), Pin: c.Pin, HostMemory: c.HostKind(), Check: s.check(),
	}
}

// noteSetup records what was asked for and what was got.
func (s *side) noteSetup(from loader.Setup) {
	u := &s.setups
	u.SlotsDuration, u.PinDuration, u.PinCalls = from.Duration, from.PinDuration+s.session.data.pinDuration(s), from.PinCalls
	u.PinnedBytes = from.LockedBytes
	u.RingSlotsAsked, u.RingSlotsGot, u.RingSlotsLocked = from.RingAsked, from.RingGot, from.RingLocked
	u.NUMANode = s.node
	u.PinRequested = s.config.Pin.Pins()
	locked := from.RingLocked == from.RingAsked
	if s.config.Pin == loader.PinDataset {
		for _, buffer := range []*cudamem.HostBuffer{s.memory().Samples(), s.memory().Labels()} {
			if buffer.Locked() {
				u.PinCalls++
				u.PinnedBytes += int64(cap(buffer.Bytes()))
			}
			locked = locked && buffer.Locked()
		}
	}
	switch {
	case !u.PinRequested:
		u.PinEffective = PinnedNone
	case from.Refused != nil:
		u.PinEffective, u.Refused = PinnedPart, from.Refused.Error()
		s.session.warn(fmt.Sprintf("only %d of %d pinned slots could be allocated: %v", u.RingSlotsGot, u.RingSlotsAsked, from.Refused))
	case locked || !s.config.HostKind().PageLocked():
		u.PinEffective = PinnedAll
	case s.session.device.Info().Simulated:
		u.PinEffective = PinnedSim
		s.session.warn("the system let the simulated GPU lock only part of its pinned memory (the memlock limit): " +
			"copies are timed as pinned, the pages can be swapped")
	default:
		u.PinEffective = PinnedPart
	}
}

func (s *side) memory() source.InMemory { return s.source.(source.InMemory) }

// repeat runs all epochs once. The calling goroutine is not bound.
func (s *side) repeat(position int, warmup bool) error {
	recorder := trace.NewRecorder(trace.Options{SpansPerLane: s.session.o.SpansPerLane, Off: s.session.o.NoRecording})
	lane := recorder.Lane(trace.Trainer, 0, "host, monotonic")
	pass := s.loader.NewPass(recorder, lane)
	s.session.live.watch(recorder, s.trainer)
	if !s.session.o.NoRecording {
		runtime.GC() // the recorders of repeats before are collected before the clock starts, not while it runs
	}
	before := cudamem.ReadLedger().Calls
	outcome, err := s.trainer.Run(pass, func() { pass.Start(s.session.ctx) }, recorder, lane)
	calls := cudamem.ReadLedger().Calls - before
	var sample *loader.SampleError
	if errors.As(err, &sample) {
		err = s.blameFile(err, fmt.Errorf("%w (sample %d)", sample.Err, sample.Sample))
	}
	err = errors.Join(err, pass.Close())
	recorded := recorder.Trace()
	s.repeats = append(s.repeats, s.newRepeat(position, warmup, outcome, recorded, calls, err))
	s.traces = append(s.traces, recorded)
	s.forgetTraces()
	return err
}

// mostTraces is how many traces a side holds, of some 2 MB each: memory does not
// grow with the number of repeats.
const mostTraces = 15

// forgetTraces lets go of the traces that are least likely to be the typical
// repeat's: of repeats that do not count, then of those furthest from the median.
func (s *side) forgetTraces() {
	rank := map[int]int{} // how far from the median, of repeats that count
	counted := (&Side{Repeats: s.repeats}).ranked()
	for at, i := range counted {
		rank[i] = abs(at - (len(counted)-1)/2)
	}
	held, furthest, distance := 0, -1, -1
	for i, t := range s.traces {
		if t == nil {
			continue
		}
		held++
		from, counts := rank[i]
		if !counts {
			from = len(s.repeats)
		}
		if from > distance {
			furthest, distance = i, from
		}
	}
	if held > mostTraces {
		s.traces[furthest] = nil
	}
}

// blameFile makes an error of a source that reads files wrong input, whenever the
// file is found to be bad: problem says so. What the device caused stays as it is;
// of a context that has ended the cause is given, which is for people.
func (s *side) blameFile(err, problem error) error {
	var refused *cudamem.Error
	switch {
	case s.session.ctx.Err() != nil:
		return context.Cause(s.session.ctx)
	case !holdsFiles(s.config.Source) || errors.As(err, &refused):
		return err
	}
	return &InputError{Field: "source", Value: s.config.Source, Problem: problem.Error()}
}

func (s *side) newRepeat(position int, warmup bool, o train.Outcome, t *trace.Trace, pinCalls int64, err error) Repeat {
	r := Repeat{
		Warmup: warmup, Position: position, Start: o.Start, Wall: o.Wall(), Batches: o.Batches, Samples: o.Samples,
		InputBytes: o.InputBytes, Complete: err == nil, Stages: t.Stages, OverlapShare: t.OverlapShare,
		PinCalls: pinCalls, Checked: o.Checked, Mismatches: o.Mismatches, LastLoss: o.LastLoss,
	}
	if o.Samples > 0 && o.Wall() > 0 {
		rate := float64(o.Samples) / o.Wall().Seconds()
		r.SamplesPerS = &rate
	}
	if len(o.Losses) > 0 {
		r.FirstLoss = &o.Losses[0]
	}
	if o.Checked > 0 {
		r.SeriesDigest = fmt.Sprintf("%016x", o.SeriesDigest)
	}
	if bad, ok := s.source.(source.BadSampler); ok {
		r.BadSamples = bad.BadSamples()
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

// summary is the side as it goes into the result.
func (s *side) summary() Side {
	out := Side{Label: s.label, Name: s.name, Config: s.config, Command: s.config.CommandLine(string(KindRun)), Plan: s.plan,
		Setup: s.setups, Repeats: s.repeats}
	if out.Repeats == nil {
		out.Repeats = []Repeat{}
	}
	out.SamplesPerS = stats.Summarize(out.measured())
	if typical := out.typical(s.traces); typical >= 0 {
		out.Typical, out.Trace = &typical, s.traces[typical]
	}
	return out
}

// typical is the number of the repeat with the median throughput (the lower of
// two), or next to it of those whose trace is still held; -1 if none counts.
func (s *Side) typical(traces []*trace.Trace) int {
	counted := s.ranked()
	middle, best := (len(counted)-1)/2, -1
	for at, i := range counted {
		if traces[i] != nil && (best < 0 || abs(at-middle) < abs(best-middle)) {
			best = at
		}
	}
	if best < 0 {
		return -1
	}
	return counted[best]
}

func abs(n int) int { return max(n, -n) }

// ranked are the numbers of the repeats that count, the slowest first.
func (s *Side) ranked() []int {
	var counted []int
	for i, r := range s.Repeats {
		if r.counts() {
			counted = append(counted, i)
		}
	}
	slices.SortFunc(counted, func(a, b int) int { return cmp.Compare(*s.Repeats[a].SamplesPerS, *s.Repeats[b].SamplesPerS) })
	return counted
}

// close frees what setup allocated. The calling goroutine is bound.
func (s *side) close() error {
	var errs []error
	if s.trainer != nil {
		errs = append(errs, s.trainer.Close())
	}
	if s.loader != nil {
		errs = append(errs, s.loader.Close())
	}
	return errors.Join(errs...)
}
