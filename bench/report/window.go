package report

import (
	"cmp"
	"slices"
	"time"

	"pinscope/bench/trace"
)

// Window is a stretch of time on the run's clock that charts show. Their axis
// counts from From. The zero Window is all there is to show.
type Window struct{ From, To time.Duration }

func (w Window) set() bool { return w.To > w.From }

// axis is the time axis of a window.
func (w Window) axis(look Look) axis {
	a := axis{title: look.say(timeAxis), unit: inNanos}
	a.spanExactly(0, float64(w.To-w.From))
	return a
}

// Whole is the window of everything in a trace; the zero Window without spans.
func Whole(t *trace.Trace) Window {
	var w Window
	if t == nil {
		return w
	}
	first := true
	for i := range t.Lanes {
		for _, s := range t.Lanes[i].Spans {
			if first {
				w, first = Window{s.Start, s.End()}, false
			}
			w.From, w.To = min(w.From, s.Start), max(w.To, s.End())
		}
	}
	return w
}

// Steady gives each trace a window of so many batches from the middle of those
// that are recorded whole. All windows are as long as the longest of them, so
// that charts under each other have the same scale; the zero Window stands where
// a trace has no batches. From is also the number of the first batch shown.
func Steady(traces []*trace.Trace, batches int) (windows []Window, from []int64) {
	windows, from = make([]Window, len(traces)), make([]int64, len(traces))
	longest := time.Duration(0)
	for i, t := range traces {
		windows[i], from[i] = steady(t, max(batches, 1))
		longest = max(longest, windows[i].To-windows[i].From)
	}
	for i := range windows {
		if windows[i].set() {
			windows[i].To = windows[i].From + longest
		}
	}
	return windows, from
}

func steady(t *trace.Trace, batches int) (Window, int64) {
	starts := batchStarts(t)
	if len(starts) == 0 {
		return Window{}, 0
	}
	first := max(0, (len(starts)-batches)/2)
	w := Window{From: starts[first].at, To: Whole(t).To}
	if end := first + batches; end < len(starts) {
		w.To = starts[end].at
	}
	return w, starts[first].batch
}

type batchStart struct {
	batch int64
	at    time.Duration
}

// batchStarts is when the trainer, or else the compute engine, first had to do
// with each batch that is recorded whole, in order of time.
func batchStarts(t *trace.Trace) []batchStart {
	if t == nil {
		return nil
	}
	for _, kind := range []trace.LaneKind{trace.Trainer, trace.ComputeEngine, trace.CopyEngine} {
		at := map[int64]time.Duration{}
		for i := range t.Lanes {
			if t.Lanes[i].Kind != kind {
				continue
			}
			for _, s := range t.Lanes[i].Spans {
				if s.Batch < t.CompleteFrom || s.Batch < 0 {
					continue
				}
				if before, known := at[s.Batch]; !known || s.Start < before {
					at[s.Batch] = s.Start
				}
			}
		}
		if len(at) == 0 {
			continue
		}
		starts := make([]batchStart, 0, len(at))
		for batch, when := range at {
			starts = append(starts, batchStart{batch, when})
		}
		slices.SortFunc(starts, func(a, b batchStart) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.batch, b.batch))
		})
		return starts
	}
	return nil
}
