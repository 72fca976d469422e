package trace

import (
	"slices"
	"sync"
	"time"
)

// defaultSpansPerLane is 196 KiB a lane, and some 50 blocks of 16 batches on the
// busiest one.
const defaultSpansPerLane = 4096

// Options are a Recorder's settings.
type Options struct {
	SpansPerLane int  // kept at most, beside the newest 1,024; 0 means 4096
	Off          bool // record nothing, summaries included: to measure what recording costs
}

// Recorder records one repeat. A nil Recorder records nothing.
type Recorder struct {
	options Options
	mu      sync.Mutex // guards lanes
	lanes   []*Lane
	overlap Overlap
	queue   queueRecord
}

// NewRecorder makes a recorder. Memory is taken when lanes are made.
func NewRecorder(o Options) *Recorder {
	if o.SpansPerLane <= 0 {
		o.SpansPerLane = defaultSpansPerLane
	}
	r := &Recorder{options: o}
	if !o.Off {
		r.queue = newQueueRecord(o.SpansPerLane)
	}
	return r
}

// Lane makes the lane of one worker, thread or engine, with all the memory it
// will need; call it before timing starts, from any goroutine. index tells
// lanes of one kind apart, from 0; clock says in words what clock the spans'
// times come from. It is nil, which records nothing, when the recorder is nil
// or off.
func (r *Recorder) Lane(kind LaneKind, index int, clock string) *Lane {
	if r == nil || r.options.Off {
		return nil
	}
	l := newLane(r, kind, index, clock, r.options.SpansPerLane)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lanes = append(r.lanes, l)
	return l
}

// QueueDepth notes how many batches were ready when the trainer asked for one.
// It is for the trainer's goroutine alone, and allocates nothing.
func (r *Recorder) QueueDepth(at time.Duration, depth int) {
	if r == nil || r.options.Off {
		return
	}
	r.queue.add(QueuePoint{At: at, Depth: depth})
}

// StageTotal is what a stage has come to so far, over all lanes.
type StageTotal struct {
	Count int64         `json:"count"`
	Total time.Duration `json:"total_ns"`
	Bytes int64         `json:"bytes"`
}

// Totals gives the running totals of all stages. It may be called from any
// goroutine while lanes record; a span just being added may be in some of its
// figures only.
func (r *Recorder) Totals() [Stages]StageTotal {
	var totals [Stages]StageTotal
	if r == nil {
		return totals
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		for s := range totals {
			t := &l.stages[s]
			totals[s].Count += t.count.Load()
			totals[s].Total += time.Duration(t.totalNanos.Load())
			totals[s].Bytes += t.bytes.Load()
		}
	}
	return totals
}

// Trace gives what was recorded, once all lanes are quiet. Lanes come in the
// order they are drawn: by kind, then index. It is never nil.
func (r *Recorder) Trace() *Trace {
	t := &Trace{BatchBlock: batchBlock, Lanes: []LaneTrace{}, Stages: []StageSummary{}}
	if r == nil || r.options.Off {
		return t
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	lanes := slices.Clone(r.lanes)
	slices.SortStableFunc(lanes, func(a, b *Lane) int {
		if a.kind != b.kind {
			return int(a.kind) - int(b.kind)
		}
		return a.index - b.index
	})
	for _, l := range lanes {
		t.CompleteFrom = max(t.CompleteFrom, l.completeFrom())
	}
	for _, l := range lanes {
		t.Lanes = append(t.Lanes, l.trace(t.CompleteFrom))
	}
	t.Stages = summarize(lanes)
	t.Queue = r.queue.summary()
	t.CopyTime, t.HiddenCopyTime = r.overlap.Copy(), r.overlap.Hidden()
	if share, ok := r.overlap.Share(); ok {
		t.OverlapShare = &share
	}
	return t
}
