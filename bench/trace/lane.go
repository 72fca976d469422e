package trace

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// batchBlock is how many batches in a row are kept or dropped together. Every
	// n-th single batch would, with n workers taking turns, show the same worker
	// each time; a block shows them all, and how neighbouring batches overlap.
	batchBlock      = 16
	batchBlockShift = 4

	// tailSpans is how many of a lane's newest spans are always kept: the last 64
	// batches at 16 spans a batch.
	tailSpans = 1024

	// longest is the longest span the histograms tell apart from a longer one.
	longest = time.Hour

	// quantileDigits keeps percentiles to within 0.1 % of a recorded duration.
	quantileDigits = 3
)

// kindStages are the stages that a lane of each kind meets, whose histograms are
// made with the lane.
var kindStages = [...][]Stage{
	Worker:    {WaitSlot, Load, Collate},
	PinThread: {PinWait, RingWait, PinCopy},
	// With no workers the trainer's goroutine does their work too.
	Trainer:       {WaitSlot, Load, Collate, RingWait, PinCopy, WaitBatch, CopyCall, WaitCopy, WaitStep, Launch},
	CopyEngine:    {HtoD, Gather},
	ComputeEngine: {Gather, Step},
}

// Lane takes the spans of one worker, thread or engine. Its methods are for one
// goroutine at a time, take no lock, and allocate nothing, except that a stage
// strange to the lane's kind costs one allocation when it is met first. A nil
// Lane records nothing.
type Lane struct {
	recorder *Recorder
	kind     LaneKind
	index    int
	clock    string

	stages [Stages]stageTally
	busy   time.Duration // union of the spans, if they come in order of start
	last   time.Duration // end of the latest span

	added     int64    // spans taken
	kept      []record // thinned, cap is the limit
	keepEvery int64    // a power of two: 1 in so many blocks of batches is kept
	loose     int64    // spans without a batch so far; they are thinned by count
	full      bool     // kept is full and thinning cannot help
	dropped   int64    // spans that should have been kept and found it full
	reversed  int64    // spans that ended before they began

	tail      []record // ring of the newest spans, at added % tailSpans
	tailAfter int64    // the highest batch a span of which has left the tail, -1 before that
}

// record is a span and its place in the order of adding.
type record struct {
	order int64
	span  Span
}

// stageTally sums the spans of one stage on one lane. Counts and totals are
// atomic so that a watcher can read them while the lane runs.
type stageTally struct {
	count, totalNanos, bytes atomic.Int64
	max                      time.Duration
	cpu                      time.Duration
	cpuKnown                 bool
	durations                *hdrhistogram.Histogram
}

func newLane(r *Recorder, kind LaneKind, index int, clock string, limit int) *Lane {
	l := &Lane{
		recorder: r, kind: kind, index: index, clock: clock,
		kept: make([]record, 0, limit), keepEvery: 1,
		tail: make([]record, tailSpans), tailAfter: -1,
	}
	if int(kind) < len(kindStages) {
		for _, s := range kindStages[kind] {
			l.stages[s].durations = newDurations()
		}
	}
	touch(l.kept[:limit])
	touch(l.tail)
	return l
}

// newDurations makes a histogram whose memory is all there.
func newDurations() *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, int64(longest), quantileDigits)
	h.Reset()
	return h
}

// touch writes to memory, so that its pages are there before the clock starts:
// some hundred page faults in a short repeat are 2 % of it (measured).
func touch[T any](memory []T) {
	for i := range memory {
		memory[i] = *new(T)
	}
}

// Add takes one span of work or waiting. batch counts over the whole repeat,
// -1 where no batch is meant; bytes is 0 where nothing was moved. A span that
// ends before it starts counts as 0 long, and is counted in LaneTrace.Reversed.
//
// Spans of HtoD, Gather and Step feed the overlap share: all of them, whatever
// their lanes, come from one goroutine, each of the two sides in order of start.
func (l *Lane) Add(stage Stage, batch int64, start, end time.Duration, bytes int64) {
	if l == nil {
		return
	}
	if end < start {
		end = start
		l.reversed++
	}
	span := Span{Stage: stage, Batch: batch, Start: start, Dur: end - start, Bytes: bytes}
	l.stages[stage].add(span)
	if end > l.last {
		l.busy += end - max(start, l.last)
		l.last = end
	}
	switch stage {
	case HtoD, Gather:
		l.recorder.overlap.AddCopy(start, end)
	case Step:
		l.recorder.overlap.AddStep(start, end)
	}
	l.store(record{l.added, span})
	l.added++
}

// AddCPU adds CPU time that the lane's thread spent in a stage.
func (l *Lane) AddCPU(stage Stage, cpu time.Duration) {
	if l == nil {
		return
	}
	t := &l.stages[stage]
	t.cpu += cpu
	t.cpuKnown = true
}

func (t *stageTally) add(s Span) {
	t.count.Add(1)
	t.totalNanos.Add(int64(s.Dur))
	if s.Bytes != 0 {
		t.bytes.Add(s.Bytes)
	}
	t.max = max(t.max, s.Dur)
	if t.durations == nil {
		t.durations = newDurations()
	}
	// The value is inside the histogram's range, so there is no error to see.
	_ = t.durations.RecordValue(int64(min(s.Dur, longest)))
}

// store puts a span into the tail and, if the thinning rule keeps it, into kept.
func (l *Lane) store(r record) {
	slot := &l.tail[l.added%tailSpans]
	if l.added >= tailSpans {
		l.tailAfter = max(l.tailAfter, slot.span.Batch)
	}
	*slot = r

	loose := l.loose
	if r.span.Batch < 0 {
		l.loose++
	}
	for l.keeps(r.span.Batch, loose) {
		switch {
		case len(l.kept) < cap(l.kept):
			l.kept = append(l.kept, r)
			return
		case l.full:
			l.dropped++
			return
		}
		l.thin()
	}
}

// keeps is the thinning rule. It depends on the batch alone, so that a batch is
// kept or dropped on all lanes alike; loose is the number of a span without one.
func (l *Lane) keeps(batch, loose int64) bool {
	if batch < 0 {
		return loose&(l.keepEvery-1) == 0
	}
	return (batch>>batchBlockShift)&(l.keepEvery-1) == 0
}

// thin keeps every second of the blocks kept so far. It notes when that can
// never make room: all that is kept is one block.
func (l *Lane) thin() {
	l.keepEvery *= 2
	kept, loose, highest := l.kept[:0], int64(0), int64(0)
	for _, r := range l.kept {
		// The n-th span without a batch among the kept has number n*keepEvery/2.
		if l.keeps(r.span.Batch, loose*(l.keepEvery/2)) {
			kept = append(kept, r)
			highest = max(highest, r.span.Batch)
		}
		if r.span.Batch < 0 {
			loose++
		}
	}
	l.kept = kept
	l.full = len(kept) == cap(kept) && highest < batchBlock
}

// completeFrom is the lowest batch from which on all spans are still there.
func (l *Lane) completeFrom() int64 {
	if l.keepEvery == 1 && !l.full {
		return 0
	}
	return l.tailAfter + 1
}

// spans gives what is kept of the lane, in the order of adding: the thinned
// spans, and every span of the batches from completeFrom on.
func (l *Lane) spans(completeFrom int64) []Span {
	tailStart := max(0, l.added-tailSpans)
	spans := make([]Span, 0, int64(len(l.kept))+l.added-tailStart)
	kept := l.kept
	for ; len(kept) > 0 && kept[0].order < tailStart; kept = kept[1:] {
		spans = append(spans, kept[0].span)
	}
	// From here on the tail holds every span, those in kept included.
	for order := tailStart; order < l.added; order++ {
		s := l.tail[order%tailSpans].span
		thinned := len(kept) > 0 && kept[0].order == order
		if thinned {
			kept = kept[1:]
		}
		if thinned || s.Batch < 0 || s.Batch >= completeFrom {
			spans = append(spans, s)
		}
	}
	return spans
}

// name is what the lane is called on a timeline.
func (l *Lane) name() string {
	if l.kind == Worker || l.index > 0 {
		return fmt.Sprintf("%s %d", l.kind, l.index)
	}
	return l.kind.String()
}
