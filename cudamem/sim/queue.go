package sim

import (
	"time"

	"pinscope/cudamem"
)

// action is what an operation does to memory once its end has passed.
type action struct {
	end    time.Duration
	number uint64 // of queueing
	kind   actionKind

	dst, src []byte // copy: the destination; copy, digest: the source
	from     int64  // copy: where src lies in the whole copy
	total    int64  // copy: the length of the whole copy
	full     bool   // every byte, not only lines
	inline   []byte // copy: src, if it was taken along; its capacity is kept

	parts [mostParts]gathered // gather; one that is not there has nothing to do
	index []byte              //

	digester *digester
	cell     int
	add      bool
	base     int64 // digest: offset of src in its buffer
}

type actionKind uint8

const (
	copies actionKind = iota
	gathers
	digests
)

// queue holds the actions that are due at some time, the next one first: a
// binary heap by end, then by order of queueing. Actions are used again, so
// that it allocates only while it grows.
type queue struct {
	heap   []*action
	unused []*action
	number uint64
}

// get gives an action to fill in.
func (q *queue) get() *action {
	if n := len(q.unused); n > 0 {
		a := q.unused[n-1]
		q.unused = q.unused[:n-1]
		return a
	}
	return new(action)
}

// put takes an action back. What it refers to can be freed from then on.
func (q *queue) put(a *action) {
	*a = action{inline: a.inline[:0]}
	q.unused = append(q.unused, a)
}

func (q *queue) push(a *action) {
	a.number = q.number
	q.number++
	q.heap = append(q.heap, a)
	i := len(q.heap) - 1
	for i > 0 && a.before(q.heap[(i-1)/2]) {
		q.heap[i] = q.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	q.heap[i] = a
}

// pop takes out the next action that is due by now, nil if there is none.
func (q *queue) pop(now time.Duration) *action {
	if len(q.heap) == 0 || q.heap[0].end > now {
		return nil
	}
	top := q.heap[0]
	last := q.heap[len(q.heap)-1]
	q.heap = q.heap[:len(q.heap)-1]
	i := 0
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			break
		}
		if child+1 < len(q.heap) && q.heap[child+1].before(q.heap[child]) {
			child++
		}
		if !q.heap[child].before(last) {
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	if len(q.heap) > 0 {
		q.heap[i] = last
	}
	return top
}

func (a *action) before(b *action) bool {
	return a.end < b.end || a.end == b.end && a.number < b.number
}

// catchUp runs all actions that are due, in order. On return they are done, by
// this goroutine or by another.
func (d *device) catchUp() {
	d.moving.Lock()
	defer d.moving.Unlock()
	now := d.clock.Now()
	var done *action
	for {
		a := d.next(now, done)
		if a == nil {
			return
		}
		a.run()
		done = a
	}
}

// next takes back the action that was done last and gives the next one.
func (d *device) next(now time.Duration, done *action) *action {
	d.mu.Lock()
	defer d.mu.Unlock()
	if done != nil {
		d.queue.put(done)
	}
	return d.queue.pop(now)
}

func (a *action) run() {
	switch a.kind {
	case copies:
		move(a.dst, a.src, a.from, a.total, a.full)
	case gathers:
		for i := range a.parts {
			a.parts[i].gather(a.index, a.full)
		}
	case digests:
		a.digest()
	}
}

// move copies src to dst: all of it, or the lines of the whole copy, total bytes
// long, that lie in this part of it, which begins at from.
func move(dst, src []byte, from, total int64, full bool) {
	if full {
		copy(dst, src)
		return
	}
	until := from + int64(len(src))
	for at, n := range cudamem.Lines(total) {
		if at >= until {
			return
		}
		if at >= from {
			copy(dst[at-from:][:n], src[at-from:])
		}
	}
}

// digest keeps the digest of the source, or adds it to the one that is kept.
func (a *action) digest() {
	var sum uint64
	if a.full {
		sum = cudamem.Digest(a.src, a.base)
	} else {
		sum = cudamem.DigestLines(a.src, a.base)
	}
	if a.add {
		sum += a.digester.cells[a.cell].Load()
	}
	a.digester.cells[a.cell].Store(sum)
}
