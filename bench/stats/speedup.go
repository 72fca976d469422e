package stats

import (
	"fmt"
	"math"

	"pinscope/bench/units"
)

// smallest is the least change that is not written as 0.0 %. Two runs without
// any jitter may differ by less, always the same way.
const smallest = 0.0005

// fullRange is a number of pairs whose whole range is an interval at 93.8 %. If
// that holds 1, so would a wider one at Level; if it does not, one cannot tell.
const fullRange = 5

// Pair is two repeats run one right after the other, each as whole-run
// throughput in the same unit (samples a second).
type Pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// Verdict is what a comparison can claim.
type Verdict uint8

// The verdicts. The zero value claims nothing.
const (
	CannotTell   Verdict = iota // too few pairs, or a pair that is no measurement
	NoDifference                // the interval holds 1, or the change would be written as 0.0 %
	Faster                      // B is faster than A
	Slower                      // B is slower than A
)

var verdictNames = [...]string{"cannot tell", "no measurable difference", "faster", "slower"}

// String is the verdict in words.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// MarshalText gives the verdict in words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText takes the words of a verdict.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("stats: no verdict is named %q", text)
}

// Comparison is how much faster B is than A.
type Comparison struct {
	Ratios   []float64 `json:"ratios"`   // B by A of each pair, in the order run; nil when a pair is invalid
	Ratio    *float64  `json:"ratio"`    // their median: 1.04 is 4 % more throughput; nil when not defined
	Interval *Interval `json:"interval"` // of Ratio; nil with fewer than 5 pairs, below Level with 5
	Verdict  Verdict   `json:"verdict"`
	Warnings []string  `json:"warnings,omitempty"`
}

// Speedup compares pairs. Ratios within a pair cancel what drifts slowly, such as
// clocks and temperature. A throughput that is not a finite number above 0 makes
// the whole comparison undefined: leaving the pair out would choose the result.
func Speedup(pairs []Pair) Comparison {
	var c Comparison
	ratios := make([]float64, 0, len(pairs))
	for i, p := range pairs {
		ratio := p.B / p.A
		if !isRate(p.A) || !isRate(p.B) || !isRate(ratio) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("pair %d of %d is no measurement: A %v, B %v", i+1, len(pairs), p.A, p.B))
			continue
		}
		ratios = append(ratios, ratio)
	}
	if len(c.Warnings) > 0 {
		return c
	}
	s := Summarize(ratios)
	c.Ratios, c.Ratio, c.Interval = ratios, s.Median, s.Interval
	if len(ratios) == fullRange { // for which Summarize gives no interval
		c.Interval = &Interval{Lo: *s.Min, Hi: *s.Max, Level: intervalLevel(fullRange, 1)}
	}
	if c.Interval == nil || c.Interval.Level < Level && !c.Interval.Holds(1) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d pairs are too few to tell: at least %d are needed", len(pairs), LeastForInterval))
	}
	c.Verdict = c.judge()
	return c
}

func isRate(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

func (c Comparison) judge() Verdict {
	switch {
	case c.Interval == nil:
		return CannotTell
	case c.Interval.Holds(1) || math.Abs(*c.Ratio-1) < smallest:
		return NoDifference
	case c.Interval.Level < Level:
		return CannotTell
	case *c.Ratio > 1:
		return Faster
	default:
		return Slower
	}
}

// String is the claim as it may be shown: "1.04x (+3.6 %)", a slow-down
// likewise, "no measurable difference", or "cannot tell".
func (c Comparison) String() string {
	if c.Verdict == Faster || c.Verdict == Slower {
		return units.Ratio(*c.Ratio)
	}
	return c.Verdict.String()
}
