package bandwidth

import (
	"context"
	"math"
	"time"

	"pinscope/bench/stats"
	"pinscope/bench/units"
)

const (
	// wakeBytes is one copy of the warm-up: long enough to be no matter of
	// latency, and short beside a cell.
	wakeBytes = 16 << 20
	// steadyCopies in a row that differ by steadyShare at most end the warm-up.
	steadyCopies = 3
	steadyShare  = 0.05
	// firstWake is how long the first warm-up lasts at least: a link that is slow
	// to wake gives a steady figure for a while before it is awake. An estimate.
	firstWake = 300 * time.Millisecond
	mostWake  = 2 * time.Second

	// A reading of the link that is not at its maximum is repeated until
	// linkPatience is over: the link may still be waking up.
	linkPatience = time.Second
	// linkDeadline is when a driver that does not answer is given up.
	linkDeadline = 5 * time.Second
)

// wakeFirst wakes the link, reads its state before and under load, and settles its limit.
func (e *engine) wakeFirst(ctx context.Context) error {
	link := &e.result.Link
	if e.o.ReadLink != nil {
		if before, err := e.o.ReadLink(); err == nil {
			link.Before = &before
		}
	}
	warm, err := e.wake(ctx, firstWake)
	if err != nil {
		return err
	}
	e.result.WarmUp = WarmUp{Bytes: wakeBytes, GBps: warm, Slow: slowAtFirst(warm)}
	if err := e.readUnderLoad(ctx); err != nil {
		return err
	}
	link.limit(e.dev.Info())
	return nil
}

// wake copies until the figure is steady, for at least so long, and gives the figures.
func (e *engine) wake(ctx context.Context, least time.Duration) ([]float64, error) {
	m := e.wakeMover()
	begun := e.clock.Now()
	warm := []float64{}
	for ctx.Err() == nil {
		s, err := e.timer.sample(&m, nil, 1, 0)
		if err != nil {
			return nil, err
		}
		rate, ok := s.gbps(m.bytes)
		if !ok {
			return warm, nil // an endless link
		}
		warm = append(warm, rate)
		spent := e.clock.Now() - begun
		if spent >= least && steady(warm) || spent >= mostWake {
			return warm, nil
		}
	}
	return nil, context.Cause(ctx)
}

func (e *engine) wakeMover() mover {
	return mover{stream: e.stream, host: e.reference, device: e.device, bytes: wakeBytes, up: true}
}

// steady says that the last few rates agree.
func steady(rates []float64) bool {
	if len(rates) < steadyCopies {
		return false
	}
	least, most := math.Inf(1), 0.0
	for _, rate := range rates[len(rates)-steadyCopies:] {
		least, most = min(least, rate), max(most, rate)
	}
	return least >= most*(1-steadyShare)
}

// slowAtFirst is how many of the first rates lie below what they came to.
func slowAtFirst(rates []float64) int {
	if len(rates) < steadyCopies {
		return 0
	}
	final := stats.Summarize(rates[len(rates)-steadyCopies:]).Median
	for i, rate := range rates {
		if final == nil || rate >= *final*(1-steadyShare) {
			return i
		}
	}
	return 0
}

// readUnderLoad reads the link's state while copies are under way.
func (e *engine) readUnderLoad(ctx context.Context) error {
	if e.o.ReadLink == nil {
		return nil
	}
	begun := e.clock.Now()
	for {
		state, err := e.readOnceUnderLoad(ctx)
		if err != nil || state == nil {
			return err
		}
		e.result.Link.During = state
		if !state.belowMax() || e.clock.Now()-begun >= linkPatience {
			return nil
		}
	}
}

// readOnceUnderLoad gives nil where the driver does not tell or does not answer.
func (e *engine) readOnceUnderLoad(ctx context.Context) (*LinkState, error) {
	type answer struct {
		state LinkState
		err   error
	}
	m := e.wakeMover()
	if _, err := e.timer.sample(&m, nil, 1, 0); err != nil {
		return nil, err
	}
	answers := make(chan answer, 1) // the goroutine ends whether or not anybody waits
	go func() {
		state, err := e.o.ReadLink()
		answers <- answer{state, err}
	}()
	begun := e.clock.Now()
	for ctx.Err() == nil {
		if _, err := e.timer.sample(&m, nil, mostCopies, 0); err != nil {
			return nil, err
		}
		select {
		case a := <-answers:
			if a.err != nil {
				e.result.note("the link's state under load could not be read: %v", a.err)
				return nil, nil
			}
			return &a.state, nil
		default:
			if e.clock.Now()-begun > linkDeadline {
				e.result.note("the driver did not tell the link's state within %s", units.Duration(linkDeadline))
				return nil, nil
			}
		}
	}
	return nil, context.Cause(ctx)
}
