package bench

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"pinscope/bench/pressure"
	"pinscope/bench/source"
	"pinscope/cudamem"
	"pinscope/cudamem/device"
)

// RunOptions say how a measurement is watched, not what is measured.
type RunOptions struct {
	// Events gets everything that happens, called from any goroutine; nil: nobody.
	Events func(Event)

	// Command is the command line for the result; "" makes one up from the settings.
	Command string

	// Device is opened instead of what the settings name, for the reason given:
	// where "auto" has been decided already. "" opens what the settings name.
	Device, DeviceWhy string

	// Clock is the time base; nil takes the precise one. Tests give their own.
	Clock cudamem.Clock

	// SpansPerLane bounds the spans kept; 0 takes the recorder's default.
	SpansPerLane int

	// NoRecording leaves out spans and stage summaries: to measure what they cost.
	NoRecording bool

	// SampleMemory has the memory system sampled 20 times a second, and a real GPU
	// watched through NVML, beside the trainer, for the result and for live figures,
	// and lets a watchdog end a run that leaves the system short. Its ticker is no
	// use in a synctest bubble.
	SampleMemory bool

	// Names are what the sides of a ladder or a sweep are called.
	Names []string

	rungs []Rung // of a ladder
	sweep *Sweep
	save  func(*Result) error // after each round of a sweep

	// Only tests set these, for machines made of files, devices that fail and
	// sources that hang.
	root       pressure.Root
	openDevice func(cudamem.Clock) (cudamem.Device, error)
	wrapSource func(source.Source) source.Source
}

// Run measures one configuration. The error is an *InputError if the settings
// are wrong, before anything was allocated. Where a result is given beside an
// error, it holds what was measured until then.
func Run(ctx context.Context, c Config, o RunOptions) (*Result, error) {
	return measure(ctx, KindRun, []Config{c}, o)
}

// Compare measures A against B: the same device, data and order, repeat after
// repeat in turn, each pair in a random order drawn from A's seed.
func Compare(ctx context.Context, a, b Config, o RunOptions) (*Result, error) {
	return measure(ctx, KindCompare, []Config{a, b}, o)
}

// session is one measurement under way.
type session struct {
	ctx    context.Context
	o      RunOptions
	clock  cudamem.Clock
	device cudamem.Device
	result *Result
	sides  []*side
	data   sources
	live   liveState
	hold   hold

	sampler *pressure.Sampler // nil: memory is not sampled
}

func newSession(ctx context.Context, kind Kind, configs []Config, o RunOptions) *session {
	if o.Events == nil {
		o.Events = func(Event) {}
	}
	if o.Clock == nil {
		o.Clock = cudamem.NewClock()
	}
	if o.Command == "" {
		o.Command = configs[0].CommandLine(string(kind))
	}
	return &session{ctx: ctx, o: o, clock: o.Clock, result: &Result{
		Schema: SchemaVersion, Kind: kind, Tool: ThisTool(), Host: ThisHost(), Started: time.Now().UTC(),
		Command: o.Command, Sides: []Side{}, NotValid: []string{}, Findings: []string{}, Warnings: []string{},
	}}
}

func measure(ctx context.Context, kind Kind, configs []Config, o RunOptions) (result *Result, err error) {
	s := newSession(ctx, kind, configs, o)
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.prepare(configs); err != nil {
		return nil, err
	}
	rounds := 0
	if o.sweep != nil {
		if rounds, err = s.resume(); err != nil {
			return nil, err
		}
	}
	if kind == KindLadder || kind == KindSweep {
		estimate := s.estimate(rounds)
		s.emit(Event{Type: "estimate", Estimate: &estimate})
	}
	if turns := s.schedule(rounds); len(turns) > 0 {
		s.live.turns = len(turns)
		defer s.watchMemory()()
		if err = s.setup(); err == nil {
			stop := s.watchGPU()
			err = s.repeats(turns)
			stop()
		}
	}
	return s.finish(err), err
}

// prepare checks the settings and works out the plans. It allocates nothing.
func (s *session) prepare(configs []Config) error {
	for i, c := range configs {
		if err := c.Validate(); err != nil {
			return err
		}
		side := &side{session: s, config: c, label: label(s.result.Kind, i, len(configs))}
		if i < len(s.o.Names) {
			side.name = s.o.Names[i]
		}
		s.sides = append(s.sides, side)
		if c.Device != configs[0].Device || !maps.Equal(c.Sim, configs[0].Sim) {
			return &InputError{Field: "device", Value: c.Device, Problem: "all sides have to be measured on the same device, with the same --sim values"}
		}
	}
	dev, why, err := s.openDevice(configs[0])
	if err != nil {
		return DeviceError(configs[0].Device, err)
	}
	s.device, why = dev, cmp.Or(s.o.DeviceWhy, why)
	s.result.Device = newDevice(dev.Info(), why)
	s.result.Simulated = dev.Info().Simulated
	s.emit(Event{Type: "start", Start: &StartInfo{Kind: s.result.Kind, Tool: s.result.Tool,
		Host: s.result.Host, Device: s.result.Device, Command: s.result.Command, PID: os.Getpid()}})
	return s.makePlans()
}

// DeviceError makes it wrong input that a device of some name could not be opened:
// of the name, or of a value of --sim.
func DeviceError(name string, err error) error {
	if problem, ok := strings.CutPrefix(err.Error(), "sim: "); ok {
		return &InputError{Field: "sim", Value: name, Problem: problem}
	}
	return &InputError{Field: "device", Value: name, Problem: strings.TrimPrefix(err.Error(), "device ")}
}

func (s *session) openDevice(c Config) (dev cudamem.Device, why string, err error) {
	if s.o.openDevice != nil {
		dev, err = s.o.openDevice(s.clock)
		return dev, "", err
	}
	return device.Open(cmp.Or(s.o.Device, c.Device), c.Sim, s.clock)
}

// makePlans works out what each side needs and whether it all fits.
func (s *session) makePlans() error {
	limits := pressure.ReadLimits(s.o.root)
	s.result.Limits = &limits
	for _, side := range s.sides {
		if err := side.makePlan(limits); err != nil {
			return err
		}
		if s.result.Kind == KindCompare && side == s.sides[1] && side.config.CommandLine("") == s.sides[0].config.CommandLine("") {
			side.plan.Warnings = append(side.plan.Warnings, "A and B have the same settings: this measures the machine's noise.")
		}
		for _, warning := range side.plan.Warnings {
			s.warn(warning)
		}
		s.emit(Event{Type: "plan", Plan: &PlanInfo{Side: side.label, Config: side.config, Plan: side.plan}})
	}
	if s.result.Kind == KindLadder || s.result.Kind == KindSweep {
		return s.fit(limits)
	}
	decision := guard(s.plans(), limits, s.sides[0].config.RiskMemory)
	if decision.Verdict == pressure.Risked {
		s.warn(decision.Text)
	}
	return s.sides[0].config.blame(decision.Settings, refusal(s.plans(), decision))
}

func (s *session) plans() []Plan {
	var plans []Plan
	for _, side := range s.sides {
		plans = append(plans, side.plan)
	}
	return plans
}

// setup allocates everything that the sides need.
func (s *session) setup() error {
	release, err := s.device.Bind()
	if err != nil {
		return err
	}
	defer release()
	if s.hold != holdAll {
		return nil
	}
	for _, side := range s.sides {
		s.live.phase("setup", side.label)
		s.tell(false)
		if err := side.setup(); err != nil {
			return err
		}
	}
	return nil
}

// turn is one repeat of one side.
type turn struct {
	side   *side
	warmup bool
	last   bool // of a round
}

// schedule puts the repeats in order: warm-up first, then rounds in which each
// side has one turn, in a random order drawn from the first side's seed. Rounds
// that were run by an earlier session are left out.
func (s *session) schedule(done int) []turn {
	rounds := s.sides[0].config.Repeats
	if done >= rounds {
		return nil
	}
	var turns []turn
	for _, side := range s.sides {
		for range side.config.Warmup {
			turns = append(turns, turn{side: side, warmup: true})
		}
	}
	random := rand.New(rand.NewPCG(s.sides[0].config.Seed, 0x70696e73636f7065))
	for round := range rounds {
		for at, i := range random.Perm(len(s.sides)) {
			if round >= done {
				turns = append(turns, turn{side: s.sides[i], last: at == len(s.sides)-1})
			}
		}
	}
	return turns
}

func (s *session) repeats(turns []turn) error {
	before := 0
	for _, side := range s.sides {
		before += len(side.repeats) // of an earlier session
	}
	s.live.begin(s.clock.Now())
	stop := sync.OnceFunc(s.watch())
	defer stop()
	for i, turn := range turns {
		phase := "measure"
		if turn.warmup {
			phase = "warmup"
		}
		if err := s.begin(turn.side); err != nil {
			return err
		}
		s.live.turn(phase, turn.side, i)
		s.tell(false)
		err := turn.side.repeat(before+i, turn.warmup)
		s.emit(Event{Type: "repeat", Repeat: turn.side.last()})
		if err != nil {
			return err
		}
		var next *side
		if i+1 < len(turns) {
			next = turns[i+1].side
		}
		if err := s.end(turn.side, next); err != nil {
			return err
		}
		if turn.last && next != nil {
			if err := s.saved(); err != nil {
				return err
			}
		}
	}
	s.live.turn("finish", nil, len(turns))
	stop() // so that this is the last word
	s.tell(true)
	return nil
}

// last is the side's newest repeat.
func (s *side) last() *RepeatInfo {
	return &RepeatInfo{Side: s.label, Repeat: s.repeats[len(s.repeats)-1]}
}

// finish sums up what was measured.
func (s *session) finish(err error) *Result {
	r := s.result
	r.Complete = err == nil
	if err != nil {
		r.Error = err.Error()
		r.Cancelled = errors.Is(err, context.Canceled) || errors.Is(err, ErrCancelled)
	}
	if s.sampler != nil {
		series := s.sampler.Stop()
		r.Pressure = &series
	}
	for _, side := range s.sides {
		r.Sides = append(r.Sides, side.summary())
	}
	switch r.Kind {
	case KindCompare:
		r.compare()
	case KindLadder:
		r.climb(s.o.rungs)
	case KindSweep:
		r.chart(s.o.sweep)
	}
	for _, warning := range r.doubts() {
		s.warn(warning)
	}
	r.judge()
	r.Findings = r.findings()
	r.Sentence = r.sentence()
	return r
}

// ErrCancelled is the cause of a context that a user's wish to stop has ended.
var ErrCancelled = errors.New("cancelled")

func (s *session) emit(e Event) { s.o.Events(e) }

// warn notes a doubt once.
func (s *session) warn(text string) {
	if slices.Contains(s.result.Warnings, text) {
		return
	}
	s.result.Warnings = append(s.result.Warnings, text)
	s.emit(Event{Type: "warning", Warning: text})
}

// close frees everything, whatever happened before.
func (s *session) close() error {
	if s.device == nil {
		return nil
	}
	release, err := s.device.Bind()
	errs := []error{err}
	stuck := false
	for _, side := range s.sides {
		stuck = stuck || side.loader != nil && side.loader.Stuck()
		errs = append(errs, side.close())
	}
	if !stuck { // a worker that would not stop may yet read its source
		errs = append(errs, s.data.close())
	}
	if err == nil {
		release()
	}
	if stuck {
		return errors.Join(errs...)
	}
	return errors.Join(append(errs, s.device.Close())...)
}
