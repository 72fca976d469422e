package view

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pinscope/bench"
	"pinscope/bench/doctor"
	"pinscope/bench/loader"
	"pinscope/bench/stats"
	"pinscope/ui/client"
	"pinscope/ui/words"
)

func number(v float64) *float64 { return &v }

// comparison is a result in which B is faster by a ratio, with the interval.
func comparison(ratio, lo, hi float64) *bench.Result {
	a, b := bench.DefaultConfig(), bench.DefaultConfig()
	a.Pin, a.NonBlocking = loader.PinOff, false
	r := &bench.Result{Kind: bench.KindCompare, Complete: true, Simulated: true,
		Sides:      []bench.Side{{Label: "A", Config: a}, {Label: "B", Config: b}},
		Comparison: &stats.Comparison{Ratio: &ratio, Interval: &stats.Interval{Lo: lo, Hi: hi, Level: 0.96}}}
	r.Sides[1].Setup.PinnedBytes = 2 << 20
	switch {
	case lo > 1:
		r.Comparison.Verdict = stats.Faster
	case hi < 1:
		r.Comparison.Verdict = stats.Slower
	default:
		r.Comparison.Verdict = stats.NoDifference
	}
	return r
}

func TestOverview(t *testing.T) {
	notValid := comparison(1.5, 1.2, 1.8)
	notValid.NotValid = []string{"side B is only partly pinned"}
	unfinished := comparison(1.5, 1.2, 1.8)
	unfinished.Complete, unfinished.Error, unfinished.Comparison = false, "cancelled\nmore", nil
	for _, c := range []struct {
		name     string
		result   *bench.Result
		mark     Mark
		headline string
		sentence []string
	}{
		{"faster", comparison(1.5, 1.2, 1.8), Faster, "+50.0 %", []string{"50.0 % faster", "+20.0 %..+80.0 %", "2 MiB that nothing"}},
		{"slower", comparison(0.5, 0.4, 0.6), Slower, "-50.0 %", []string{"50.0 % slower", "-60.0 %..-40.0 %"}},
		{"the same", comparison(1.01, 0.99, 1.02), Same, "+1.0 %", []string{"no measurable difference"}},
		{"not valid", notValid, Unclear, "no figure", []string{"No speed-up is claimed", "partly pinned"}},
		{"unfinished", unfinished, Unclear, "no figure", []string{"No speed-up is claimed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := OverviewOf(words.English, c.result)
			if o.Mark != c.mark || o.Headline != c.headline {
				t.Errorf("mark %v, headline %q", o.Mark, o.Headline)
			}
			for _, part := range c.sentence {
				if !strings.Contains(o.Sentence, part) {
					t.Errorf("sentence %q does not hold %q", o.Sentence, part)
				}
			}
			if (o.Ended != "") == c.result.Complete || strings.Contains(o.Ended, "more") {
				t.Errorf("ended %q", o.Ended)
			}
		})
	}
}

// TestSentenceOfTheResult: English shows what the result says of itself.
func TestSentenceOfTheResult(t *testing.T) {
	r := comparison(1.5, 1.2, 1.8)
	r.Sentence = "SIMULATED: its own words."
	if got := Sentence(words.English, r); got != "its own words." {
		t.Errorf("English %q", got)
	}
	if got := Sentence(words.Chinese, r); !strings.Contains(got, "快 50.0 %") {
		t.Errorf("Chinese %q", got)
	}
}

func TestMarksHaveShapes(t *testing.T) {
	seen := map[string]bool{}
	for m := Plain; m <= Unclear; m++ {
		if m.Sign() == "" || seen[m.Sign()] {
			t.Errorf("mark %d has no shape of its own: %q", m, m.Sign())
		}
		seen[m.Sign()] = true
	}
}

func TestProgress(t *testing.T) {
	p := &bench.Progress{Phase: "measure", Side: "B", Repeat: 3, Repeats: 14, Batches: 10, Of: 20, Done: 0.25, ETAS: number(100.6),
		SamplesPerS: number(1234.4), Stages: []bench.LiveRow{{Stage: "copy call", Count: 4, TotalN: int64(8 * time.Millisecond)}, {Stage: "step"}}}
	p.Memory.PinnedBytes = 1 << 20
	got := ProgressOf(words.English, client.State{Progress: p})
	if got.Share != 0.25 || got.Bar != "measuring B, repeat 3 of 14, 1:41 left" {
		t.Errorf("share %v, bar %q", got.Share, got.Bar)
	}
	if want := "1,234 samples/s now · batch 10 of 20 · pinned 1 MiB"; got.Live != want {
		t.Errorf("live %q, want %q", got.Live, want)
	}
	if want := "Mean times in this repeat: copy call 2 ms"; got.Stages != want {
		t.Errorf("stages %q, want %q", got.Stages, want)
	}
	stopping := ProgressOf(words.English, client.State{Progress: p, Stopping: true})
	if stopping.Bar != "stopping, repeat 3 of 14" {
		t.Errorf("bar while stopping %q", stopping.Bar)
	}
	if first := ProgressOf(words.English, client.State{}); first.Bar != "starting" || first.Share != 0 {
		t.Errorf("before there is any: %+v", first)
	}
}

func TestClock(t *testing.T) {
	for seconds, want := range map[float64]string{-3: "0:00", 0.4: "0:00", 59.4: "0:59", 59.6: "1:00", 3599.4: "59:59", 3600: "1:00:00", 36061: "10:01:01"} {
		if got := clock(seconds); got != want {
			t.Errorf("%v s: %s, want %s", seconds, got, want)
		}
	}
}

func TestPlanLines(t *testing.T) {
	available := int64(8 << 30)
	limits := bench.Limits{AvailableBytes: &available}
	plan := bench.Plan{TotalBatches: 32, BatchBytes: 1 << 20, QueueSlots: 4, RingSlots: 4, HostBytes: 10 << 20, PinnedBytes: 4 << 20}
	off := plan
	off.PinnedBytes = 0
	got := PlanLines(words.English, []bench.PlanInfo{{Side: "A", Plan: off}, {Side: "B", Plan: plan}}, limits)
	want := []string{"A: 32 batches of 1 MiB · 8 slots · host memory 10 MiB · nothing pinned",
		"B: 32 batches of 1 MiB · 8 slots · host memory 10 MiB · pinned 4 MiB of 4 GiB at most"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestStatus(t *testing.T) {
	memory := int64(16 << 30)
	host := bench.Host{CPU: "Xeon", CPUs: 8, MemoryBytes: &memory}
	for _, c := range []struct {
		device bench.Device
		want   string
	}{
		{bench.Device{ID: "sim:laptop", Name: "simulated laptop GPU", Simulated: true, LinkGBps: number(12.4)},
			"Xeon · 8 CPUs · RAM 16 GiB · sim:laptop (simulated laptop GPU) · link 12.40 GB/s"},
		{bench.Device{ID: "cuda:0", Name: "H200", Driver: "580"}, "Xeon · 8 CPUs · RAM 16 GiB · cuda:0 (H200) · driver 580"},
		{bench.Device{ID: "cpu", Name: "CPU"}, "Xeon · 8 CPUs · RAM 16 GiB · cpu (CPU) · no driver"},
	} {
		if got := Status(words.English, host, &bench.StartInfo{Device: c.device}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestDoubts(t *testing.T) {
	base := func() *bench.Result {
		return &bench.Result{Complete: true, Host: bench.Host{Name: "desk", CPU: "Xeon", CPUs: 8, Kernel: "6.1"},
			Device: bench.Device{ID: "cuda:0", Name: "H200", Driver: "580"}, Tool: bench.Tool{Version: "1"}}
	}
	for _, c := range []struct {
		name   string
		change func(*bench.Result)
		want   string // "": no doubt
	}{
		{"the same", func(*bench.Result) {}, ""},
		{"machine", func(r *bench.Result) { r.Host.Name = "lap" }, "The machine differs: desk and lap"},
		{"driver", func(r *bench.Result) { r.Device.Driver = "" }, "The driver differs: 580 and unknown"},
		{"version", func(r *bench.Result) { r.Tool.Version = "2" }, "The version of Pinscope differs: 1 and 2"},
		{"simulated", func(r *bench.Result) { r.Simulated = true }, "One result is simulated"},
		{"incomplete", func(r *bench.Result) { r.Complete = false }, "incomplete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := base()
			c.change(other)
			got := strings.Join(Doubts(words.English, base(), other), "|")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("doubts %q, want %q", got, c.want)
			}
		})
	}
}

func TestAgainst(t *testing.T) {
	side := func(median, lo, hi float64) *bench.Result {
		s := bench.Side{Config: bench.DefaultConfig()}
		s.SamplesPerS = stats.Summary{Count: 6, Median: &median, Interval: &stats.Interval{Lo: lo, Hi: hi}}
		return &bench.Result{Sides: []bench.Side{s}}
	}
	none := &bench.Result{Sides: []bench.Side{{Config: bench.DefaultConfig()}}}
	rows := Against(words.English, []string{"a", "b", "c", "d"}, []*bench.Result{side(100, 95, 105), side(110, 105, 115), side(120, 106, 130), none})
	var got []string
	for _, row := range rows[1:] {
		got = append(got, row[0]+" "+row[len(row)-1])
	}
	want := "a -|b +10.0 % (intervals overlap)|c +20.0 % (intervals apart)|d n/a"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}

func TestSavePath(t *testing.T) {
	for _, c := range []struct{ name, ending, want string }{
		{"result", ".png", "/home/u/result.png"},
		{"result.txt", ".png", "/home/u/result.png"},
		{"RESULT.PNG", ".png", "/home/u/RESULT.PNG"},
		{"résultat-測試.png", ".png", "/home/u/résultat-測試.png"},
		{"version 1.2", ".png", "/home/u/version 1.2.png"},
		{" sub/x ", ".csv", "/home/u/sub/x.csv"},
		{"/tmp/x", ".svg", "/tmp/x.svg"},
		{"x.json", ".trace.json", "/home/u/x.trace.json"},
		{"x.trace.json", ".trace.json", "/home/u/x.trace.json"},
		{"x.trace.json", ".json", "/home/u/x.json"},
		{"x.trace.json", ".png", "/home/u/x.png"},
		{"", ".png", ""}, {" ", ".png", ""}, {"sub/", ".png", ""}, {"..", ".png", ""}, {".png", ".png", ""}, {"a\x00b", ".png", ""},
	} {
		got, err := SavePath(words.English, "/home/u", c.name, c.ending)
		if got != filepath.FromSlash(c.want) || (err == nil) != (c.want != "") {
			t.Errorf("%q as %s: %q (%v), want %q", c.name, c.ending, got, err, c.want)
		}
	}
}

func TestPyTorch(t *testing.T) {
	c := bench.DefaultConfig()
	c.Batch, c.Workers, c.Prefetch, c.Shuffle, c.Pin, c.NonBlocking = 32, 4, 2, true, loader.PinThread, true
	want := "loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=4, prefetch_factor=2, persistent_workers=False, " +
		"pin_memory=True, drop_last=False)\nfor inputs, labels in loader:\n    inputs = inputs.to(device, non_blocking=True)\n" +
		"    labels = labels.to(device, non_blocking=True)\n"
	if got := PyTorch(c); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Workers, c.Pin, c.CopyStream = 0, loader.PinOff, loader.Dedicated // prefetch_factor needs workers there
	got := PyTorch(c)
	if strings.Contains(got, "prefetch_factor") || !strings.Contains(got, "pin_memory=False") || !strings.Contains(got, "# Pinscope copies on a stream of its own") {
		t.Errorf("got %s", got)
	}
	c.Pin = loader.PinDataset
	if got := PyTorch(c); !strings.Contains(got, "DataLoader has no such setting") {
		t.Errorf("got %s", got)
	}
}

func TestLadder(t *testing.T) {
	c := bench.DefaultConfig()
	c.Preset, c.Batch, c.Pin, c.NonBlocking, c.CopyStream, c.RingSlots = "", 8, loader.PinDirect, false, loader.Dedicated, 5
	got := strings.Join(Args(bench.KindLadder, c), " ")
	for _, flag := range ladderSets {
		if strings.Contains(got, flag) {
			t.Errorf("%s is left in %s", flag, got)
		}
	}
	if !strings.Contains(got, "--batch 8") || strings.Contains(got, "direct") || strings.Contains(got, " 5") {
		t.Errorf("arguments %s", got)
	}
	if got := strings.Join(Args(bench.KindRun, c), " "); !strings.Contains(got, "--pin direct") {
		t.Errorf("a run's arguments %s", got)
	}

	rung := func(name string, median float64) bench.Side {
		return bench.Side{Name: name, SamplesPerS: stats.Summary{Median: &median}}
	}
	ratio := 3.0
	r := &bench.Result{Kind: bench.KindLadder, Sides: []bench.Side{rung("foot", 1), rung("aside", 9), rung("top", 3)}, Ladder: &bench.Ladder{
		Steps: []bench.LadderStep{{Side: 2, Against: 0}, {Side: 1, Against: 2, Aside: true}, {Side: 77}},
		Total: bench.LadderStep{Side: 2, Against: 0, Comparison: stats.Comparison{Ratio: &ratio, Verdict: stats.Faster}}}}
	rungs := Rungs(r)
	if len(rungs) != 2 || rungs[0].Name != "foot" || rungs[1].SamplesPerS != 3 {
		t.Errorf("rungs %+v", rungs)
	}
	if o := OverviewOf(words.English, r); o.Mark != Faster || o.Headline != "+200.0 %" {
		t.Errorf("mark %v, headline %q", o.Mark, o.Headline)
	}
}

func TestFindings(t *testing.T) {
	machine, advice := Findings(words.English, doctor.Report{
		Findings: []doctor.Finding{{Topic: "swap", Level: doctor.Warn, Found: "none", Why: "it matters", Do: "add some"}},
		Advice:   []doctor.Finding{{Topic: "Pin?", Level: doctor.Good, Found: "yes"}}})
	if len(machine) != 1 || machine[0] != (Finding{"▲ swap", "none - it matters\nDo: add some", true}) {
		t.Errorf("machine %+v", machine)
	}
	if len(advice) != 1 || advice[0] != (Finding{"○ Pin?", "yes", false}) {
		t.Errorf("advice %+v", advice)
	}
}
