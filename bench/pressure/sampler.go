package pressure

import (
	"context"
	"runtime"
	"sync"
	"time"

	"pinscope/bench/cputime"
	"pinscope/cudamem"
)

// DefaultEvery is 20 samples a second.
const DefaultEvery = 50 * time.Millisecond

// minEvery keeps a sampler from becoming the load that it measures.
const minEvery = 5 * time.Millisecond

// Options are the settings of a sampler; zero values are the defaults.
type Options struct {
	Root  Root          // the machine itself
	Every time.Duration // DefaultEvery; at least 5 ms

	// Look is shown each sample on the sampler's goroutine, and must be quick and
	// keep no pointer to it: [Watchdog.Look], for one.
	Look func(*Sample)
}

// Sampler reads the system's figures in the background. On a 2-core virtual
// machine a sample took 0.07 ms of CPU time one after the other, and 0.17 ms at
// 20 a second, when it finds nothing in the caches: 0.33 % of a core (2026-12).
type Sampler struct {
	every  time.Duration
	clock  cudamem.Clock
	look   func(*Sample)
	probe  *probe
	cancel context.CancelFunc
	done   sync.WaitGroup

	// Of the sampling goroutine alone:
	scratch Sample             // here, since what look is given would be allocated each time
	start   [figureCount]int64 // of counters, as first known
	based   uint64             // counters whose start is known
	stopped bool               // read and set by Stop, after that goroutine has ended

	mu      sync.Mutex
	store   *store
	latest  Sample
	cpu     time.Duration
	longest time.Duration
}

// Start takes a sample at once and then one each Every, until Stop or until ctx is
// done. Times are those of clock. Only Stop gives the series and closes the
// files, and it must be called.
func Start(ctx context.Context, clock cudamem.Clock, o Options) *Sampler {
	if o.Every <= 0 {
		o.Every = DefaultEvery
	}
	ctx, cancel := context.WithCancel(ctx)
	s := newSampler(clock, o)
	s.cancel = cancel
	s.done.Go(func() {
		ticker := time.NewTicker(s.every)
		defer ticker.Stop()
		for ctx.Err() == nil {
			s.take()
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	})
	return s
}

func newSampler(clock cudamem.Clock, o Options) *Sampler {
	return &Sampler{every: max(o.Every, minEvery), clock: clock, look: o.Look, probe: newProbe(o.Root), store: newStore(),
		cancel: func() {}}
}

// take reads one sample and keeps it.
func (s *Sampler) take() {
	// CPU time is the thread's: the goroutine must not change threads in between.
	runtime.LockOSThread()
	cpu, wall := cpuOrWall(), time.Now()
	sample := &s.scratch
	sample.At = s.clock.Now()
	s.probe.read(sample)
	s.count(sample)
	s.keep(sample)
	s.charge(cpuOrWall()-cpu, time.Since(wall))
	runtime.UnlockOSThread()
	if s.look != nil {
		s.look(sample)
	}
}

// cpuOrWall is the CPU time of the calling thread; wall time, which is never less,
// where the system does not tell.
func cpuOrWall() time.Duration {
	if used, ok := cputime.Thread(); ok {
		return used
	}
	return time.Since(processStart)
}

var processStart = time.Now()

// count makes counters count from their first known value. One that is lower
// than that was set back, or is nonsense.
func (s *Sampler) count(sample *Sample) {
	for f := range figureCount {
		if !figureInfo[f].counter || sample.known&(1<<f) == 0 {
			continue
		}
		if s.based&(1<<f) == 0 {
			s.based |= 1 << f
			s.start[f] = sample.values[f]
		}
		if sample.values[f] -= s.start[f]; sample.values[f] < 0 {
			sample.forget(f)
		}
	}
}

func (s *Sampler) keep(sample *Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = *sample
	s.store.add(sample)
}

func (s *Sampler) charge(cpu, wall time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cpu += cpu
	s.longest = max(s.longest, wall)
}

// Latest is the newest sample; ok is false before the first. Any goroutine may
// call it.
func (s *Sampler) Latest() (sample Sample, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest, s.store.samples > 0
}

// Cost is what the sampling has taken so far. Any goroutine may call it.
func (s *Sampler) Cost() Cost {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Cost{Samples: s.store.samples, Longest: s.longest}
	if c.Samples > 0 {
		c.CPUPerSample = s.cpu / time.Duration(c.Samples)
		share := float64(c.CPUPerSample) / float64(s.every)
		c.ShareOfCore = &share
	}
	return c
}

// Stop takes a last sample, so that what is held then counts in however short a
// run, closes the files and gives what was seen. It may be called twice.
func (s *Sampler) Stop() Series {
	s.cancel()
	s.done.Wait()
	if !s.stopped {
		s.stopped = true
		s.take()
	}
	s.probe.close()
	cost := s.Cost()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.store.series()
	out.Every, out.Group, out.Cost = s.every, s.probe.group, cost
	return out
}
