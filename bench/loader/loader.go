package loader

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pinscope/bench/source"
	"pinscope/cudamem"
)

// Options are a loader's settings. Slot counts come from the plan; all are at
// least 1 where they are used.
type Options struct {
	Sampler
	Workers     int  // goroutines that fill slots; 0: the trainer's goroutine does
	KeepWorkers bool // workers go on into the next epoch; else each epoch starts anew

	Pin        PinMode
	HostMemory cudamem.HostKind // of the ring
	QueueSlots int              // pageable slots that workers fill; unused with PinDirect and PinDataset
	RingSlots  int              // slots of the ring; unused with PinOff

	// Check is how much of each batch is digested as it is written.
	Check Check

	// Timeout ends a pass when the next batch has not come for that long.
	Timeout time.Duration

	// AllowPartialRing goes on with fewer ring slots when the system refuses to
	// lock more; else the refusal is an error.
	AllowPartialRing bool

	// BindWorker is called by each worker's goroutine as it starts, locked to a
	// thread that ends with it; nil: workers are not bound.
	BindWorker func() error
}

// Check is how much of a batch is digested by the worker that writes it.
type Check uint8

// The checks.
const (
	CheckNone  Check = iota
	CheckLines       // the lines that the simulated GPU moves
	CheckAll         // every byte (--verify)
)

// InputOffset is where the inputs of a slot begin, in bytes: behind the labels.
func InputOffset(spec source.Spec, batch int64) int64 {
	return (batch*spec.LabelBytes + cudamem.LineBytes - 1) / cudamem.LineBytes * cudamem.LineBytes
}

// SlotBytes is the length of a slot that holds batch samples of a data set.
func SlotBytes(spec source.Spec, batch int64) int64 {
	return InputOffset(spec, batch) + batch*spec.SampleBytes
}

// Loader owns the slots. New and Close belong to one goroutine; passes follow
// one another.
type Loader struct {
	o       Options
	source  source.Source
	spec    source.Spec
	memory  source.InMemory // only PinDataset
	clock   cudamem.Clock
	queue   []*Slot // what workers fill
	ring    []*Slot // what the pin thread fills; empty unless there is one
	workers []*worker
	inline  *inline // only with Workers 0

	ready  []chan *Slot // hand-over cell of batch b: b modulo len(ready)
	pinned chan *Slot   // pin thread to trainer
	claims []claim      // who fills the batch of a hand-over cell
	setup  Setup
}

// Setup is what allocating the slots took and gave.
type Setup struct {
	Duration    time.Duration // all slots together
	PinDuration time.Duration // the page-locked ones among them
	PinCalls    int           // page-locked allocations that succeeded
	LockedBytes int64         // locked in fact, whole pages
	RingAsked   int           // slots of the ring asked for
	RingGot     int           // allocated
	RingLocked  int           // allocated and locked in fact; none with PageableThread
	Refused     error         // the refusal that cut the ring short, nil if none
}

// New allocates the slots of a loader on dev, bound to the calling goroutine.
// It allocates all or, on an error, nothing.
func New(dev cudamem.Device, src source.Source, clock cudamem.Clock, o Options) (*Loader, error) {
	l := &Loader{o: o, source: src, spec: src.Spec(), clock: clock}
	if o.Pin == PinDataset {
		memory, ok := src.(source.InMemory)
		if !ok {
			return nil, errors.New("loader: pin dataset: the source does not hold its samples in memory")
		}
		l.memory = memory
	}
	start := clock.Now()
	if err := l.allocate(dev); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.setup.Duration = clock.Now() - start
	l.ready = make([]chan *Slot, len(l.queue))
	l.claims = make([]claim, len(l.queue))
	for i := range l.ready {
		l.ready[i] = make(chan *Slot, 1)
	}
	l.pinned = make(chan *Slot, len(l.ring)+1)
	for i := range o.Workers {
		l.workers = append(l.workers, newWorker(l, i))
	}
	if o.Workers == 0 {
		l.inline = newInline(l)
	}
	return l, nil
}

func (l *Loader) allocate(dev cudamem.Device) error {
	slotBytes := SlotBytes(l.spec, l.o.Batch)
	switch l.o.Pin {
	case PinOff, PinThread, PageableThread:
		for range l.o.QueueSlots {
			buffer, err := dev.AllocHost(cudamem.Pageable, slotBytes)
			if err != nil {
				return fmt.Errorf("loader: allocate queue slot %d of %d: %w", len(l.queue)+1, l.o.QueueSlots, err)
			}
			cudamem.TouchPages(buffer.Bytes()) // as locking does: no repeat pays for a page's first use
			l.queue = append(l.queue, &Slot{Buffer: buffer})
		}
		if l.o.Pin == PinOff {
			return nil
		}
		return l.allocateRing(dev, &l.ring, slotBytes)
	case PinDirect:
		return l.allocateRing(dev, &l.queue, slotBytes)
	default:
		return l.allocateRing(dev, &l.queue, indexBytes*l.o.Batch)
	}
}

// indexBytes is the length of one sample's index in a slot of PinDataset.
const indexBytes = 8

func (l *Loader) allocateRing(dev cudamem.Device, slots *[]*Slot, bytes int64) error {
	pins := l.o.Pin.Pins()
	start := l.clock.Now()
	defer func() {
		if pins {
			l.setup.PinDuration = l.clock.Now() - start
		}
	}()
	l.setup.RingAsked = l.o.RingSlots
	for i := range l.o.RingSlots {
		buffer, err := dev.AllocHost(l.o.HostMemory, bytes)
		if err != nil {
			if l.o.AllowPartialRing && cudamem.IsPinRefused(err) && i > 0 {
				l.setup.Refused = err
				return nil
			}
			return fmt.Errorf("loader: pin slot %d of %d: %w", i+1, l.o.RingSlots, err)
		}
		*slots = append(*slots, &Slot{Buffer: buffer})
		l.setup.RingGot++
		if pins {
			l.setup.PinCalls++
		} else {
			cudamem.TouchPages(buffer.Bytes())
		}
		if buffer.Locked() {
			l.setup.RingLocked++
			l.setup.LockedBytes += int64(cap(buffer.Bytes()))
		}
	}
	return nil
}

// Setup tells what the slots took.
func (l *Loader) Setup() Setup { return l.setup }

// QueueSlots is how many batches can be on their way from the workers at once.
func (l *Loader) QueueSlots() int { return len(l.queue) }

// Stuck says whether a worker would not stop: what it reads and writes must not
// be freed under it.
func (l *Loader) Stuck() bool {
	return slices.ContainsFunc(l.workers, func(w *worker) bool { return w.running.Load() })
}

// Close frees the slots and the workers' scratch, after the last pass was
// closed. A slot that a stuck worker may still write to is left alone. It may
// be called twice.
func (l *Loader) Close() error {
	var errs []error
	stuck := map[*Slot]bool{}
	for _, w := range l.workers {
		if w.running.Load() {
			stuck[w.slot.Load()] = true
			continue
		}
		errs = append(errs, w.filler.Close())
	}
	if l.inline != nil {
		errs = append(errs, l.inline.filler.Close())
	}
	for _, slot := range append(l.queue, l.ring...) {
		if !stuck[slot] {
			errs = append(errs, slot.Buffer.Free())
		}
	}
	l.queue, l.ring, l.workers, l.inline = nil, nil, nil, nil
	return errors.Join(errs...)
}
