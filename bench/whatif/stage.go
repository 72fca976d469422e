package whatif

import (
	"math"
	"slices"
	"time"

	"pinscope/bench/source"
)

// Stage says how long a stage takes for each batch: it is a pure function of the
// batch, so that the order of asking does not matter. The zero value is no time.
type Stage struct {
	samples []time.Duration // drawn from; one: always that
	seed    uint64
	pacer   source.Pacer // gives the times instead
	perRow  bool         // a batch that is not full takes less, in proportion
}

// Always takes the same time for every batch.
func Always(d time.Duration) Stage { return Stage{samples: []time.Duration{d}} }

// Drawn takes one of the samples for each batch, any with the same probability:
// their distribution, not their mean. Equal seeds draw equally.
func Drawn(samples []time.Duration, seed uint64) Stage {
	return Stage{samples: slices.Clone(samples), seed: seed}
}

// Paced takes what a source gives as its load time.
func Paced(p source.Pacer) Stage { return Stage{pacer: p} }

// PerRow makes a batch that is not full take less, in proportion to its rows.
func (s Stage) PerRow() Stage {
	s.perRow = true
	return s
}

// Scaled multiplies every time.
func (s Stage) Scaled(by float64) Stage {
	s.samples = slices.Clone(s.samples)
	for i, d := range s.samples {
		s.samples[i] = rounded(float64(d) * by)
	}
	return s
}

// at is the time for batch b, which has rows of the full number of samples.
func (s *Stage) at(b, rows, full int64) time.Duration {
	var d time.Duration
	switch n := uint64(len(s.samples)); {
	case s.pacer != nil:
		return s.pacer.LoadTime(b)
	case n == 0:
		return 0
	case n == 1:
		d = s.samples[0]
	default:
		// 32 random bits to 0..n-1 (Lemire 2019); there are far fewer spans than 2^32.
		d = s.samples[mix(s.seed+uint64(b)*golden)>>32*n>>32]
	}
	if s.perRow && rows != full {
		d = rounded(float64(d) * float64(rows) / float64(full))
	}
	return d
}

// Mean is the mean time of a full batch, 0 where it is the source's to say.
func (s *Stage) Mean() time.Duration {
	if len(s.samples) == 0 {
		return 0
	}
	sum := 0.0
	for _, d := range s.samples {
		sum += float64(d)
	}
	return rounded(sum / float64(len(s.samples)))
}

func rounded(nanos float64) time.Duration { return time.Duration(math.Round(min(nanos, 1e16))) }

// golden and mix are SplitMix64's step and output function (Steele, Lea, Flood 2014).
const golden = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
