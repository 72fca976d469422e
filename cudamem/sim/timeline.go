package sim

import (
	"math"
	"time"
)

// Timeline is the schedule of a simulated GPU without the GPU: it works out when
// copies and steps start and end, by the very code that paces the device, for
// whoever keeps a time of their own. It moves no data, waits for nobody and
// allocates nothing once made. One goroutine at a time.
//
// Times that are passed as now must not go back.
type Timeline struct {
	d   device
	now stoppedClock
}

// stoppedClock is a clock that the owner of a Timeline sets.
type stoppedClock struct{ at time.Duration }

func (c *stoppedClock) Now() time.Duration         { return c.at }
func (c *stoppedClock) SleepUntil(t time.Duration) { c.at = max(c.at, t) }

// NewTimeline makes the schedule of an idle GPU. The error is that of [Open] for
// a model that is not allowed.
func NewTimeline(model Model) (*Timeline, error) {
	if err := model.check(); err != nil {
		return nil, err
	}
	t := &Timeline{d: device{model: model}}
	t.d.clock = &t.now
	t.d.htod, t.d.compute = newEngine(&t.d.model, htodEngine), newEngine(&t.d.model, computeEngine)
	t.d.link.idleAt = longIdle
	return t, nil
}

// StepNanos is the time of one training step of the model over rows samples of
// features values, launch included; overLink where it reads its input, inputBytes
// long, out of host memory.
func (t *Timeline) StepNanos(rows, features, classes int, inputBytes int64, overLink bool) float64 {
	return t.d.model.stepNanos(rows, features, classes, inputBytes, overLink)
}

// NewQueue makes a stream.
func (t *Timeline) NewQueue() *Queue { return &Queue{t: t, s: stream{device: &t.d}} }

// Queue is a stream of a Timeline.
type Queue struct {
	t *Timeline
	s stream
}

// Record is the time of an event recorded now: when all that is queued is done.
func (q *Queue) Record(now time.Duration) time.Duration {
	q.s.tail = max(q.s.tail, now)
	return q.s.tail
}

// WaitFor lets the queue go on no earlier than an event's time.
func (q *Queue) WaitFor(event time.Duration) { q.s.tail = max(q.s.tail, event) }

// ByModel asks for what the model says, where a time can be given.
const ByModel = -1.0

// Copy queues a copy of page-locked memory, or a gathering, that takes nanos of
// the link, or what the model says.
func (q *Queue) Copy(now time.Duration, bytes int64, nanos float64) {
	d := &q.t.d
	if nanos == ByModel {
		d.bookCopy(&q.s, d.htod, now, bytes)
		return
	}
	start := d.start(&q.s, d.htod, now)
	d.link.begin(start, bytes)
	d.bookMove(&q.s, d.htod, start, nanos)
}

// CopyPageable queues a copy of pageable memory and gives the time at which its
// caller goes on. A large one blocks the caller until the queue before it is done,
// and until it is over itself or, where the model stages, until the last chunk was
// copied to staging memory, which the host does at stagingGBps (infinite: at once).
func (q *Queue) CopyPageable(now time.Duration, bytes int64, nanos, stagingGBps float64) (returned time.Duration) {
	d := &q.t.d
	small := bytes <= inlineBytes
	if !small {
		now = max(now, q.s.tail)
	}
	switch {
	case nanos != ByModel || small && d.model.PageableGBps == 0:
		q.Copy(now, bytes, nanos)
	case d.model.PageableGBps > 0:
		d.bookPaced(&q.s, d.htod, now, bytes)
	default:
		return q.stage(now, bytes, stagingGBps)
	}
	if small {
		return now
	}
	return q.s.tail
}

// stage is stream.stageOut with a given rate of the host.
func (q *Queue) stage(now time.Duration, bytes int64, gbps float64) time.Duration {
	d, g := &q.t.d, &q.t.d.staging
	var rate float64
	for at := int64(0); at < bytes; at += chunkBytes {
		i := at / chunkBytes % 2
		n := min(chunkBytes, bytes-at)
		now = max(now, g.free[i])
		if !math.IsInf(gbps, 1) {
			now += duration(copyNanos(n, gbps))
		}
		q.t.now.at = now
		g.free[i] = q.s.bookChunk(d.htod, int(at), int(n), int(bytes), &rate)
	}
	return now
}

// Step queues a training step that takes the compute engine for nanos, more or
// less by the model's jitter.
func (q *Queue) Step(now time.Duration, nanos float64) {
	d := &q.t.d
	d.book(&q.s, d.compute, d.start(&q.s, d.compute, now), d.compute.cost(nanos))
}
