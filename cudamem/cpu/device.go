package cpu

import (
	"fmt"
	"runtime"

	"pinscope/cudamem"
)

// device is the CPU. It has no state: any goroutine may call any method.
type device struct{ clock cudamem.Clock }

var _ cudamem.Device = (*device)(nil)

// Open gives the CPU as a device that keeps time by clock.
func Open(clock cudamem.Clock) (cudamem.Device, error) { return &device{clock}, nil }

// Info describes the device.
func (d *device) Info() cudamem.Info {
	return cudamem.Info{
		ID: "cpu", Name: fmt.Sprintf("CPU (%s, one core of %d)", runtime.GOARCH, runtime.NumCPU()),
		NUMANode: -1, InPlace: true, UnifiedAddressing: true, HostPageTables: true,
		EventClock: "the host's monotonic clock",
	}
}

// Bind has nothing to do.
func (d *device) Bind() (release func(), err error) { return func() {}, nil }

// AllocHost maps ordinary memory, locked where the kind and the system say so.
func (d *device) AllocHost(kind cudamem.HostKind, bytes int64) (*cudamem.HostBuffer, error) {
	memory, err := cudamem.MapPages(bytes)
	if err != nil {
		return nil, refuse("allocating host memory", bytes, err.Error())
	}
	locked := false
	if kind.PageLocked() {
		if locked = cudamem.LockPages(memory) == nil; !locked {
			cudamem.TouchPages(memory)
		}
	}
	return cudamem.NewHostBuffer(kind, locked, memory, func() error { return cudamem.UnmapPages(memory) }), nil
}

// AllocDevice is refused: the CPU has no memory but the host's.
func (d *device) AllocDevice(bytes int64) (cudamem.DeviceBuffer, error) {
	return nil, refuse("allocating device memory", bytes, noTransfer)
}

// NewStream makes a stream.
func (d *device) NewStream() (cudamem.Stream, error) { return &stream{clock: d.clock}, nil }

// NewEvent makes an event.
func (d *device) NewEvent() (cudamem.Event, error) {
	e := new(event)
	e.at.Store(notRecorded)
	return e, nil
}

// Anchor has nothing to do: events take the clock's own time.
func (d *device) Anchor() error { return nil }

// Close has nothing to free.
func (d *device) Close() error { return nil }

// noTransfer is why copies are refused.
const noTransfer = "the CPU reads host memory in place: there is nothing to copy to"

func refuse(op string, bytes int64, reason string) *cudamem.Error {
	return &cudamem.Error{Op: op, Bytes: bytes, Device: "cpu", Reason: reason}
}

// part is m[offset:offset+bytes].
func part(op string, m cudamem.Memory, offset, bytes int64) ([]byte, error) {
	host, ok := m.(*cudamem.HostBuffer)
	if !ok {
		return nil, refuse(op, bytes, "the CPU reads host memory alone")
	}
	all := host.Bytes()
	if bytes < 0 || offset < 0 || offset > int64(len(all))-bytes {
		return nil, refuse(op, bytes, fmt.Sprintf("offset %d does not lie in a buffer of %d bytes (0: freed)", offset, len(all)))
	}
	return all[offset : offset+bytes], nil
}
