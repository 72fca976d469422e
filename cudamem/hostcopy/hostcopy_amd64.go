package hostcopy

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// threshold is the length in bytes from which streaming is no slower than copy
// into slots that are not in the cache. BenchmarkStream on two cores of an AMD
// EPYC (2026-12), stream by copy in speed: 1.15 at 16 KiB, 1.10 at 48 KiB, 1.43 at
// 588 KiB, 1.0 at 9 MiB, with one goroutine. A batch is copied sample by sample, so
// these are the lengths that occur.
const threshold = 16 << 10

var canStream = cpu.X86.HasAVX2

// lineBytes is a cache line, blockBytes what one turn of streamBlocks moves.
const (
	lineBytes  = 64
	blockBytes = 256
)

// streamBlocks copies n bytes, a multiple of blockBytes above 0, to dst, which is
// aligned to lineBytes, with non-temporal stores, and fences them.
//
//go:noescape
func streamBlocks(dst, src unsafe.Pointer, n uintptr)

// stream copies head and tail plainly, whole blocks between them past the cache.
// The slices are longer than a line and a block together.
func stream(dst, src []byte) {
	head := int(-uintptr(unsafe.Pointer(&dst[0])) % lineBytes)
	middle := (len(dst) - head) / blockBytes * blockBytes
	copy(dst[:head], src[:head])
	streamBlocks(unsafe.Pointer(&dst[head]), unsafe.Pointer(&src[head]), uintptr(middle))
	copy(dst[head+middle:], src[head+middle:])
}
