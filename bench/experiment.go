package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pinscope/bench/pressure"
	"pinscope/bench/units"
	"pinscope/cudamem"
)

// ExperimentOptions say how much memory [Experiment] holds, and for how long.
type ExperimentOptions struct {
	UpTo    float64       // share of the available memory, above 0 to 1; the guard may allow less
	Steps   int           // of ballast beyond none, 1 to MostExperimentSteps
	PerStep time.Duration // that the loader runs at each step
	Against bool          // do it again with pageable ballast of the same size

	// CacheFolders are tried in turn for the file of the page-cache reader; where
	// none is on a disk there is no reader. nil: no reader.
	CacheFolders []string

	OnStep func(ballast string, step, steps int) // told of each step that is done, from 1 on; nil: nobody
}

// validate says what is wrong, with the names that the command line has for it.
func (e ExperimentOptions) validate() error {
	refuse := func(field string, value any, allowed string) error {
		return &InputError{Field: field, Value: fmt.Sprint(value), Allowed: allowed}
	}
	switch {
	case !(e.UpTo > 0 && e.UpTo <= 1):
		return refuse("up-to", units.Percent(e.UpTo), "above 0 % to 100 %")
	case e.Steps < 1 || e.Steps > MostExperimentSteps:
		return refuse("steps", e.Steps, fmt.Sprintf("1 to %d", MostExperimentSteps))
	case e.PerStep < leastExperimentStep || e.PerStep > mostExperimentStep:
		return refuse("seconds", e.PerStep.Seconds(), fmt.Sprintf("%v to %v", leastExperimentStep.Seconds(), mostExperimentStep.Seconds()))
	}
	return nil
}

// A step must be long enough for some samples of memory, and the stall figures
// change once in 2 s.
const (
	leastExperimentStep = 200 * time.Millisecond
	mostExperimentStep  = 10 * time.Minute
)

// MostExperimentSteps bounds ExperimentOptions.Steps.
const MostExperimentSteps = 64

// ExperimentBase is what the settings of an experiment start from: small batches
// in memory, so that what falls is not the disk's doing and little is needed
// beside the ballast.
func ExperimentBase() Config {
	preset, _ := builtinPreset("tiny", DefaultWorkers())
	return preset.Config
}

// experimentEpochs are never finished: time ends a step.
const experimentEpochs = 1_000_000

// Experiment holds more and more memory and measures at each step what that does
// to a loader run with c and to the reading of cached files; see
// [pressure.Experiment]. Of c what says how often is replaced: a step takes
// e.PerStep, with workers kept. The ballast may be more than half of the available
// memory, which is what a run is held to, since that rule is what is looked into.
//
// The error is an *InputError if the settings are wrong. Where a result is given
// beside an error, it holds what was measured until then. All ballast is given
// back in any case.
func Experiment(ctx context.Context, c Config, e ExperimentOptions, o RunOptions) (result *ExperimentResult, err error) {
	if err := e.validate(); err != nil {
		return nil, err
	}
	if o.Command == "" {
		o.Command = c.CommandLine(string(kindExperiment))
	}
	c.Epochs, c.Repeats, c.Warmup, c.KeepWorkers = experimentEpochs, 1, 0, true
	o.NoRecording, o.SampleMemory = true, false // each step samples by itself
	s := newSession(ctx, kindExperiment, []Config{c}, o)
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.prepare([]Config{c}); err != nil {
		return nil, err
	}
	if err := s.setup(); err != nil {
		return nil, err
	}
	x := &experiment{s: s, o: e, result: newExperimentResult(s, e)}
	err = x.run(ctx)
	x.result.finish(err)
	return x.result, err
}

// kindExperiment names the command; its result is of a kind of its own.
const kindExperiment Kind = "pressure"

// experiment is an Experiment under way.
type experiment struct {
	s      *session
	o      ExperimentOptions
	result *ExperimentResult
	turns  int

	finished bool // a batch, in some step
}

func (x *experiment) run(ctx context.Context) error {
	reader, err := x.cacheReader(ctx)
	if err != nil {
		return err
	}
	if reader != nil {
		defer reader.Close()
	}
	// What loader and file have taken is no longer available.
	steps := pressure.BallastSteps(pressure.ReadLimits(x.s.o.root), x.o.UpTo, x.o.Steps)
	kinds := []cudamem.HostKind{cudamem.Pinned}
	if x.o.Against {
		kinds = append(kinds, cudamem.Pageable)
	}
	for _, kind := range kinds {
		steps := x.fitting(steps, kind)
		done := 0
		outcome, err := pressure.Experiment{
			Root: x.s.o.root, Clock: x.s.clock, Kind: kind.String(), Pinned: kind.PageLocked(), Alloc: x.alloc(kind),
			Ballast: steps, Override: true, Measure: x.rate, Cache: reader,
			OnStep: func(pressure.Step) {
				if done++; x.o.OnStep != nil {
					x.o.OnStep(kind.String(), done, len(steps))
				}
			},
		}.Run(ctx)
		x.result.Outcomes = append(x.result.Outcomes, outcome)
		if err != nil {
			return err
		}
	}
	return nil
}

// fitting leaves out steps of ballast that the guard would not let through now:
// other programs may have taken memory since the first kind was tried.
func (x *experiment) fitting(steps []int64, kind cudamem.HostKind) []int64 {
	spendable := pressure.ReadLimits(x.s.o.root).SpendableBytes()
	all := len(steps)
	for len(steps) > 0 && spendable != nil && steps[len(steps)-1] > *spendable {
		steps = steps[:len(steps)-1]
	}
	if len(steps) < all {
		x.result.note("%s ballast: the last of %d steps are left out, as by now only %s can be used", kind, all, units.Bytes(*spendable))
	}
	return steps
}

// cacheReader writes the reader's file where it can; nil: nowhere.
func (x *experiment) cacheReader(ctx context.Context) (*pressure.CacheReader, error) {
	bytes := pressure.CacheFileBytes(pressure.ReadLimits(x.s.o.root))
	if bytes == 0 {
		return nil, nil
	}
	var failed error
	for _, folder := range x.o.CacheFolders {
		reader, err := pressure.NewCacheReader(ctx, x.s.o.root, folder, bytes, x.s.clock)
		switch {
		case err == nil:
			x.result.CacheFileBytes = bytes
			return reader, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		failed = err
	}
	if failed != nil {
		x.result.note("cached files are not read beside the loader: %v", failed)
	}
	return nil, nil
}

// alloc takes ballast of a kind from the device.
func (x *experiment) alloc(kind cudamem.HostKind) pressure.Alloc {
	return func(bytes int64) (release func() error, err error) {
		var buffer *cudamem.HostBuffer
		err = x.bound(func() error {
			buffer, err = x.s.device.AllocHost(kind, bytes)
			return err
		})
		if err != nil {
			return nil, err
		}
		switch {
		case kind == cudamem.Pageable:
			cudamem.TouchPages(buffer.Bytes())
		case !buffer.Locked():
			x.result.note("the system let the simulated GPU lock only part of the ballast (the memlock limit, ulimit -l): " +
				"what is not locked can be swapped, so that this experiment shows less than it should")
		}
		return func() error { return x.bound(buffer.Free) }, nil
	}
}

// bound calls do with this goroutine bound to the device.
func (x *experiment) bound(do func() error) error {
	release, err := x.s.device.Bind()
	if err != nil {
		return err
	}
	defer release()
	return do()
}

// errStepOver ends the run of a step.
var errStepOver = errors.New("the step is over")

// rate runs the loader for a step's time.
func (x *experiment) rate(ctx context.Context) (samplesPerSecond float64, err error) {
	turn, stop := context.WithTimeoutCause(ctx, x.o.PerStep, errStepOver)
	defer stop()
	x.s.ctx = turn
	defer func() { x.s.ctx = ctx }()
	side := x.s.sides[0]
	err = side.repeat(x.turns, false)
	x.turns++
	side.traces = nil // nothing was recorded
	if err != nil && !errors.Is(err, errStepOver) {
		return 0, err
	}
	if rate := side.repeats[len(side.repeats)-1].SamplesPerS; rate != nil {
		x.finished = true
		return *rate, nil
	}
	if !x.finished {
		return 0, fmt.Errorf("no batch was finished in %v: take longer steps or smaller batches", x.o.PerStep)
	}
	return 0, nil // it did before: the system stands still
}
