package bench

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"pinscope/bench/pressure"
)

// Event is one line of `--events`: newline-delimited JSON, one object a line,
// in the order things happen. Exactly one of the fields that Type can name is set,
// the one it names. A reader skips types it does not know.
//
//	start     once, first: what will be measured and on what
//	plan      once for each side, before anything is allocated
//	estimate  once in a ladder or a sweep, then: how long it takes at least, and how much memory
//	progress  at most 10 times a second while it measures, and once more at the end
//	repeat    when a repeat has ended: what was measured, also if it ended early
//	warning   a doubt about the figures, or a setting that was ignored
//	result    once: everything, the same object as in the result file
//	error     once, instead of or after the result: why the run failed
type Event struct {
	Schema   int         `json:"schema"`
	Type     string      `json:"type"`
	AtS      float64     `json:"at_s"` // seconds since the program started measuring
	Start    *StartInfo  `json:"start,omitempty"`
	Plan     *PlanInfo   `json:"plan,omitempty"`
	Progress *Progress   `json:"progress,omitempty"`
	Repeat   *RepeatInfo `json:"repeat,omitempty"`
	Estimate *Estimate   `json:"estimate,omitempty"`
	Warning  string      `json:"warning,omitempty"`
	Result   *Result     `json:"result,omitempty"`
	Error    *Failure    `json:"error,omitempty"`
}

// StartInfo opens the stream.
type StartInfo struct {
	Kind    Kind   `json:"kind"`
	Tool    Tool   `json:"tool"`
	Host    Host   `json:"host"`
	Device  Device `json:"device"`
	Command string `json:"command"`
	PID     int    `json:"pid"`
}

// PlanInfo is one side's plan.
type PlanInfo struct {
	Side   string `json:"side"`
	Config Config `json:"config"`
	Plan   Plan   `json:"plan"`
}

// RepeatInfo is a repeat that has ended. A reader that loses the stream before the
// result has these.
type RepeatInfo struct {
	Side   string `json:"side"`
	Repeat Repeat `json:"repeat"`
}

// Progress is how far it has come. Figures of the repeat under way are live
// readings, not results.
type Progress struct {
	Phase   string   `json:"phase"`   // "setup", "warmup", "measure", "finish"
	Side    string   `json:"side"`    // "A", "B" and so on; "1", "2" and so on in a sweep; empty in a run
	Repeat  int      `json:"repeat"`  // the one under way, from 1 on; 0 during setup
	Repeats int      `json:"repeats"` // all repeats of all sides, warm-up included
	Batches int64    `json:"batches"` // done in this repeat
	Of      int64    `json:"of_batches"`
	Done    float64  `json:"done"`  // share of all repeats, 0 to 1
	ETAS    *float64 `json:"eta_s"` // seconds left; null until one can tell

	SamplesPerS *float64   `json:"samples_per_s"` // since the repeat began; null at first
	Memory      LiveMemory `json:"memory"`
	Stages      []LiveRow  `json:"stages,omitempty"`
}

// LiveMemory is memory now, in bytes; null where the system does not tell or is
// not asked.
type LiveMemory struct {
	PinnedBytes    int64  `json:"pinned_bytes"` // our own account
	ResidentBytes  *int64 `json:"resident_bytes"`
	AvailableBytes *int64 `json:"available_bytes"` // without swapping, to this process

	Sample *pressure.Sample `json:"sample,omitempty"` // all figures, at most a twentieth of a second old
}

// LiveRow is what a stage has come to in the repeat under way.
type LiveRow struct {
	Stage  string `json:"stage"`
	Count  int64  `json:"count"`
	TotalN int64  `json:"total_ns"`
	Bytes  int64  `json:"bytes"`
}

// Failure is why a run ended.
type Failure struct {
	Message  string `json:"message"`
	ExitCode int    `json:"exit_code"`
}

// EventWriter writes events as lines. Its methods may be called from any goroutine.
type EventWriter struct {
	mu      sync.Mutex
	encoder *json.Encoder
	start   time.Time
	err     error
}

// NewEventWriter writes events to w.
func NewEventWriter(w io.Writer) *EventWriter {
	return &EventWriter{encoder: json.NewEncoder(w), start: time.Now()}
}

// Write adds an event's schema and time and writes it. After a failed write
// nothing more is written: the reader has gone.
func (w *EventWriter) Write(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	e.Schema, e.AtS = SchemaVersion, time.Since(w.start).Seconds()
	w.err = w.encoder.Encode(e)
}

// Err is the error that ended the stream, nil while it works.
func (w *EventWriter) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
