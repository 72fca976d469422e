package bench

import (
	"fmt"

	"pinscope/bench/stats"
)

// compare fills in the comparison of B with A, or why there is none.
func (r *Result) compare() {
	for _, side := range r.Sides {
		r.NotValid = append(r.NotValid, side.notValid()...)
	}
	a, b := r.Sides[0].measured(), r.Sides[1].measured()
	var pairs []stats.Pair
	for i := range min(len(a), len(b)) {
		pairs = append(pairs, stats.Pair{A: a[i], B: b[i]})
	}
	comparison := stats.Speedup(pairs)
	r.Comparison = &comparison
}

// measured is the throughput of each repeat that counts, in samples/s.
func (s *Side) measured() []float64 {
	var out []float64
	for _, repeat := range s.Repeats {
		if repeat.counts() {
			out = append(out, *repeat.SamplesPerS)
		}
	}
	return out
}

// notValid says why this side's figures must not be compared.
func (s *Side) notValid() []string {
	var why []string
	if s.Setup.PinEffective == PinnedPart {
		why = append(why, fmt.Sprintf("side %s is only partly pinned: %d of %d slots (%s)",
			s.Label, s.Setup.RingSlotsLocked, s.Setup.RingSlotsAsked, s.Setup.Refused))
	}
	for _, repeat := range s.Repeats {
		if repeat.Fallbacks > 0 {
			why = append(why, fmt.Sprintf("side %s fell back to a slower way %d times", s.Label, repeat.Fallbacks))
			break
		}
	}
	return why
}
