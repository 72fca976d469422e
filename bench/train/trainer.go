package train

import (
	"errors"
	"fmt"
	"sync/atomic"

	"pinscope/bench/loader"
	"pinscope/bench/source"
	"pinscope/cudamem"
)

// Options are a trainer's settings.
type Options struct {
	Spec          source.Spec
	Batch         int64 // samples in a full batch
	Classes       int
	LearningRate  float32
	Seed          uint64
	StepsPerBatch int  // training steps on each batch, >= 1
	NonBlocking   bool // go on while the copy is under way
	Dedicated     bool // a copy stream of its own; else copies and steps share one
	SyncSteps     bool // read each step's loss before going on
	DeviceSlots   int  // >= 1; unused in place
	Pin           loader.PinMode
	HostMemory    cudamem.HostKind // of the slots
	Check         loader.Check
}

// InPlace says that steps read the host slot where it lies and nothing is
// copied: on the CPU, and from mapped or managed memory.
func (o Options) InPlace(info cudamem.Info) bool {
	return info.InPlace || o.Pin != loader.PinOff && o.Pin != loader.PinDataset && o.HostMemory.DeviceReadable()
}

// extraFlights is how many batches, beyond one in each device slot, can be
// queued before the trainer waits: with 2 the device never runs dry while the
// trainer wakes up from such a wait.
const extraFlights = 2

// Trainer owns the device side: streams, device slots, the linear layer.
type Trainer struct {
	o        Options
	device   cudamem.Device
	clock    cudamem.Clock
	dataset  source.InMemory // only PinDataset
	gatherer cudamem.Gatherer
	gathered []cudamem.GatherPart // labels and inputs, in a device slot
	inPlace  bool
	inputs   int64 // offset of the inputs in a slot

	copies  cudamem.Stream
	compute cudamem.Stream // the same one unless dedicated
	linear  cudamem.Linear
	digests cudamem.Digester // nil unless batches are checked
	slots   []cudamem.DeviceBuffer
	flights []*flight

	done atomic.Int64 // batches whose step is done in this run, for progress
	rows atomic.Int64 // samples of those

	// releaseEarly gives slots back without waiting for the copy's event. Only
	// tests set it, to see that checks notice.
	releaseEarly bool
}

// New allocates a trainer on dev. The calling goroutine is bound. It allocates
// all or, on an error, nothing. dataset is the source with PinDataset, else nil.
func New(dev cudamem.Device, clock cudamem.Clock, dataset source.InMemory, o Options) (*Trainer, error) {
	t := &Trainer{o: o, device: dev, clock: clock, dataset: dataset,
		inPlace: o.InPlace(dev.Info()), inputs: loader.InputOffset(o.Spec, o.Batch)}
	if err := t.allocate(); err != nil {
		return nil, errors.Join(fmt.Errorf("train: %w", err), t.Close())
	}
	return t, nil
}

func (t *Trainer) allocate() (err error) {
	if t.o.Pin == loader.PinDataset {
		gatherer, ok := t.device.(cudamem.Gatherer)
		if !ok {
			return fmt.Errorf("pin dataset: %s cannot gather from host memory", t.device.Info().ID)
		}
		t.gatherer = gatherer
		t.gathered = []cudamem.GatherPart{
			{Dataset: t.dataset.Labels(), Bytes: t.o.Spec.LabelBytes},
			{Dataset: t.dataset.Samples(), Bytes: t.o.Spec.SampleBytes, DstOffset: t.inputs},
		}
	}
	if t.compute, err = t.device.NewStream(); err != nil {
		return err
	}
	t.copies = t.compute
	if t.o.Dedicated {
		if t.copies, err = t.device.NewStream(); err != nil {
			return err
		}
	}
	if !t.inPlace {
		for range t.o.DeviceSlots {
			slot, err := t.device.AllocDevice(loader.SlotBytes(t.o.Spec, t.o.Batch))
			if err != nil {
				return err
			}
			t.slots = append(t.slots, slot)
		}
	}
	return t.allocateFlights(max(len(t.slots), 1) + extraFlights)
}

func (t *Trainer) allocateFlights(count int) (err error) {
	t.linear, err = t.device.NewLinear(cudamem.LinearSpec{
		Features: features(t.o.Spec), Classes: t.o.Classes, MaxRows: int(t.o.Batch),
		Input: t.o.Spec.DType, LearningRate: t.o.LearningRate, Seed: t.o.Seed, Cells: count,
	})
	if err != nil {
		return err
	}
	if t.o.Check != loader.CheckNone {
		if t.digests, err = t.device.NewDigester(count, t.o.Check == loader.CheckAll); err != nil {
			return err
		}
	}
	for i := range count {
		f := &flight{cell: i, returned: make(chan struct{}, 1)}
		t.flights = append(t.flights, f)
		if err := f.makeEvents(t.device, t.digests != nil); err != nil {
			return err
		}
	}
	return nil
}

func features(spec source.Spec) int { return int(spec.SampleBytes / spec.DType.Size()) }

// Progress is how far the present run has come: batches and samples whose step
// is done. Any goroutine may call it.
func (t *Trainer) Progress() (batches, samples int64) { return t.done.Load(), t.rows.Load() }

// Close frees everything. It may be called twice.
func (t *Trainer) Close() error {
	var errs []error
	closeAll := func(closers ...interface{ Close() error }) {
		for _, c := range closers {
			errs = append(errs, c.Close())
		}
	}
	for _, f := range t.flights {
		for _, event := range f.events {
			closeAll(event)
		}
	}
	if t.digests != nil {
		closeAll(t.digests)
	}
	if t.linear != nil {
		closeAll(t.linear)
	}
	if t.copies != nil && t.copies != t.compute {
		closeAll(t.copies)
	}
	if t.compute != nil {
		closeAll(t.compute)
	}
	for _, slot := range t.slots {
		errs = append(errs, slot.Free())
	}
	t.flights, t.digests, t.linear, t.copies, t.compute, t.slots = nil, nil, nil, nil, nil, nil
	return errors.Join(errs...)
}
