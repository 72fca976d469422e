package sim

import (
	"fmt"
	"time"

	"pinscope/cudamem"
)

// stream is a queue: all there is to it is when what is queued will be done.
type stream struct {
	device *device
	tail   time.Duration // guarded by device.mu
	closed bool
}

// CopyHtoD queues a copy to the device.
func (s *stream) CopyHtoD(dst cudamem.DeviceBuffer, dstOffset int64, src *cudamem.HostBuffer, srcOffset, bytes int64) error {
	to, from, err := s.ranges("simulated HtoD copy", dst, dstOffset, src, srcOffset, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	if src.Kind() == cudamem.Pageable {
		s.copyFromPageable(to, from)
		return nil
	}
	s.queueCopy(s.device.htod, to, from)
	return nil
}

// CopyDtoH queues a copy to the host.
func (s *stream) CopyDtoH(dst *cudamem.HostBuffer, dstOffset int64, src cudamem.DeviceBuffer, srcOffset, bytes int64) error {
	from, to, err := s.ranges("simulated DtoH copy", src, srcOffset, dst, dstOffset, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	if dst.Kind() == cudamem.Pageable {
		s.copyToPageable(to, from)
		return nil
	}
	s.queueCopy(s.device.dtoh, to, from)
	return nil
}

// ranges checks both sides of a copy.
func (s *stream) ranges(op string, onDevice cudamem.DeviceBuffer, deviceOffset int64, host *cudamem.HostBuffer, hostOffset, bytes int64) (device, hosts []byte, err error) {
	if err := s.usable(op); err != nil {
		return nil, nil, err
	}
	device, err = s.device.part(op, onDevice, deviceOffset, bytes)
	if err != nil {
		return nil, nil, err
	}
	hosts, err = s.device.part(op, host, hostOffset, bytes)
	return device, hosts, err
}

// queueCopy queues a copy by an engine alone.
func (s *stream) queueCopy(e *engine, to, from []byte) {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	end := d.bookCopy(s, e, d.clock.Now(), int64(len(from)))
	d.queueMove(end, to, from, 0, int64(len(from)))
}

// queueMove queues the data of a copy, or of the part of it that begins at from.
// d.mu is held.
func (d *device) queueMove(end time.Duration, dst, src []byte, from, total int64) {
	d.pushMove(d.queue.get(), end, dst, src, from, total)
}

func (d *device) pushMove(a *action, end time.Duration, dst, src []byte, from, total int64) {
	a.kind, a.end, a.dst, a.src, a.from, a.total, a.full = copies, end, dst, src, from, total, d.full
	d.queue.push(a)
}

// Record gives the event the time at which all that is queued will be done.
func (s *stream) Record(e cudamem.Event) error {
	mark, err := s.mine("simulated event record", e)
	if err != nil {
		return err
	}
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	s.tail = max(s.tail, d.clock.Now())
	d.lastEnd = max(d.lastEnd, s.tail)
	mark.at.Store(int64(s.tail))
	return nil
}

// WaitFor lets the stream go on no earlier than the event's latest recording.
func (s *stream) WaitFor(e cudamem.Event) error {
	mark, err := s.mine("simulated stream wait", e)
	if err != nil {
		return err
	}
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	s.tail = max(s.tail, time.Duration(mark.at.Load()))
	return nil
}

// Synchronize waits until all queued work is done.
func (s *stream) Synchronize() error {
	s.device.waitUntil(s.end())
	return nil
}

// end is when what is queued now will be done.
func (s *stream) end() time.Duration {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	return s.tail
}

// Close synchronizes. It may be called twice.
func (s *stream) Close() error {
	s.closed = true
	return s.Synchronize()
}

func (s *stream) usable(op string) error {
	if s.closed {
		return s.device.refuse(op, 0, "the stream is closed")
	}
	return nil
}

// mine is the event, if it can be used on this stream.
func (s *stream) mine(op string, e cudamem.Event) (*event, error) {
	if err := s.usable(op); err != nil {
		return nil, err
	}
	mark, ok := e.(*event)
	if !ok || mark.device != s.device || mark.closed.Load() {
		return nil, s.device.refuse(op, 0, "the event is closed or another device's")
	}
	return mark, nil
}

// own is the stream, if it can be used with this device.
func (d *device) own(op string, s cudamem.Stream) (*stream, error) {
	queue, ok := s.(*stream)
	if !ok || queue.device != d {
		return nil, d.refuse(op, 0, "the stream is another device's")
	}
	return queue, queue.usable(op)
}

// part is memory[offset:offset+bytes].
func (d *device) part(op string, memory cudamem.Memory, offset, bytes int64) ([]byte, error) {
	var all []byte
	switch m := memory.(type) {
	case *deviceBuffer:
		if m.device != d {
			return nil, d.refuse(op, bytes, "the memory is another device's")
		}
		all = m.memory
	case *cudamem.HostBuffer:
		all = m.Bytes()
	default:
		return nil, d.refuse(op, bytes, "the memory is another device's")
	}
	if bytes < 0 || offset < 0 || offset > int64(len(all))-bytes {
		return nil, d.refuse(op, bytes, fmt.Sprintf("offset %d does not lie in a buffer of %d bytes (0: freed)", offset, len(all)))
	}
	return all[offset : offset+bytes], nil
}
