// Package trace records when each stage of each batch ran, on which lane, in
// bounded memory; sums it up; and writes it as a trace that Perfetto opens.
//
// A [Recorder] is made before a repeat and gives out one [Lane] to each
// goroutine (or engine) that does work; a Lane takes spans from one goroutine at
// a time and allocates nothing. When the repeat is over, [Recorder.Trace]
// gives the spans kept, and the summary of all spans there were.
package trace

import "time"

// Stage is what a span of time was spent on.
type Stage uint8

// The stages, in the order a batch meets them.
const (
	WaitSlot  Stage = iota // worker waits for a free slot
	Load                   // worker makes or decodes the samples of a batch
	Collate                // worker copies samples that lie in memory together
	PinWait                // pin thread waits for the next batch in order
	RingWait               // pin thread waits for a free ring slot
	PinCopy                // pin thread copies a pageable batch into a pinned slot
	WaitBatch              // trainer waits for the next batch in order
	CopyCall               // trainer is inside the copy call (staging included, if pageable)
	WaitCopy               // trainer waits for the copy to be done (non_blocking off)
	WaitStep               // trainer waits for a step to be done (device slots or results all in use)
	Launch                 // trainer queues the step
	HtoD                   // copy engine moves the input tensor of a batch
	Gather                 // device collects a batch out of the mapped data set
	Step                   // compute engine runs the training step
	stages                 // how many there are
)

// Stages is the number of stages.
const Stages = int(stages)

// LaneKind is the kind of thing that does work.
type LaneKind uint8

// The kinds of lane, in the order they are drawn.
const (
	Worker LaneKind = iota
	PinThread
	Trainer
	CopyEngine
	ComputeEngine
)

// Span is one stretch of work or waiting.
type Span struct {
	Stage Stage         `json:"stage"`
	Batch int64         `json:"batch"` // counted over all epochs of the repeat, from 0; -1 where no batch is meant
	Start time.Duration `json:"start_ns"`
	Dur   time.Duration `json:"dur_ns"`
	Bytes int64         `json:"bytes,omitempty"` // moved or written, 0 where none
}

// End is when the span ended.
func (s Span) End() time.Duration { return s.Start + s.Dur }
