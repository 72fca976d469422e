package source

import "math"

// The ziggurat of the normal distribution with 128 layers of equal area
// (Marsaglia, Tsang: The ziggurat method for generating random variables, J. Stat.
// Softw. 5(8), 2000; r, v and the tables' recurrences are theirs). It differs in
// taking layer, sign and magnitude from bits of their own, 7 + 1 + 24 of a 32-bit
// word, where the original uses the layer's bits twice (Doornik, 2005).
const (
	layers     = 128
	tailStart  = 3.442619855899      // r: where the lowest layer's tail begins
	layerArea  = 9.91256303526217e-3 // v
	magnitudes = 1 << 24             // as many as float32 tells apart
)

// layer is what the likely case needs of a layer, side by side.
type layer struct {
	inside uint32  // a magnitude below this lies wholly under the curve
	scale  float32 // of magnitudes
}

var (
	ziggurat [layers]layer
	// density is exp(-x*x/2) at the right end of each layer.
	density [layers]float32
)

func init() {
	density0 := func(x float64) float64 { return math.Exp(-x * x / 2) }
	x, outer := tailStart, tailStart
	base := layerArea / density0(x) // width of the lowest layer, were it a rectangle
	ziggurat[0] = layer{uint32(x / base * magnitudes), float32(base / magnitudes)}
	ziggurat[layers-1].scale = float32(x / magnitudes)
	density[0], density[layers-1] = 1, float32(density0(x))
	for i := layers - 2; i >= 1; i-- {
		x = math.Sqrt(-2 * math.Log(layerArea/x+density0(x)))
		ziggurat[i+1].inside = uint32(x / outer * magnitudes)
		ziggurat[i].scale, density[i] = float32(x/magnitudes), float32(density0(x))
		outer = x
	}
}

// normal turns 32 random bits into the bits of a float32 from the normal
// distribution. ok is false for 1.2 % of all words, which want more randomness.
func normal(word uint32) (bits uint32, ok bool) {
	l := &ziggurat[word%layers]
	magnitude := word >> 8
	x := float32(int32(magnitude)) * l.scale
	return math.Float32bits(x) | word<<24&signBit, magnitude < l.inside
}

const signBit = 1 << 31

func fromBits(bits uint32) float32 { return math.Float32frombits(bits) }

// unlikelyNormal goes on where normal could not.
//
//go:noinline
func (s stream) unlikelyNormal(word uint32) (bits uint32, rest stream) {
	for {
		bits, ok := normal(word)
		if ok {
			return bits, s
		}
		i := word % layers
		if i == 0 {
			x, rest := s.tail()
			return math.Float32bits(x) | bits&signBit, rest
		}
		var y uint64
		y, s = s.next()
		x := float64(fromBits(bits))
		if unit := float32(y>>40) / magnitudes; density[i]+unit*(density[i-1]-density[i]) < float32(math.Exp(-x*x/2)) {
			return bits, s
		}
		word = uint32(y)
	}
}

// tail draws from the normal distribution beyond tailStart (Marsaglia: Generating
// a variable from the tail of the normal distribution, 1964).
func (s stream) tail() (float32, stream) {
	var a, b uint64
	for {
		a, s = s.next()
		b, s = s.next()
		x, y := -math.Log(unit(a))/tailStart, -math.Log(unit(b))
		if y+y >= x*x {
			return float32(tailStart + x), s
		}
	}
}

// unit maps a word to a number above 0 and at most 1.
func unit(word uint64) float64 { return float64(word>>11+1) / (1 << 53) }

// nextNormal is the bits of a float32 from the normal distribution.
func (s stream) nextNormal() (bits uint32, rest stream) {
	word, s := s.next()
	bits, ok := normal(uint32(word))
	if !ok {
		return s.unlikelyNormal(uint32(word))
	}
	return bits, s
}
