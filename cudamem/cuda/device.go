//go:build cuda

package cuda

import (
	"runtime"
	"sync"
	"time"

	"gorgonia.org/cu"

	"pinscope/cudamem"
)

var (
	_ cudamem.Device   = (*device)(nil)
	_ cudamem.Gatherer = (*device)(nil)
)

// device is one GPU, by its primary context. What it makes belongs to whoever
// asked; the device itself may be used by several bound goroutines at once.
type device struct {
	info            cudamem.Info
	clock           cudamem.Clock
	gpu             cu.Device
	context         cu.CUContext
	multiprocessors int

	mu      sync.Mutex // guards what follows
	closed  bool
	modules map[string]cu.Module // compiled by the driver, by name
	shifted map[*byte]uint64     // host memory that the device sees at another address

	digest    cu.Function
	gathering gathering

	anchorMu sync.RWMutex // Event.Time reads while Anchor may write
	anchor   anchor
}

// anchor ties event times to the clock: event was reached at time at.
type anchor struct {
	event cu.Event
	spare cu.Event // the one that the next try is recorded in
	queue cu.Stream
	at    time.Duration
}

// Open opens a GPU: "cuda" or "cuda:0" by ordinal, "cuda:GPU-…" or "cuda:MIG-…" by
// UUID or the beginning of one, "cuda:0000:3b:00.0" by PCI address. Ordinals count
// what CUDA_VISIBLE_DEVICES leaves, and nothing that it hides can be opened.
// The clock is what event times are told on.
func Open(id string, clock cudamem.Clock) (cudamem.Device, error) {
	gpu, err := find(id)
	if err != nil {
		return nil, err
	}
	d := &device{gpu: gpu, clock: clock, modules: map[string]cu.Module{}, shifted: map[*byte]uint64{}}
	if d.info, err = describe(gpu); err != nil {
		return nil, err
	}
	if id != "cuda" {
		d.info.ID = id
	}
	if err := d.start(); err != nil {
		return nil, err
	}
	return d, nil
}

// start makes the context, and in it the anchor and the gather.
func (d *device) start() (err error) {
	// Blocking: a thread that waits for a stream sleeps. It fails with "primary
	// context active" when another user of the context came first, whose choice stands.
	if err := d.gpu.SetPrimaryCtxFlags(cu.SchedBlockingSync); err != nil && codeOf(err) != contextActive {
		return d.fail("cuDevicePrimaryCtxSetFlags", 0, err)
	}
	if d.context, err = d.gpu.RetainPrimaryCtx(); err != nil {
		return d.fail("cuDevicePrimaryCtxRetain", 0, err)
	}
	defer func() {
		if err != nil {
			_ = d.Close() // the first error is the one to tell
		}
	}()
	release, err := d.Bind()
	if err != nil {
		return err
	}
	defer release()
	if d.multiprocessors, err = d.gpu.Attribute(cu.MultiprocessorCount); err != nil {
		return d.fail("cuDeviceGetAttribute", 0, err)
	}
	if d.anchor.queue, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return d.fail("cuStreamCreate", 0, err)
	}
	for _, e := range []*cu.Event{&d.anchor.event, &d.anchor.spare} {
		if *e, err = cu.MakeEvent(cu.DefaultEvent); err != nil {
			return d.fail("cuEventCreate", 0, err)
		}
	}
	if err := d.startGathering(); err != nil {
		return err
	}
	return d.Anchor()
}

func (d *device) Info() cudamem.Info { return d.info }

// Bind locks the calling goroutine to its thread and makes the context current
// there; release puts back what was current before.
func (d *device) Bind() (release func(), err error) {
	runtime.LockOSThread()
	before, err := cu.CurrentContext()
	if err == nil {
		err = cu.SetCurrentContext(d.context)
	}
	if err != nil {
		runtime.UnlockOSThread()
		return nil, d.fail("cuCtxSetCurrent", 0, err)
	}
	return func() {
		_ = cu.SetCurrentContext(before) // fails only if the driver is gone
		runtime.UnlockOSThread()
	}, nil
}

// AllocDevice allocates device memory.
func (d *device) AllocDevice(bytes int64) (cudamem.DeviceBuffer, error) {
	if bytes <= 0 {
		return nil, d.misuse("cuMemAlloc", "%d bytes is no length above 0", bytes)
	}
	at, err := cu.MemAlloc(bytes)
	if err != nil {
		return nil, d.fail("cuMemAlloc", bytes, err)
	}
	return &deviceBuffer{d: d, at: at, bytes: bytes}, nil
}

// Anchor ties event times to the clock anew.
func (d *device) Anchor() error {
	if err := cu.Synchronize(); err != nil {
		return d.fail("cuCtxSynchronize", 0, err)
	}
	d.anchorMu.Lock()
	defer d.anchorMu.Unlock()
	// The event is reached between the two readings of the clock, so the try
	// with the least time between them is off by half of that at most.
	const tries = 16
	least := time.Duration(-1)
	for range tries {
		before := d.clock.Now()
		if err := d.anchor.spare.Record(d.anchor.queue); err != nil {
			return d.fail("cuEventRecord", 0, err)
		}
		if err := waitEvent(d.anchor.spare, time.Millisecond); err != nil {
			return d.fail("cuEventSynchronize", 0, err)
		}
		if between := d.clock.Now() - before; least < 0 || between < least {
			least = between
			d.anchor.at = before + between/2
			d.anchor.event, d.anchor.spare = d.anchor.spare, d.anchor.event
		}
	}
	return nil
}

// Close frees what the device made for itself, and leaves the context.
func (d *device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	release, err := d.Bind()
	if err != nil {
		return err
	}
	keep := func(call string, failed error) {
		if err == nil {
			err = d.fail(call, 0, failed)
		}
	}
	keep("cuStreamDestroy of gathers", d.gathering.close())
	for _, m := range d.modules {
		keep("cuModuleUnload", m.Unload())
	}
	for _, e := range []*cu.Event{&d.anchor.event, &d.anchor.spare} {
		if *e != (cu.Event{}) {
			keep("cuEventDestroy", cu.DestroyEvent(e))
		}
	}
	if d.anchor.queue != cu.NoStream {
		keep("cuStreamDestroy", d.anchor.queue.Destroy())
	}
	release()
	keep("cuDevicePrimaryCtxRelease", d.gpu.ReleasePrimaryCtx())
	return err
}

// functions finds kernels in a module, which is compiled when first asked for.
func (d *device) functions(name, ptx string, kernel ...string) ([]cu.Function, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m, ok := d.modules[name]
	if !ok {
		var err error
		if m, err = cu.LoadData(ptx); err != nil {
			return nil, d.fail("cuModuleLoadData of "+name, 0, err)
		}
		d.modules[name] = m
	}
	found := make([]cu.Function, len(kernel))
	for i, k := range kernel {
		var err error
		if found[i], err = m.Function(k); err != nil {
			return nil, d.fail("cuModuleGetFunction of "+k, 0, err)
		}
	}
	return found, nil
}

// deviceBuffer is memory on the device.
type deviceBuffer struct {
	d     *device
	at    cu.DevicePtr
	bytes int64 // 0 after Free
}

func (b *deviceBuffer) Size() int64 { return b.bytes }

func (b *deviceBuffer) Free() error {
	if b.bytes == 0 {
		return nil
	}
	at := b.at
	bytes := b.bytes
	b.at, b.bytes = 0, 0
	return b.d.fail("cuMemFree", bytes, cu.MemFree(at))
}

// address is where the device finds m[offset:offset+bytes].
func (d *device) address(call string, m cudamem.Memory, offset, bytes int64) (uint64, error) {
	if offset < 0 || bytes < 0 || m.Size() == 0 || offset > m.Size()-bytes {
		return 0, d.misuse(call, "bytes %d to %d of a buffer of %d", offset, offset+bytes, m.Size())
	}
	switch m := m.(type) {
	case *deviceBuffer:
		return uint64(m.at) + uint64(offset), nil
	case *cudamem.HostBuffer:
		if k := m.Kind(); !k.DeviceReadable() && k != cudamem.Registered {
			return 0, d.misuse(call, "the device cannot address %v host memory", k)
		}
		return d.hostAddress(m) + uint64(offset), nil
	}
	return 0, d.misuse(call, "%T is not memory of a CUDA device", m)
}
