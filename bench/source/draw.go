package source

import (
	"encoding/binary"

	"github.com/x448/float16"

	"pinscope/cudamem"
)

// vocabulary is how many token ids there are: GPT-2's 50,257, as in nanoGPT.
const vocabulary = 50257

// stream is a sequence of random 64-bit words that belongs to one sample, whoever
// draws it: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
// generators, OOPSLA 2014), whose state is a counter, so that the samples' streams
// are stretches of 2^32 words of one sequence that do not meet.
type stream uint64

const (
	splitStep = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	splitMulA = 0xbf58476d1ce4e5b9
	splitMulB = 0x94d049bb133111eb
)

// newStream is the stream of a sample.
func newStream(seed uint64, index int64) stream {
	start := mix(seed+splitStep) + mix(uint64(index)>>32) // mix(0) is 0
	return stream(start + uint64(index)<<32*splitStep)
}

// next is a word, and the stream after it.
func (s stream) next() (word uint64, rest stream) {
	s += splitStep
	return mix(uint64(s)), s
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * splitMulA
	x = (x ^ x>>27) * splitMulB
	return x ^ x>>31
}

// below maps 32 random bits to 0..n-1, n < 2^32 (Lemire: Fast random integer
// generation in an interval, 2019, without its rejection: for n = 50,257 some ids
// are more likely than others by 1 in 85,000).
func below(bits uint32, n uint64) uint64 { return uint64(bits) * n >> 32 }

// draw fills dst with values as randn draws them: normal for floating-point types,
// else uniform, over all bytes or over the token ids.
func (s stream) draw(dst []byte, dtype cudamem.DType) {
	switch dtype {
	case cudamem.Float32:
		s.drawFloat32(dst)
	case cudamem.Float16:
		s.drawFloat16(dst)
	case cudamem.Uint8:
		s.drawBytes(dst)
	default:
		s.drawTokens(dst)
	}
}

func (s stream) drawFloat32(dst []byte) {
	var word uint64
	for ; len(dst) >= 8; dst = dst[8:] {
		word, s = s.next()
		first, ok := normal(uint32(word))
		if !ok {
			first, s = s.unlikelyNormal(uint32(word))
		}
		second, ok := normal(uint32(word >> 32))
		if !ok {
			second, s = s.unlikelyNormal(uint32(word >> 32))
		}
		binary.LittleEndian.PutUint64(dst, uint64(first)|uint64(second)<<32)
	}
	if len(dst) >= 4 {
		last, _ := s.nextNormal()
		binary.LittleEndian.PutUint32(dst, last)
	}
}

func (s stream) drawFloat16(dst []byte) {
	var bits uint32
	for ; len(dst) >= 2; dst = dst[2:] {
		bits, s = s.nextNormal()
		binary.LittleEndian.PutUint16(dst, half(bits))
	}
}

// half rounds a float32, given as bits, to float16. Where neither is subnormal or
// beyond all finite values, it takes off the excess of exponent (127 - 15) and
// rounds to even, several times as fast as the library.
func half(bits uint32) uint16 {
	const (
		least    = (127 - 14) << 23 // 2^-14
		greatest = (127 + 15) << 23 // 2^15
		dropped  = 23 - 10          // bits of the mantissa
	)
	magnitude := bits &^ signBit
	if magnitude-least >= greatest-least {
		return float16.Fromfloat32(fromBits(bits)).Bits()
	}
	even := magnitude >> dropped & 1
	rounded := (magnitude - (127-15)<<23 + (1<<(dropped-1) - 1) + even) >> dropped
	return uint16(bits>>16&(signBit>>16) | rounded)
}

func (s stream) drawBytes(dst []byte) {
	var word uint64
	for ; len(dst) >= 8; dst = dst[8:] {
		word, s = s.next()
		binary.LittleEndian.PutUint64(dst, word)
	}
	word, _ = s.next()
	for i := range dst {
		dst[i] = byte(word >> (8 * i))
	}
}

func (s stream) drawTokens(dst []byte) {
	var word uint64
	for ; len(dst) >= 8; dst = dst[8:] {
		word, s = s.next()
		binary.LittleEndian.PutUint64(dst, below(uint32(word>>32), vocabulary))
	}
}

// drawClass fills a label with a class below classes, drawn from the stream of
// labels, which no sample's stream meets in practice.
func drawClass(label []byte, seed uint64, index int64, classes int) {
	word, _ := newStream(^seed, index).next()
	putClass(label, int64(below(uint32(word>>32), uint64(classes))))
}

// putClass fills a label with a class.
func putClass(label []byte, class int64) { binary.LittleEndian.PutUint64(label, uint64(class)) }
