package whatif

import (
	"time"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/trace"
)

// waits is what waiting costs beside the time it waits: durations from the end of
// what was waited for to the end of the wait.
type waits struct {
	wake  []time.Duration // the trainer's, for the device, which was not done yet
	poll  []time.Duration // the trainer's, for the device, which was done
	batch []time.Duration // the trainer's, for a batch, which was not there yet
	pin   []time.Duration // the pin thread's, likewise
	stage []time.Duration // the trainer's, in the call of a pageable copy, once its stream was free
}

// newWaits holds each wait of the trainer against the span that it waited for.
func newWaits(s *bench.Side) (w waits) {
	ends := spanEnds(s.Trace)
	filled := func(batch int64) time.Duration { return max(ends[trace.Load][batch], ends[trace.Collate][batch]) }
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
				ready := filled(span.Batch)
				if s.Config.Pin.HasThread() {
					ready = ends[trace.PinCopy][span.Batch]
				}
				if ready > span.Start {
					w.batch = append(w.batch, max(0, span.End()-ready))
				}
			case trace.PinWait:
				if ready := filled(span.Batch); ready > span.Start {
					w.pin = append(w.pin, max(0, span.End()-ready))
				}
			case trace.CopyCall:
				before := ends[trace.HtoD][span.Batch-1]
				if s.Config.CopyStream == loader.Shared {
					before = max(before, ends[trace.Step][span.Batch-1])
				}
				if !s.Config.Pin.Pins() && before > 0 {
					w.stage = append(w.stage, max(0, span.End()-max(span.Start, before)))
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
