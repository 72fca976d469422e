package cpu

import (
	"math"
	"sync/atomic"
	"time"

	"pinscope/cudamem"
)

// stream queues nothing: what is called is done before the call returns.
type stream struct{ clock cudamem.Clock }

var _ cudamem.Stream = (*stream)(nil)

// CopyHtoD is refused.
func (s *stream) CopyHtoD(_ cudamem.DeviceBuffer, _ int64, _ *cudamem.HostBuffer, _, bytes int64) error {
	return refuse("HtoD copy", bytes, noTransfer)
}

// CopyDtoH is refused.
func (s *stream) CopyDtoH(_ *cudamem.HostBuffer, _ int64, _ cudamem.DeviceBuffer, _, bytes int64) error {
	return refuse("DtoH copy", bytes, noTransfer)
}

// Record gives the event the present time.
func (s *stream) Record(e cudamem.Event) error {
	mark, ok := e.(*event)
	if !ok {
		return refuse("event record", 0, "the event is another device's")
	}
	mark.at.Store(int64(s.clock.Now()))
	return nil
}

// WaitFor has nothing to wait for: what was recorded is done.
func (s *stream) WaitFor(cudamem.Event) error { return nil }

// Synchronize has nothing to wait for.
func (s *stream) Synchronize() error { return nil }

// Close has nothing to free.
func (s *stream) Close() error { return nil }

// event is a time.
type event struct{ at atomic.Int64 }

var _ cudamem.Event = (*event)(nil)

// notRecorded is no time of a clock.
const notRecorded = math.MinInt64

// Wait returns at once: what was recorded is done.
func (e *event) Wait() error { return nil }

// Done is true: what was recorded is done.
func (e *event) Done() (bool, error) { return true, nil }

// Time is when the event was recorded.
func (e *event) Time() (time.Duration, error) {
	at := e.at.Load()
	if at == notRecorded {
		return 0, refuse("event time", 0, "the event is not recorded")
	}
	return time.Duration(at), nil
}

// Close has nothing to free.
func (e *event) Close() error { return nil }
