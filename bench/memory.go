package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pinscope/bench/pressure"
	"pinscope/bench/trace"
	"pinscope/bench/units"
	"pinscope/cudamem"
)

// watchMemory samples memory from here on and ends the session's context when
// memory gets short. The function it returns must be called at the end; finish
// stops the sampler.
func (s *session) watchMemory() (release func()) {
	if !s.o.SampleMemory {
		return func() {}
	}
	dog, guarded, done := pressure.NewWatchdog(s.ctx, pressure.DefaultRules(*s.result.Limits))
	s.sampler = pressure.Start(context.WithoutCancel(s.ctx), s.clock, pressure.Options{Root: s.o.root, Look: dog.Look})
	s.ctx = guarded
	return done
}

// liveMemory is the sampler's newest reading.
func (s *session) liveMemory() LiveMemory {
	m := LiveMemory{PinnedBytes: cudamem.ReadLedger().PinnedBytes}
	if s.sampler == nil {
		return m
	}
	sample, ok := s.sampler.Latest()
	if !ok {
		return m
	}
	m.Sample = &sample
	if available, ok := sample.Int(pressure.Available); ok {
		m.AvailableBytes = &available
	}
	resident := int64(0)
	for _, f := range []pressure.Figure{pressure.RSSAnon, pressure.RSSFile, pressure.RSSShmem} {
		part, ok := sample.Int(f)
		if !ok {
			return m
		}
		resident += part
	}
	m.ResidentBytes = &resident
	return m
}

// mostSampling is the share of a core that sampling may take without a word.
const mostSampling = 0.005

// textMemory is what the memory system held and paid, in two lines.
func (r *Result) textMemory(w *textWriter) {
	if r.Pressure == nil {
		return
	}
	most := func(f pressure.Figure) string {
		if _, sum := r.Pressure.Figure(f); sum != nil {
			return units.Bytes(int64(sum.Max))
		}
		return units.NotAvailable
	}
	w.pair("Memory", fmt.Sprintf("pinned %s; RSS anon %s, file %s, shmem %s", most(pressure.Pinned),
		most(pressure.RSSAnon), most(pressure.RSSFile), most(pressure.RSSShmem)))
	least, stall := units.NotAvailable, func(f pressure.Figure) string {
		if part := r.Pressure.StallShare(f); part != nil {
			return share(*part)
		}
		return units.NotAvailable
	}
	if _, sum := r.Pressure.Figure(pressure.Available); sum != nil {
		least = units.Bytes(int64(sum.Min))
	}
	text := fmt.Sprintf("lowest available %s; PSI some %s, full %s", least,
		stall(pressure.MemorySomeStall), stall(pressure.MemoryFullStall))
	if _, sum := r.Pressure.Figure(pressure.StolenPages); sum != nil && sum.Delta > 0 {
		text += "; reclaimed " + plural(int64(sum.Delta), "page")
	}
	if cost := r.Pressure.Cost.ShareOfCore; cost != nil && *cost > mostSampling {
		text += fmt.Sprintf("; sampling %s of a core", share(*cost))
	}
	w.pair("", text)
}

// memoryCounters are the tracks of memory beside the spans of a stretch of the run.
func (r *Result) memoryCounters(from, to time.Duration) []trace.Counter {
	if r.Pressure == nil {
		return nil
	}
	counters := []trace.Counter{
		{Name: "pinned", Unit: "bytes", Points: r.levels(pressure.Pinned)},
		{Name: "memory available", Unit: "bytes", Points: r.levels(pressure.Available)},
		{Name: "PSI memory some", Unit: "percent", Points: r.stalls(pressure.MemorySomeStall)},
		{Name: "PSI memory full", Unit: "percent", Points: r.stalls(pressure.MemoryFullStall)},
	}
	for i := range counters {
		counters[i].Points = within(counters[i].Points, from, to)
	}
	return slices.DeleteFunc(counters, func(c trace.Counter) bool { return len(c.Points) == 0 })
}

// levels are the values of a figure.
func (r *Result) levels(f pressure.Figure) (points []trace.CounterPoint) {
	column, _ := r.Pressure.Figure(f)
	if column == nil {
		return nil
	}
	for i, v := range column.Last {
		if v != nil && i < len(r.Pressure.At) {
			points = append(points, trace.CounterPoint{At: r.Pressure.At[i], Value: *v})
		}
	}
	return points
}

// stalls are the shares of time stalled, in per cent, each from the moment at which
// the time it stands for begins.
func (r *Result) stalls(f pressure.Figure) (points []trace.CounterPoint) {
	totals := r.levels(f)
	for i := 1; i < len(totals); i++ {
		if elapsed := totals[i].At - totals[i-1].At; elapsed > 0 {
			points = append(points, trace.CounterPoint{At: totals[i-1].At,
				Value: 100 * (totals[i].Value - totals[i-1].Value) / float64(elapsed)})
		}
	}
	return points
}

// within are the points of a stretch; the last before it holds at its start.
func within(points []trace.CounterPoint, from, to time.Duration) (out []trace.CounterPoint) {
	for _, p := range points {
		switch {
		case p.At > to:
			return out
		case p.At <= from:
			out = append(out[:0], trace.CounterPoint{At: from, Value: p.Value})
		default:
			out = append(out, p)
		}
	}
	return out
}
