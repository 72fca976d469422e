package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// Pass is one run over all epochs. NewPass, Start, Next and Close belong to the
// trainer's goroutine; Slot.Release may be called from any.
type Pass struct {
	l          *Loader
	recorder   *trace.Recorder
	trainer    *trace.Lane
	lanes      []*trace.Lane // one a worker
	pinLane    *trace.Lane
	free       chan *Slot // slots that workers fill
	ringFree   chan *Slot // slots that the pin thread fills
	perEpoch   int64
	total      int64 // batches
	claimed    atomic.Int64
	filled     atomic.Int64 // batches in hand-over cells
	taken      int64        // batches taken out of hand-over cells, by their one consumer
	delivered  int64        // batches given to the trainer
	patience   *time.Timer
	workers    sync.WaitGroup
	pinThread  sync.WaitGroup
	done       chan struct{} // closed when the pass fails, is cancelled or closed
	end        sync.Once
	err        error // why done was closed; read after done
	stopListen func() bool
}

// errClosed ends the goroutines of a pass that is over.
var errClosed = errors.New("loader: the pass is closed")

// stopGrace is how long Close waits for goroutines before it calls them stuck.
const stopGrace = 2 * time.Second

// NewPass readies a pass: everything it needs is allocated here, before the
// clock starts. What the trainer's own goroutine spends is recorded on lane
// trainer. recorder and trainer may be nil.
func (l *Loader) NewPass(recorder *trace.Recorder, trainer *trace.Lane) *Pass {
	p := &Pass{
		l: l, recorder: recorder, trainer: trainer,
		free: make(chan *Slot, len(l.queue)), ringFree: make(chan *Slot, len(l.ring)),
		perEpoch: l.o.EpochBatches(), total: l.o.Batches(),
		patience: time.NewTimer(l.o.Timeout), done: make(chan struct{}),
	}
	p.patience.Stop()
	for i := range l.workers {
		p.lanes = append(p.lanes, recorder.Lane(trace.Worker, i, hostClock))
	}
	if l.o.Pin.HasThread() && l.o.Workers > 0 {
		p.pinLane = recorder.Lane(trace.PinThread, 0, hostClock)
	}
	hand := func(slots []*Slot, free chan *Slot) {
		for _, slot := range slots {
			slot.home = free
			free <- slot
		}
	}
	hand(l.queue, p.free)
	hand(l.ring, p.ringFree)
	drain(l.pinned)
	for i := range l.ready {
		drain(l.ready[i])
		l.claims[i].batch.Store(0)
	}
	return p
}

const hostClock = "host, monotonic"

func drain(c chan *Slot) {
	for len(c) > 0 {
		<-c
	}
}

// Start sets the workers and the pin thread going. Cancelling ctx ends the pass.
func (p *Pass) Start(ctx context.Context) {
	p.stopListen = context.AfterFunc(ctx, func() { p.fail(context.Cause(ctx)) })
	if p.l.inline != nil {
		return
	}
	p.startWorkers()
	if p.l.o.Pin.HasThread() {
		p.pinThread.Go(p.pin)
	}
}

// startWorkers lets the workers go up to the end of the epoch that comes next,
// or of all epochs if they are kept.
func (p *Pass) startWorkers() {
	limit := p.total
	if !p.l.o.KeepWorkers {
		limit = p.taken + p.perEpoch
	}
	for i, w := range p.l.workers {
		p.workers.Add(1)
		w.running.Store(true)
		go w.run(p, p.lanes[i], limit)
	}
}

// claim takes the next batch number below limit.
func (p *Pass) claim(limit int64) (batch int64, ok bool) {
	for {
		batch = p.claimed.Load()
		if batch >= limit {
			return 0, false
		}
		if p.claimed.CompareAndSwap(batch, batch+1) {
			return batch, true
		}
	}
}

// fail ends the pass with its first error.
func (p *Pass) fail(err error) {
	p.end.Do(func() {
		p.err = err
		close(p.done)
	})
}

// over says whether the pass has ended; then p.err may be read.
func (p *Pass) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// cause is why the pass ended; call it after done was closed.
func (p *Pass) cause() error {
	<-p.done
	return p.err
}

// Next gives the next batch in the sampler's order, io.EOF after the last, or
// why the pass ended early. The caller owns the slot until it releases it.
func (p *Pass) Next() (*Slot, error) {
	if p.delivered == p.total {
		return nil, io.EOF
	}
	var slot *Slot
	var err error
	asked := p.l.clock.Now()
	p.recorder.QueueDepth(asked, p.depth())
	switch {
	case p.l.inline != nil:
		slot, err = p.l.inline.next(p)
	case p.l.o.Pin.HasThread():
		slot, err = p.nextPinned()
	default:
		slot, err = p.take()
	}
	if err != nil {
		return nil, err
	}
	if p.l.inline == nil {
		p.trainer.Add(trace.WaitBatch, slot.Batch, asked, p.l.clock.Now(), 0)
	}
	p.delivered++
	return slot, nil
}

// depth is how many batches are ready for the trainer.
func (p *Pass) depth() int {
	if p.l.o.Pin.HasThread() {
		return len(p.l.pinned)
	}
	return int(p.filled.Load())
}

func (p *Pass) nextPinned() (*Slot, error) {
	select {
	case slot := <-p.l.pinned:
		return slot, nil
	case <-p.done:
		return nil, p.err
	}
}

// take gives the next batch in order out of the workers' hands. It has one
// caller: the pin thread if there is one, else the trainer.
func (p *Pass) take() (*Slot, error) {
	if p.taken > 0 && p.taken%p.perEpoch == 0 && !p.l.o.KeepWorkers {
		p.workers.Wait()
		p.startWorkers()
	}
	cell := p.l.ready[p.taken%int64(len(p.l.ready))]
	select {
	case slot := <-cell:
		return p.took(slot), nil
	default:
	}
	p.patience.Reset(p.l.o.Timeout)
	defer p.patience.Stop()
	select {
	case slot := <-cell:
		return p.took(slot), nil
	case <-p.done:
		return nil, p.err
	case <-p.patience.C:
		p.fail(p.stuck())
		return nil, p.err
	}
}

func (p *Pass) took(slot *Slot) *Slot {
	p.filled.Add(-1)
	p.taken++
	return slot
}

// stuck says who keeps the next batch from coming.
func (p *Pass) stuck() error {
	c := &p.l.claims[p.taken%int64(len(p.l.claims))]
	if c.batch.Load() != p.taken+1 {
		return fmt.Errorf("loader: no batch for %s: none of the %d slots came free", units.Duration(p.l.o.Timeout), len(p.l.queue))
	}
	w := p.l.workers[c.worker.Load()]
	return fmt.Errorf("loader: worker %d has given no batch for %s (sample %d)", w.number, units.Duration(p.l.o.Timeout), w.sample.Load())
}

// Close ends the pass and waits for its goroutines. All slots that Next gave out
// must have been released. It reports workers that would not stop; their slots
// are lost.
func (p *Pass) Close() error {
	p.fail(errClosed)
	if p.stopListen != nil {
		p.stopListen()
	}
	stopped := make(chan struct{})
	go func() {
		p.pinThread.Wait()
		p.workers.Wait()
		close(stopped)
	}()
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-stopped:
		return nil
	case <-grace.C:
		return p.stragglers()
	}
}

func (p *Pass) stragglers() error {
	var errs []error
	for _, w := range p.l.workers {
		if w.running.Load() {
			errs = append(errs, fmt.Errorf("loader: worker %d did not stop within %s (sample %d)", w.number, units.Duration(stopGrace), w.sample.Load()))
		}
	}
	return errors.Join(errs...)
}
