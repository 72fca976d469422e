package bench

import (
	"bufio"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"pinscope/bench/stats"
	"pinscope/cudamem"
)

// ladderInBubble measures a ladder in virtual time.
func ladderInBubble(t *testing.T, base Config, asides bool) *Result {
	t.Helper()
	rungs, err := LadderRungs(base, asides)
	if err != nil {
		t.Fatal(err)
	}
	var r *Result
	synctest.Test(t, func(t *testing.T) {
		if r, err = RunLadder(context.Background(), rungs, RunOptions{Clock: cudamem.NewPlainClock()}); err != nil {
			t.Fatal(err)
		}
	})
	if got := cudamem.ReadLedger().PinnedBytes; got != 0 {
		t.Errorf("%d bytes are still pinned", got)
	}
	return r
}

// A batch takes 1 ms from pinned and 2 ms from pageable memory, and 0.75 ms to compute.
func ladderSettings(t *testing.T, given ...string) Config {
	base := settings(t, append([]string{"source=cached", "samples=100", "shape=250000", "dtype=uint8", "batch=4", "workers=2", "repeats=6"}, given...)...)
	return withSim(base, append(still, "link-gbps=1", "pageable-gbps=0.5", "compute=750us")...)
}

func TestLadder(t *testing.T) {
	r := ladderInBubble(t, ladderSettings(t), true)
	var got strings.Builder
	w := &textWriter{bufio.NewWriter(&got)}
	r.textLadder(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	// By 2.75, 1.75 and 1 ms a batch, and what filling the pipeline takes.
	want := `
Ladder                      samples/s  by before 95 % interval       pinned
A pageable, blocking            1,455                                   0 B
B + thread, still pageable      1,455  1.000x    1.000..1.000           0 B
C + its ring is pinned          2,286  1.571x    1.571..1.571      3.83 MiB
D + non_blocking                2,286  1.000x    1.000..1.000      3.83 MiB
E + workers fill the ring       2,286  1.000x    1.000..1.000      5.74 MiB
F + own copy stream             3,883  1.699x    1.699..1.699      5.74 MiB
G + data set is pinned          3,883  1.000x    1.000..1.000     23.87 MiB
Side steps, by F
H registered ring               3,883  1.000x    1.000..1.000      5.74 MiB
I write-combined ring           3,883  1.000x    1.000..1.000      5.74 MiB
J mapped ring                   4,000  1.030x    1.030..1.030      5.74 MiB
K managed ring                  4,000  1.030x    1.030..1.030      5.74 MiB

Total, G by A                 2.670x    2.670..2.670    faster
  faster copy                 1.571x    1.571..1.571    faster
  overlap                     1.699x    1.699..1.699    faster
  extra thread                1.000x    1.000..1.000    no measurable difference
  saved staging copy          1.000x    1.000..1.000    no measurable difference
`
	if got.String() != want {
		t.Errorf("got %s\nwant %s", got.String(), want)
	}
	if !strings.Contains(r.Sentence, "pinned is 167.0 % faster") || !strings.Contains(r.Sentence,
		"faster copy / overlap / extra thread / saved staging copy give +57.1 % / +69.9 % / nothing measurable / nothing measurable (they multiply)") {
		t.Error(r.Sentence)
	}
	var all strings.Builder
	if err := errors.Join(r.Text(&all), r.WriteCSV(&all), r.WriteTrace(&all), r.WriteJSON(&all)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got.String()) {
		if len(strings.TrimRight(line, "\n")) > textWidth {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// TestLadderStepsMultiplyUp, with jitter: in each round to the last digit, and as
// medians within the total's interval.
func TestLadderStepsMultiplyUp(t *testing.T) {
	r := ladderInBubble(t, withSim(ladderSettings(t), "jitter=10%"), false)
	l := r.Ladder
	steps, parts := 1.0, 1.0
	for round := range l.Total.Comparison.Ratios {
		product := 1.0
		for _, step := range l.Steps {
			product *= step.Comparison.Ratios[round]
		}
		near(t, "product of a round", product, l.Total.Comparison.Ratios[round], 1e-12)
	}
	for _, step := range l.Steps {
		steps *= *step.Comparison.Ratio
	}
	for _, part := range l.Parts {
		parts *= *part.Comparison.Ratio
	}
	if in := l.Total.Comparison.Interval; !in.Holds(steps) || !in.Holds(parts) || in.Lo == in.Hi {
		t.Errorf("steps multiply up to %g, parts to %g, the total is %+v", steps, parts, l.Total.Comparison)
	}
}

// TestLadderWithinMemory: what does not fit at once takes turns, with the same
// outcome; a rung that does not fit alone is left out.
func TestLadderWithinMemory(t *testing.T) {
	for _, c := range []struct {
		limit, warning string
		rungs          int
		last           Cause
	}{
		{"0", "", 7, SavedCopy},
		{"24MiB", "memory does not hold all", 7, SavedCopy},
		{"8MiB", "G (+ data set is pinned) is left out: max-pinned:", 6, Overlap},
		{"4MiB", "E (+ workers fill the ring) is left out", 4, Overlap},
	} {
		t.Run(c.limit, func(t *testing.T) {
			r := ladderInBubble(t, ladderSettings(t, "max-pinned="+c.limit), false)
			if got := strings.Join(r.Warnings, "\n"); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, c.warning)
			}
			l := r.Ladder
			if len(r.Sides) != c.rungs || len(l.Steps) != c.rungs-1 || l.Steps[len(l.Steps)-1].Cause != c.last {
				t.Fatalf("%d rungs, steps %+v", len(r.Sides), l.Steps)
			}
			near(t, "C by B", *l.Steps[1].Comparison.Ratio, 2.75/1.75, 1e-3)
			opened := 0
			for _, s := range r.Sides {
				if !s.Setup.SourceShared {
					opened++
				}
				if s.SamplesPerS.Count != 6 {
					t.Errorf("%s: %d repeats", s.Name, s.SamplesPerS.Count)
				}
			}
			if opened != 1 {
				t.Errorf("the data set was opened for %d rungs", opened)
			}
		})
	}
	rungs, _ := LadderRungs(ladderSettings(t, "max-pinned=1MiB"), false)
	if r, err := RunLadder(context.Background(), rungs, RunOptions{}); err != nil || len(r.Sides) != 2 {
		t.Errorf("without any pinned rung: %v", err)
	}
}

// TestLadderRungLeftOutBetween: what the next rung changes is then more than one thing.
func TestLadderRungLeftOutBetween(t *testing.T) {
	rungs, _ := LadderRungs(ladderSettings(t), false)
	r := &Result{Kind: KindLadder, NotValid: []string{}}
	for i, rung := range rungs {
		if i != 2 {
			s := replay("", 1000*math.Pow(2, float64(i)), 0)
			s.Name = rung.Name
			r.Sides = append(r.Sides, s)
		}
	}
	r.climb(rungs)
	if step := r.Ladder.Steps[1]; step.Cause != Several || step.Against != 1 || *step.Comparison.Ratio != 4 {
		t.Errorf("%+v", step)
	}
	if last := r.Ladder.Parts[len(r.Ladder.Parts)-1]; last.Cause != Several || *last.Comparison.Ratio != 4 || *r.Ladder.Total.Comparison.Ratio != 64 {
		t.Errorf("%+v", r.Ladder)
	}
}

func TestLadderRefuses(t *testing.T) {
	for given, want := range map[string]string{
		"device=cpu": "device: the CPU trains", "workers=0": "workers: a ladder needs workers",
	} {
		_, err := LadderRungs(settings(t, given), false)
		var input *InputError
		if !errors.As(err, &input) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", given, err)
		}
	}
}

// TestEqualSidesAreNotTold: of 200 comparisons of equal settings with jitter few
// claim a difference, and of as many with 2 % in it most do. A comparison is ten
// pairs of repeats, as by default.
func TestEqualSidesAreNotTold(t *testing.T) {
	const comparisons, pairs = 200, 10
	verdicts := func(a, b string) (told int) {
		base := settings(t, "samples=10", "shape=16", "batch=1", "workers=1", "pin=off", "non-blocking=false")
		base.Repeats = comparisons * pairs
		base = withSim(base, append(still, "link-gbps=12", "pageable-gbps=6", "compute=20us", "jitter=1%")...)
		sideA, errA := ParseSettings(base, a)
		sideB, errB := ParseSettings(base, b)
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			r, err := Compare(context.Background(), sideA, sideB, RunOptions{Clock: cudamem.NewPlainClock(), NoRecording: true})
			if err != nil {
				t.Fatal(err)
			}
			all := r.rounds(1, 0)
			for i := range comparisons {
				if v := stats.Speedup(all[i*pairs:][:pairs]).Verdict; v == stats.Faster || v == stats.Slower {
					told++
				}
			}
		})
		return told
	}
	if claims := verdicts("steps-per-batch=50", "steps-per-batch=50"); claims > comparisons/20+3 {
		t.Errorf("%d of %d comparisons of equal sides claim a difference", claims, comparisons)
	}
	if found := verdicts("steps-per-batch=51", "steps-per-batch=50"); found < comparisons*8/10 {
		t.Errorf("2 %% were found in %d of %d comparisons", found, comparisons)
	}
}
