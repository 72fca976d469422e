package whatif

import (
	"time"

	"pinscope/bench/trace"
)

// loading is the workers and the slots that they fill.
type loading struct {
	next    int64           // the first batch that no worker has claimed
	limit   int64           // workers claim none from here on
	workers []worker        // a heap: the first to ask for a slot is on top
	freed   history         // when a batch gave back the slot that it was filled in
	filled  history         // when a batch was filled
	early   []time.Duration // a heap of when batches were filled that were not there when last looked
	there   int64           // batches that were
}

// worker is when a worker asks for its next slot.
type worker struct {
	asks   time.Duration
	number int
}

func (a worker) before(b worker) bool {
	return a.asks < b.asks || a.asks == b.asks && a.number < b.number
}

// startWorkers lets all workers ask for slots at a time, up to the end of the
// epoch that comes next, or of all if they are kept.
func (r *run) startWorkers(at time.Duration) {
	l := &r.loading
	l.limit = r.total
	if !r.KeepWorkers {
		l.limit = l.next + r.perEpoch
	}
	for i := range l.workers {
		l.workers[i] = worker{at, i}
	}
}

// loadAhead has workers fill all batches that they can have claimed by the time the
// taker asks for batch b: before that it has taken b batches, whose slots came back.
func (r *run) loadAhead(b int64) {
	for l := &r.loading; l.next < min(l.limit, b+int64(r.FillSlots)); l.next++ {
		r.load(l.next)
	}
}

// load has the worker that asks first fill batch b.
func (r *run) load(b int64) {
	l := &r.loading
	w := l.workers[0]
	begun := w.asks
	if before := b - int64(r.FillSlots); before >= 0 {
		begun = max(begun, l.freed.at(before))
	}
	end := r.fill(r.workerLanes[w.number], b, w.asks, begun)
	l.filled.set(b, end)
	l.workers[0].asks = end
	sink(l.workers, worker.before)
	if !r.Pin.HasThread() {
		l.early = append(l.early, end)
		rise(l.early)
	}
}

// fill records the filling of a batch and gives its end.
func (r *run) fill(lane *trace.Lane, b int64, asked, begun time.Duration) time.Duration {
	rows := r.rows(b)
	end := begun + r.Fill.at(b, rows, r.Batch)
	lane.Add(trace.WaitSlot, b, asked, begun, 0)
	lane.Add(r.fillStage, b, begun, end, rows*r.fillBytes)
	return end
}

// take is when the pin thread, or without one the trainer, has batch b that it
// asked for. Workers that are not kept start again for each epoch then.
func (r *run) take(b int64, asked time.Duration) time.Duration {
	if b > 0 && !r.KeepWorkers && b%r.perEpoch == 0 {
		r.startWorkers(asked)
	}
	r.loadAhead(b)
	return max(asked, r.loading.filled.at(b))
}

// readyAt is how many batches lie filled when the trainer asks for batch b.
func (r *run) readyAt(b int64, asked time.Duration) int64 {
	l := &r.loading
	r.loadAhead(b)
	for len(l.early) > 0 && l.early[0] <= asked {
		last := len(l.early) - 1
		l.early[0] = l.early[last]
		l.early = l.early[:last]
		sink(l.early, earlier)
		l.there++
	}
	return max(0, l.there-b)
}

// pinning is the pin thread and its ring.
type pinning struct {
	next   int64         // batch
	free   time.Duration // when the thread asks for it
	freed  history       // when a batch gave back its ring slot
	pinned history       // when a batch was in a ring slot
	there  int64         // batches that were when last looked
}

// pinAhead has the pin thread go through all batches that it can have copied by the
// time the trainer asks for batch b.
func (r *run) pinAhead(b int64) {
	for p := &r.pinning; p.next < min(r.total, b+int64(r.RingSlots)); p.next++ {
		got := r.take(p.next, p.free)
		if got > p.free {
			got += r.WakePin.at(p.next, r.Batch, r.Batch)
		}
		r.pinLane.Add(trace.PinWait, p.next, p.free, got, 0)
		p.free = r.pin(r.pinLane, p.next, got)
	}
}

// pin copies batch b into a ring slot, from a time on, and gives the end.
func (r *run) pin(lane *trace.Lane, b int64, asked time.Duration) time.Duration {
	p := &r.pinning
	begun := asked
	if before := b - int64(r.RingSlots); before >= 0 {
		begun = max(begun, p.freed.at(before))
	}
	rows := r.rows(b)
	end := begun + r.PinCopy.at(b, rows, r.Batch)
	lane.Add(trace.RingWait, b, asked, begun, 0)
	lane.Add(trace.PinCopy, b, begun, end, r.inputOffset+rows*r.Spec.SampleBytes)
	r.loading.freed.set(b, end)
	p.pinned.set(b, end)
	return end
}

// pinnedAt is how many batches lie in ring slots when the trainer asks for batch b.
func (r *run) pinnedAt(b int64, asked time.Duration) int64 {
	p := &r.pinning
	r.pinAhead(b)
	for p.there < p.next && p.pinned.at(p.there) <= asked {
		p.there++
	}
	return max(0, p.there-b)
}
