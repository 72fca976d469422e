package pressure

import (
	"fmt"
	"math"
	"slices"

	"pinscope/bench/units"
)

// A fall counts from a tenth on, and from three times the scatter of the steps
// before it. A scatter cannot be told from fewer than three steps.
const (
	leastFall   = 0.10
	scatterFall = 3
	madToSigma  = 1.4826 // median absolute deviation to standard deviation, normal distribution
	fewScatter  = 3
)

// Point is a value measured with so much ballast held; nil was not measured.
type Point struct {
	Bytes int64
	Value *float64
}

// Knee is where a value begins to fall for good.
type Knee struct {
	Bytes     int64   `json:"bytes"`      // ballast of the first step after the fall
	LastGood  int64   `json:"last_good"`  // ballast of the step before it
	Before    float64 `json:"before"`     // median of the steps before
	After     float64 `json:"after"`      // median of the steps from the knee on
	FallShare float64 `json:"fall_share"` // 1 - After/Before
	Steps     int     `json:"steps"`      // from the knee on; 1: seen once only
}

// FindKnee finds the first step from which on every value lies below what it was
// before: below the median of the earlier values by more than a tenth, and by
// more than three times their scatter (median absolute deviation, scaled to a
// standard deviation) where there are three or more. A single bad step among good
// ones is thus no knee, and a value that sinks slowly has its knee where it has
// lost a tenth. Points are in rising order of bytes; several with as many bytes as
// the first are what the fall is seen against from the start. nil: no knee.
func FindKnee(points []Point) *Knee {
	points = slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		return p.Value == nil || math.IsNaN(*p.Value) || math.IsInf(*p.Value, 0)
	})
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = *p.Value
	}
	start := 0
	for start < len(points) && points[start].Bytes == points[0].Bytes {
		start++
	}
	for at := start; at < len(points); at++ {
		before := median(values[:at])
		bound := before - max(leastFall*before, scatterFall*scatter(values[:at]))
		if before <= 0 || slices.Max(values[at:]) >= bound {
			continue
		}
		after := median(values[at:])
		return &Knee{Bytes: points[at].Bytes, LastGood: points[at-1].Bytes, Before: before, After: after,
			FallShare: 1 - after/before, Steps: len(points) - at}
	}
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// scatter is the spread of values about their median, as a standard deviation.
func scatter(values []float64) float64 {
	if len(values) < fewScatter {
		return 0
	}
	middle := median(values)
	away := make([]float64, len(values))
	for i, v := range values {
		away[i] = math.Abs(v - middle)
	}
	return madToSigma * median(away)
}

// Text is the knee in a sentence about what.
func (k *Knee) Text(what string) string {
	if k == nil {
		return "no knee: " + what + " did not fall"
	}
	text := fmt.Sprintf("%s falls by %s once %s are held; with %s it was still good",
		what, units.Percent(k.FallShare), units.Bytes(k.Bytes), units.Bytes(k.LastGood))
	if k.Steps == 1 {
		text += " (seen at the last step only)"
	}
	return text
}
