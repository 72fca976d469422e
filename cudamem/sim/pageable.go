package sim

import (
	"errors"
	"time"

	"pinscope/cudamem"
)

const (
	// inlineBytes is the most that a pageable copy to the device takes along with
	// the call, which then returns at once (CUDA programming guide, asynchronous
	// execution: memory copies from host to device of a block of 64 KB or less).
	// On an H200 with driver 580 calls of up to 1 MiB did not wait for the queue
	// either (0.02 to 0.16 ms, 2026-12); what is promised is taken here.
	inlineBytes = 64 << 10

	// chunkBytes is what a larger one is cut into. A multiple of cudamem.LineStride,
	// and small beside the common limit of 8 MiB on locked memory.
	chunkBytes = 2 << 20
)

// staging is the pair of locked buffers that pageable copies go through.
type staging struct {
	turn    chan struct{} // holds a token while nobody stages
	buffers [2][]byte
	free    [2]time.Duration // when the link is done with it
}

func (g *staging) open() error {
	g.turn = make(chan struct{}, 1)
	g.turn <- struct{}{}
	for i := range g.buffers {
		memory, err := cudamem.MapPages(chunkBytes)
		if err != nil {
			return errors.Join(err, g.close())
		}
		if cudamem.LockPages(memory) != nil {
			cudamem.TouchPages(memory)
		}
		g.buffers[i] = memory
	}
	return nil
}

func (g *staging) close() error {
	var errs []error
	for i, memory := range g.buffers {
		if memory != nil {
			errs = append(errs, cudamem.UnmapPages(memory))
		}
		g.buffers[i] = nil
	}
	return errors.Join(errs...)
}

// copyFromPageable does what the driver does with a pageable source: a small
// one goes into the command buffer; for a larger one the caller waits for the
// stream's queue, then copies it chunk by chunk into staging memory, each chunk
// going over the link while the next is staged.
func (s *stream) copyFromPageable(to, from []byte) {
	d := s.device
	switch {
	case len(from) <= inlineBytes:
		s.copyInline(to, from)
	case d.model.PageableGBps > 0:
		s.copyPaced(d.htod, to, from)
	default:
		s.stageOut(to, from)
	}
}

// copyInline takes what will be moved along, so that the source can change at once.
func (s *stream) copyInline(to, from []byte) {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := d.clock.Now()
	var end time.Duration
	if d.model.PageableGBps > 0 {
		end = d.bookPaced(s, d.htod, asked, int64(len(from)))
	} else {
		end = d.bookCopy(s, d.htod, asked, int64(len(from)))
	}
	a := d.queue.get()
	if cap(a.inline) < len(from) {
		a.inline = make([]byte, inlineBytes)
	}
	a.inline = a.inline[:len(from)]
	move(a.inline, from, 0, int64(len(from)), d.full)
	d.pushMove(a, end, to, a.inline, 0, int64(len(from)))
}

// copyPaced blocks the caller until the copy is over, at the model's rate for
// pageable memory. The copy is booked when what is before it on the stream is done, as
// of that very time, however late this goroutine woke up.
func (s *stream) copyPaced(e *engine, to, from []byte) {
	d := s.device
	asked := max(d.clock.Now(), s.end())
	d.waitUntil(asked)
	d.mu.Lock()
	end := d.bookPaced(s, e, asked, int64(len(from)))
	d.queueMove(end, to, from, 0, int64(len(from)))
	d.mu.Unlock()
	d.waitUntil(end)
}

// bookPaced books a copy at the model's rate for pageable memory. d.mu is held.
func (d *device) bookPaced(s *stream, e *engine, asked time.Duration, bytes int64) time.Duration {
	start := d.start(s, e, asked)
	rate := min(d.model.PageableGBps, d.model.rate(d.link.begin(start, bytes)))
	return d.bookMove(s, e, start, float64(d.model.Latency)+copyNanos(bytes, rate))
}

// stageOut really copies each chunk into a staging buffer, once the link has
// emptied it. It returns when the last chunk is staged.
func (s *stream) stageOut(to, from []byte) {
	d, g := s.device, &s.device.staging
	d.waitUntil(s.end())
	<-g.turn
	defer func() { g.turn <- struct{}{} }()
	var rate float64
	for at := 0; at < len(from); at += chunkBytes {
		i := at / chunkBytes % 2
		d.waitUntil(g.free[i])
		n := copy(g.buffers[i], from[at:])
		d.mu.Lock()
		g.free[i] = s.bookChunk(d.htod, at, n, len(from), &rate)
		d.queueMove(g.free[i], to[at:at+n], g.buffers[i][:n], int64(at), int64(len(from)))
		d.mu.Unlock()
	}
}

// bookChunk books a chunk of a copy over the link; the first one, at 0, pays the
// latency and settles the rate of all. d.mu is held.
func (s *stream) bookChunk(e *engine, at, bytes, total int, rate *float64) (end time.Duration) {
	d := s.device
	start := d.start(s, e, d.clock.Now())
	var nanos float64
	if at == 0 {
		*rate = d.model.rate(d.link.begin(start, int64(total)))
		nanos = float64(d.model.Latency)
	}
	return d.bookMove(s, e, start, nanos+copyNanos(int64(bytes), *rate))
}

// copyToPageable is the other way round, and has no small case: the caller
// waits for the last chunk, which it copies out of staging memory itself.
func (s *stream) copyToPageable(to, from []byte) {
	if s.device.model.PageableGBps > 0 {
		s.copyPaced(s.device.dtoh, to, from)
		return
	}
	s.stageIn(to, from)
}

// stageIn copies a chunk out of one staging buffer while the link fills the other.
// What lies between the lines of the destination is then what the buffers held.
func (s *stream) stageIn(to, from []byte) {
	d, g := s.device, &s.device.staging
	d.waitUntil(s.end())
	<-g.turn
	defer func() { g.turn <- struct{}{} }()
	d.waitUntil(max(g.free[0], g.free[1]))
	var rate float64
	for at := 0; at < len(from)+chunkBytes; at += chunkBytes {
		if at < len(from) {
			i, n := at/chunkBytes%2, min(chunkBytes, len(from)-at)
			d.mu.Lock()
			g.free[i] = s.bookChunk(d.dtoh, at, n, len(from), &rate)
			d.queueMove(g.free[i], g.buffers[i][:n], from[at:at+n], int64(at), int64(len(from)))
			d.mu.Unlock()
		}
		if last := at - chunkBytes; last >= 0 && last < len(from) {
			i := last / chunkBytes % 2
			d.waitUntil(g.free[i])
			copy(to[last:], g.buffers[i])
		}
	}
}
