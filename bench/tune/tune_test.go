package tune

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"pinscope/bench"
	"pinscope/cudamem"
)

// machines are ten, in proportion, with batches of 100,000 bytes: links from slow to fast, loading and steps
// cheap and dear, and one whose memory pins next to nothing.
var machines = []struct{ source, sim string }{
	{"cached", "link-gbps=1.2,pageable-gbps=0.6,compute=100us"},
	{"cached", "link-gbps=0.3,pageable-gbps=0.2,compute=300us"},
	{"cached", "link-gbps=0.1,pageable-gbps=0.05,compute=1ms"},
	{"cached", "link-gbps=2.5,pageable-gbps=0.8,compute=1ms"},
	{"cached", "link-gbps=5.5,pageable-gbps=1.2,compute=20us,latency=4400ns"},
	{"delay:8ms", "link-gbps=0.1,pageable-gbps=0.05,compute=1ms"},
	{"delay:3ms", "link-gbps=0.3,pageable-gbps=0.1,compute=2ms"},
	{"delay:20ms", "link-gbps=1.2,pageable-gbps=0.6,compute=1ms"},
	{"delay:1ms", "link-gbps=0.05,pageable-gbps=0.04,compute=3ms"},
	{"delay:2ms±1ms", "link-gbps=0.1,pageable-gbps=0.09,compute=900us,jitter=5%"},
}

func settings(t *testing.T, source, sim string) bench.Config {
	t.Helper()
	c, err := bench.ParseArgs(bench.DefaultConfig(), []string{"--device", "sim", "--source", source, "--samples", "160", "--shape", "25000",
		"--dtype", "uint8", "--batch", "4", "--epochs", "1", "--warmup", "0", "--sim", "launch=0,copy-engines=2," + sim})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTuneComesNearTheBest: at least 95 % of the best of the full grid, with at most
// a quarter of its runs.
func TestTuneComesNearTheBest(t *testing.T) {
	for i, m := range machines {
		t.Run(fmt.Sprint(i, " ", m.source, " ", m.sim), func(t *testing.T) {
			base := settings(t, m.source, m.sim)
			base.Repeats = 6
			o := Options{Workers: []int{1, 2, 4, 8}}
			var out *Outcome
			best, name := 0.0, ""
			synctest.Test(t, func(t *testing.T) {
				run := bench.RunOptions{Clock: cudamem.NewPlainClock(), SpansPerLane: 256}
				var err error
				if out, err = Tune(context.Background(), base, o, run); err != nil {
					t.Fatal(err)
				}
				base.Repeats = 1
				sweep, err := bench.SweepOf(base, candidates(base, o))
				if err != nil {
					t.Fatal(err)
				}
				full, err := bench.RunSweep(context.Background(), sweep, run, nil)
				if err != nil {
					t.Fatal(err)
				}
				best, name = *full.Sides[full.Sweep.Best].SamplesPerS.Median, full.Sides[full.Sweep.Best].Name
			})
			chosen := out.Result.Sides[out.Grid[out.Chosen].Side]
			if got := *chosen.SamplesPerS.Median; got < 0.95*best {
				t.Errorf("%s: %.0f samples/s; %s: %.0f", chosen.Name, got, name, best)
			}
			if all := len(out.Grid) + out.TooMuch + out.Unknown; out.Runs > all/4 {
				t.Errorf("%d of %d were run", out.Runs, all)
			}
		})
	}
}

func TestTuneWithinBudget(t *testing.T) {
	base := settings(t, "delay:8ms", "link-gbps=0.1,pageable-gbps=0.05,compute=1ms")
	base.Repeats = 6
	tuned := func(o Options) *Outcome {
		o.Workers = []int{1, 2, 4, 8}
		var out *Outcome
		synctest.Test(t, func(t *testing.T) {
			var err error
			if out, err = Tune(context.Background(), base, o, bench.RunOptions{Clock: cudamem.NewPlainClock()}); err != nil {
				t.Fatal(err)
			}
		})
		return out
	}
	chosen := func(out *Outcome) bench.Side { return out.Result.Sides[out.Grid[out.Chosen].Side] }
	free, tight := tuned(Options{}), tuned(Options{BudgetBytes: 5e5})
	if free.TooMuch != 0 || tight.TooMuch == 0 || chosen(tight).Setup.PinnedBytes > 5e5 {
		t.Errorf("beyond the budget: %d and %d; %d bytes pinned", free.TooMuch, tight.TooMuch, chosen(tight).Setup.PinnedBytes)
	}
	if fast, less := chosen(free), chosen(tuned(Options{Within: 0.5})); less.Setup.PinnedBytes > fast.Setup.PinnedBytes ||
		*less.SamplesPerS.Median < 0.5**fast.SamplesPerS.Median {
		t.Errorf("half as fast: %s with %d bytes, the best %s with %d", less.Name, less.Setup.PinnedBytes, fast.Name, fast.Setup.PinnedBytes)
	}
	var text strings.Builder
	if err := free.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SIMULATED", " <-", "Pinscope   pinscope run --", "PyTorch    loader = DataLoader(dataset, batch_size=4, shuffle=True"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
