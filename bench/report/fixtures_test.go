package report

import (
	"math"
	"time"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/pressure"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
)

// The pictures of the tests are of figures worked out here, so that they are the
// same on any machine.

const ms = time.Millisecond

// pinnedTrace is a run of n batches, with load 60 ms on 4 workers, staging 4 ms, copy
// 6 ms under a step of 12 ms.
func pinnedTrace(n int64) *trace.Trace {
	r := trace.NewRecorder(trace.Options{SpansPerLane: 1 << 20})
	workers := make([]*trace.Lane, 4)
	for i := range workers {
		workers[i] = r.Lane(trace.Worker, i, "host")
	}
	pin, trainer := r.Lane(trace.PinThread, 0, "host"), r.Lane(trace.Trainer, 0, "host")
	copies, steps := r.Lane(trace.CopyEngine, 0, "device"), r.Lane(trace.ComputeEngine, 0, "device")
	free := make([]time.Duration, len(workers))
	pinFree, trainerAt, stepFree := time.Duration(0), time.Duration(0), time.Duration(0)
	for b := range n {
		w := int(b) % len(workers)
		loaded := free[w] + 60*ms
		workers[w].Add(trace.Load, b, free[w], loaded, 38<<20)
		pinBegan := max(pinFree, loaded)
		pin.Add(trace.PinWait, b, pinFree, pinBegan, 0)
		workers[w].Add(trace.WaitSlot, b, loaded, pinBegan, 0)
		free[w] = pinBegan
		pinFree = pinBegan + 4*ms
		pin.Add(trace.PinCopy, b, pinBegan, pinFree, 38<<20)
		r.QueueDepth(trainerAt, int(b%3))
		got := max(trainerAt, pinFree)
		trainer.Add(trace.WaitBatch, b, trainerAt, got, 0)
		trainer.Add(trace.CopyCall, b, got, got+ms/50, 0)
		copied := got + 6*ms
		copies.Add(trace.HtoD, b, got, copied, 38<<20)
		trainer.Add(trace.Launch, b, got+ms/50, got+ms/10, 0)
		begin := max(copied, stepFree)
		stepFree = begin + 12*ms
		steps.Add(trace.Step, b, begin, stepFree, 0)
		done := max(got+ms/10, begin-6*ms)
		trainer.Add(trace.WaitStep, b, got+ms/10, done, 0)
		trainerAt = done
	}
	return r.Trace()
}

// pageableTrace is the same without a pin thread: the trainer copies by itself.
func pageableTrace(n int64) *trace.Trace {
	r := trace.NewRecorder(trace.Options{SpansPerLane: 1 << 20})
	workers := make([]*trace.Lane, 4)
	for i := range workers {
		workers[i] = r.Lane(trace.Worker, i, "host")
	}
	trainer := r.Lane(trace.Trainer, 0, "host")
	copies, steps := r.Lane(trace.CopyEngine, 0, "device"), r.Lane(trace.ComputeEngine, 0, "device")
	free := make([]time.Duration, len(workers))
	at := time.Duration(0)
	for b := range n {
		w := int(b) % len(workers)
		loaded := free[w] + 60*ms
		workers[w].Add(trace.Load, b, free[w], loaded, 38<<20)
		free[w] = loaded
		r.QueueDepth(at, int(b%2))
		got := max(at, loaded)
		trainer.Add(trace.WaitBatch, b, at, got, 0)
		trainer.Add(trace.CopyCall, b, got, got+9*ms, 0)
		copies.Add(trace.HtoD, b, got+ms/2, got+9*ms, 38<<20)
		trainer.Add(trace.Launch, b, got+9*ms, got+9*ms+ms/10, 0)
		steps.Add(trace.Step, b, got+9*ms+ms/10, got+21*ms, 0)
		at = got + 21*ms
		trainer.Add(trace.WaitStep, b, got+9*ms+ms/10, at, 0)
	}
	return r.Trace()
}

// comparison is a result of A against B as a run writes it.
func comparison() *bench.Result {
	a, b := side("A", loader.PinOff, false, pageableTrace(32)), side("B", loader.PinThread, true, pinnedTrace(32))
	rates := [2][]float64{{2890, 3010, 3055, 2990, 3040, 3002, 3071}, {3310, 3701, 3655, 3722, 3690, 3748, 3666}}
	var pairs []stats.Pair
	for i := range rates[0] {
		for n, s := range []*bench.Side{&a, &b} {
			rate := rates[n][i]
			s.Repeats = append(s.Repeats, bench.Repeat{Warmup: i == 0, Position: 2*i + n, Wall: s.Repeats[0].Wall, Batches: 32,
				Samples: 2048, SamplesPerS: &rate, Complete: true, Stages: s.Trace.Stages})
		}
		if i > 0 {
			pairs = append(pairs, stats.Pair{A: rates[0][i], B: rates[1][i]})
		}
	}
	a.Repeats, b.Repeats = a.Repeats[1:], b.Repeats[1:]
	a.SamplesPerS, b.SamplesPerS = stats.Summarize(rates[0][1:]), stats.Summarize(rates[1][1:])
	c := stats.Speedup(pairs)
	memory, link, node := int64(64<<30), 26.2, 0
	return &bench.Result{Schema: bench.SchemaVersion, Kind: bench.KindCompare, Simulated: true,
		Tool:    bench.Tool{Version: "v1.0.0", Build: "linux/amd64", Go: "go1.26"},
		Started: time.Date(2026, 12, 1, 9, 30, 0, 0, time.UTC),
		Command: "pinscope compare --preset article --device sim:rtx4090 --workers 4",
		Host:    bench.Host{Name: "desk", OS: "linux", Kernel: "6.12.0", CPU: "a CPU with 8 cores", CPUs: 8, MemoryBytes: &memory},
		Device: bench.Device{ID: "sim:rtx4090", Name: "simulated rtx4090 GPU", Simulated: true, Driver: "none (simulated)",
			NUMANode: &node, LinkGBps: &link, EventClock: "computed from the model"},
		Complete: true, Sides: []bench.Side{a, b}, Comparison: &c,
		Findings: []string{"A: loading is the limit, not pinning: the trainer waits 3 ms of 21 ms a batch for data",
			"pinning took 172.3 ms before the start and saves 4 ms a batch: it does not pay back in this run (32 batches; break-even at 44)"},
		Warnings: []string{"workers 4, usable CPUs 2: workers take turns, and the trainer with them."},
		Sentence: "SIMULATED: B (pin thread, non_blocking) is 22.2 % faster on this machine (95 % interval +19.4 %..+24.9 %); it costs 147.02 MiB that nothing can reclaim.",
	}
}

func side(label string, pin loader.PinMode, nonBlocking bool, t *trace.Trace) bench.Side {
	c := bench.Config{Preset: "article", Source: "randn", Samples: 1000, Shape: bench.Shape{3, 224, 224}, Batch: 64, Workers: 4,
		Prefetch: 2, Epochs: 2, Shuffle: true, Pin: pin, NonBlocking: nonBlocking, OutFeatures: 10, StepsPerBatch: 1, Repeats: 6, Warmup: 1}
	typical := 2
	wall := Whole(t).To - Whole(t).From
	s := bench.Side{Label: label, Config: c, Typical: &typical, Trace: t,
		Plan:    bench.Plan{Shape: c.Shape, DType: c.DType, Samples: 1000, TotalBatches: 32, BatchBytes: 38535168, QueueSlots: 8, QueueBytes: 8 * 38535168, HostBytes: 470 << 20},
		Setup:   bench.Setup{PinEffective: bench.PinnedNone},
		Repeats: []bench.Repeat{{Wall: wall}},
	}
	if pin != loader.PinOff {
		s.Plan.RingSlots, s.Plan.RingBytes = 4, 154157056
		s.Setup = bench.Setup{PinEffective: bench.PinnedAll, PinRequested: true, PinnedBytes: 154157056, PinDuration: 172300 * time.Microsecond, PinCalls: 4}
	}
	return s
}

func value(v float64) *float64 { return &v }

// bandwidthSweep is as the design's figures of a real card.
func bandwidthSweep() Bandwidth {
	line := func(name string, rates ...float64) BandwidthLine {
		l := BandwidthLine{Name: name}
		for i, bytes := range []int64{62500, 1e6, 9.6e6, 38.5e6, 1e9} {
			l.Points = append(l.Points, BandwidthPoint{bytes, &rates[i]})
		}
		return l
	}
	return Bandwidth{LinkGBps: value(55.4), Lines: []BandwidthLine{
		line("pinned", 11.4, 43.9, 54, 55, 55.4), line("pageable", 3.3, 14.6, 12.7, 14.2, 7.9)}}
}

// memorySeries are 240 samples in which 4 GiB are pinned step by step.
func memorySeries(every time.Duration) Memory {
	m := Memory{Limit: value(16 << 30)}
	stall, reclaimed, refaulted := 0.0, 0.0, 0.0
	for i := range 240 {
		at := time.Duration(i) * every
		pinned := float64(min(i/40, 4)) * (1 << 30)
		squeeze := math.Max(0, float64(i-140)) / 100
		stall += squeeze * 0.3 * float64(every)
		reclaimed += squeeze * 36000 * every.Seconds()
		refaulted += squeeze * 10000 * every.Seconds()
		m.At = append(m.At, at)
		m.Pinned = append(m.Pinned, pinned)
		m.RSSAnon = append(m.RSSAnon, 1.5*(1<<30)+float64(i)*4e6)
		m.RSSShmem = append(m.RSSShmem, pinned*1.01)
		m.Available = append(m.Available, 11*(1<<30)-pinned-float64(i)*4e6)
		m.SomeStall = append(m.SomeStall, stall)
		m.FullStall = append(m.FullStall, stall*0.4)
		m.Reclaimed = append(m.Reclaimed, reclaimed)
		m.Refaulted = append(m.Refaulted, refaulted)
	}
	return m
}

// withMemory adds what a sampler saw during a comparison, and the limits.
func withMemory(r *bench.Result) *bench.Result {
	m := memorySeries(60 * ms)
	column := func(values []float64) *pressure.Column {
		c := &pressure.Column{}
		for i := range values {
			c.Last = append(c.Last, &values[i])
		}
		return c
	}
	r.Pressure = &pressure.Series{Every: 60 * ms, At: m.At, Columns: map[string]*pressure.Column{
		pressure.Pinned.String(): column(m.Pinned), pressure.RSSAnon.String(): column(m.RSSAnon),
		pressure.RSSShmem.String(): column(m.RSSShmem), pressure.Available.String(): column(m.Available),
		pressure.MemorySomeStall.String(): column(m.SomeStall), pressure.MemoryFullStall.String(): column(m.FullStall)}}
	total, available := int64(16<<30), int64(11<<30)
	r.Limits = &bench.Limits{TotalBytes: &total, AvailableBytes: &available, LimitedBy: "memory.max of /docker/ab12 (cgroup v2)", Container: "docker"}
	for i := range r.Sides {
		for j := range r.Sides[i].Repeats {
			r.Sides[i].Repeats[j].Start = time.Duration(r.Sides[i].Repeats[j].Position) * 1000 * ms
		}
	}
	return r
}

func experiment() *pressure.Outcome {
	o := &pressure.Outcome{Kind: "pinned"}
	for i := range int64(9) {
		over := math.Max(0, float64(i-5))
		o.Steps = append(o.Steps, pressure.Step{BallastBytes: i << 30, SamplesPerSecond: value(4200 - over*900 + float64(i%2)*40),
			Cache:     &pressure.CacheReading{Bytes: 1 << 30, BytesPerSecond: 3.1e9 / (1 + over*1.5)},
			SomeShare: value(over * 0.09), FullShare: value(over * 0.03)})
	}
	safe := int64(5 << 30)
	o.SafeBytes = &safe
	o.RateKnee = &pressure.Knee{Bytes: 6 << 30}
	o.CacheKnee = &pressure.Knee{Bytes: 6 << 30}
	return o
}

// experimentResult holds pinned ballast, then pageable.
func experimentResult() *bench.ExperimentResult {
	r := comparison()
	pageable := experiment()
	pageable.Kind, pageable.RateKnee, pageable.CacheKnee = "pageable", nil, nil
	return &bench.ExperimentResult{Simulated: true, Tool: r.Tool, Started: r.Started, Command: "pinscope pressure --against pageable",
		Host: r.Host, Device: r.Device, Config: r.Sides[1].Config, Plan: r.Sides[1].Plan, UpTo: 0.8, PerStep: 5 * time.Second,
		CacheFileBytes: 1 << 30, Complete: true, Outcomes: []pressure.Outcome{*experiment(), *pageable},
		Notes:    []string{"pinned on the simulated GPU is mlock: its limit is 8 MiB here"},
		Sentence: "SIMULATED: 5 GiB of pinned memory were held without harm; throughput falls by 21.0 % once 6 GiB are held; with 5 GiB it was still good."}
}

// ladder is a result of six rungs, the last one aside.
func ladder() *bench.Result {
	r := comparison()
	r.Kind, r.Comparison, r.Ladder = bench.KindLadder, nil, &bench.Ladder{}
	base := r.Sides
	r.Sides = nil
	for i, rung := range rungs() {
		s := base[min(i, 1)]
		s.Label, s.Name = "", rung.Name
		s.SamplesPerS.Median, s.SamplesPerS.Interval = &rung.SamplesPerS, &stats.Interval{Lo: rung.Lo, Hi: rung.Hi, Level: 0.96}
		r.Sides = append(r.Sides, s)
		if rung.Step != nil {
			r.Ladder.Steps = append(r.Ladder.Steps, bench.LadderStep{Side: i, Against: min(i-1, 3), Aside: i == 5, Comparison: *rung.Step})
		}
	}
	return r
}

func scaling() []ScalingLine {
	var lines []ScalingLine
	for i, name := range []string{"pin off", "pin thread", "pin direct"} {
		l := ScalingLine{Name: name}
		for _, w := range []int{1, 2, 4, 8, 12, 16} {
			rate := 5200 * float64(w) / (1 + float64(w)*(0.16-0.05*float64(i)))
			l.Points = append(l.Points, ScalingPoint{w, stats.Summarize([]float64{rate * 0.96, rate * 0.98, rate, rate * 1.01, rate * 1.02, rate * 1.05})})
		}
		lines = append(lines, l)
	}
	return lines
}

func sweep() Heat {
	h := Heat{XTitle: "workers", YTitle: "batch", X: []string{"1", "2", "4", "8", "12", "16"}, Y: []string{"16", "32", "64", "128"}, Unit: "samples/s"}
	for j := range h.Y {
		var row []float64
		for i := range h.X {
			row = append(row, 900*float64(i+1)*math.Sqrt(float64(j+1)))
		}
		h.Values = append(h.Values, row)
	}
	h.Values[3][5] = math.NaN()
	return h
}

func rungs() []Rung {
	step := func(ratio float64, claim stats.Verdict) *stats.Comparison {
		return &stats.Comparison{Ratio: &ratio, Verdict: claim}
	}
	return []Rung{{"pageable, blocking", 3020, 2980, 3060, nil}, {"+ pin thread", 3380, 3340, 3420, step(1.12, stats.Faster)},
		{"+ non_blocking", 3450, 3330, 3560, step(1.004, stats.NoDifference)},
		{"+ workers fill pinned slots", 4480, 4420, 4540, step(1.3, stats.Faster)},
		{"+ own copy stream", 4390, 4330, 4450, step(0.98, stats.Slower)}, {"+ pinned data set", 5900, 5820, 5980, step(1.344, stats.CannotTell)}}
}
