package report

import (
	"fmt"
	"image"
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"pinscope/bench"
	"pinscope/bench/pressure"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
)

// series makes every chart that takes plain numbers out of one series of them.
func chartsOf(values []float64) map[string]*Chart {
	cmp, side := &stats.Comparison{}, bench.Side{Label: "A"}
	lines, bw, heat := []ScalingLine{{Name: "a"}}, Bandwidth{Lines: []BandwidthLine{{Name: "a"}}}, Heat{X: []string{"x"}}
	var rungs []Rung
	var slow []Utilization
	m := Memory{}
	o := &pressure.Outcome{}
	q := &trace.QueueSummary{Count: int64(len(values)), KeptEvery: 1}
	for i, v := range values {
		at := time.Duration(i) * ms
		cmp.Ratios = append(cmp.Ratios, v)
		m.At, m.Pinned, m.SomeStall, m.Reclaimed = append(m.At, at), append(m.Pinned, v), append(m.SomeStall, v), append(m.Reclaimed, v)
		slow = append(slow, Utilization{at, v})
		q.Points = append(q.Points, trace.QueuePoint{At: at, Depth: i % 7})
		if i >= 20_000 {
			continue // no run has more repeats, sizes, workers or steps
		}
		side.Repeats = append(side.Repeats, bench.Repeat{Position: i, SamplesPerS: &v, Complete: true})
		bw.Lines[0].Points = append(bw.Lines[0].Points, BandwidthPoint{int64(i + 1), &v})
		lines[0].Points = append(lines[0].Points, ScalingPoint{i, stats.Summary{Median: &v}})
		o.Steps = append(o.Steps, pressure.Step{BallastBytes: int64(i) << 20, SamplesPerSecond: &v, SomeShare: &v,
			Cache: &pressure.CacheReading{Bytes: 1, BytesPerSecond: v * 1e9}})
		if len(heat.Y) < 300 {
			rungs = append(rungs, Rung{Name: fmt.Sprint(i), SamplesPerS: v, Lo: v, Hi: v})
			heat.Y, heat.Values = append(heat.Y, fmt.Sprint(i)), append(heat.Values, []float64{v})
		}
	}
	if len(values) > 0 {
		cmp.Ratio, side.SamplesPerS.Median = &values[0], &values[0]
		cmp.Interval = &stats.Interval{Lo: values[0], Hi: values[0], Level: 0.95}
		side.SamplesPerS.Interval, m.Limit, bw.LinkGBps = cmp.Interval, &values[0], &values[0]
	}
	w := Window{0, time.Duration(max(len(values), 1)) * ms}
	e := PressureExperiment(Look{}, o)
	return map[string]*Chart{
		"speedup": SpeedUp(Look{}, cmp), "throughput": Throughput(Look{}, []bench.Side{side}), "scaling": WorkerScaling(Look{}, lines),
		"bandwidth": BandwidthBySize(Look{}, bw), "ladder": Ladder(Look{}, rungs), "sweep": SweepMap(Look{}, heat),
		"busy": GPUBusy(Look{}, &trace.Trace{}, slow, w), "memory": MemoryUse(Look{}, m, Window{}), "stall": MemoryStall(Look{}, m, w),
		"reclaim": Reclaim(Look{}, m, w), "ballast": e[0], "cache": e[1], "strain": e[2], "queue": QueueDepth(Look{}, q, w),
	}
}

func hundred(bad ...float64) []float64 {
	values := make([]float64, 100)
	for i := range values {
		values[i] = 10 + float64(i%9)
	}
	for i, v := range bad {
		values[10*i+5] = v
	}
	return values
}

func million() []float64 {
	values := make([]float64, 1e6)
	for i := range values {
		values[i] = 1000 + 300*math.Sin(float64(i)/1000) + float64(i*7919%100)
	}
	return values
}

// Case C73, and more of its kind.
func TestSeriesThatBreakPlots(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		values []float64
		empty  bool // nothing can be drawn
		note   int  // points named as left out
	}{
		{"nothing", nil, true, 0},
		{"all NaN", []float64{nan, nan, nan}, true, 3},
		{"all infinite", []float64{inf, -inf}, true, 2},
		{"some bad", hundred(nan, inf, -inf), false, 3},
		{"one", []float64{1}, false, 0},
		{"one zero", []float64{0}, false, 0},
		{"two", []float64{3, 4}, false, 0},
		{"all equal", []float64{7, 7, 7, 7}, false, 0},
		{"all zero", []float64{0, 0, 0}, false, 0},
		{"below zero", []float64{-3, -2, -1}, false, 0},
		{"tiny", []float64{1e-300, 2e-300, 5e-324}, false, 0},
		{"huge", []float64{1e299, -1e299, 1e298}, false, 0},
		{"greatest", []float64{math.MaxFloat64, -math.MaxFloat64}, true, 2},
		{"apart", []float64{1e-12, 1, 1e12}, false, 0},
		{"a million", million(), false, 0},
	} {
		for name, chart := range chartsOf(c.values) {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				began := time.Now()
				sizes := [][2]int{{300, 200}, {1, 1}, {33, 200}}
				if len(c.values) > 1000 {
					sizes = [][2]int{{1200, 700}}
				}
				for _, size := range sizes {
					if _, err := chart.Image(size[0], size[1], 96); err != nil {
						t.Fatal(err)
					}
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %v", took)
				}
				if name == "queue" {
					return // it has whole numbers of its own
				}
				if c.empty && !chart.Empty() {
					t.Error("drawn, but there is nothing to draw")
				}
				if c.empty {
					if labels := readable(t, 400, 200, chart.Draw); !has(labels, "no data") {
						t.Error(`the picture does not say "no data"`)
					}
				}
				counts := map[string]bool{"speedup": true, "scaling": true, "busy": true, "ladder": true}
				if want := fmt.Sprintf("points left out: %d", c.note); c.note > 0 && counts[name] && !strings.Contains(strings.Join(chart.Notes(), "\n"), want) {
					t.Errorf("notes %q, want %q", chart.Notes(), want)
				}
			})
		}
	}
}

// Case C74.
func TestLogAxis(t *testing.T) {
	points := func(rates ...float64) Bandwidth {
		b := Bandwidth{Lines: []BandwidthLine{{Name: "pinned"}}}
		for i := range rates {
			b.Lines[0].Points = append(b.Lines[0].Points, BandwidthPoint{1 << (10 + 2*i), &rates[i]})
		}
		return b
	}
	one := BandwidthBySize(Look{}, points(1))
	if one.y.min != 0.5 || one.y.max != 2 || !one.y.log {
		t.Errorf("a single 1 GB/s: axis from %v to %v, want 0.5 to 2", one.y.min, one.y.max)
	}
	some := BandwidthBySize(Look{}, points(0, 5, 12))
	if !some.y.log || some.y.min <= 0 || len(some.Notes()) != 1 || !strings.Contains(some.Notes()[0], "points of 0 left out: 1") {
		t.Errorf("0, 5, 12: axis from %v, notes %q", some.y.min, some.Notes())
	}
	none := BandwidthBySize(Look{}, points(0, 0, 0))
	if none.y.log || none.Empty() {
		t.Errorf("all 0: log %v, empty %v; want a linear axis", none.y.log, none.Empty())
	}
	for _, c := range []*Chart{one, some, none} {
		readable(t, 400, 240, c.Draw)
	}
}

// Case C53: 4 MiB in 8.192 us over a link of 63 GB/s.
func TestImpossibleBandwidthIsCrossedOut(t *testing.T) {
	rate, ok := stats.GBps(4194304, 8192*time.Nanosecond)
	if !ok || math.Abs(rate-512) > 1e-9 {
		t.Fatalf("rate %v, want 512", rate)
	}
	link := 63.0
	c := BandwidthBySize(Look{}, Bandwidth{LinkGBps: &link, Lines: []BandwidthLine{{"pinned", []BandwidthPoint{{4194304, &rate}, {1 << 20, value(63)}, {1 << 30, nil}}}}})
	if notes := strings.Join(c.Notes(), " "); !strings.Contains(notes, "above the link's limit, crossed out: 1") || strings.Contains(notes, "left out") {
		t.Errorf("notes %q", notes)
	}
	if c.y.max < 512 {
		t.Errorf("the axis ends at %v, below the point", c.y.max)
	}
}

func TestTracesThatBreakTimelines(t *testing.T) {
	far := time.Duration(math.MaxInt64)
	for name, tr := range map[string]*trace.Trace{
		"nil": nil, "empty": {}, "lane without spans": {Lanes: []trace.LaneTrace{{Kind: trace.Worker}}},
		"no time":       {Lanes: []trace.LaneTrace{{Spans: []trace.Span{{Start: 5}, {Start: 5}}}}},
		"unknown stage": {Lanes: []trace.LaneTrace{{Spans: []trace.Span{{Stage: 200, Start: 1, Dur: 5}, {Start: 1, Dur: 9}}}}},
		"far apart":     {Lanes: []trace.LaneTrace{{Spans: []trace.Span{{Start: 0, Dur: 1}, {Start: far - 10, Dur: 5}}}}},
		"backwards":     {Lanes: []trace.LaneTrace{{Spans: []trace.Span{{Start: 100, Dur: -50}, {Start: 10, Dur: 500}}}}},
		"before zero":   {Lanes: []trace.LaneTrace{{Spans: []trace.Span{{Start: -100, Dur: 50}, {Start: 10, Dur: 500}}}}},
		"nested":        {Lanes: []trace.LaneTrace{{Spans: []trace.Span{{Start: 10, Dur: 20, Stage: trace.Load}, {Start: 0, Dur: 100, Stage: trace.WaitBatch}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range []Window{{}, {0, 50}, {-far / 2, far / 2}, {50, 20}} {
				for _, c := range []*Chart{Timeline(Look{}, tr, w), GPUBusy(Look{}, tr, nil, w)} {
					if _, err := c.Image(300, 200, 96); err != nil {
						t.Fatal(err)
					}
				}
			}
			Steady([]*trace.Trace{tr, nil}, 0)
		})
	}
}

// longTrace is n spans on ten lanes.
func longTrace(n int) *trace.Trace {
	tr := &trace.Trace{Lanes: make([]trace.LaneTrace, 10)}
	kinds := []trace.LaneKind{trace.Worker, trace.Worker, trace.Worker, trace.Worker, trace.Worker, trace.Worker, trace.PinThread, trace.Trainer, trace.CopyEngine, trace.ComputeEngine}
	stages := [][]trace.Stage{{trace.Load, trace.WaitSlot}, {trace.PinCopy, trace.PinWait, trace.RingWait}, {trace.WaitBatch, trace.CopyCall, trace.Launch}, {trace.HtoD}, {trace.Step}}
	for i := range tr.Lanes {
		l := &tr.Lanes[i]
		l.Kind, l.Index, l.KeptEvery = kinds[i], i, 1
		at := time.Duration(0)
		for j := range n / len(tr.Lanes) {
			dur := time.Duration(200+(j*37+i*11)%900) * time.Microsecond
			of := stages[l.Kind]
			l.Spans = append(l.Spans, trace.Span{Stage: of[j%len(of)], Batch: int64(j), Start: at, Dur: dur})
			at += dur + 20*time.Microsecond
		}
	}
	return tr
}

func BenchmarkTimeline(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		tr := longTrace(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			img := image.NewRGBA(image.Rect(0, 0, 1600, 900))
			b.ReportAllocs()
			for b.Loop() {
				Timeline(Look{}, tr, Window{}).Draw(draw.New(vgimg.NewWith(vgimg.UseImage(img), vgimg.UseDPI(96))))
			}
		})
	}
}

func BenchmarkLiveChart(b *testing.B) {
	values := million()[:20_000]
	m := Memory{}
	for i, v := range values {
		m.At, m.Pinned, m.Available = append(m.At, time.Duration(i)*ms), append(m.Pinned, v), append(m.Available, v*3)
	}
	for b.Loop() {
		if _, err := MemoryUse(Look{}, m, Window{}).Image(800, 400, 96); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReport(b *testing.B) {
	r := comparison()
	b.ReportAllocs()
	for b.Loop() {
		var out strings.Builder
		if err := WritePNG(&out, r, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
