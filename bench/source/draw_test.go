package source

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/x448/float16"

	"pinscope/cudamem"
)

// TestNormal compares moments and tails of many draws with the normal
// distribution's, within five standard errors.
func TestNormal(t *testing.T) {
	const n = 4e6
	var sum, square, cube, fourth float64
	beyond := map[float64]float64{1: 0, 2: 0, 3: 0, tailStart: 0, 4: 0}
	dst := make([]byte, 4*n/40)
	for index := range int64(40) {
		newStream(7, index).draw(dst, cudamem.Float32)
		for i := 0; i < len(dst); i += 4 {
			x := float64(float32At(dst, i))
			sum, square, cube, fourth = sum+x, square+x*x, cube+x*x*x, fourth+x*x*x*x
			for limit := range beyond {
				if math.Abs(x) > limit {
					beyond[limit]++
				}
			}
		}
	}
	// The variances of x, x^2, x^3, x^4 are 1, 2, 15, 96.
	for _, tc := range []struct {
		name                string
		got, want, variance float64
	}{
		{"mean", sum / n, 0, 1}, {"variance", square / n, 1, 2}, {"skew", cube / n, 0, 15}, {"kurtosis", fourth / n, 3, 96},
	} {
		if allowed := 5 * math.Sqrt(tc.variance/n); math.Abs(tc.got-tc.want) > allowed {
			t.Errorf("%s is %g, want %g +- %g", tc.name, tc.got, tc.want, allowed)
		}
	}
	for limit, count := range beyond {
		p := math.Erfc(limit / math.Sqrt2)
		if allowed := 5 * math.Sqrt(p*(1-p)/n); math.Abs(count/n-p) > allowed {
			t.Errorf("beyond %g is a share of %g, want %g +- %g", limit, count/n, p, allowed)
		}
	}
}

// TestNormalShape is a chi-square test over 200 bins of equal width, which would
// see a layer that is too heavy.
func TestNormalShape(t *testing.T) {
	const n, bins, edge = 4e6, 200, 4.0
	var counts [bins + 2]float64
	s := newStream(11, 0)
	for range int(n) {
		var bits uint32
		bits, s = s.nextNormal()
		at := math.Floor((float64(fromBits(bits))+edge)/(2*edge/bins)) + 1
		counts[int(min(max(at, 0), bins+1))]++
	}
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	chi, from := 0.0, 0.0
	for i, count := range counts {
		to := 1.0
		if i <= bins {
			to = cdf(-edge + float64(i)*2*edge/bins)
		}
		expected := (to - from) * n
		chi += (count - expected) * (count - expected) / expected
		from = to
	}
	// Chi-square with 201 degrees of freedom: mean 201, standard deviation 20.
	if chi > 201+5*20 {
		t.Errorf("chi-square is %.0f with 201 degrees of freedom", chi)
	}
}

func float32At(b []byte, at int) float32 {
	return fromBits(uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16 | uint32(b[at+3])<<24)
}

// BenchmarkDraw draws the article's sample: 3x224x224 values.
func BenchmarkDraw(b *testing.B) {
	for _, dtype := range []cudamem.DType{cudamem.Float32, cudamem.Float16, cudamem.Uint8, cudamem.Int64} {
		b.Run(dtype.String(), func(b *testing.B) {
			dst := make([]byte, 150528*dtype.Size())
			for index := int64(0); b.Loop(); index++ {
				newStream(1, index).draw(dst, dtype)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/150528, "ns/value")
		})
	}
	b.Run("rand.NormFloat64", func(b *testing.B) {
		r, dst := rand.New(rand.NewPCG(1, 2)), make([]float32, 150528)
		for b.Loop() {
			for i := range dst {
				dst[i] = float32(r.NormFloat64())
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/150528, "ns/value")
	})
}

// TestUniform counts bytes, also in the tail of an odd length, and classes.
func TestUniform(t *testing.T) {
	const samples, length, classes = 2000, 61, 10
	var whole, tail, labels [256]float64
	dst, label := make([]byte, length), make([]byte, 8)
	for index := range int64(samples) {
		newStream(5, index).draw(dst, cudamem.Uint8)
		for _, value := range dst[:56] {
			whole[value]++
		}
		for _, value := range dst[56:] {
			tail[value]++
		}
		drawClass(label, 5, index, classes)
		labels[label[0]]++
	}
	for _, tc := range []struct {
		name   string
		counts []float64
		beyond []float64 // of values that must not occur
		n      float64
	}{
		{"bytes", whole[:], nil, samples * 56}, {"bytes of the tail", tail[:], nil, samples * 5},
		{"classes", labels[:classes], labels[classes:], samples},
	} {
		expected, chi := tc.n/float64(len(tc.counts)), 0.0
		for _, count := range tc.counts {
			chi += (count - expected) * (count - expected) / expected
		}
		// Chi-square: mean of the degrees of freedom, variance of twice as many.
		freedom := float64(len(tc.counts) - 1)
		if chi > freedom+5*math.Sqrt(2*freedom) {
			t.Errorf("%s: chi-square is %.0f with %.0f degrees of freedom", tc.name, chi, freedom)
		}
		for _, count := range tc.beyond {
			if count > 0 {
				t.Errorf("%s: values beyond the last occur", tc.name)
			}
		}
	}
}

// half must round as the library does, for every float16 and beside the middle of
// each two.
func TestHalf(t *testing.T) {
	check := func(bits uint32) {
		if got, want := half(bits), float16.Fromfloat32(fromBits(bits)).Bits(); got != want {
			t.Fatalf("%v rounds to %#x, want %#x", fromBits(bits), got, want)
		}
	}
	for h := range 0x7c00 { // all finite magnitudes
		bits := math.Float32bits(float16.Frombits(uint16(h)).Float32())
		for _, near := range []uint32{bits, bits + 1, bits + 0xfff, bits + 0x1000, bits + 0x1001, bits | signBit} {
			check(near)
		}
	}
	for _, large := range []float32{65536, 1e6, 1e38, float32(math.Inf(1))} {
		check(math.Float32bits(large))
	}
}

// Samples of one seed are stretches of 2^32 words of one sequence.
func TestStreamsDoNotMeet(t *testing.T) {
	var stretch uint64 = 1 << 32
	for _, index := range []int64{0, 1, 1<<32 - 2} {
		end := newStream(3, index) + stream(stretch*splitStep)
		if newStream(3, index+1) != end {
			t.Errorf("the stream of sample %d does not begin where that of %d ends", index+1, index)
		}
	}
	if newStream(3, 0) == newStream(3, 1<<32) {
		t.Error("samples 0 and 2^32 are equal")
	}
}
