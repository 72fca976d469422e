package cudamem

import "encoding/binary"

// LineBytes of every LineStride bytes are what a sampled digest looks at, and
// what the simulated GPU moves: moving a line of each 4 KiB page at 55 GB/s
// would already fill a core.
const (
	LineBytes  = 64
	LineStride = 64 << 10
)

// Odd multipliers; 2^64 divided by the golden ratio, and two from SplitMix64
// (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
const (
	digestStep = 0x9e3779b97f4a7c15
	digestMulA = 0xbf58476d1ce4e5b9
	digestMulB = 0x94d049bb133111eb
)

// Digest is a checksum of b that a GPU can compute with any number of threads:
// the sum, modulo 2^64, over its 8-byte little-endian words w (the last one
// padded with zeros) of mix(w + (i+1)*digestStep), where i is the word's number
// counted from base/8. base, a multiple of 8, is where b starts in its buffer,
// so that the digests of parts add up to that of the whole. It never allocates.
func Digest(b []byte, base int64) (sum uint64) {
	position := uint64(base/8)*digestStep + digestStep
	for ; len(b) >= 8; b = b[8:] {
		sum += mix(binary.LittleEndian.Uint64(b) + position)
		position += digestStep
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		sum += mix(binary.LittleEndian.Uint64(tail[:]) + position)
	}
	return sum
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * digestMulA
	x = (x ^ x>>27) * digestMulB
	return x ^ x>>31
}

// DigestLines is the Digest of the sampled lines of b alone: those that
// [Lines] gives.
func DigestLines(b []byte, base int64) (sum uint64) {
	for at, n := range Lines(int64(len(b))) {
		sum += Digest(b[at:at+n], base+at)
	}
	return sum
}

// Lines yields offset and length of the sampled lines of a buffer: the first
// LineBytes of each LineStride, and the last line of all, so that a copy cut
// short is seen too. Offsets are multiples of LineBytes and rise.
func Lines(bytes int64) func(yield func(offset, length int64) bool) {
	return func(yield func(offset, length int64) bool) {
		if bytes <= 0 {
			return
		}
		last := (bytes - 1) / LineBytes * LineBytes
		for at := int64(0); at < last; at += LineStride {
			if !yield(at, LineBytes) {
				return
			}
		}
		yield(last, bytes-last)
	}
}
