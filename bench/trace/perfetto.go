package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// Meta says what a trace is of, and what else to draw with it.
type Meta struct {
	Process   string // name of the run, such as "B: pin direct, repeat 3"
	Simulated bool   // the device is not a real one: the process name will say so
	Counters  []Counter
}

// Counter is a quantity over time, drawn as a track of its own.
type Counter struct {
	Name   string // such as "pinned"
	Unit   string // such as "bytes"
	Points []CounterPoint
}

// CounterPoint is the value of a counter from a moment on, on the clock of the
// host's spans. A value is finite; where there is none, leave the point out.
type CounterPoint struct {
	At    time.Duration `json:"at_ns"`
	Value float64       `json:"value"`
}

// Process is one run of several in a file.
type Process struct {
	Trace *Trace
	Meta  Meta
}

// Write writes a trace as Chrome trace JSON, which Perfetto and chrome://tracing
// open. See [WriteAll].
func Write(w io.Writer, t *Trace, meta Meta) error {
	return WriteAll(w, []Process{{t, meta}})
}

// WriteAll writes several runs, such as A and B of a comparison, into one file,
// each as a process of its own. Times count from the earliest moment in any of
// them, in microseconds with three decimals, so that nanoseconds are exact.
//
// Every lane is a thread. On one thread slices must be disjoint or nested, or
// viewers drop them or draw wrong lengths (github.com/google/perfetto issue
// 4280): a span that would overlap goes to a second thread of its lane.
//
// It fails on the first error of w, on a span that ends before it starts, and on
// a counter value that is not finite; the file is then not complete.
func WriteAll(w io.Writer, processes []Process) error {
	out := &eventWriter{w: bufio.NewWriterSize(w, 1<<16), zero: earliest(processes)}
	out.text(`{"displayTimeUnit":"ns","traceEvents":[`)
	for i, p := range processes {
		out.process(i+1, p)
	}
	out.text("\n],\"otherData\":")
	out.value(describe(processes))
	out.text("}\n")
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return fmt.Errorf("trace: write Perfetto file: %w", out.err)
	}
	return nil
}

// processName is what a viewer shows; a simulated run never goes without the word.
func (m Meta) processName() string {
	name := cmp.Or(m.Process, "pinscope")
	if m.Simulated {
		name += " (simulated)"
	}
	return name
}

// earliest is the first moment in all traces and counters.
func earliest(processes []Process) time.Duration {
	first := time.Duration(math.MaxInt64)
	for _, p := range processes {
		for _, l := range p.Trace.Lanes {
			for _, s := range l.Spans {
				first = min(first, s.Start)
			}
		}
		for _, c := range p.counters() {
			for _, point := range c.Points {
				first = min(first, point.At)
			}
		}
	}
	return first
}

// counters are those given, after the queue depth.
func (p Process) counters() []Counter {
	if p.Trace.Queue == nil {
		return p.Meta.Counters
	}
	depth := Counter{Name: "queue depth", Unit: "batches"}
	for _, q := range p.Trace.Queue.Points {
		depth.Points = append(depth.Points, CounterPoint{q.At, float64(q.Depth)})
	}
	return append([]Counter{depth}, p.Meta.Counters...)
}

// event is one entry of the trace event format: docs.google.com/document/d/
// 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
type event struct {
	Name     string  `json:"name"`
	Category string  `json:"cat,omitempty"`
	Phase    string  `json:"ph"`
	Time     micros  `json:"ts"`
	Dur      *micros `json:"dur,omitempty"`
	Process  int     `json:"pid"`
	Thread   int     `json:"tid"`
	Args     any     `json:"args,omitempty"`
}

// micros is a duration that JSON shows in microseconds.
type micros time.Duration

// MarshalJSON gives microseconds with three decimals. It is never asked for a
// negative one.
func (m micros) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%03d", m/1000, m%1000), nil
}

// spanArgs is what a viewer shows of a selected slice.
type spanArgs struct {
	Batch *int64 `json:"batch,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
}

// eventWriter streams events. After an error it does nothing more.
type eventWriter struct {
	w    *bufio.Writer
	zero time.Duration
	some bool // an event has been written: the next needs a comma
	err  error
}

func (o *eventWriter) text(s string) {
	if o.err == nil {
		_, o.err = o.w.WriteString(s)
	}
}

func (o *eventWriter) value(v any) {
	if o.err != nil {
		return
	}
	var text []byte
	if text, o.err = json.Marshal(v); o.err == nil {
		_, o.err = o.w.Write(text)
	}
}

func (o *eventWriter) event(e event) {
	if o.some {
		o.text(",")
	}
	o.some = true
	o.text("\n")
	o.value(e)
}

func (o *eventWriter) name(pid, tid int, what string, args map[string]any) {
	o.event(event{Name: what, Phase: "M", Process: pid, Thread: tid, Args: args})
}

func (o *eventWriter) process(pid int, p Process) {
	o.name(pid, 0, "process_name", map[string]any{"name": p.Meta.processName()})
	o.name(pid, 0, "process_sort_index", map[string]any{"sort_index": pid})
	tid := 1
	for _, l := range p.Trace.Lanes {
		rows, err := layOut(l)
		if err != nil && o.err == nil {
			o.err = err
		}
		for i, row := range rows {
			o.thread(pid, tid, threadName(l.Name, i), l.Kind, row)
			tid++
		}
	}
	for _, c := range p.counters() {
		for _, point := range c.Points {
			o.event(event{
				Name: c.Name, Phase: "C", Time: micros(point.At - o.zero), Process: pid,
				Args: map[string]float64{cmp.Or(c.Unit, "value"): point.Value},
			})
		}
	}
}

func threadName(lane string, row int) string {
	if row == 0 {
		return lane
	}
	return fmt.Sprintf("%s (overlapping %d)", lane, row)
}

func (o *eventWriter) thread(pid, tid int, name string, kind LaneKind, spans []Span) {
	o.name(pid, tid, "thread_name", map[string]any{"name": name})
	o.name(pid, tid, "thread_sort_index", map[string]any{"sort_index": tid})
	for _, s := range spans {
		dur, args := micros(s.Dur), spanArgs{Bytes: s.Bytes}
		if s.Batch >= 0 {
			args.Batch = &s.Batch
		}
		o.event(event{
			Name: s.Stage.String(), Category: kind.String(), Phase: "X",
			Time: micros(s.Start - o.zero), Dur: &dur, Process: pid, Thread: tid, Args: args,
		})
	}
}

// layOut spreads a lane's spans over as few rows as it takes for those in a row
// to be disjoint or nested, an outer one before those inside it. A lane without
// spans still has its row.
func layOut(l LaneTrace) ([][]Span, error) {
	spans := slices.Clone(l.Spans)
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur))
	})
	rows := [][]Span{nil}
	open := [][]time.Duration{nil} // for each row the ends of the spans not yet over, outer first
	for _, s := range spans {
		if s.Dur < 0 {
			return nil, fmt.Errorf("lane %s: %s of batch %d ends %v before it starts", l.Name, s.Stage, s.Batch, -s.Dur)
		}
		row := 0
		for ; row < len(rows); row++ {
			if ends := stillOpen(open[row], s.Start); len(ends) == 0 || s.End() <= ends[len(ends)-1] {
				open[row] = ends
				break
			}
		}
		if row == len(rows) {
			rows, open = append(rows, nil), append(open, nil)
		}
		rows[row] = append(rows[row], s)
		open[row] = append(open[row], s.End())
	}
	return rows, nil
}

// stillOpen leaves out the ends that lie at or before a moment.
func stillOpen(ends []time.Duration, at time.Duration) []time.Duration {
	for len(ends) > 0 && ends[len(ends)-1] <= at {
		ends = ends[:len(ends)-1]
	}
	return ends
}

// processNote says, beside the events, how to read them.
type processNote struct {
	Name         string     `json:"name"`
	Simulated    bool       `json:"simulated"`
	BatchBlock   int64      `json:"batch_block"`
	CompleteFrom int64      `json:"complete_from_batch"`
	Lanes        []laneNote `json:"lanes"`
}

type laneNote struct {
	Name      string `json:"name"`
	Clock     string `json:"clock"`
	Count     int64  `json:"count"`
	KeptEvery int64  `json:"kept_every"`
	Dropped   int64  `json:"dropped"`
}

func describe(processes []Process) map[string][]processNote {
	notes := []processNote{}
	for _, p := range processes {
		note := processNote{
			Name: p.Meta.processName(), Simulated: p.Meta.Simulated,
			BatchBlock: p.Trace.BatchBlock, CompleteFrom: p.Trace.CompleteFrom, Lanes: []laneNote{},
		}
		for _, l := range p.Trace.Lanes {
			note.Lanes = append(note.Lanes, laneNote{l.Name, l.Clock, l.Count, l.KeptEvery, l.Dropped})
		}
		notes = append(notes, note)
	}
	return map[string][]processNote{"processes": notes}
}
