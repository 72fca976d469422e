package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench"
	"pinscope/bench/gpuwatch"
	"pinscope/bench/report/fonts"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
)

// allCharts is every kind of chart, over ordinary figures.
func allCharts(look Look) map[string]*Chart {
	r, t, m := comparison(), pinnedTrace(64), memorySeries(250*ms)
	e := PressureExperiment(look, experiment())
	return map[string]*Chart{
		"timeline": Timeline(look, t, Window{}), "zoom": Timeline(look, t, Window{200 * ms, 260 * ms}),
		"busy": GPUBusy(look, t, slowCounter(), Window{}), "queue": QueueDepth(look, t.Queue, Window{}),
		"speedup": SpeedUp(look, r.Comparison), "throughput": Throughput(look, r.Sides), "bars": StageBars(look, r.Sides),
		"bandwidth": BandwidthBySize(look, bandwidthSweep()), "memory": MemoryUse(look, m, Window{}),
		"stall": MemoryStall(look, m, Window{}), "reclaim": Reclaim(look, m, Window{}), "plan": MemoryPlan(look, r.Sides),
		"scaling": WorkerScaling(look, scaling()), "sweep": SweepMap(look, sweep()), "ladder": Ladder(look, rungs()),
		"ballast": e[0], "cache": e[1], "strain": e[2],
	}
}

func TestChartsAreReadableAtAnySize(t *testing.T) {
	for _, language := range []Language{English, Chinese} {
		for name, c := range allCharts(Look{Language: language, Simulated: true}) {
			for _, size := range [][2]vg.Length{{600, 360}, {2880, 1620}, {300, 200}, {240, 400}, {900, 120}, {60, 40}, {5, 5}} {
				t.Run(fmt.Sprintf("%s/%d/%vx%v", name, language, size[0], size[1]), func(t *testing.T) {
					labels := readable(t, size[0], size[1], c.Draw)
					if size[0] >= 300 && !has(labels, c.look.say(simulated)) {
						t.Error("the picture does not say that its figures are simulated")
					}
				})
			}
		}
	}
}

func TestReportIsReadable(t *testing.T) {
	long := comparison()
	long.Sentence = strings.Repeat("a sentence that goes on and on, ", 30)
	long.Command = "pinscope compare " + strings.Repeat("--sim link-gbps=12 ", 60)
	long.Sides[1].Config.Source = "images:" + strings.Repeat("/a/long/folder", 20)
	long.Warnings = slices.Repeat([]string{"a warning of some length that comes again and again"}, 40)
	single := comparison()
	single.Kind, single.Sides, single.Comparison, single.Simulated = "run", single.Sides[:1], nil, false
	generation, width, percent := int64(5), int64(16), int64(63)
	single.GPU = &gpuwatch.Series{Samples: []gpuwatch.Sample{{}, {LinkGeneration: &generation, LinkWidth: &width, GPUPercent: &percent}}}
	many := comparison()
	many.Sides[0].Trace, many.Sides[1].Trace = manyWorkers(64), manyWorkers(64)
	bare := comparison()
	bare.Sides[0].Trace, bare.Sides[1].Trace, bare.Comparison, bare.Command = nil, nil, nil, ""
	bare.Sides[0].Typical, bare.Sides[1].Repeats = nil, nil
	empty := comparison()
	empty.Sides, empty.Comparison = nil, nil
	swept := ladder()
	swept.Kind = bench.KindSweep
	for name, p := range map[string]page{
		"ladder": {r: ladder()}, "sweep": {r: swept},
		"compare": {r: comparison()}, "chinese": {r: comparison(), o: Options{Language: Chinese}}, "long": {r: long},
		"run": {r: single}, "64 workers": {r: many}, "no traces": {r: bare}, "no sides": {r: empty},
		"memory": {r: withMemory(comparison())},
	} {
		t.Run(name, func(t *testing.T) {
			p = newPage(p.r, p.o)
			labels := readable(t, pageWidth, pageHeight, p.draw)
			if got := has(labels, p.look.say(simulatedBand)); got != p.r.Simulated {
				t.Errorf("band across the page: %v, simulated: %v", got, p.r.Simulated)
			}
			if got := has(labels, "PCIe 5 x16"); got != (name == "run") {
				t.Errorf("the link under load is there: %v", got)
			}
			if name == "compare" {
				for _, row := range append(p.settings(), p.machine()...) {
					if !has(labels, row.name) {
						t.Errorf("no room for the row %q", row.name)
					}
				}
			}
		})
	}
}

func TestExperimentReportIsReadable(t *testing.T) {
	none := experimentResult()
	none.Outcomes, none.Notes, none.Config = nil, nil, bench.Config{}
	uncached := experimentResult()
	uncached.CacheFileBytes = 0
	for name, e := range map[string]*bench.ExperimentResult{"both": experimentResult(), "none": none, "no cache": uncached} {
		for _, language := range []Language{English, Chinese} {
			p := newExperimentPage(e, Options{Language: language})
			labels := readable(t, pageWidth, pageHeight, p.draw)
			if !has(labels, p.look.say(simulatedBand)) {
				t.Errorf("%s: no band", name)
			}
			if got, want := has(labels, p.look.say(cacheTitle)), name == "both"; got != want {
				t.Errorf("%s: a chart of cached files: %v", name, got)
			}
		}
	}
}

func TestLadderLeavesSideStepsOut(t *testing.T) {
	r := ladder()
	if got := RungsOf(r); len(got) != len(r.Sides)-1 || got[4].Name != "+ own copy stream" || got[4].Lo != 4330 {
		t.Errorf("rungs %+v", got)
	}
}

// A rung is drawn as the table tells it: the change of the rounds, not of the
// medians, and no colour of a gain where none can be claimed.
func TestLadderClaimsWhatTheRoundsShow(t *testing.T) {
	c := Ladder(Look{}, RungsOf(ladder()))
	drawn := c.plotters[0].(bars).all
	look := Look{}
	for i, want := range []bar{
		{text: "3,020", ink: drawn[0].ink},
		{text: "+12.0 %", ink: look.line(0)},
		{text: "+0.4 %", ink: grey}, // the medians: +2.1 %
		{text: "+30.0 %", ink: look.line(0)},
		{text: "-2.0 %", ink: vermilion},
	} {
		if got := drawn[i]; got.text != want.text || got.ink != want.ink || got.hatched {
			t.Errorf("rung %d: %q in %v, want %q in %v", i, got.text, got.ink, want.text, want.ink)
		}
	}
	var keys []string
	for _, k := range c.legend {
		keys = append(keys, k.text)
	}
	if got := strings.Join(keys[:3], ", "); got != "faster, slower, no measurable difference" {
		t.Errorf("keys %s", got)
	}
	if b := Ladder(look, rungs()).plotters[0].(bars).all[5]; !b.hatched || b.ink != grey {
		t.Errorf("a step that cannot be told: %+v", b)
	}
}

func manyWorkers(n int) *trace.Trace {
	r := trace.NewRecorder(trace.Options{})
	trainer := r.Lane(trace.Trainer, 0, "host")
	for i := range n {
		l := r.Lane(trace.Worker, i, "host")
		l.Add(trace.Load, int64(i), 0, time.Duration(i+1)*ms, 1)
		trainer.Add(trace.WaitBatch, int64(i), time.Duration(i)*ms, time.Duration(i+1)*ms, 0)
	}
	return r.Trace()
}

// Case C76: 60 runs with names of 24 characters, 12 configurations in the legend.
func TestManyLongNames(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("configuration number %03d", i) }
	var rungs []Rung
	heat := Heat{XTitle: "x", YTitle: "y", Unit: "samples/s"}
	for i := range 60 {
		rungs = append(rungs, Rung{Name: name(i), SamplesPerS: 1000 + float64(i*i)})
		heat.X, heat.Y = append(heat.X, name(i)), append(heat.Y, name(i))
		heat.Values = append(heat.Values, make([]float64, 60))
	}
	var lines []ScalingLine
	for i := range 12 {
		lines = append(lines, ScalingLine{name(i), []ScalingPoint{{1, stats.Summarize([]float64{float64(i + 1)})}, {8, stats.Summarize([]float64{float64(9 * i)})}}})
	}
	for name, c := range map[string]*Chart{"ladder": Ladder(Look{}, rungs), "sweep": SweepMap(Look{}, heat), "scaling": WorkerScaling(Look{}, lines)} {
		for _, dots := range [][2]int{{800, 480}, {3840, 2160}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, dots[0], dots[1]), func(t *testing.T) {
				w, h := vg.Length(dots[0])*0.75, vg.Length(dots[1])*0.75
				labels := readable(t, w, h, c.Draw)
				if len(labels) < 12 {
					t.Errorf("only %d texts are left", len(labels))
				}
				legendAboveData(t, c, w, h)
			})
		}
	}
}

// legendAboveData: the legend's last row ends above the data's highest point.
func legendAboveData(t *testing.T, c *Chart, w, h vg.Length) {
	t.Helper()
	l := c.layout(draw.New(newProbe(w, h)))
	if len(c.legend) == 0 || len(l.keys) == 0 {
		t.Error("no legend")
	}
	foot := l.inner.Max.Y - titleSize*lineHeight - vg.Length(len(l.keys))*keyHeight
	if top := l.plot.DataCanvas(l.area).Max.Y; top > foot {
		t.Errorf("the legend ends at %v, the data begin at %v", foot, top)
	}
}

func TestStackLinesUpTime(t *testing.T) {
	tr := pinnedTrace(64)
	w := Window{100 * ms, 400 * ms}
	charts := []*Chart{Timeline(Look{}, tr, w), GPUBusy(Look{}, tr, nil, w), QueueDepth(Look{}, tr.Queue, w), MemoryUse(Look{}, memorySeries(4*ms), w)}
	labels := readable(t, 600, 700, func(to draw.Canvas) { Stack(to, charts) })
	if n := len(slices.DeleteFunc(slices.Clone(labels), func(l label) bool { return l.text != "time, ms" })); n != 1 {
		t.Errorf("%d time axes are named, want the last one only", n)
	}
	// The data of each chart begin and end at the same x.
	var left, right []vg.Length
	for _, c := range charts {
		c.plotters = append(c.plotters, edges{&left, &right})
	}
	Stack(draw.New(newProbe(600, 700)), charts)
	for i := range left {
		if math.Abs(float64(left[i]-left[0])) > 0.01 || math.Abs(float64(right[i]-right[0])) > 0.01 {
			t.Errorf("chart %d lies from %v to %v, the first from %v to %v", i, left[i], right[i], left[0], right[0])
		}
	}
	if len(left) != len(charts) {
		t.Errorf("%d charts were drawn, want %d", len(left), len(charts))
	}
}

func TestEveryPhraseHasItsGlyphs(t *testing.T) {
	cache := faces()
	for _, bold := range []bool{false, true} {
		style := Look{}.text(smallSize, bold, blue)
		face := cache.Lookup(style.Font, style.Font.Size)
		for p := range phrase(phrases) {
			for language, text := range phraseText[p] {
				if text == "" {
					t.Errorf("phrase %d has no text in language %d", p, language)
				}
				for _, wrong := range missing(face, text) {
					t.Error(wrong)
				}
			}
		}
		for _, text := range slices.Concat(stageText[:], []string{"…·%←→↑↓≤≥≠×÷±µμ✓─│■▲▼，。：；（）"}) {
			for _, wrong := range missing(face, text) {
				t.Error(wrong)
			}
		}
	}
	// The test of the test: a character outside the subset is noticed.
	style := Look{}.text(smallSize, false, blue)
	if len(missing(cache.Lookup(style.Font, style.Font.Size), "龘")) == 0 {
		t.Error("a glyph that is missing was not noticed")
	}
	if !strings.Contains(fonts.License, "SIL OPEN FONT LICENSE") {
		t.Error("the fonts' licence is not with them")
	}
}

func TestWrap(t *testing.T) {
	s := Look{}.text(10, false, blue)
	for _, text := range []string{"", "one", "words and more words of a line", strings.Repeat("x", 300), "锁页内存与训练循环，主机上的工作是真实的。", "a锁b页 c", "two\nlines"} {
		lines := wrap(s, text, 60)
		for _, line := range lines {
			if s.Width(line) > 60.001 {
				t.Errorf("%q is wider than the line", line)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := squeeze(strings.Join(lines, "")); got != squeeze(text) {
			t.Errorf("wrapped to %q, want %q", got, text)
		}
	}
}
