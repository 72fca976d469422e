package trace

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// play records batches as a small pipeline does: each on the worker whose turn
// it is, then on the trainer, the copy engine and the compute engine.
func play(r *Recorder, batches int64) {
	const workers = 4
	var lanes [workers]*Lane
	for i := range lanes {
		lanes[i] = r.Lane(Worker, i, "host")
	}
	trainer := r.Lane(Trainer, 0, "host")
	copies, steps := r.Lane(CopyEngine, 0, "device"), r.Lane(ComputeEngine, 0, "device")
	for b := range batches {
		at := time.Duration(b) * 100
		lanes[b%workers].Add(Load, b, at, at+90, 64)
		r.QueueDepth(at, int(b%3))
		for i := range time.Duration(3) {
			trainer.Add(WaitBatch, b, at+10*i, at+10*i+5, 0)
		}
		copies.Add(HtoD, b, at+100, at+140, 64)
		steps.Add(Step, b, at+140, at+230, 0) // 30 of the next copy's 40 lie under it
	}
}

func TestRecorderKeepsBatchesWhole(t *testing.T) {
	const batches = 100_000
	r := NewRecorder(Options{SpansPerLane: 400})
	play(r, batches)
	tr := r.Trace()

	// The trainer adds 3 spans a batch: its newest 1,024 hold 341 whole batches.
	if want := int64(batches - 341); tr.CompleteFrom != want {
		t.Errorf("complete from batch %d, want %d", tr.CompleteFrom, want)
	}
	widest := int64(1)
	for _, l := range tr.Lanes {
		widest = max(widest, l.KeptEvery)
		if l.KeptEvery < 2 || l.KeptEvery&(l.KeptEvery-1) != 0 {
			t.Errorf("%s kept every %d, want a power of two above 1", l.Name, l.KeptEvery)
		}
		if limit := 400 + tailSpans; len(l.Spans) > limit || len(l.Spans) < 200 {
			t.Errorf("%s kept %d spans, want 200 to %d", l.Name, len(l.Spans), limit)
		}
		if !slices.IsSortedFunc(l.Spans, func(a, b Span) int { return int(a.Start - b.Start) }) {
			t.Errorf("%s: spans out of order", l.Name)
		}
		for _, s := range l.Spans {
			if s.Batch < tr.CompleteFrom && (s.Batch/tr.BatchBlock)%l.KeptEvery != 0 {
				t.Fatalf("%s kept batch %d against its rule, 1 block in %d", l.Name, s.Batch, l.KeptEvery)
			}
		}
		if l.Dropped != 0 {
			t.Errorf("%s dropped %d spans", l.Name, l.Dropped)
		}
	}
	for b := range int64(batches) {
		found := map[Stage]int{}
		for _, l := range tr.Lanes {
			from, _ := slices.BinarySearchFunc(l.Spans, b, func(s Span, b int64) int { return int(s.Batch - b) })
			for _, s := range l.Spans[from:] {
				if s.Batch != b {
					break
				}
				found[s.Stage]++
			}
		}
		promised := b >= tr.CompleteFrom || (b/tr.BatchBlock)%widest == 0
		whole := found[Load] == 1 && found[WaitBatch] == 3 && found[HtoD] == 1 && found[Step] == 1
		if promised && !whole {
			t.Fatalf("batch %d should be whole, has %v", b, found)
		}
		if found[WaitBatch] > 3 || found[Load] > 1 {
			t.Fatalf("batch %d has spans twice: %v", b, found)
		}
	}
}

func TestOverlapComesFromCopiesAndSteps(t *testing.T) {
	r := NewRecorder(Options{})
	play(r, 11)
	tr := r.Trace()
	if tr.CopyTime != 440 || tr.HiddenCopyTime != 300 || *tr.OverlapShare != 300.0/440 {
		t.Errorf("copy %d hidden %d share %v, want 440, 300, %v", tr.CopyTime, tr.HiddenCopyTime, *tr.OverlapShare, 300.0/440)
	}
	gathers := NewRecorder(Options{})
	gathers.Lane(CopyEngine, 0, "device").Add(Gather, 0, 0, 10, 1)
	if got := gathers.Trace().CopyTime; got != 10 {
		t.Errorf("gathering took %d, want 10", got)
	}
}

func TestRecorderLosesNothingWithRoom(t *testing.T) {
	r := NewRecorder(Options{})
	play(r, 1300) // the trainer's 3,900 spans fit into 4,096, but not into its tail
	tr := r.Trace()
	if tr.CompleteFrom != 0 {
		t.Errorf("complete from batch %d, want 0", tr.CompleteFrom)
	}
	for _, l := range tr.Lanes {
		if int64(len(l.Spans)) != l.Count || l.KeptEvery != 1 {
			t.Errorf("%s has %d of %d spans, kept every %d", l.Name, len(l.Spans), l.Count, l.KeptEvery)
		}
	}
}

func TestSummariesStayExact(t *testing.T) {
	r := NewRecorder(Options{SpansPerLane: 64})
	lanes := []*Lane{r.Lane(Worker, 0, "host"), r.Lane(Worker, 1, "host")}
	rng := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	var total time.Duration
	for b := range int64(20_000) {
		d := time.Duration(1+rng.ExpFloat64()*5e6) * time.Nanosecond
		if b == 776 {
			d = 90 * time.Minute // beyond the histogram
		}
		all, total = append(all, d), total+d
		lanes[b%2].Add(Load, b, 5, 5+d, 3)
		lanes[b%2].AddCPU(Load, 2)
	}
	slices.Sort(all)
	s := r.Trace().Stage(Load)
	if s.Count != 20_000 || s.Total != total || s.Bytes != 60_000 || *s.Max != 90*time.Minute || *s.CPU != 40_000 {
		t.Errorf("count %d total %v bytes %d max %v cpu %v; want 20000, %v, 60000, 1h30m, 40us", s.Count, s.Total, s.Bytes, *s.Max, *s.CPU, total)
	}
	for _, p := range []struct {
		name      string
		got, want time.Duration
	}{{"p50", *s.P50, all[9_999]}, {"p95", *s.P95, all[18_999]}} {
		if off := (p.got - p.want).Abs(); float64(off) > 0.001*float64(p.want) {
			t.Errorf("%s is %v, want %v within 0.1 %%", p.name, p.got, p.want)
		}
	}
	if totals := r.Totals()[Load]; totals != (StageTotal{20_000, total, 60_000}) {
		t.Errorf("running totals %+v", totals)
	}
}

// A watcher may read the totals while a lane records; the race detector judges.
func TestTotalsWhileRecording(t *testing.T) {
	r := NewRecorder(Options{})
	l := r.Lane(Worker, 0, "host")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range time.Duration(10_000) {
			l.Add(Load, int64(i), i, i+2, 3)
		}
	}()
	for before := int64(0); before < 10_000; {
		now := r.Totals()[Load]
		if now.Count < before {
			t.Fatalf("count fell from %d to %d", before, now.Count)
		}
		before = now.Count
		runtime.Gosched()
	}
	<-done
	if got, want := r.Totals()[Load], (StageTotal{10_000, 20_000, 30_000}); got != want {
		t.Errorf("totals %+v, want %+v", got, want)
	}
}

func TestOneSpanIsItsOwnPercentile(t *testing.T) {
	r := NewRecorder(Options{})
	r.Lane(Trainer, 0, "host").Add(Launch, 0, 0, 1234567, 0)
	s := r.Trace().Stage(Launch)
	if *s.P50 != 1234567 || *s.P95 != 1234567 || *s.Max != 1234567 {
		t.Errorf("p50 %d p95 %d max %d, want 1234567", *s.P50, *s.P95, *s.Max)
	}
	if s.CPU != nil {
		t.Errorf("CPU %v, want nil: it was not measured", *s.CPU)
	}
	if missing := r.Trace().Stage(Step); missing.Count != 0 || missing.P50 != nil || missing.Max != nil {
		t.Errorf("a stage that never ran has figures: %+v", missing)
	}
}

func TestSpansWithoutBatchAreThinnedByCount(t *testing.T) {
	r := NewRecorder(Options{SpansPerLane: 8})
	l := r.Lane(PinThread, 0, "host")
	for i := range time.Duration(3000) {
		l.Add(WaitSlot, -1, i, i, 0)
	}
	got := r.Trace().Lanes[0]
	if got.KeptEvery != 512 { // 3000/512 = 5.9 is the first to fit into 8
		t.Errorf("kept every %d, want 512", got.KeptEvery)
	}
	var starts []time.Duration
	for _, s := range got.Spans[:4] {
		starts = append(starts, s.Start)
	}
	if want := []time.Duration{0, 512, 1024, 1536}; !slices.Equal(starts, want) {
		t.Errorf("kept %v, want %v first", starts, want)
	}
	// Then the tail, 1976 to 2999, in which 2048 and 2560 are not doubled.
	if len(got.Spans) != 4+1024 {
		t.Errorf("%d spans, want 1028", len(got.Spans))
	}
}

func TestOneBlockThatFillsTheLaneIsCounted(t *testing.T) {
	r := NewRecorder(Options{SpansPerLane: 8})
	l := r.Lane(Trainer, 0, "host")
	for i := range time.Duration(5000) {
		l.Add(Launch, 3, i, i, 0)
	}
	got := r.Trace().Lanes[0]
	if got.Dropped != 4992 || got.Count != 5000 {
		t.Errorf("dropped %d of %d, want 4992 of 5000", got.Dropped, got.Count)
	}
	if got := r.Trace().CompleteFrom; got != 4 {
		t.Errorf("complete from batch %d, want 4", got)
	}
}

// Thinning by 2, 4 and 8 leaves both blocks, by 16 the first.
func TestThinningGoesOnUntilThereIsRoom(t *testing.T) {
	r := NewRecorder(Options{SpansPerLane: 8})
	l := r.Lane(Trainer, 0, "host")
	for _, block := range []int64{0, 8, 9, 16} {
		if block == 16 && (l.keepEvery != 2 || len(l.kept) != 8) {
			t.Errorf("block 9 left %d at 1 in %d, want 8 at 1 in 2", len(l.kept), l.keepEvery)
		}
		for i := range int64(4) {
			l.Add(Launch, block*batchBlock+i, 0, 1, 0)
		}
	}
	if l.keepEvery != 16 || len(l.kept) != 8 || l.dropped != 0 {
		t.Errorf("kept %d at 1 in %d, dropped %d; want 8 at 1 in 16, 0", len(l.kept), l.keepEvery, l.dropped)
	}
}

func TestSpanBeyondTheHistogram(t *testing.T) {
	r := NewRecorder(Options{})
	r.Lane(Worker, 0, "host").Add(Load, 0, 0, 2*time.Hour, 0)
	if s := r.Trace().Stage(Load); *s.P50 < 59*time.Minute || *s.Max != 2*time.Hour {
		t.Errorf("p50 %v max %v, want at least an hour, and 2h", *s.P50, *s.Max)
	}
}

func TestReversedSpanIsCounted(t *testing.T) {
	r := NewRecorder(Options{})
	r.Lane(CopyEngine, 0, "device").Add(HtoD, 0, 100, 40, 0)
	l := r.Trace().Lanes[0]
	if l.Reversed != 1 || l.Spans[0].Dur != 0 || l.Spans[0].Start != 100 {
		t.Errorf("reversed %d, span %+v; want 1, start 100, length 0", l.Reversed, l.Spans[0])
	}
}

func TestBusyIsForEnginesAndCountsOnce(t *testing.T) {
	r := NewRecorder(Options{})
	r.Lane(Trainer, 0, "host").Add(Launch, 0, 0, 10, 0)
	engine := r.Lane(ComputeEngine, 0, "device")
	engine.Add(Step, 0, 0, 10, 0)
	engine.Add(Step, 1, 5, 15, 0) // half of it again
	engine.Add(Step, 2, 20, 30, 0)
	lanes := r.Trace().Lanes
	if lanes[0].Busy != nil {
		t.Errorf("trainer busy %v, want nil", *lanes[0].Busy)
	}
	if *lanes[1].Busy != 25 {
		t.Errorf("compute engine busy %d, want 25", *lanes[1].Busy)
	}
}

func TestQueueDepth(t *testing.T) {
	r := NewRecorder(Options{SpansPerLane: 100})
	for i := range 30_000 {
		r.QueueDepth(time.Duration(i), i%4)
	}
	q := r.Trace().Queue
	if q.Count != 30_000 || q.Empty != 7_500 || q.Mean != 1.5 || q.Max != 3 {
		t.Errorf("count %d empty %d mean %v max %d, want 30000, 7500, 1.5, 3", q.Count, q.Empty, q.Mean, q.Max)
	}
	if q.KeptEvery != 512 || len(q.Points) != 57+1024 { // 28976/512 = 56.6 lie before the tail
		t.Errorf("kept every %d, %d points; want 512, 1081", q.KeptEvery, len(q.Points))
	}
	if !slices.IsSortedFunc(q.Points, func(a, b QueuePoint) int { return int(a.At - b.At) }) {
		t.Error("points out of order")
	}
	if last := q.Points[len(q.Points)-1]; last.At != 29_999 {
		t.Errorf("last point at %d, want 29999", last.At)
	}
}

func TestNothingIsRecordedWhenOffOrNil(t *testing.T) {
	for name, r := range map[string]*Recorder{"nil": nil, "off": NewRecorder(Options{Off: true})} {
		t.Run(name, func(t *testing.T) {
			l := r.Lane(Worker, 0, "host")
			l.Add(Load, 0, 0, 1, 1)
			l.AddCPU(Load, 1)
			r.QueueDepth(0, 1)
			tr := r.Trace()
			if l != nil || len(tr.Lanes) != 0 || len(tr.Stages) != 0 || tr.Queue != nil || tr.OverlapShare != nil {
				t.Errorf("lane %v, trace %+v; want nothing", l, tr)
			}
			if r.Totals() != [Stages]StageTotal{} {
				t.Error("running totals are not 0")
			}
		})
	}
}

func TestTraceTravelsAsJSON(t *testing.T) {
	r := NewRecorder(Options{})
	play(r, 3)
	text, err := json.Marshal(r.Trace())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"stage":"htod"`, `"kind":"copy engine"`, `"name":"worker 3"`, `"total_ns":270`, `"cpu_ns":null`, `"overlap_share":`, `"kept_every":1`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	var back Trace
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(&back)
	if string(again) != string(text) {
		t.Errorf("read back and written again:\n%s\nwant\n%s", again, text)
	}
}

func TestNames(t *testing.T) {
	for s := range Stage(Stages) {
		text, err := s.MarshalText()
		var back Stage
		if err != nil || back.UnmarshalText(text) != nil || back != s || s.String() != string(text) || len(text) == 0 {
			t.Errorf("stage %d: text %q, back %d, error %v", s, text, back, err)
		}
	}
	for k := Worker; k <= ComputeEngine; k++ {
		text, err := k.MarshalText()
		var back LaneKind
		if err != nil || back.UnmarshalText(text) != nil || back != k || len(text) == 0 {
			t.Errorf("lane kind %d: text %q, back %d, error %v", k, text, back, err)
		}
	}
	if _, err := Stage(200).MarshalText(); err == nil {
		t.Error("stage 200 has a name")
	}
	if err := new(Stage).UnmarshalText([]byte("nap")); err == nil {
		t.Error(`"nap" is a stage`)
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	r := NewRecorder(Options{SpansPerLane: 64})
	// Not even at the first span of each stage.
	for s := range Stage(Stages) {
		kind := Trainer // which, without workers, does all a host does, with nobody to wait for
		if s == PinWait {
			kind = PinThread
		}
		if s >= HtoD {
			kind = CopyEngine
		}
		if s == Step {
			kind = ComputeEngine
		}
		if r.Lane(kind, 0, "host").stages[s].durations == nil {
			t.Errorf("a %s lane has no room for %s", kind, s)
		}
	}
	for kind, stages := range kindStages {
		l, at := r.Lane(LaneKind(kind), 0, "host"), time.Duration(0)
		if n := testing.AllocsPerRun(1000, func() {
			for _, s := range stages {
				l.Add(s, int64(at), at, at+1, 1)
				l.AddCPU(s, 1)
			}
			r.QueueDepth(at, 1)
			at++
		}); n != 0 {
			t.Errorf("%s: %v allocations", LaneKind(kind), n)
		}
	}
}

// A million batches must not cost more each than a thousand.
func BenchmarkLaneAdd(b *testing.B) {
	for _, bench := range []struct {
		name  string
		kind  LaneKind
		stage Stage
	}{{"host", Trainer, Launch}, {"engine", ComputeEngine, Step}} {
		b.Run(bench.name, func(b *testing.B) {
			l := NewRecorder(Options{}).Lane(bench.kind, 0, "host")
			b.ReportAllocs()
			i := time.Duration(0)
			for b.Loop() {
				l.Add(bench.stage, int64(i/5), 1000*i, 1000*i+400+i&255, 0)
				i++
			}
		})
	}
}
