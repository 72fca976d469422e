package whatif

import (
	"fmt"
	"slices"
	"time"

	"pinscope/bench"
	"pinscope/bench/source"
	"pinscope/bench/trace"
)

// measured is a side of a result and the spans of its typical repeat.
type measured struct {
	side   *bench.Side
	device bench.Device
	spans  [trace.Stages]spans
	waits  waits
	brief  bool        // measured for the times alone: a run of a few batches
	others []*measured // the other sides, for stages that this one did not have
}

// find is the spans of a stage on this side, or on the first other one, whose
// configuration fits.
func (m *measured) find(stage trace.Stage, fits func(bench.Config) bool) (on *measured, s spans, found bool) {
	if m == nil {
		return nil, s, false
	}
	for _, on := range append([]*measured{m}, m.others...) {
		if s := on.spans[stage]; len(s.durations) > 0 && fits(on.side.Config) {
			return on, s, true
		}
	}
	return nil, s, false
}

// anyConfiguration fits all.
func anyConfiguration(bench.Config) bool { return true }

// spans are the durations of one stage, of full batches.
type spans struct {
	durations []time.Duration
	of        int64 // there were, of all batches
}

func newMeasured(r *bench.Result, s *bench.Side) (*measured, error) {
	if s.Trace == nil {
		return nil, &bench.InputError{Field: "from", Problem: fmt.Sprintf("side %q has no finished repeat to take times from", s.Label)}
	}
	m := &measured{side: s, device: r.Device}
	for _, lane := range s.Trace.Lanes {
		for _, span := range lane.Spans {
			if at := &m.spans[span.Stage]; m.full(span.Batch) {
				at.durations = append(at.durations, span.Dur)
			}
		}
	}
	for i := range m.spans {
		m.spans[i].of = s.Trace.Stage(trace.Stage(i)).Count
	}
	m.waits = newWaits(m.side)
	return m, nil
}

// full says whether a batch holds as many samples as all others; where a repeat
// has none that does, the ones it has count.
func (m *measured) full(batch int64) bool {
	p := m.side.Plan
	return p.LastRows == m.side.Config.Batch || p.EpochBatches == 1 || (batch+1)%p.EpochBatches != 0
}

// rows is how many samples a measured batch holds.
func (m *measured) rows() int64 {
	if m.side.Plan.EpochBatches == 1 {
		return m.side.Plan.LastRows
	}
	return m.side.Config.Batch
}

// fill is the stage that filling a slot was, and its spans.
func (m *measured) fill() (trace.Stage, spans) {
	if s := m.spans[trace.Collate]; len(s.durations) > 0 {
		return trace.Collate, s
	}
	return trace.Load, m.spans[trace.Load]
}

// sampleBytes is the input of one sample.
func (m *measured) sampleBytes() int64 { return m.side.Plan.BatchBytes / m.side.Config.Batch }

// batchBytes is the input of a measured batch.
func (m *measured) batchBytes() int64 { return m.rows() * m.sampleBytes() }

// spec puts together what the data set held.
func (m *measured) spec() source.Spec {
	c, p := m.side.Config, m.side.Plan
	spec := source.Spec{Samples: p.Samples, Shape: p.Shape, DType: p.DType, SampleBytes: m.sampleBytes(),
		LabelBytes: p.BatchLabelBytes / c.Batch, HostBytes: p.DatasetBytes}
	if stage, _ := m.fill(); stage == trace.Collate {
		spec.Fills = source.Collates
	}
	return spec
}

// String says how many of how many spans of a stage are there.
func (s spans) String() string {
	if int64(len(s.durations)) < s.of {
		return fmt.Sprintf("%d of %d spans (thinned, or of batches that are not full)", len(s.durations), s.of)
	}
	return fmt.Sprintf("%d spans", len(s.durations))
}

// quantile is the duration that a part of the spans, 0 to 1, is at most as long as.
func (s spans) quantile(part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s.durations))
	return sorted[int(part*float64(len(sorted)-1))]
}
