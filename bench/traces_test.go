package bench

import (
	"math/rand/v2"
	"testing"

	"pinscope/bench/trace"
)

// TestTracesAreBounded: however many repeats there are, few traces are held, and
// the typical repeat is the median one or next to it; up to mostTraces, exactly.
func TestTracesAreBounded(t *testing.T) {
	for _, repeats := range []int{1, 2, mostTraces, 1000} {
		random := rand.New(rand.NewPCG(1, uint64(repeats)))
		s := &side{}
		for i := range repeats {
			rate := random.Float64()
			s.repeats = append(s.repeats, Repeat{Complete: true, Warmup: i == 0 && repeats > mostTraces, SamplesPerS: &rate})
			s.traces = append(s.traces, &trace.Trace{})
			s.forgetTraces()
		}
		held := 0
		for _, kept := range s.traces {
			if kept != nil {
				held++
			}
		}
		if held > mostTraces {
			t.Errorf("%d repeats: %d traces are held", repeats, held)
		}
		out := s.summary()
		if out.Typical == nil || out.Trace == nil {
			t.Fatalf("%d repeats: no typical one", repeats)
		}
		ranked := out.ranked()
		middle, off := (len(ranked)-1)/2, 0
		for at, i := range ranked {
			if i == *out.Typical {
				off = abs(at - middle)
			}
		}
		if repeats <= mostTraces && off > 0 || off > repeats/50 {
			t.Errorf("%d repeats: the typical one is %d places from the median", repeats, off)
		}
	}
}
