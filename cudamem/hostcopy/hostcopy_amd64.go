package hostcopy

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// threshold is the length in bytes from which streaming is faster than copy into
// slots that are not in the cache. A batch is copied sample by sample, so lengths
// of some KiB occur. Speed of stream by that of copy, over 256 MiB of slots as in
// BenchmarkStream, median of 81 pairs taken in turn, by one goroutine and by two, on
// two cores of an AMD EPYC (family 26, virtual machine, 2026-12-01): 4 KiB 1.00 and
// 0.99, 8 KiB 1.12 and 1.07, 16 KiB 1.30 and 1.23, 48 KiB 1.14 and 1.14, 588 KiB 1.19
// and 1.19. At 9.2 and 36.75 MiB 1.0: from 1 MiB Go's own copy streams too
// (runtime/memmove_amd64.s).
const threshold = 8 << 10

var (
	canStream = cpu.X86.HasAVX2
	wide      = cpu.X86.HasAVX512F
)

// lineBytes is a cache line, blockBytes what one turn of the loops moves.
const (
	lineBytes  = 64
	blockBytes = 512
)

// streamAVX2 and streamAVX512 copy n bytes, a multiple of blockBytes above 0, to
// dst, which is aligned to lineBytes, with non-temporal stores, and fence them.
//
// They ask for the source in time, into the cache: on 16 cores of a Xeon (virtual
// machine beside an H200, 2026-12-01) twelve threads that copy samples of 588 KiB
// at random reached 71.6 GB/s so with AVX-512 and 60.7 with AVX2, 62.0 and 56.0
// without asking, 41.3 with memcpy, and 38.6 with AVX2 and PREFETCHNTA; one thread
// 9.1, 6.9, 10.0, 6.9, 6.8 and 4.2.
//
//go:noescape
func streamAVX2(dst, src unsafe.Pointer, n uintptr)

//go:noescape
func streamAVX512(dst, src unsafe.Pointer, n uintptr)

// stream copies head and tail plainly, whole blocks between them past the cache.
// The slices are longer than a line and a block together.
func stream(dst, src []byte) {
	head := int(-uintptr(unsafe.Pointer(&dst[0])) % lineBytes)
	middle := (len(dst) - head) / blockBytes * blockBytes
	copy(dst[:head], src[:head])
	if wide {
		streamAVX512(unsafe.Pointer(&dst[head]), unsafe.Pointer(&src[head]), uintptr(middle))
	} else {
		streamAVX2(unsafe.Pointer(&dst[head]), unsafe.Pointer(&src[head]), uintptr(middle))
	}
	copy(dst[head+middle:], src[head+middle:])
}
