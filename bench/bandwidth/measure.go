package bandwidth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pinscope/bench/stats"
	"pinscope/bench/units"
	"pinscope/cudamem"
)

const (
	mostCopies   = 16 // in a sample, as nvbandwidth has it
	leastSamples = 3  // in a cell; enough for an interval where a copy takes a quarter of its time at most
	mostSamples  = 25 //
)

// directions is what can be measured of a kind; it notes the rest.
func (e *engine) directions(k cudamem.HostKind) []Direction {
	var out []Direction
	for _, d := range e.o.Directions {
		if why := e.leftOut(k, d); why != "" {
			e.result.note("%s", why)
			continue
		}
		out = append(out, d)
	}
	return out
}

// leftOut says why a kind is not measured in a direction, empty if it is.
func (e *engine) leftOut(k cudamem.HostKind, d Direction) string {
	switch {
	case k == cudamem.Managed && e.dev.Info().Simulated:
		return "managed is left out: the simulated GPU has no model of pages that move"
	case k.DeviceReadable() && d != HtoD:
		return fmt.Sprintf("%v only as HtoD alone: it is read by a kernel, in place of a copy", k)
	case k.DeviceReadable() && e.index == nil:
		return fmt.Sprintf("%v is left out: %s has no kernel that reads it, or no memory for the kernel's index", k, e.dev.Info().ID)
	case d.bothWays() && e.reference.Kind() != cudamem.Pinned:
		return "both ways are left out: the direction that is kept busy needs pinned memory"
	case k == cudamem.Pageable && d.bothWays():
		return "pageable is left out of both ways: a pageable copy keeps its caller until it is staged, so that one caller cannot keep two going"
	}
	return ""
}

// mostGathered is the most bytes of a cudamem.GatherPart.
const mostGathered = 1<<31 - 1

// kind measures one kind of host memory at all sizes.
func (e *engine) kind(ctx context.Context, k cudamem.HostKind) error {
	directions := e.directions(k)
	if len(directions) == 0 {
		return nil
	}
	for _, bytes := range e.o.Sizes {
		if k.DeviceReadable() && bytes > mostGathered {
			e.skip(k, bytes, len(directions), errors.New("the kernel that reads it takes less than 2 GiB"))
			continue
		}
		if err := e.size(ctx, k, bytes, directions); err != nil {
			return err
		}
	}
	return nil
}

// Memory is allocated and freed again until allocSpent is spent on it, allocMost
// times at most: the cost of a small buffer is no matter of one try.
const (
	allocSpent = 20 * time.Millisecond
	allocMost  = 7
)

// size allocates the memory of a kind and size, measures all directions, and frees it.
func (e *engine) size(ctx context.Context, k cudamem.HostKind, bytes int64, directions []Direction) (err error) {
	var host *cudamem.HostBuffer
	defer func() { err = firstError(err, host.Free()) }() // where it is not freed yet
	var alloc, free []float64
	timedFree := func() error {
		begun := e.clock.Now()
		err := host.Free()
		free = append(free, float64(e.clock.Now()-begun))
		return err
	}
	for begun := e.clock.Now(); ; {
		asked := e.clock.Now()
		if host, err = e.allocate(k, bytes); err != nil {
			e.skip(k, bytes, len(directions), err)
			return nil
		}
		alloc = append(alloc, float64(e.clock.Now()-asked))
		if len(alloc) == allocMost || e.clock.Now()-begun >= allocSpent {
			break
		}
		if err := timedFree(); err != nil {
			return err
		}
	}
	locked := host.Locked()
	for _, d := range directions {
		if err := e.cell(ctx, d, host, bytes); err != nil {
			return err
		}
	}
	if err := timedFree(); err != nil {
		return err
	}
	e.result.allocated(k, bytes, locked, alloc, free)
	return nil
}

// allocate gives memory that is resident, as page-locked memory always is: a page
// never touched would be read as the one page of zeros that all such share.
func (e *engine) allocate(k cudamem.HostKind, bytes int64) (*cudamem.HostBuffer, error) {
	host, err := e.dev.AllocHost(k, bytes)
	if err == nil && k == cudamem.Pageable {
		cudamem.TouchPages(host.Bytes())
	}
	return host, err
}

// skip leaves the cells of a kind and size out.
func (e *engine) skip(k cudamem.HostKind, bytes int64, cells int, why error) {
	e.done += cells
	e.result.note("%v of %s is left out: %v", k, units.Bytes(bytes), why)
}

// cell measures one cell.
func (e *engine) cell(ctx context.Context, d Direction, host *cudamem.HostBuffer, bytes int64) error {
	if e.o.Progress != nil {
		e.o.Progress(e.done, e.total)
	}
	e.done++
	warm, err := e.wake(ctx, 0)
	if err != nil {
		return err
	}
	m, other := e.movers(d, host, bytes)
	p, err := e.plan(m, other)
	if err != nil {
		return err
	}
	samples, alone, err := e.samples(m, other, p)
	if err != nil {
		return err
	}
	c := NewCell(d, host.Kind(), bytes, samples, e.result.limitGBps())
	c.WarmUp = append(c.WarmUp, warm...)
	c.Alone = alone
	e.result.Cells = append(e.result.Cells, c)
	return nil
}

// movers gives who moves and, where that is asked for, who moves the other way:
// pinned copies of the same size or, beyond the reference buffer's, as many more.
func (e *engine) movers(d Direction, host *cudamem.HostBuffer, bytes int64) (m, other *mover) {
	m = &mover{stream: e.stream, host: host, device: e.device, bytes: bytes, up: d.up()}
	if host.Kind().DeviceReadable() {
		m.gatherer, m.index = e.dev.(cudamem.Gatherer), e.index
	}
	if d.bothWays() {
		other = &mover{stream: e.otherStream, host: e.reference, device: e.otherDevice, bytes: min(bytes, referenceBytes), up: !d.up()}
	}
	return m, other
}

// plan is how a cell is sampled.
type plan struct {
	copies  int           // in a sample
	others  int           // of the other direction for each of them
	least   int           // samples
	most    int           //
	atLeast time.Duration // go on to most for so long
}

// mostOthers bounds how many times the bytes measured go the other way.
const mostOthers = 16

// plan tries the cell out, which also settles caches: how many copies make a
// sample, and how many keep the other direction busy for all of it.
func (e *engine) plan(m, other *mover) (plan, error) {
	if err := e.dev.Anchor(); err != nil {
		return plan{}, err
	}
	p := plan{copies: 1, least: leastSamples, most: mostSamples, atLeast: e.o.PerCell}
	if other != nil {
		p.others = int((m.bytes + other.bytes - 1) / other.bytes)
	}
	first, err := e.timer.sample(m, other, 1, p.others)
	if err != nil {
		return plan{}, err
	}
	if m.host.Kind() != cudamem.Managed { // whose pages have moved after the first copy
		p.copies = copiesFor(first.perCopy(), e.o.PerCell)
	}
	if first.perCopy() <= e.o.PerCell/4 {
		p.least = stats.LeastForInterval
	}
	for most := mostOthers * p.others; other != nil && p.others < most; p.others *= 2 {
		if _, err := e.timer.sample(m, other, p.copies, p.others); err != nil {
			return plan{}, err
		}
		if e.timer.otherLast {
			break
		}
	}
	return p, nil
}

// copiesFor fits as many samples as an interval needs into the time of a cell.
func copiesFor(perCopy, perCell time.Duration) int {
	if perCopy <= 0 {
		return mostCopies
	}
	return int(max(1, min(mostCopies, perCell/(stats.LeastForInterval*perCopy))))
}

// samples takes them. alone says that in most of them, and so in their median, the
// other direction was not busy throughout.
func (e *engine) samples(m, other *mover, p plan) (samples []Sample, alone bool, err error) {
	if err := e.dev.Anchor(); err != nil {
		return nil, false, err
	}
	samples = make([]Sample, 0, p.most)
	begun, early := e.clock.Now(), 0
	for len(samples) < p.least || len(samples) < p.most && e.clock.Now()-begun < p.atLeast {
		s, err := e.timer.sample(m, other, p.copies, p.others)
		if err != nil {
			return nil, false, err
		}
		samples = append(samples, s)
		if other != nil && !e.timer.otherLast {
			early++
		}
	}
	return samples, early > len(samples)/2, nil
}

// measureReference measures as nvbandwidth does, where memory could be pinned.
func (e *engine) measureReference(ctx context.Context) error {
	if e.reference.Kind() != cudamem.Pinned {
		return nil
	}
	for _, d := range []Direction{HtoD, DtoH} {
		if _, err := e.wake(ctx, 0); err != nil {
			return err
		}
		m, _ := e.movers(d, e.reference, referenceBytes)
		samples, _, err := e.samples(m, nil, plan{copies: mostCopies, least: referenceSamples, most: referenceSamples})
		if err != nil {
			return err
		}
		e.result.Reference = append(e.result.Reference, NewCell(d, cudamem.Pinned, referenceBytes, samples, e.result.limitGBps()))
	}
	return nil
}
