//go:build cuda

package cuda

import (
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"pinscope/cudamem"
)

var (
	_ cudamem.Stream       = (*stream)(nil)
	_ cudamem.Event        = (*event)(nil)
	_ cudamem.DeviceBuffer = (*deviceBuffer)(nil)
)

// stream is a non-blocking CUDA stream.
type stream struct {
	d *device
	s cu.Stream // NoStream after Close
}

func (d *device) NewStream() (cudamem.Stream, error) {
	s, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return nil, d.fail("cuStreamCreate", 0, err)
	}
	return &stream{d, s}, nil
}

func (s *stream) CopyHtoD(dst cudamem.DeviceBuffer, dstOffset int64, src *cudamem.HostBuffer, srcOffset, bytes int64) error {
	const call = "cuMemcpyHtoDAsync"
	to, from, err := s.ends(call, dst, dstOffset, src, srcOffset, bytes)
	if err != nil {
		return err
	}
	return s.d.fail(call, bytes, cu.MemcpyHtoDAsync(to, from, bytes, s.s))
}

func (s *stream) CopyDtoH(dst *cudamem.HostBuffer, dstOffset int64, src cudamem.DeviceBuffer, srcOffset, bytes int64) error {
	const call = "cuMemcpyDtoHAsync"
	from, to, err := s.ends(call, src, srcOffset, dst, dstOffset, bytes)
	if err != nil {
		return err
	}
	return s.d.fail(call, bytes, cu.MemcpyDtoHAsync(to, from, bytes, s.s))
}

// ends checks the two ends of a copy and gives their addresses.
func (s *stream) ends(call string, onDevice cudamem.DeviceBuffer, deviceOffset int64, onHost *cudamem.HostBuffer, hostOffset, bytes int64) (cu.DevicePtr, unsafe.Pointer, error) {
	if err := s.open(call); err != nil {
		return 0, nil, err
	}
	address, err := s.d.address(call, onDevice, deviceOffset, bytes)
	if err != nil {
		return 0, nil, err
	}
	if hostOffset < 0 || onHost.Size() == 0 || hostOffset > onHost.Size()-bytes {
		return 0, nil, s.d.misuse(call, "bytes %d to %d of host memory of %d", hostOffset, hostOffset+bytes, onHost.Size())
	}
	return cu.DevicePtr(address), unsafe.Add(unsafe.Pointer(unsafe.SliceData(onHost.Bytes())), hostOffset), nil
}

// open refuses a closed stream: the driver would take it for its default stream.
func (s *stream) open(call string) error {
	if s.s == cu.NoStream {
		return s.d.misuse(call, "the stream is closed")
	}
	return nil
}

func (s *stream) Record(e cudamem.Event) error {
	own, err := s.own("cuEventRecord", e)
	if err != nil {
		return err
	}
	return s.d.fail("cuEventRecord", 0, own.e.Record(s.s))
}

func (s *stream) WaitFor(e cudamem.Event) error {
	own, err := s.own("cuStreamWaitEvent", e)
	if err != nil {
		return err
	}
	return s.d.fail("cuStreamWaitEvent", 0, s.s.Wait(own.e, 0))
}

func (s *stream) own(call string, e cudamem.Event) (*event, error) {
	if err := s.open(call); err != nil {
		return nil, err
	}
	own, ok := e.(*event)
	if !ok {
		return nil, s.d.misuse(call, "%T is no event of a CUDA device", e)
	}
	return own, own.open(call)
}

func (s *stream) Synchronize() error {
	if err := s.open("cuStreamSynchronize"); err != nil {
		return err
	}
	return s.d.fail("cuStreamSynchronize", 0, s.s.Synchronize())
}

func (s *stream) Close() error {
	if s.s == cu.NoStream {
		return nil
	}
	err := s.Synchronize()
	if failed := s.d.fail("cuStreamDestroy", 0, s.s.Destroy()); err == nil {
		err = failed
	}
	return err
}

// event is a CUDA event with timing, whose waiters sleep.
type event struct {
	d *device
	e cu.Event // zero after Close
}

func (d *device) NewEvent() (cudamem.Event, error) {
	e, err := cu.MakeEvent(cu.BlockingSyncEvent)
	if err != nil {
		return nil, d.fail("cuEventCreate", 0, err)
	}
	return &event{d, e}, nil
}

func (e *event) open(call string) error {
	if e.e == (cu.Event{}) {
		return e.d.misuse(call, "the event is closed")
	}
	return nil
}

// Wait asks for a few microseconds before it sleeps: to be woken costs tens.
func (e *event) Wait() error {
	const spin = 5 * time.Microsecond
	if err := e.open("cuEventSynchronize"); err != nil {
		return err
	}
	return e.d.fail("cuEventSynchronize", 0, waitEvent(e.e, spin))
}

func (e *event) Done() (bool, error) {
	if err := e.open("cuEventQuery"); err != nil {
		return false, err
	}
	done, err := eventDone(e.e)
	return done, e.d.fail("cuEventQuery", 0, err)
}

func (e *event) Time() (time.Duration, error) {
	if err := e.open("cuEventElapsedTime"); err != nil {
		return 0, err
	}
	e.d.anchorMu.RLock()
	defer e.d.anchorMu.RUnlock()
	since, err := elapsed(e.d.anchor.event, e.e)
	if err != nil {
		return 0, e.d.fail("cuEventElapsedTime", 0, err)
	}
	return e.d.anchor.at + since, nil
}

func (e *event) Close() error {
	if e.e == (cu.Event{}) {
		return nil
	}
	return e.d.fail("cuEventDestroy", 0, cu.DestroyEvent(&e.e))
}
