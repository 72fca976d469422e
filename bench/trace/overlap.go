package trace

import "time"

// overlapPending is how many intervals of one side wait for the other side at
// most. In a run the two sides are a few batches apart.
const overlapPending = 1024

// Overlap measures, while a run goes on and in fixed memory, how much of the
// time spent copying was hidden under training steps. Intervals of each side
// come in order of their starts; how the two sides interleave does not matter.
// An interval that overlaps an earlier one of its own side counts only the part
// that is new. One goroutine at a time.
//
// The zero value is ready.
type Overlap struct {
	copies, steps side
	hidden        time.Duration
	inexact       bool // an interval given up was met by a later one after all
}

// interval is a half-open stretch of time.
type interval struct{ start, end time.Duration }

// side is one of the two streams of intervals: a queue of those whose overlap is
// not decided yet.
type side struct {
	queue       [overlapPending]interval
	head, count int
	last        time.Duration // end of the newest interval
	busy        time.Duration // union of all
	givenUp     time.Duration // end of the newest interval pushed out undecided
}

// AddCopy adds the time a copy (or gather) ran.
func (o *Overlap) AddCopy(start, end time.Duration) { o.add(&o.copies, &o.steps, start, end) }

// AddStep adds the time a step ran.
func (o *Overlap) AddStep(start, end time.Duration) { o.add(&o.steps, &o.copies, start, end) }

// Copy is the time in which at least one copy ran.
func (o *Overlap) Copy() time.Duration { return o.copies.busy }

// Hidden is the part of Copy in which a step ran too, as far as both sides are known.
func (o *Overlap) Hidden() time.Duration { return o.hidden }

// Share is Hidden by Copy, 0 to 1. It is not defined, and false, when nothing
// was copied, or when one side ran so far ahead of the other (1,024 intervals)
// that some overlap could not be told.
func (o *Overlap) Share() (float64, bool) {
	if o.copies.busy == 0 || o.inexact {
		return 0, false
	}
	return float64(o.hidden) / float64(o.copies.busy), true
}

func (o *Overlap) add(to, other *side, start, end time.Duration) {
	if start < other.givenUp {
		o.inexact = true
	}
	to.push(start, end)
	// Whichever of the two oldest intervals ends first can meet no later one of
	// the other side, so it is decided.
	for o.copies.count > 0 && o.steps.count > 0 {
		c, s := o.copies.oldest(), o.steps.oldest()
		o.hidden += max(0, min(c.end, s.end)-max(c.start, s.start))
		if c.end <= s.end {
			o.copies.pop()
		} else {
			o.steps.pop()
		}
	}
}

func (s *side) push(start, end time.Duration) {
	start = max(start, s.last)
	if end <= start {
		return
	}
	s.last = end
	s.busy += end - start
	if s.count == overlapPending {
		s.givenUp = s.oldest().end
		s.pop()
	}
	s.queue[(s.head+s.count)%overlapPending] = interval{start, end}
	s.count++
}

func (s *side) oldest() interval { return s.queue[s.head] }

func (s *side) pop() {
	s.head = (s.head + 1) % overlapPending
	s.count--
}
