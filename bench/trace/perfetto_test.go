package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// readEvent is an event as a viewer reads it.
type readEvent struct {
	Name, Ph string
	Cat      string
	Pid, Tid int
	Ts, Dur  json.Number
	Args     struct {
		Name    string
		Batch   *int64
		Bytes   int64
		Batches *float64
		MiB     *float64
	}
}

// nanos reads microseconds with three decimals without rounding.
func nanos(t *testing.T, n json.Number) int64 {
	t.Helper()
	whole, fraction, _ := strings.Cut(n.String(), ".")
	v, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil || len(fraction) != 3 {
		t.Fatalf("%q is no time with three decimals", n)
	}
	return v
}

func export(t *testing.T, processes ...Process) []readEvent {
	t.Helper()
	var file bytes.Buffer
	if err := WriteAll(&file, processes); err != nil {
		t.Fatal(err)
	}
	var read struct {
		DisplayTimeUnit string
		TraceEvents     []readEvent
		OtherData       struct{ Processes []processNote }
	}
	if err := json.Unmarshal(file.Bytes(), &read); err != nil {
		t.Fatalf("%v in\n%s", err, file.Bytes())
	}
	if read.DisplayTimeUnit != "ns" || len(read.OtherData.Processes) != len(processes) {
		t.Errorf("unit %q, %d processes described", read.DisplayTimeUnit, len(read.OtherData.Processes))
	}
	return read.TraceEvents
}

// checkThreads fails if slices of one thread overlap without nesting (C84), or
// begin before 0 (C86).
func checkThreads(t *testing.T, events []readEvent) {
	t.Helper()
	type slice struct{ start, end int64 }
	threads := map[[2]int][]slice{}
	for _, e := range events {
		if e.Ph == "X" {
			start, dur := nanos(t, e.Ts), nanos(t, e.Dur)
			if start < 0 || dur < 0 {
				t.Errorf("%s at %d for %d", e.Name, start, dur)
			}
			key := [2]int{e.Pid, e.Tid}
			threads[key] = append(threads[key], slice{start, start + dur})
		}
	}
	for key, slices := range threads {
		for i, a := range slices {
			for _, b := range slices[:i] {
				disjoint := a.end <= b.start || b.end <= a.start
				nested := a.start >= b.start && a.end <= b.end || b.start >= a.start && b.end <= a.end
				if !disjoint && !nested {
					t.Errorf("thread %v: %v and %v overlap", key, a, b)
				}
			}
		}
	}
}

func TestExportReadsBack(t *testing.T) {
	r := NewRecorder(Options{})
	play(r, 200)
	tr := r.Trace()
	// A clock that had run for 10 minutes, at an odd nanosecond.
	const offset = 10*time.Minute + 7
	var want []string
	for i := range tr.Lanes {
		for j := range tr.Lanes[i].Spans {
			s := &tr.Lanes[i].Spans[j]
			want = append(want, fmt.Sprintln(tr.Lanes[i].Name, s.Stage, s.Batch, int64(s.Start), int64(s.Dur), s.Bytes))
			s.Start += offset
		}
	}
	for i := range tr.Queue.Points {
		tr.Queue.Points[i].At += offset
	}

	events := export(t, Process{tr, Meta{
		Process: "B: pin direct, repeat 1", Simulated: true,
		Counters: []Counter{{"pinned", "MiB", []CounterPoint{{offset + 3, 36.75}}}},
	}})
	checkThreads(t, events)
	threads := map[int]string{}
	var got []string
	points := 0
	for _, e := range events {
		switch {
		case e.Name == "thread_name":
			threads[e.Tid] = e.Args.Name
		case e.Name == "process_name":
			if e.Args.Name != "B: pin direct, repeat 1 (simulated)" {
				t.Errorf("process is named %q", e.Args.Name)
			}
		case e.Ph == "X":
			got = append(got, fmt.Sprintln(threads[e.Tid], e.Name, *e.Args.Batch, nanos(t, e.Ts), nanos(t, e.Dur), e.Args.Bytes))
		case e.Ph == "C" && e.Name == "queue depth" && e.Args.Batches != nil:
			points++
		case e.Ph == "C" && e.Name == "pinned":
			if nanos(t, e.Ts) != 3 || *e.Args.MiB != 36.75 {
				t.Errorf("pinned: %+v", e)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("read back %d slices, recorded %d, or not the same", len(got), len(want))
	}
	if points != 200 {
		t.Errorf("%d points of queue depth, want 200", points)
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for _, n := range threads {
			if !yield(n) {
				return
			}
		}
	})
	if want := []string{"compute engine", "copy engine", "trainer", "worker 0", "worker 1", "worker 2", "worker 3"}; !slices.Equal(names, want) {
		t.Errorf("threads %v, want %v", names, want)
	}
}

func TestOverlappingSpansGetRowsOfTheirOwn(t *testing.T) {
	us := time.Microsecond
	for _, c := range []struct {
		name  string
		spans []Span
		rows  int
	}{
		// github.com/google/perfetto issue 4280: A at 3 for 3.776, B at 5 for 2.
		{"perfetto 4280", []Span{{Start: 3 * us, Dur: 3776}, {Start: 5 * us, Dur: 2 * us}}, 2},
		{"one after the other", []Span{{Start: 3 * us, Dur: 2 * us}, {Start: 5 * us, Dur: 2 * us}}, 1},
		{"nested, inner one added first", []Span{{Start: 4 * us, Dur: us}, {Start: 3 * us, Dur: 4 * us}}, 1},
		{"same start", []Span{{Start: 3 * us, Dur: us}, {Start: 3 * us, Dur: 2 * us}}, 1},
		{"overlaps the inner only", []Span{{Start: 0, Dur: 9 * us}, {Start: us, Dur: 3 * us}, {Start: 2 * us, Dur: 4 * us}}, 2},
		{"three at once, then free again", []Span{{Start: 0, Dur: 4}, {Start: 1, Dur: 4}, {Start: 2, Dur: 4}, {Start: 6, Dur: 1}}, 3},
		{"nothing long", []Span{{Start: 3}, {Start: 3}, {Start: 3, Dur: 1}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			lane := LaneTrace{Name: "copy engine", Kind: CopyEngine, Spans: c.spans}
			events := export(t, Process{&Trace{Lanes: []LaneTrace{lane}}, Meta{}})
			checkThreads(t, events)
			slices, rows := 0, 0
			for _, e := range events {
				if e.Ph == "X" {
					slices++
				}
				if e.Name == "thread_name" {
					rows++
				}
			}
			if slices != len(c.spans) || rows != c.rows {
				t.Errorf("%d slices on %d threads, want %d on %d", slices, rows, len(c.spans), c.rows)
			}
		})
	}
}

func TestProcessesKeepApart(t *testing.T) {
	lane := func(start time.Duration) *Trace {
		return &Trace{Lanes: []LaneTrace{{Name: "trainer", Kind: Trainer, Spans: []Span{{Stage: Launch, Batch: -1, Start: start, Dur: 5}}}}}
	}
	events := export(t, Process{lane(9000), Meta{Process: "A"}}, Process{lane(5000), Meta{}})
	var got []string
	for _, e := range events {
		if e.Ph == "X" || e.Name == "process_name" {
			got = append(got, fmt.Sprint(e.Pid, " ", e.Name, " ", e.Args.Name, e.Ts))
		}
		if e.Ph == "X" && e.Args.Batch != nil {
			t.Errorf("a span without a batch has batch %d", *e.Args.Batch)
		}
	}
	want := []string{"1 process_name A0.000", "1 launch 4.000", "2 process_name pinscope0.000", "2 launch 0.000"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// fullDisk takes so many bytes.
type fullDisk struct{ room int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestFailuresAreReturned(t *testing.T) {
	lane := LaneTrace{Name: "trainer", Kind: Trainer}
	for i := range time.Duration(10_000) {
		lane.Spans = append(lane.Spans, Span{Stage: Launch, Batch: int64(i), Start: 10 * i, Dur: 5})
	}
	big := &Trace{Lanes: []LaneTrace{lane}}
	var size bytes.Buffer
	if err := Write(&size, big, Meta{}); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 100_000, size.Len() - 1} {
		if err := Write(&fullDisk{room}, big, Meta{}); !errors.Is(err, errFull) {
			t.Errorf("room for %d of %d bytes: error %v, want %v", room, size.Len(), err, errFull)
		}
	}
	if err := Write(&fullDisk{size.Len()}, big, Meta{}); err != nil {
		t.Errorf("room for all: %v", err)
	}

	back := &Trace{Lanes: []LaneTrace{{Name: "copy engine", Spans: []Span{{Stage: HtoD, Batch: 7, Start: 5, Dur: -3}}}}}
	if err := Write(io.Discard, back, Meta{}); err == nil || !strings.Contains(err.Error(), "copy engine: htod of batch 7 ends 3ns before it starts") {
		t.Errorf("a negative length: %v", err)
	}
	odd := Meta{Counters: []Counter{{Name: "psi", Points: []CounterPoint{{0, math.NaN()}}}}}
	if err := Write(io.Discard, &Trace{}, odd); err == nil {
		t.Error("a counter that is not a number was written")
	}
}

func TestExportIsStable(t *testing.T) {
	r := NewRecorder(Options{})
	play(r, 50)
	var first, second bytes.Buffer
	for _, w := range []io.Writer{&first, &second} {
		if err := Write(w, r.Trace(), Meta{Process: "A"}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two exports of one trace differ")
	}
}
