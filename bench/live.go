package bench

import (
	"sync"
	"time"

	"pinscope/bench/trace"
	"pinscope/bench/train"
)

// Progress is told every eventInterval, and when a turn begins if the last time is
// leastInterval ago. That is less than what a ticker's jitter takes off, and keeps
// any second to ten events, the very last one included, which comes when it comes.
const (
	eventInterval = 125 * time.Millisecond
	leastInterval = 115 * time.Millisecond
)

// liveState is what a watcher reads while the trainer runs. The trainer never
// takes its lock.
type liveState struct {
	mu       sync.Mutex
	name     string
	side     *side
	label    string
	index    int // of the turn
	turns    int
	began    time.Duration // the first turn
	turnAt   time.Duration
	recorder *trace.Recorder
	trainer  *train.Trainer

	told   bool // progress, at least once
	toldAt time.Duration
}

// due says whether progress may be told now, and counts it as told.
func (l *liveState) due(now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told && now-l.toldAt < leastInterval {
		return false
	}
	l.told, l.toldAt = true, now
	return true
}

func (l *liveState) phase(name, label string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name, l.label = name, label
}

func (l *liveState) begin(now time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = now
}

func (l *liveState) turn(name string, s *side, index int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name, l.side, l.index, l.recorder, l.trainer, l.label = name, s, index, nil, nil, ""
	if s != nil {
		l.label, l.turnAt = s.label, s.session.clock.Now()
	}
}

func (l *liveState) watch(r *trace.Recorder, t *train.Trainer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recorder, l.trainer = r, t
}

// watch emits progress until the function it returns is called.
func (s *session) watch() (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(eventInterval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				s.tell(false)
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

// tell emits progress, unless it did a moment ago; the last word always.
func (s *session) tell(last bool) {
	if due := s.live.due(s.clock.Now()); due || last {
		s.emit(Event{Type: "progress", Progress: s.progress()})
	}
}

// progress is how far the session has come.
func (s *session) progress() *Progress {
	l := &s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	now := s.clock.Now()
	p := &Progress{Phase: l.name, Side: l.label, Repeat: l.index + 1, Repeats: l.turns, Memory: s.liveMemory()}
	within := 0.0
	if l.side != nil && l.trainer != nil {
		p.Of = l.side.plan.TotalBatches
		var samples int64
		p.Batches, samples = l.trainer.Progress()
		if p.Of > 0 {
			within = float64(p.Batches) / float64(p.Of)
		}
		if elapsed := now - l.turnAt; samples > 0 && elapsed > 0 {
			rate := float64(samples) / elapsed.Seconds()
			p.SamplesPerS = &rate
		}
		p.Stages = liveRows(l.recorder.Totals())
	}
	if l.name == "setup" {
		p.Repeat = 0
	}
	if l.turns > 0 {
		p.Repeat = min(p.Repeat, l.turns)
		p.Done = min((float64(l.index)+within)/float64(l.turns), 1)
	}
	if p.Done > 0.01 {
		left := (now - l.began).Seconds() * (1 - p.Done) / p.Done
		p.ETAS = &left
	}
	return p
}

func liveRows(totals [trace.Stages]trace.StageTotal) []LiveRow {
	var rows []LiveRow
	for stage, total := range totals {
		if total.Count > 0 {
			rows = append(rows, LiveRow{trace.Stage(stage).String(), total.Count, int64(total.Total), total.Bytes})
		}
	}
	return rows
}
