package sim

import (
	"fmt"
	"math"
	"sync"
	"time"

	"pinscope/cudamem"
)

// device is the simulated GPU. All methods may be called from any goroutine.
type device struct {
	model  Model
	info   cudamem.Info
	clock  cudamem.Clock
	faults Faults

	mu         sync.Mutex // guards what follows: the schedule
	htod, dtoh *engine    // the same one if there is only one
	compute    *engine
	link       link
	lastEnd    time.Duration // of all that was queued
	queue      queue
	full       bool  // every byte is moved
	memory     int64 // of the device, in use
	pinned     int64 // host memory locked, or that would be
	pins       int   // allocations of such, so far
	launches   int   // steps so far
	closed     bool

	moving  sync.Mutex // held while data actions run; taken before mu
	staging staging
}

var (
	_ cudamem.Device   = (*device)(nil)
	_ cudamem.Gatherer = (*device)(nil)
)

// Open makes a simulated GPU that keeps time by clock.
func Open(model Model, clock cudamem.Clock) (cudamem.Device, error) {
	return OpenFaulty(model, clock, Faults{})
}

// OpenFaulty is Open for tests of what happens when a call fails.
func OpenFaulty(model Model, clock cudamem.Clock, faults Faults) (cudamem.Device, error) {
	if err := model.check(); err != nil {
		return nil, err
	}
	d := &device{model: model, clock: clock, faults: faults, info: describe(&model)}
	d.htod = newEngine(&model, htodEngine)
	d.dtoh = d.htod
	if model.CopyEngines > 1 {
		d.dtoh = newEngine(&model, dtohEngine)
	}
	d.compute = newEngine(&model, computeEngine)
	d.link.idleAt = longIdle
	if err := d.staging.open(); err != nil {
		return nil, fmt.Errorf("sim: %s: %w", d.info.ID, err)
	}
	return d, nil
}

func describe(m *Model) cudamem.Info {
	info := cudamem.Info{
		ID: "sim:" + m.Name, Name: "simulated " + m.Name + " GPU", Simulated: true,
		NUMANode: -1, MemoryBytes: m.MemoryBytes, CopyEngines: m.CopyEngines, UnifiedAddressing: true,
		LinkGBps: m.LinkGBps, AlwaysDigests: true,
		EventClock: "computed from the model, on the host's monotonic clock", Model: m.Settings(),
	}
	if math.IsInf(info.LinkGBps, 1) {
		info.LinkGBps = 0 // no limit; JSON knows no infinity
	}
	return info
}

// Info describes the device.
func (d *device) Info() cudamem.Info { return d.info }

// Bind has nothing to do: any goroutine can use the device.
func (d *device) Bind() (release func(), err error) { return func() {}, nil }

// Anchor waits until the device is idle: event times are the clock's own.
func (d *device) Anchor() error {
	d.settle()
	return nil
}

// NewStream makes a stream.
func (d *device) NewStream() (cudamem.Stream, error) { return &stream{device: d}, nil }

// NewEvent makes an event.
func (d *device) NewEvent() (cudamem.Event, error) {
	e := &event{device: d}
	e.at.Store(notRecorded)
	return e, nil
}

// AllocDevice maps memory that stands for the device's. It becomes resident
// only where lines are moved.
func (d *device) AllocDevice(bytes int64) (cudamem.DeviceBuffer, error) {
	if bytes <= 0 {
		return nil, d.refuse("simulated cuMemAlloc", bytes, "a size must be above 0")
	}
	if err := d.takeMemory(bytes); err != nil {
		return nil, err
	}
	memory, err := cudamem.MapSparsePages(bytes)
	if err != nil {
		d.giveMemory(bytes)
		return nil, d.refuse("simulated cuMemAlloc", bytes, err.Error())
	}
	return &deviceBuffer{device: d, memory: memory}, nil
}

func (d *device) takeMemory(bytes int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if bytes > d.model.MemoryBytes-d.memory {
		err := d.refuse("simulated cuMemAlloc", bytes, fmt.Sprintf("%d of the GPU's %d bytes are in use", d.memory, d.model.MemoryBytes))
		err.Cure = "use fewer device slots or smaller batches, or --sim memory=SIZE"
		return err
	}
	d.memory += bytes
	return nil
}

func (d *device) giveMemory(bytes int64) {
	d.mu.Lock()
	d.memory -= bytes
	d.mu.Unlock()
}

// settle waits until everything queued is done, as freeing memory does on a GPU.
func (d *device) settle() {
	d.mu.Lock()
	end := d.lastEnd
	d.mu.Unlock()
	d.waitUntil(end)
}

// waitUntil sleeps until t and does what was due by then.
func (d *device) waitUntil(t time.Duration) {
	d.clock.SleepUntil(t)
	d.catchUp()
}

// Close waits for the device to be idle and frees it. It may be called twice.
func (d *device) Close() error {
	d.settle()
	d.mu.Lock()
	closed := d.closed
	d.closed = true
	d.mu.Unlock()
	if closed {
		return nil
	}
	return d.staging.close()
}

// refuse makes the error of a call that is not possible.
func (d *device) refuse(op string, bytes int64, reason string) *cudamem.Error {
	return &cudamem.Error{Op: op, Bytes: bytes, Device: d.info.ID, Reason: reason}
}

// deviceBuffer is memory that stands for the device's.
type deviceBuffer struct {
	device *device
	mu     sync.Mutex // guards Free against itself only
	memory []byte
}

// Size is the length asked for.
func (b *deviceBuffer) Size() int64 { return int64(len(b.memory)) }

// Free waits for the device to be idle and gives the memory back.
func (b *deviceBuffer) Free() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.memory == nil {
		return nil
	}
	b.device.settle()
	memory := b.memory
	b.memory = nil
	b.device.giveMemory(int64(len(memory)))
	return cudamem.UnmapPages(memory)
}
