package bandwidth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"pinscope/bench/stats"
	"pinscope/bench/units"
	"pinscope/cudamem"
)

const (
	mostCopies   = 16 // in a sample, as nvbandwidth has it
	leastSamples = 3  // in a cell; enough for an interval where a copy takes a quarter of its time at most
	mostSamples  = 25 //

	// The reference is what nvbandwidth's host_to_device_memcpy_ce does (README:
	// 64 MiB buffers, 16 copies, median of 3), so that the two can be compared.
	referenceBytes   = 64 << 20
	referenceSamples = 3

	// wakeBytes is one copy of the warm-up: long enough to be no matter of
	// latency, and short beside a cell.
	wakeBytes = 16 << 20
	// steadyCopies in a row that differ by steadyShare at most end the warm-up.
	steadyCopies = 3
	steadyShare  = 0.05
	// firstWake is how long the first warm-up lasts at least: a link that is slow
	// to wake gives a steady figure for a while before it is awake. An estimate.
	firstWake = 300 * time.Millisecond
	mostWake  = 2 * time.Second

	// A reading of the link that is not at its maximum is repeated until
	// linkPatience is over: the link may still be waking up.
	linkPatience = time.Second
	// linkDeadline is when a driver that does not answer is given up.
	linkDeadline = 5 * time.Second
)

// engine is one Run.
type engine struct {
	dev   cudamem.Device
	clock cudamem.Clock
	o     Options
	timer *timer

	stream, otherStream cudamem.Stream       // other: of the direction that is only kept busy
	device, otherDevice cudamem.DeviceBuffer // other: nil where there is no such direction
	reference           *cudamem.HostBuffer  // pinned; pageable where that is refused
	index               *cudamem.HostBuffer  // one int64 0, of the kernel that reads; nil without one

	result *Result
	done   int // cells
	total  int
}

// Run measures all cells that the device can do, on the calling goroutine, which
// it binds to the device. What cannot be done is left out with a note. It fails
// when a copy fails, and with ctx's cause when ctx is done, and then has freed
// all that it allocated.
func Run(ctx context.Context, dev cudamem.Device, clock cudamem.Clock, o Options) (result *Result, err error) {
	if dev.Info().InPlace {
		return nil, fmt.Errorf("bandwidth: %s has no link: it reads host memory where it lies", dev.Info().ID)
	}
	release, err := dev.Bind()
	if err != nil {
		return nil, err
	}
	defer release()
	e := &engine{dev: dev, clock: clock, o: o, result: newResult(dev.Info(), o)}
	defer func() {
		if failed := e.close(); err == nil && failed != nil {
			result, err = nil, failed
		}
	}()
	if err := e.open(); err != nil {
		return nil, err
	}
	if err := e.wakeFirst(ctx); err != nil {
		return nil, err
	}
	for _, kind := range o.Kinds {
		e.total += len(e.directions(kind)) * len(o.Sizes)
	}
	for _, kind := range o.Kinds {
		if err := e.kind(ctx, kind); err != nil {
			return nil, err
		}
	}
	return e.result, e.measureReference(ctx)
}

// open allocates what all cells share.
func (e *engine) open() (err error) {
	if e.timer, err = newTimer(e.dev, e.clock); err != nil {
		return err
	}
	if e.stream, err = e.dev.NewStream(); err != nil {
		return err
	}
	if e.otherStream, err = e.dev.NewStream(); err != nil {
		return err
	}
	if e.device, err = e.dev.AllocDevice(e.o.deviceBytes()); err != nil {
		return err
	}
	if e.o.bothWays() {
		if e.otherDevice, err = e.dev.AllocDevice(referenceBytes); err != nil {
			return err
		}
	}
	return e.openHost()
}

func (e *engine) openHost() (err error) {
	e.reference, err = e.dev.AllocHost(cudamem.Pinned, referenceBytes)
	if cudamem.IsPinRefused(err) {
		e.result.note("the comparison with nvbandwidth is left out: %v", err)
		e.reference, err = e.dev.AllocHost(cudamem.Pageable, referenceBytes)
	}
	if err != nil {
		return err
	}
	cudamem.TouchPages(e.reference.Bytes())
	if _, ok := e.dev.(cudamem.Gatherer); ok {
		if e.index, err = e.dev.AllocHost(cudamem.Mapped, 8); cudamem.IsPinRefused(err) {
			e.index, err = nil, nil
		}
	}
	return err
}

// close frees everything; what was not allocated is nil.
func (e *engine) close() error {
	var errs []error
	for _, stream := range []cudamem.Stream{e.stream, e.otherStream} {
		if stream != nil {
			errs = append(errs, stream.Close())
		}
	}
	if e.timer != nil {
		errs = append(errs, e.timer.close())
	}
	errs = append(errs, e.reference.Free(), e.index.Free())
	for _, buffer := range []cudamem.DeviceBuffer{e.device, e.otherDevice} {
		if buffer != nil {
			errs = append(errs, buffer.Free())
		}
	}
	return errors.Join(errs...)
}

// wakeFirst wakes the link, reads its state before and under load, and settles its limit.
func (e *engine) wakeFirst(ctx context.Context) error {
	link := &e.result.Link
	if e.o.ReadLink != nil {
		if before, err := e.o.ReadLink(); err == nil {
			link.Before = &before
		}
	}
	warm, err := e.wake(ctx, firstWake)
	if err != nil {
		return err
	}
	e.result.WarmUp = WarmUp{Bytes: wakeBytes, GBps: warm, Slow: slowAtFirst(warm)}
	if err := e.readUnderLoad(ctx); err != nil {
		return err
	}
	link.limit(e.dev.Info())
	return nil
}

// wake copies until the figure is steady, for at least so long, and gives the figures.
func (e *engine) wake(ctx context.Context, least time.Duration) ([]float64, error) {
	m := e.wakeMover()
	begun := e.clock.Now()
	warm := []float64{}
	for ctx.Err() == nil {
		s, err := e.timer.sample(&m, nil, 1, 0)
		if err != nil {
			return nil, err
		}
		rate, ok := s.gbps(m.bytes)
		if !ok {
			return warm, nil // an endless link
		}
		warm = append(warm, rate)
		spent := e.clock.Now() - begun
		if spent >= least && steady(warm) || spent >= mostWake {
			return warm, nil
		}
	}
	return nil, context.Cause(ctx)
}

func (e *engine) wakeMover() mover {
	return mover{stream: e.stream, host: e.reference, device: e.device, bytes: wakeBytes, up: true}
}

// steady says that the last few rates agree.
func steady(rates []float64) bool {
	if len(rates) < steadyCopies {
		return false
	}
	least, most := math.Inf(1), 0.0
	for _, rate := range rates[len(rates)-steadyCopies:] {
		least, most = min(least, rate), max(most, rate)
	}
	return least >= most*(1-steadyShare)
}

// slowAtFirst is how many of the first rates lie below what they came to.
func slowAtFirst(rates []float64) int {
	if len(rates) < steadyCopies {
		return 0
	}
	final := stats.Summarize(rates[len(rates)-steadyCopies:]).Median
	for i, rate := range rates {
		if final == nil || rate >= *final*(1-steadyShare) {
			return i
		}
	}
	return 0
}

// readUnderLoad reads the link's state while copies are under way.
func (e *engine) readUnderLoad(ctx context.Context) error {
	if e.o.ReadLink == nil {
		return nil
	}
	begun := e.clock.Now()
	for {
		state, err := e.readOnceUnderLoad(ctx)
		if err != nil || state == nil {
			return err
		}
		e.result.Link.During = state
		if !state.belowMax() || e.clock.Now()-begun >= linkPatience {
			return nil
		}
	}
}

// readOnceUnderLoad gives nil where the driver does not tell or does not answer.
func (e *engine) readOnceUnderLoad(ctx context.Context) (*LinkState, error) {
	type answer struct {
		state LinkState
		err   error
	}
	m := e.wakeMover()
	if _, err := e.timer.sample(&m, nil, 1, 0); err != nil {
		return nil, err
	}
	answers := make(chan answer, 1) // the goroutine ends whether or not anybody waits
	go func() {
		state, err := e.o.ReadLink()
		answers <- answer{state, err}
	}()
	begun := e.clock.Now()
	for ctx.Err() == nil {
		if _, err := e.timer.sample(&m, nil, mostCopies, 0); err != nil {
			return nil, err
		}
		select {
		case a := <-answers:
			if a.err != nil {
				e.result.note("the link's state under load could not be read: %v", a.err)
				return nil, nil
			}
			return &a.state, nil
		default:
			if e.clock.Now()-begun > linkDeadline {
				e.result.note("the driver did not tell the link's state within %s", units.Duration(linkDeadline))
				return nil, nil
			}
		}
	}
	return nil, context.Cause(ctx)
}

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

// kind measures one kind of host memory at all sizes.
func (e *engine) kind(ctx context.Context, k cudamem.HostKind) error {
	directions := e.directions(k)
	if len(directions) == 0 {
		return nil
	}
	for _, bytes := range e.o.Sizes {
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
	samples, alone, err := e.samples(ctx, m, other, p)
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
	for most := mostOthers * p.others; other != nil && !e.timer.otherLast && p.others < most; {
		p.others *= 2
		if _, err := e.timer.sample(m, other, p.copies, p.others); err != nil {
			return plan{}, err
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

// samples takes them. alone says that the other direction was not busy throughout.
func (e *engine) samples(ctx context.Context, m, other *mover, p plan) (samples []Sample, alone bool, err error) {
	if err := e.dev.Anchor(); err != nil {
		return nil, false, err
	}
	samples = make([]Sample, 0, p.most)
	begun := e.clock.Now()
	for len(samples) < p.least || len(samples) < p.most && e.clock.Now()-begun < p.atLeast {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		s, err := e.timer.sample(m, other, p.copies, p.others)
		if err != nil {
			return nil, false, err
		}
		samples = append(samples, s)
		alone = alone || other != nil && !e.timer.otherLast
	}
	return samples, alone, nil
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
		samples, _, err := e.samples(ctx, m, nil, plan{copies: mostCopies, least: referenceSamples, most: referenceSamples})
		if err != nil {
			return err
		}
		e.result.Reference = append(e.result.Reference, NewCell(d, cudamem.Pinned, referenceBytes, samples, e.result.limitGBps()))
	}
	return nil
}
