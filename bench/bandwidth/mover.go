package bandwidth

import (
	"errors"
	"time"

	"pinscope/cudamem"
)

// mover moves bytes one way between a host and a device buffer, on a stream.
type mover struct {
	stream cudamem.Stream
	host   *cudamem.HostBuffer
	device cudamem.DeviceBuffer
	bytes  int64
	up     bool // to the device

	// gatherer, where not nil, has a kernel read the host memory over the link:
	// one sample of bytes, by an index that is 0.
	gatherer cudamem.Gatherer
	index    *cudamem.HostBuffer
	part     [1]cudamem.GatherPart // kept, so that queueing allocates nothing
}

// queue queues one copy.
func (m *mover) queue() error {
	switch {
	case m.gatherer != nil:
		m.part[0] = cudamem.GatherPart{Dataset: m.host, Bytes: m.bytes}
		return m.gatherer.Gather(m.stream, m.device, m.index, 0, 1, m.part[:]...)
	case m.up:
		return m.stream.CopyHtoD(m.device, 0, m.host, 0, m.bytes)
	default:
		return m.stream.CopyDtoH(m.host, 0, m.device, 0, m.bytes)
	}
}

// timer takes samples. Its events are used again for each.
type timer struct {
	clock                cudamem.Clock
	begin, end, otherEnd cudamem.Event
	otherLast            bool // of the last sample: the other mover went on to its end
}

// newTimer makes the events.
func newTimer(dev cudamem.Device, clock cudamem.Clock) (*timer, error) {
	t := &timer{clock: clock}
	for _, e := range []*cudamem.Event{&t.begin, &t.end, &t.otherEnd} {
		var err error
		if *e, err = dev.NewEvent(); err != nil {
			return nil, errors.Join(err, t.close())
		}
	}
	return t, nil
}

func (t *timer) close() error {
	var errs []error
	for _, e := range []cudamem.Event{t.begin, t.end, t.otherEnd} {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	return errors.Join(errs...)
}

// sample times a number of copies by m, while other (nil: nobody) queues so many
// for each of them. Nothing is on either stream when it starts and when it ends.
func (t *timer) sample(m, other *mover, copies, others int) (Sample, error) {
	s := Sample{Copies: copies}
	var err error
	if m.host.Kind() == cudamem.Managed {
		cudamem.TouchPages(m.host.Bytes()) // back to the host, so that they move again
	}
	if other != nil {
		err = other.queue() // the link is busy the other way before the first event
	}

	// Timed from here. In it: copies and the two events around them, all queued
	// at once, so that the link never waits for the caller unless a copy makes
	// the caller wait. Kept out: allocation, waiting, reading the times.
	err = firstError(err, m.stream.Record(t.begin))
	for range copies {
		asked := t.clock.Now()
		failed := m.queue()
		s.Blocked += t.clock.Now() - asked
		if failed != nil && err == nil {
			err = failed
		}
		for range others {
			if failed := other.queue(); failed != nil && err == nil {
				err = failed
			}
		}
	}
	err = firstError(err, m.stream.Record(t.end))
	// Timed to here.

	if other != nil {
		err = firstError(err, other.stream.Record(t.otherEnd), t.otherEnd.Wait())
	}
	if err = firstError(err, t.end.Wait()); err != nil {
		return Sample{}, err
	}
	return s, t.read(&s, other != nil)
}

// read reads the events of a sample that is over.
func (t *timer) read(s *Sample, withOther bool) error {
	begin, err := t.begin.Time()
	end, failed := t.end.Time()
	if err = firstError(err, failed); err != nil {
		return err
	}
	s.DMA = max(0, end-begin)
	t.otherLast = false
	if withOther {
		otherEnd, err := t.otherEnd.Time()
		t.otherLast = otherEnd >= end
		return err
	}
	return nil
}

// perCopy is the longer of what the device and what the caller spent on a copy.
func (s Sample) perCopy() time.Duration {
	if s.Copies <= 0 {
		return 0
	}
	return max(s.DMA, s.Blocked) / time.Duration(s.Copies)
}
