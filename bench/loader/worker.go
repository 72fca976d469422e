package loader

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"pinscope/bench/cputime"
	"pinscope/bench/source"
	"pinscope/bench/trace"
	"pinscope/cudamem"
)

// claim says which worker fills the batch of a hand-over cell.
type claim struct {
	batch  atomic.Int64 // plus one, so that the zero value is no batch
	worker atomic.Int64
}

// worker fills slots in a goroutine of its own.
type worker struct {
	*writer
	number  int
	running atomic.Bool
	slot    atomic.Pointer[Slot] // being filled, for Close
}

func newWorker(l *Loader, number int) *worker {
	return &worker{writer: l.newWriter(), number: number}
}

// run fills batches until none is left below limit or the pass ends.
func (w *worker) run(p *Pass, lane *trace.Lane, limit int64) {
	defer p.workers.Done()
	defer w.running.Store(false)
	defer func() {
		if r := recover(); r != nil {
			p.fail(fmt.Errorf("loader: worker %d panicked at sample %d: %v\n%s", w.number, w.sample.Load(), r, debug.Stack()))
		}
	}()
	if w.o.BindWorker != nil {
		runtime.LockOSThread() // never unlocked: the thread, and its binding, end with the goroutine
		if err := w.o.BindWorker(); err != nil {
			p.fail(fmt.Errorf("loader: bind worker %d: %w", w.number, err))
			return
		}
	}
	for w.next(p, lane, limit) {
	}
}

// next fills one batch; false when there is nothing left to do.
func (w *worker) next(p *Pass, lane *trace.Lane, limit int64) bool {
	if p.claimed.Load() >= limit {
		return false
	}
	asked := p.l.clock.Now()
	var slot *Slot
	select {
	case slot = <-p.free:
	case <-p.done:
		return false
	}
	batch, ok := p.claim(limit)
	if !ok {
		slot.Release()
		return false
	}
	w.slot.Store(slot)
	cell := batch % int64(len(p.l.ready))
	p.l.claims[cell].worker.Store(int64(w.number))
	p.l.claims[cell].batch.Store(batch + 1)
	begun := p.l.clock.Now()
	lane.Add(trace.WaitSlot, batch, asked, begun, 0)
	if err := w.timedFill(p, slot, batch, lane); err != nil {
		p.fail(fmt.Errorf("loader: worker %d: %w", w.number, err))
		return false
	}
	w.slot.Store(nil)
	p.filled.Add(1)
	p.l.ready[cell] <- slot
	return true
}

// timedFill fills a batch, waits out a load time that is given, and records the
// stage with the CPU time it took.
func (w *writer) timedFill(p *Pass, slot *Slot, batch int64, lane *trace.Lane) error {
	clock := p.l.clock
	begun := clock.Now()
	meter := startCPUMeter()
	err := w.fill(p, slot, batch)
	meter.stop()
	if err != nil {
		return err
	}
	if w.pacer != nil {
		if load := w.pacer.LoadTime(batch); load > 0 && !cudamem.WaitUntil(clock, p.done, begun+load) {
			return p.cause()
		}
	}
	stage, bytes := trace.Load, slot.Rows*w.spec.SampleBytes
	switch {
	case w.memory != nil:
		stage, bytes = trace.Collate, slot.Rows*indexBytes
	case w.spec.Fills == source.Collates:
		stage = trace.Collate
	}
	lane.Add(stage, batch, begun, clock.Now(), bytes)
	meter.charge(lane, stage)
	return nil
}

// cpuMeter measures the CPU time of a stretch of one goroutine. The goroutine
// stays on its thread meanwhile, for the time is counted by thread.
type cpuMeter struct {
	start, used time.Duration
	known       bool
}

func startCPUMeter() cpuMeter {
	runtime.LockOSThread()
	start, known := cputime.Thread()
	return cpuMeter{start: start, known: known}
}

// stop ends the stretch; charge then puts its time on a lane, if it is known.
func (m *cpuMeter) stop() {
	now, _ := cputime.Thread()
	runtime.UnlockOSThread()
	m.used = now - m.start
}

func (m *cpuMeter) charge(lane *trace.Lane, stage trace.Stage) {
	if m.known {
		lane.AddCPU(stage, m.used)
	}
}
