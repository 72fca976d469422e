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
	fewScatter  = 3

	// Of normally distributed values the median distance between neighbours is
	// 0.6745 x sqrt(2) standard deviations.
	neighboursToSigma = 1 / (0.6745 * math.Sqrt2)
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
// more than three times their scatter where there are three or more. Scatter is
// the median distance between neighbours, scaled to a standard deviation: unlike
// the distance from the middle it does not grow when values sink slowly, and one
// stray value hardly moves it. A single bad step among good ones is thus no knee. Points are in rising order of bytes; several with as many bytes as
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
		if slices.Max(values[at:]) >= bound {
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

// scatter is the noise of values as a standard deviation; 0 if they are too few.
func scatter(values []float64) float64 {
	if len(values) < fewScatter {
		return 0
	}
	apart := make([]float64, len(values)-1)
	for i := range apart {
		apart[i] = math.Abs(values[i+1] - values[i])
	}
	return neighboursToSigma * median(apart)
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
