package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		name             string
		values           []float64
		median, min, max float64
		lo, hi           float64 // 0 where there is no interval
		level            float64
	}{
		// C58. The mean of these is 16.0006, which is nobody's step time.
		{"C58, no warm-up", []float64{79.075, 0.607, 0.115, 0.106, 0.100}, 0.115, 0.100, 79.075, 0, 0, 0},
		{"C58, 3 warm-up steps", []float64{0.106, 0.100}, 0.103, 0.100, 0.106, 0, 0, 0},
		{"one", []float64{7}, 7, 7, 7, 0, 0, 0},
		// 1 - 2/64
		{"6 have an interval", []float64{6, 1, 5, 2, 4, 3}, 3.5, 1, 6, 1, 6, 0.96875},
		// benchmath's own would be 1 to 7: 1 - 10/256. Ours is 1 - 2/256.
		{"8 are treated alike on both sides", []float64{1, 2, 3, 4, 5, 6, 7, 8}, 4.5, 1, 8, 1, 8, 0.9921875},
		// 1 - 2*(1+10)/1024
		{"10", []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 5.5, 1, 10, 2, 9, 0.978515625},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.values)
			s := Summarize(c.values)
			if math.Abs(*s.Median-c.median) > 1e-12 || *s.Min != c.min || *s.Max != c.max || s.Count != len(c.values) {
				t.Errorf("median %v min %v max %v count %d, want %v %v %v %d", *s.Median, *s.Min, *s.Max, s.Count, c.median, c.min, c.max, len(c.values))
			}
			switch {
			case c.lo == 0 && (s.Interval != nil || len(s.Warnings) != 1):
				t.Errorf("interval %v, warnings %q; want none and one", s.Interval, s.Warnings)
			case c.lo != 0 && (s.Interval == nil || s.Interval.Lo != c.lo || s.Interval.Hi != c.hi || math.Abs(s.Interval.Level-c.level) > 1e-12):
				t.Errorf("interval %+v, want %v to %v at %v", s.Interval, c.lo, c.hi, c.level)
			}
			if !slices.Equal(c.values, before) {
				t.Error("the values were moved")
			}
		})
	}
}

func TestSummarizeUndefined(t *testing.T) {
	for name, values := range map[string][]float64{"none": nil, "not a number": {1, math.NaN()}, "endless": {math.Inf(1), 2}} {
		s := Summarize(values)
		text, err := json.Marshal(s)
		if err != nil || !strings.Contains(string(text), `"median":null,"min":null,"max":null,"interval":null`) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		if (len(values) > 0) != (len(s.Warnings) > 0) {
			t.Errorf("%s: warnings %q", name, s.Warnings)
		}
	}
}

func TestIntervalLevels(t *testing.T) {
	for n := LeastForInterval; n <= 200; n++ {
		k := intervalOrder(n)
		// From 31 on benchmath uses the normal approximation, which falls short by
		// less than 0.4 %.
		least := Level
		if n > 30 {
			least -= 0.004
		}
		if level := intervalLevel(n, k); k < 1 || level < least || level >= 1 {
			t.Errorf("%d values: order %d, level %v", n, k, level)
		}
	}
	if k := intervalOrder(LeastForInterval - 1); k != 0 {
		t.Errorf("5 values have an interval of order %d", k)
	}
}

// same is a number of equal pairs.
func same(n int, a, b float64) []Pair { return slices.Repeat([]Pair{{a, b}}, n) }

func TestSpeedup(t *testing.T) {
	for _, c := range []struct {
		name     string
		pairs    []Pair
		verdict  Verdict
		ratio    float64 // 0: undefined
		text     string
		warnings int
	}{
		{"C01 slower", same(6, 57_961, 47_589), Slower, 47_589.0 / 57_961, "0.82x (-17.9 %)", 0},
		{"C01 faster", same(6, 31_412.6, 32_541.5), Faster, 32_541.5 / 31_412.6, "1.04x (+3.6 %)", 0},
		{"5 pairs", same(5, 57_961, 47_589), CannotTell, 47_589.0 / 57_961, "cannot tell", 1},
		{"C11 5 pairs around 1", []Pair{{100, 103}, {100, 98}, {100, 101}, {100, 96}, {100, 102}}, NoDifference, 1.01, "no measurable difference", 0},
		{"no pairs", nil, CannotTell, 0, "cannot tell", 1},
		{"equal", same(6, 100, 100), NoDifference, 1, "no measurable difference", 0},
		{"less than is written", same(6, 100, 100.049), NoDifference, 1.00049, "no measurable difference", 0},
		{"the least written", same(6, 100, 100.051), Faster, 1.00051, "1.00x (+0.1 %)", 0},
		{"the least written, down", same(6, 100, 99.949), Slower, 0.99949, "1.00x (-0.1 %)", 0},
		{"one of six the other way", append(same(5, 100, 150), Pair{100, 99}), NoDifference, 1.5, "no measurable difference", 0},
		{"three times", same(9, 3.854, 11.562), Faster, 3, "3.00x (+200.0 %)", 0},
		{"a zero", append(same(9, 1, 2), Pair{0, 2}), CannotTell, 0, "cannot tell", 1},
		{"below zero", append(same(9, 1, 2), Pair{1, -2}), CannotTell, 0, "cannot tell", 1},
		{"not a number", append(same(9, 1, 2), Pair{1, math.NaN()}), CannotTell, 0, "cannot tell", 1},
		{"endless", append(same(9, 1, 2), Pair{1, math.Inf(1)}), CannotTell, 0, "cannot tell", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Speedup(c.pairs)
			if got.Verdict != c.verdict || got.String() != c.text || len(got.Warnings) != c.warnings {
				t.Errorf("%v, %q, warnings %q; want %v, %q, %d", got.Verdict, got, got.Warnings, c.verdict, c.text, c.warnings)
			}
			if (got.Ratio != nil) != (c.ratio != 0) || got.Ratio != nil && math.Abs(*got.Ratio-c.ratio) > 1e-12 {
				t.Errorf("ratio %v, want %v", got.Ratio, c.ratio)
			}
			text, err := json.Marshal(got)
			var back Comparison
			if err != nil || json.Unmarshal(text, &back) != nil || back.Verdict != got.Verdict {
				t.Errorf("as JSON %s, %v; verdict back %v", text, err, back.Verdict)
			}
		})
	}
}

// noisyPairs are pairs whose throughputs scatter with a standard deviation of jitter.
func noisyPairs(rng *rand.Rand, n int, speedup, jitter float64) []Pair {
	pairs := make([]Pair, n)
	for i := range pairs {
		pairs[i] = Pair{1000 * (1 + jitter*rng.NormFloat64()), 1000 * speedup * (1 + jitter*rng.NormFloat64())}
	}
	return pairs
}

func TestExchangingAAndBInvertsTheInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := LeastForInterval; n < 40; n++ {
		pairs := noisyPairs(rng, n, 1.01, 0.03)
		forth := Speedup(pairs)
		for i, p := range pairs {
			pairs[i] = Pair{p.B, p.A}
		}
		back := Speedup(pairs)
		if math.Abs(forth.Interval.Lo*back.Interval.Hi-1) > 1e-12 || math.Abs(forth.Interval.Hi*back.Interval.Lo-1) > 1e-12 {
			t.Errorf("%d pairs: %+v and %+v", n, forth.Interval, back.Interval)
		}
	}
}

// C11: the interval of 10 pairs lies between the 2nd and the 9th ratio. Equal
// sides miss it with probability 2*(1+10)/1024 = 2.15 %: 4.3 of 200 comparisons.
func TestEqualSidesAreSeldomCalledDifferent(t *testing.T) {
	const comparisons = 200
	rng := rand.New(rand.NewPCG(11, 5))
	claims := 0
	for range comparisons {
		c := Speedup(noisyPairs(rng, 10, 1, 0.05))
		if c.Verdict != NoDifference {
			claims++
		} else if !c.Interval.Holds(1) {
			t.Fatalf("no difference claimed with %+v", c.Interval)
		}
	}
	if limit := comparisons*5/100 + 3; claims > limit {
		t.Errorf("%d of %d comparisons claim a difference, want at most %d", claims, comparisons, limit)
	}
	t.Logf("%d of %d comparisons of equal sides claim a difference", claims, comparisons)
}

// C11: a pair's ratio scatters by 1.41 % and is above 1 with probability 0.919;
// at least 9 of 10 are so with probability 0.81.
func TestTwoPerCentAreFound(t *testing.T) {
	const comparisons = 2000
	rng := rand.New(rand.NewPCG(11, 2))
	found := 0
	for range comparisons {
		switch Speedup(noisyPairs(rng, 10, 1.02, 0.01)).Verdict {
		case Faster:
			found++
		case Slower:
			t.Error("a gain of 2 % is called a loss")
		}
	}
	if found < comparisons*80/100 {
		t.Errorf("found in %d of %d comparisons, want at least 80 %%", found, comparisons)
	}
	t.Logf("found in %d of %d comparisons", found, comparisons)
}

func TestPlausibleFLOPs(t *testing.T) {
	for _, c := range []struct {
		name      string
		d         time.Duration
		rate      float64
		plausible bool
	}{
		// C52: a product of 4096-cubes is 2*4096^3 = 137,438,953,472 operations.
		{"clock stopped early", 23_100, 5.950e15, false},
		{"event time", 21_891 * time.Microsecond, 6.278e12, true},
		{"no time", 0, 0, false},
	} {
		rate, ok := PlausibleFLOPs(137_438_953_472, c.d, MostFLOPS)
		if math.Abs(rate-c.rate) > 0.001*c.rate || ok != c.plausible {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, rate, ok, c.rate, c.plausible)
		}
	}
}

func TestGBps(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int64
		d     time.Duration
		want  float64
		ok    bool
	}{
		{"C53", 4_194_304, 8_192, 512, true},
		{"C06", 154_140_672, 30 * time.Millisecond, 5.138, true},
		{"no time", 4_194_304, 0, 0, false},
		{"time runs back", 4_194_304, -1, 0, false},
		{"no copies", 0, time.Second, 0, false},
	} {
		got, ok := GBps(c.bytes, c.d)
		if math.Abs(got-c.want) > 0.001 || ok != c.ok {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestBreakEvenSteps(t *testing.T) {
	// C51: 0.5 s a GiB for a ring of 28 x 154,140,672 B is 2.01 s.
	perGiB := 0.5e9
	setup := time.Duration(perGiB * 4_315_938_816 / (1 << 30))
	if setup.Round(10*time.Millisecond) != 2010*time.Millisecond {
		t.Fatalf("set-up takes %v, want 2.01s", setup)
	}
	for _, c := range []struct {
		name         string
		setup, saved time.Duration
		want         int64
		ok           bool
	}{
		{"C51", setup, 12_845 * time.Microsecond, 157, true},
		{"just", 100, 25, 4, true},
		{"just not", 101, 25, 5, true},
		{"nothing to earn back", 0, 25, 0, true},
		{"nothing saved", 100, 0, 0, false},
		{"slower", 100, -1, 0, false},
		{"longest", math.MaxInt64, 1, math.MaxInt64, true},
	} {
		if got, ok := BreakEvenSteps(c.setup, c.saved); got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v; want %d, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
