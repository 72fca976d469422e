package trace

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Trace is what one repeat left behind: spans in bounded number, and figures of
// all the spans there were.
//
// A lane that ran out of room keeps only the spans of some batches: of each
// block of BatchBlock batches in a row, those with a number (batch / BatchBlock)
// divisible by its KeptEvery. The rule is the same on all lanes, so a batch kept
// on the lane with the greatest KeptEvery is there from load to step. All batches
// from CompleteFrom on are whole.
type Trace struct {
	Lanes        []LaneTrace    `json:"lanes"`
	Stages       []StageSummary `json:"stages"` // those that occurred, in the order a batch meets them
	Queue        *QueueSummary  `json:"queue"`  // nil when the trainer asked for no batch
	BatchBlock   int64          `json:"batch_block"`
	CompleteFrom int64          `json:"complete_from_batch"`

	CopyTime       time.Duration `json:"copy_ns"`        // in which the device's input was on its way (HtoD or Gather)
	HiddenCopyTime time.Duration `json:"hidden_copy_ns"` // the part of it in which a step ran too
	OverlapShare   *float64      `json:"overlap_share"`  // HiddenCopyTime by CopyTime, 0 to 1; nil when nothing was copied
}

// LaneTrace is what is kept of one lane.
type LaneTrace struct {
	Name      string         `json:"name"` // "worker 0", "copy engine"
	Kind      LaneKind       `json:"kind"`
	Index     int            `json:"index"`
	Clock     string         `json:"clock"`      // where the times come from
	Busy      *time.Duration `json:"busy_ns"`    // time covered by spans; nil for lanes that are not an engine's
	Count     int64          `json:"count"`      // spans there were
	KeptEvery int64          `json:"kept_every"` // 1 in so many blocks of batches; spans without a batch: 1 in so many
	Dropped   int64          `json:"dropped"`    // spans lost beyond that rule, since one block alone filled the lane
	Reversed  int64          `json:"reversed"`   // spans that ended before they began, counted as 0 long: a clock is wrong
	Spans     []Span         `json:"spans"`      // in the order they were added
}

// StageSummary sums up all spans of a stage over all lanes. Count, total,
// greatest, bytes and CPU are exact; the percentiles are within 0.1 % of a
// recorded duration up to an hour.
type StageSummary struct {
	Stage Stage          `json:"stage"`
	Count int64          `json:"count"`
	Total time.Duration  `json:"total_ns"`
	P50   *time.Duration `json:"p50_ns"` // nil without spans
	P95   *time.Duration `json:"p95_ns"` // nil without spans
	Max   *time.Duration `json:"max_ns"` // nil without spans
	Bytes int64          `json:"bytes"`
	CPU   *time.Duration `json:"cpu_ns"` // nil where it was not measured
}

// Stage gives the summary of one stage, without spans if it never occurred.
func (t *Trace) Stage(s Stage) StageSummary {
	for _, summary := range t.Stages {
		if summary.Stage == s {
			return summary
		}
	}
	return StageSummary{Stage: s}
}

func (l *Lane) trace(completeFrom int64) LaneTrace {
	t := LaneTrace{
		Name: l.name(), Kind: l.kind, Index: l.index, Clock: l.clock,
		Count: l.added, KeptEvery: l.keepEvery,
		Dropped: l.dropped, Reversed: l.reversed,
		Spans: l.spans(completeFrom),
	}
	// On a host lane spans nest, and the outer one is added last.
	if l.kind == CopyEngine || l.kind == ComputeEngine {
		t.Busy = &l.busy
	}
	return t
}

// summarize gives the stages that occurred.
func summarize(lanes []*Lane) []StageSummary {
	summaries := []StageSummary{}
	for s := range Stage(Stages) {
		if summary := summarizeStage(lanes, s); summary.Count > 0 || summary.CPU != nil {
			summaries = append(summaries, summary)
		}
	}
	return summaries
}

func summarizeStage(lanes []*Lane, s Stage) StageSummary {
	sum := StageSummary{Stage: s}
	var longest, cpu time.Duration
	var durations *hdrhistogram.Histogram
	for _, l := range lanes {
		t := &l.stages[s]
		if t.cpuKnown {
			cpu += t.cpu
			sum.CPU = &cpu
		}
		if t.count.Load() == 0 {
			continue
		}
		sum.Count += t.count.Load()
		sum.Total += time.Duration(t.totalNanos.Load())
		sum.Bytes += t.bytes.Load()
		longest = max(longest, t.max)
		if durations == nil {
			durations = newDurations()
		}
		durations.Merge(t.durations)
	}
	if sum.Count > 0 {
		sum.Max = &longest
		sum.P50 = percentile(durations, 50, longest)
		sum.P95 = percentile(durations, 95, longest)
	}
	return sum
}

// percentile is at most the longest duration seen, which the histogram knows
// only to within its precision.
func percentile(h *hdrhistogram.Histogram, p float64, longest time.Duration) *time.Duration {
	d := min(time.Duration(h.ValueAtPercentile(p)), longest)
	return &d
}
