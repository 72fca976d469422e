package whatif

import (
	"time"

	"pinscope/bench"
	"pinscope/bench/trace"
)

// waits is what waiting costs the trainer beside the time it waits: durations from
// the end of what was waited for to the end of the wait.
type waits struct {
	wake  []time.Duration // for the device, which was not done yet
	poll  []time.Duration // for the device, which was done
	batch []time.Duration // for a batch, which was not there yet
}

// newWaits holds each wait of the trainer against the span that it waited for.
func newWaits(s *bench.Side) (w waits) {
	ends := spanEnds(s.Trace)
	flights := max(int64(s.Plan.DeviceSlots), 1) + extraFlights
	for _, lane := range s.Trace.Lanes {
		for _, span := range lane.Spans {
			switch span.Stage {
			case trace.WaitCopy:
				w.device(span, max(ends[trace.HtoD][span.Batch], ends[trace.Gather][span.Batch]))
			case trace.WaitStep:
				step := span.Batch - flights
				if s.Config.SyncSteps || s.Config.Workers == 0 {
					step = span.Batch
				}
				w.device(span, ends[trace.Step][step])
			case trace.WaitBatch:
				filled := max(ends[trace.Load][span.Batch], ends[trace.Collate][span.Batch])
				if s.Config.Pin.HasThread() {
					filled = ends[trace.PinCopy][span.Batch]
				}
				if filled > span.Start {
					w.batch = append(w.batch, max(0, span.End()-filled))
				}
			}
		}
	}
	return w
}

// device adds a wait for something that ended at a time; 0: its span is not there.
func (w *waits) device(span trace.Span, end time.Duration) {
	switch {
	case end == 0:
	case end > span.Start:
		w.wake = append(w.wake, max(0, span.End()-end)) // clocks of host and device may differ a little
	default:
		w.poll = append(w.poll, span.Dur)
	}
}

// spanEnds is when each stage of each batch ended.
func spanEnds(t *trace.Trace) (ends [trace.Stages]map[int64]time.Duration) {
	for i := range ends {
		ends[i] = map[int64]time.Duration{}
	}
	for _, lane := range t.Lanes {
		for _, span := range lane.Spans {
			ends[span.Stage][span.Batch] = span.End()
		}
	}
	return ends
}
