package loader

import (
	"math"
	"slices"
	"testing"
)

func visit(s Sampler, epoch int64) []int64 {
	var out []int64
	for b := epoch * s.EpochBatches(); b < (epoch+1)*s.EpochBatches(); b++ {
		o := s.At(b)
		for r := range o.Rows {
			out = append(out, o.Index(r))
		}
	}
	return out
}

func TestSamplerVisitsEachSampleOnceAnEpoch(t *testing.T) {
	for _, samples := range []int64{1, 2, 3, 5, 8, 11, 63, 64, 65, 1000, 4097} {
		for seed := range uint64(20) {
			s := Sampler{Samples: samples, Batch: 7, Epochs: 2, Seed: seed, Shuffle: true}
			got := visit(s, 1)
			slices.Sort(got)
			for i, index := range got {
				if index != int64(i) {
					t.Fatalf("%d samples, seed %d: sorted visit %d is %d", samples, seed, i, index)
				}
			}
			if int64(len(got)) != samples {
				t.Fatalf("%d samples, seed %d: %d visited", samples, seed, len(got))
			}
		}
	}
}

// TestC27OrderIsAFunctionOfSeedAndEpoch is the sampler's half of C27; the
// loader's test shows that the number of workers does not matter.
func TestC27OrderIsAFunctionOfSeedAndEpoch(t *testing.T) {
	for _, samples := range []int64{11, 1000} {
		s := Sampler{Samples: samples, Batch: 1, Epochs: 2, Shuffle: true}
		first, second := visit(s, 0), visit(s, 1)
		if slices.Equal(first, second) {
			t.Errorf("%d samples: epoch 2 repeats epoch 1", samples)
		}
		if !slices.Equal(second, visit(s, 1)) {
			t.Errorf("%d samples: epoch 2 differs from itself", samples)
		}
		other := s
		other.Seed = 1
		if slices.Equal(first, visit(other, 0)) {
			t.Errorf("%d samples: seed 1 gives seed 0's order", samples)
		}
		s.Shuffle = false
		for i, index := range visit(s, 1) {
			if index != int64(i) {
				t.Fatalf("shuffle off: position %d is %d", i, index)
			}
		}
	}
}

// TestShuffleIsUniform counts where each sample lands over many seeds: Pearson's
// chi-square over 11x11 cells, 100 degrees of freedom, stays under the 1 - 1e-6
// quantile (about 179), and neighbours do not stay neighbours.
func TestShuffleIsUniform(t *testing.T) {
	const samples, seeds = 11, 20000
	var counts [samples][samples]float64
	neighbours := 0
	for seed := range uint64(seeds) {
		p := newPermutation(samples, seed, 3)
		for i := range uint64(samples) {
			counts[i][p.at(i)]++
		}
		if p.at(1) == p.at(0)+1 {
			neighbours++
		}
	}
	expected, chi2 := float64(seeds)/samples, 0.0
	for _, row := range counts {
		for _, n := range row {
			chi2 += (n - expected) * (n - expected) / expected
		}
	}
	if chi2 > 179 {
		t.Errorf("chi-square %.1f over 100 degrees of freedom", chi2)
	}
	// 10 of the 110 ordered pairs are neighbours.
	want := seeds * 10.0 / 110
	if math.Abs(float64(neighbours)-want) > 5*math.Sqrt(want) {
		t.Errorf("neighbours stay neighbours %d times of %d, want about %.0f", neighbours, seeds, want)
	}
}

func TestC24C26BatchCounts(t *testing.T) {
	cases := []struct {
		name           string
		samples, batch int64
		drop           bool
		batches, last  int64
	}{
		{"C24 short last batch", 1000, 64, false, 16, 40},
		{"C24 dropped", 1000, 64, true, 15, 64},
		{"C24 last of one", 1025, 64, false, 17, 1},
		{"C26 fewer than a batch", 50, 64, false, 1, 50},
		{"C26 nothing left", 50, 64, true, 0, 0},
		{"C26 exactly one", 64, 64, true, 1, 64},
		{"C09", 700, 128, false, 6, 60},
		{"C09 dropped", 700, 128, true, 5, 128},
		{"C09 small batches", 700, 4, false, 175, 4},
		{"largest", math.MaxInt64, 1, false, math.MaxInt64, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := Sampler{Samples: c.samples, Batch: c.batch, Epochs: 1, DropLast: c.drop, Shuffle: true}
			if got := s.EpochBatches(); got != c.batches {
				t.Fatalf("%d batches, want %d", got, c.batches)
			}
			if c.batches > 0 {
				if got := s.At(c.batches - 1).Rows; got != c.last {
					t.Errorf("last batch has %d rows, want %d", got, c.last)
				}
				s.At(c.batches - 1).Index(0)
			}
		})
	}
}

func BenchmarkSamplerIndex(b *testing.B) {
	s := Sampler{Samples: 1_281_167, Batch: 256, Epochs: 1, Shuffle: true}
	o := s.At(17)
	sum := int64(0)
	for i := range b.N {
		sum += o.Index(int64(i & 255))
	}
	if sum == 0 {
		b.Fatal("no indices")
	}
}
