package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// engine does one thing after the other, in the order of queueing.
type engine struct {
	free   time.Duration // end of what is queued on it
	jitter float64
	random *rand.Rand
}

// Which of a model's random numbers an engine takes.
const (
	htodEngine = 1 + iota
	dtohEngine
	computeEngine
)

// newEngine makes an engine with random numbers of its own, so that what one
// engine does not depend on when another was used.
func newEngine(m *Model, number uint64) *engine {
	return &engine{jitter: m.Jitter, random: rand.New(rand.NewPCG(m.Seed, number))}
}

// cost rounds nanoseconds, once, after jitter: evenly spread over ± the fraction.
func (e *engine) cost(nanos float64) time.Duration {
	if e.jitter > 0 {
		nanos *= 1 + e.jitter*(2*e.random.Float64()-1)
	}
	return duration(nanos)
}

// link is how awake the link is: it slows down when nothing is copied.
type link struct {
	idleAt time.Duration // end of the last copy
	copies int           // since it was idle
}

// longIdle is the end of the last copy of a link that has not copied yet.
const longIdle = time.Duration(math.MinInt64 / 2)

// idleTime is how long without a copy lets the link slow down. An assumption:
// drivers lower the link's generation after some tenths of a second to seconds.
const idleTime = time.Second

// begin notes a copy that starts, and gives how many went before it since the
// link was idle. Small ones (labels, indices) do not count: they are over before
// the link is any faster.
func (l *link) begin(start time.Duration, bytes int64) int {
	if start-l.idleAt >= idleTime {
		l.copies = 0
	}
	before := l.copies
	if bytes > inlineBytes {
		l.copies++
	}
	return before
}

// start is when the next operation of a stream can start on an engine, if it
// was asked for at a time. d.mu is held here and below.
func (d *device) start(s *stream, e *engine, asked time.Duration) time.Duration {
	return max(asked, s.tail, e.free)
}

// book puts an operation from start to end on an engine and a stream.
func (d *device) book(s *stream, e *engine, start, cost time.Duration) (end time.Duration) {
	end = start + cost
	e.free, s.tail = end, end
	d.lastEnd = max(d.lastEnd, end)
	return end
}

// bookCopy books a whole copy over the link at its present rate.
func (d *device) bookCopy(s *stream, e *engine, asked time.Duration, bytes int64) (end time.Duration) {
	start := d.start(s, e, asked)
	rate := d.model.rate(d.link.begin(start, bytes))
	return d.bookMove(s, e, start, float64(d.model.Latency)+copyNanos(bytes, rate))
}

// bookMove books what takes the link for some time.
func (d *device) bookMove(s *stream, e *engine, start time.Duration, nanos float64) (end time.Duration) {
	end = d.book(s, e, start, e.cost(nanos))
	d.link.idleAt = max(d.link.idleAt, end)
	return end
}
