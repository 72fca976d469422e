package bench

import (
	"math"
	"strings"
	"testing"
	"time"

	"pinscope/bench/pressure"
	"pinscope/bench/trace"
	"pinscope/bench/verdict"
)

// TestVerdicts: settings whose limit follows by arithmetic, and what the advice
// brings when it is taken. A batch of 1,000,000
// bytes takes 1 ms on a link of 1 GB/s, 2 ms from pageable memory.
func TestVerdicts(t *testing.T) {
	const link = "link-gbps=1 pageable-gbps=0.5 "
	const large = "samples=100 shape=250000 batch=1 source=delay:0s workers=1 "
	own, shared := pinnedOwnStream+" ", pinnedSharedStream+" "
	cases := []struct {
		name, settings, sim string
		limit               verdict.Limit
		advice              string // "": none; else part of it
		gain                float64
	}{
		{"compute of 5 hides copies of 1", large + own, link + "compute=5ms", verdict.Compute, "", 0},
		{"copies of 1 hide compute of 0.5", large + own, link + "compute=500us", verdict.Transfer, "", 0},
		// 2 + 0.5 become 1.
		{"pageable, blocking", large + pageableBlocking, link + "compute=500us", verdict.Transfer, "pin=direct non-blocking=true copy-stream=dedicated", 1.5},
		// 2 and 1.5 side by side become 1.5.
		{"pageable, own stream", large + pageableOwnStream, link + "compute=1500us", verdict.Transfer, "pin=direct", 0.33},
		// The thread, in no time, changes nothing.
		{"pageable thread", large + "pin=pageable-thread non-blocking=false", link + "compute=500us", verdict.Transfer, "pin=direct", 1.5},
		// 1 + 3 in one queue become 3.
		{"one stream, compute of 3", large + shared, link + "compute=3ms", verdict.Compute, "copy-stream=dedicated", 0.33},
		{"one stream, compute of 0.5", large + shared, link + "compute=500us", verdict.Transfer, "copy-stream=dedicated", 0.5},
		{"blocking, one stream", large + pinnedBlocking, link + "compute=3ms", verdict.Compute, "copy-stream=dedicated", 0.33},
		{"loss read each step", large + own + "sync-steps=true", link + "compute=3ms", verdict.Compute, "sync-steps=false", 0.33},

		{"2 workers of 10, compute of 1", large + own + "source=delay:10ms workers=2", link + "compute=1ms", verdict.Loading, "workers=10", 3.57},
		{"4 workers of 10, compute of 1", large + own + "source=delay:10ms workers=4", link + "compute=1ms", verdict.Loading, "workers=10", 1.34},
		{"1 worker of 3, compute of 2", large + own + "source=delay:3ms", link + "compute=2ms", verdict.Loading, "workers=2", 0.5},
		{"no workers, load of 5", large + own + "source=delay:5ms workers=0", link + "compute=1ms", verdict.Loading, "workers=3", 3.1},
		{"no workers, load of 1", large + own + "source=delay:1ms workers=0", link + "compute=5ms", verdict.Compute, "workers=1", 0.4},
		{"workers start 25 times for 4 batches", large + own + "samples=4 epochs=25 source=delay:10ms workers=4", link + "compute=1ms", verdict.Loading, "workers=10 keep-workers=true", 1.26},

		{"compute of 1, launch of 50 us", large + "shape=16 samples=1000 " + own, "link-gbps=12 compute=1us launch=50us", verdict.Launch, "batch=4", 2.78},
		{"10 launches a batch", large + "shape=16 steps-per-batch=10 " + own, "link-gbps=12 compute=10us launch=100us", verdict.Launch, "batch=4", 2},
		{"copies of 4,000 bytes, latency of 100 us", large + "shape=1000 samples=1000 " + pinnedBlocking, "link-gbps=12 compute=1us latency=100us", verdict.Launch, "batch=4", 2.92},

		{"one slot: 1 to fill, 2 to copy", large + own + "source=delay:1ms ring-slots=1", "link-gbps=0.5 compute=100us", verdict.Transfer, "", 0},
		{"steps read 1 over the link", large + "pin=direct host-memory=mapped", link + "compute=200us", verdict.Transfer, "", 0},
		{"steps of 5 read 1 over the link", large + "pin=direct host-memory=mapped", link + "compute=5ms", verdict.Compute, "", 0},
		{"the device gathers", large + "source=cached pin=dataset non-blocking=true copy-stream=dedicated", link + "compute=300us", verdict.Transfer, "", 0},
		{"tokens", "source=tokens samples=6400 batch=64 workers=1 " + own, "link-gbps=12 compute=50ms", verdict.Compute, "", 0},

		{"1 and 1 one after the other", large + pinnedBlocking, link + "compute=1ms", verdict.CannotTell, "copy-stream=dedicated", 1},
		{"1 beside 1.01", large + own, link + "compute=1010us", verdict.CannotTell, "", 0},
		{"1 beside 1.05", large + own, link + "compute=1050us", verdict.Compute, "", 0},
		{"5 workers of 5 beside 1.01", large + own + "source=delay:5ms workers=5 samples=1000", "link-gbps=inf compute=1010us", verdict.CannotTell, "", 0},
		{"5 workers of 5 beside 0.9", large + own + "source=delay:5ms workers=5 samples=1000", "link-gbps=inf compute=900us", verdict.Loading, "workers=6", 0.11},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			config := settings(t, with(nil, c.settings)...)
			r := inBubble(t, withSim(config, append(still, strings.Fields(c.sim)...)...))
			v := r.Sides[0].Verdict
			if v.Limit != c.limit {
				t.Errorf("%s, want %s (%+v)", v, c.limit, v.Savings)
			}
			if v.Period > 0 && math.Abs(float64(v.Explained)/float64(v.Period)-1) > 0.03 {
				t.Errorf("a batch took %v, its stages come to %v", v.Period, v.Explained)
			}
			switch {
			case (v.Advice == nil) != (c.advice == ""):
				t.Errorf("advice %v, want %q", v.Advice, c.advice)
			case v.Advice != nil && (!strings.Contains(v.Advice.String(), c.advice) || math.Abs(v.Advice.Gain-c.gain) > 0.05*(1+c.gain)):
				t.Errorf("advice %v, want %q and %+.2f", v.Advice, c.advice, c.gain)
			case v.Advice != nil && c.limit != verdict.Launch: // given compute does not grow with the batch
				advised, err := ParseSettings(config, v.Advice.Settings...)
				if err != nil {
					t.Fatal(err)
				}
				after := inBubble(t, withSim(advised, append(still, strings.Fields(c.sim)...)...))
				near(t, "gain of "+v.Advice.String(), *after.Sides[0].SamplesPerS.Median / *r.Sides[0].SamplesPerS.Median, 1+v.Advice.Gain, 0.03)
			}
		})
	}
}

// TestVerdictBusyShare: of 100 batches a worker loads one in 10 ms; the first step
// ends after 12 ms, then 99 ms of steps lie in 991.
func TestVerdictBusyShare(t *testing.T) {
	c := settings(t, with(nil, "samples=100 shape=250000 batch=1 source=delay:10ms workers=1 "+pinnedOwnStream)...)
	r := inBubble(t, withSim(c, append(still, "link-gbps=1", "compute=1ms")...))
	near(t, "busy share", *r.Sides[0].Verdict.BusyShare, 99.0/990, 0.001)
	near(t, "of a batch", *r.Sides[0].Verdict.TransferShare, 100.0/1002, 0.001)
}

// TestVerdictOfCPU: the call is the step, and costs nothing beside it.
func TestVerdictOfCPU(t *testing.T) {
	s, step := replay("", 1000, 0), time.Millisecond
	s.Config.Workers = 1
	for _, stage := range []trace.Stage{trace.Launch, trace.Step} {
		s.Trace.Stages = append(s.Trace.Stages, trace.StageSummary{Stage: stage, Count: 1000, Total: 1000 * step, P50: &step})
	}
	r := Result{Kind: KindRun, Device: Device{ID: "cpu"}, Sides: []Side{s}}
	r.judge()
	if v := r.Sides[0].Verdict; v.Limit != verdict.Compute || v.Calls != 0 || v.Explained != step {
		t.Errorf("%s, calls %v, stages come to %v", v, v.Calls, v.Explained)
	}
}

// TestVerdictOfStalls: loading and steps hide each other; of 10 s some task waited
// 6 s for memory.
func TestVerdictOfStalls(t *testing.T) {
	s := replay("", 1000, 0)
	s.Config.Workers, s.Plan.DeviceSlots, s.Plan.QueueSlots = 1, 2, 3
	for stage, took := range map[trace.Stage]time.Duration{trace.Load: 800 * time.Microsecond, trace.Step: 850 * time.Microsecond} {
		s.Trace.Stages = append(s.Trace.Stages, trace.StageSummary{Stage: stage, Count: 1000, Total: 1000 * took, P50: &took})
	}
	r := Result{Kind: KindRun, Sides: []Side{s}}
	if r.judge(); r.Sides[0].Verdict.Limit != verdict.Compute {
		t.Errorf("without pressure: %s", r.Sides[0].Verdict)
	}
	r.Pressure = &pressure.Series{At: []time.Duration{0, 10 * time.Second},
		Summary: map[string]*pressure.Summary{pressure.MemorySomeStall.String(): {Delta: 6e9}}}
	if r.judge(); r.Sides[0].Verdict.Limit != verdict.Memory || r.Sides[0].Verdict.Savings[0].Share != 0.6 {
		t.Errorf("%s", r.Sides[0].Verdict)
	}
}
