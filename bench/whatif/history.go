package whatif

import (
	"math/bits"
	"time"
)

// history is a time for each of the latest batches.
type history []time.Duration // the length is a power of two

// newHistory reaches back at least so many batches.
func newHistory(batches int64) history {
	return make(history, 1<<bits.Len64(uint64(batches)))
}

func (h history) at(b int64) time.Duration     { return h[b&int64(len(h)-1)] }
func (h history) set(b int64, t time.Duration) { h[b&int64(len(h)-1)] = t }

// sink puts the top of a heap in its place. container/heap would do the same
// through an interface, at several times the cost.
func sink[T any](heap []T, before func(a, b T) bool) {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && before(heap[child+1], heap[child]) {
			child++
		}
		if !before(heap[child], heap[i]) {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// rise puts the last of a heap of times in its place.
func rise(heap []time.Duration) {
	for i := len(heap) - 1; i > 0 && heap[i] < heap[(i-1)/2]; i = (i - 1) / 2 {
		heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
	}
}

func earlier(a, b time.Duration) bool { return a < b }
