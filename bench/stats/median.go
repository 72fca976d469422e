// Package stats turns repeats into figures one can believe: medians with exact
// intervals, speed-ups from pairs of interleaved repeats with a verdict that can
// be "no measurable difference" or "cannot tell", and checks of what is
// physically possible. Its functions are pure: they read no clock, open no file
// and may be called from any goroutine.
package stats

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

const (
	// Level is the least confidence of an interval.
	Level = 0.95

	// LeastForInterval is how many values an interval at Level needs: the median
	// lies outside the range of n values with probability 2/2^n, which is 6.3 % for
	// 5 and 3.1 % for 6.
	LeastForInterval = 6
)

// Interval is where the median lies with confidence Level.
type Interval struct {
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Level float64 `json:"level"` // what it really is, 0.95 to 1
}

// Holds says whether the interval holds a value, ends included.
func (i Interval) Holds(v float64) bool { return i.Lo <= v && v <= i.Hi }

// Summary sums up values of one quantity, in its own unit. The median is the
// figure to show: one slow first step moves a mean by orders of magnitude.
type Summary struct {
	Count    int       `json:"count"`
	Median   *float64  `json:"median"`   // nil without values, or when one is not finite
	Min      *float64  `json:"min"`      // likewise
	Max      *float64  `json:"max"`      // likewise
	Interval *Interval `json:"interval"` // of the median; nil with fewer than 6 values
	Warnings []string  `json:"warnings,omitempty"`
}

// Summarize sums up values; it leaves the slice as it is.
func Summarize(values []float64) Summary {
	s := Summary{Count: len(values)}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			s.Warnings = append(s.Warnings, fmt.Sprintf("value %d of %d is not a finite number: nothing can be said about these values", i+1, len(values)))
			return s
		}
	}
	if len(values) == 0 {
		return s
	}
	sorted := slices.Sorted(slices.Values(values))
	sample := benchmath.NewSample(sorted, &benchmath.DefaultThresholds)
	median := benchmath.AssumeNothing.Summary(sample, Level).Center
	s.Median, s.Min, s.Max = &median, &sorted[0], &sorted[len(sorted)-1]
	s.Interval = medianInterval(sorted)
	if s.Interval == nil {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d values are too few for an interval: repeat at least %d times", len(values), LeastForInterval))
	}
	return s
}

// medianInterval is nil with too few values. It lies between the k-th smallest
// and the k-th greatest value, k as benchmath chooses.
func medianInterval(sorted []float64) *Interval {
	n := len(sorted)
	k := intervalOrder(n)
	if k < 1 {
		return nil
	}
	return &Interval{Lo: sorted[k-1], Hi: sorted[n-k], Level: intervalLevel(n, k)}
}

// intervalOrder asks benchmath for the interval of the values 1 to n, which are
// their own orders; it is 0 when there is none. For some n (8, say) benchmath's
// interval reaches one value further down than up, which would find a slow-down
// more easily than a speed-up; ours takes the further of the two on both sides, so
// that exchanging A and B gives the same interval, inverted.
func intervalOrder(n int) int {
	if n < LeastForInterval {
		return 0
	}
	orders := make([]float64, n)
	for i := range orders {
		orders[i] = float64(i + 1)
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(orders, &benchmath.DefaultThresholds), Level)
	return int(max(0, min(s.Lo, float64(n+1)-s.Hi)))
}

// intervalLevel is the probability that the median of a continuous distribution
// lies between the k-th smallest and the k-th greatest of n values: of n fair
// coins neither fewer than k heads nor fewer than k tails (Conover, Practical
// Nonparametric Statistics, section 3.2).
func intervalLevel(n, k int) float64 {
	outside := 0.0
	for i := range k {
		outside += math.Exp(logChoose(n, i) - float64(n)*math.Ln2)
	}
	return 1 - 2*outside
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
