package pressure

import (
	"context"
	"fmt"
	"time"

	"pinscope/bench/units"
)

// Thresholds at which a run gives up its memory.
//
// The floor lies below what [Guard] reserves, so that a plan which passed does
// not end itself; earlyoom(1) kills at 5 % of the memory left. systemd-oomd kills
// when all tasks of a group stood still for 60 % of the time over 30 s
// (oomd.conf(5)): a benchmark gives way long before a killer chooses for it.
const (
	floorOfTotal = 20        // one in so many bytes in total
	mostFloor    = 512 << 20 // bytes that floorOfTotal asks for at most

	defaultFullShare  = 0.20
	defaultFullWindow = 3 * time.Second
)

// Rules say when a watchdog ends a run.
type Rules struct {
	FloorBytes int64         `json:"floor_bytes"`    // Available below this; 0: never
	FullShare  float64       `json:"full_share"`     // of FullWindow in which all tasks waited for memory; 0: never
	FullWindow time.Duration `json:"full_window_ns"` // > 0
}

// DefaultRules are those that fit the limits.
func DefaultRules(l Limits) Rules {
	r := Rules{FullShare: defaultFullShare, FullWindow: defaultFullWindow}
	if l.TotalBytes != nil {
		r.FloorBytes = min(*l.TotalBytes/floorOfTotal, mostFloor)
	}
	return r
}

// Short is why a watchdog ended a run: the cause of its context.
type Short struct {
	At     time.Duration `json:"at_ns"` // on the run's clock
	Reason string        `json:"reason"`
}

func (s *Short) Error() string {
	return "pressure: run ended after " + units.Duration(s.At) + ": " + s.Reason
}

// Watchdog ends a run when memory gets short.
type Watchdog struct {
	rules  Rules
	cancel context.CancelCauseFunc
	since  time.Duration // start of the window
	stalls [2]struct {   // of the system, of the group, at its start
		total int64
		known bool
	}
	begun bool
}

// NewWatchdog gives a context that a watchdog cancels, with a [*Short] as its
// cause. Its Look is given to a [Sampler]; the returned function gives the
// context's resources back and must be called at the end of the run.
func NewWatchdog(parent context.Context, rules Rules) (*Watchdog, context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	return &Watchdog{rules: rules, cancel: cancel}, ctx, func() { cancel(nil) }
}

// Look judges a sample. Samples come in order of time, from one goroutine. What
// is unknown ends nothing.
func (w *Watchdog) Look(s *Sample) {
	if available, ok := s.Int(Available); ok && available < w.rules.FloorBytes {
		w.end(s.At, fmt.Sprintf("%s of memory are available, less than the floor of %s",
			units.Bytes(available), units.Bytes(w.rules.FloorBytes)))
		return
	}
	if w.begun && s.At-w.since < w.rules.FullWindow {
		return
	}
	for i, f := range []Figure{MemoryFullStall, GroupFullStall} {
		total, ok := s.Int(f)
		before := &w.stalls[i]
		if w.begun && ok && before.known && w.rules.FullShare > 0 && s.At > w.since {
			share := float64(total-before.total) / float64(s.At-w.since)
			if share >= w.rules.FullShare {
				w.end(s.At, fmt.Sprintf("every task%s waited for memory %s of the last %s, the limit is %s",
					[]string{"", " of the control group"}[i], units.Percent(share), units.Duration(s.At-w.since), units.Percent(w.rules.FullShare)))
			}
		}
		before.total, before.known = total, ok
	}
	w.since, w.begun = s.At, true
}

func (w *Watchdog) end(at time.Duration, reason string) { w.cancel(&Short{at, reason}) }
