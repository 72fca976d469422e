// Package hostcopy copies bytes between host buffers, past the cache where what
// is written is read next by a DMA engine and not by the CPU.
package hostcopy

// Stream copies src to dst, which are of the same length and do not overlap, like
// copy. Long copies are written with non-temporal stores where the processor has
// them: the target is then neither read into the cache first nor keeps what others
// need from it. The bytes are visible to other threads and to devices when Stream
// returns.
func Stream(dst, src []byte) {
	if len(dst) != len(src) {
		panic("hostcopy: lengths differ")
	}
	if len(src) < threshold || !canStream {
		copy(dst, src)
		return
	}
	stream(dst, src)
}
