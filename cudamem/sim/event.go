package sim

import (
	"math"
	"sync/atomic"
	"time"

	"pinscope/cudamem"
)

// event is a time that was computed when it was recorded.
type event struct {
	device *device
	at     atomic.Int64 // time.Duration on the clock, or notRecorded
	closed atomic.Bool
}

var _ cudamem.Event = (*event)(nil)

// notRecorded lies before all times, so that nobody waits for it.
const notRecorded = math.MinInt64

// Wait sleeps until the latest recording.
func (e *event) Wait() error {
	if at := e.at.Load(); at != notRecorded {
		e.device.waitUntil(time.Duration(at))
	}
	return nil
}

// Done says whether the time of the latest recording has come.
func (e *event) Done() (bool, error) {
	if at := e.at.Load(); at != notRecorded {
		if e.device.clock.Now() < time.Duration(at) {
			return false, nil
		}
		e.device.catchUp()
	}
	return true, nil
}

// Time is the time of the latest recording.
func (e *event) Time() (time.Duration, error) {
	at := e.at.Load()
	if at == notRecorded || e.device.clock.Now() < time.Duration(at) {
		return 0, e.device.refuse("simulated event time", 0, "the event is not recorded, or not done")
	}
	return time.Duration(at), nil
}

// Close makes the event unusable. It may be called twice.
func (e *event) Close() error {
	e.closed.Store(true)
	return nil
}
