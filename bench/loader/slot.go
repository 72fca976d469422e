package loader

import "pinscope/cudamem"

// Slot is host memory for one batch. It has one owner at a time: the free list,
// a worker, the pin thread, or whoever Pass.Next gave it to.
//
// Layout: the labels of all rows, then at InputOffset the inputs, row after row
// with no gaps. With PinDataset a slot holds the rows' sample numbers instead,
// as int64.
type Slot struct {
	Buffer *cudamem.HostBuffer

	Batch  int64  // counted over all epochs of the pass, from 0
	Rows   int64  // samples in it, 1..Batch
	Digest uint64 // of what was written: labels, then inputs; see Options.Check

	home chan *Slot // the free list it returns to
}

// Release gives the slot back to be filled again. The caller makes sure that no
// copy reads it any more. Any goroutine may call it, once for each Next.
func (s *Slot) Release() { s.home <- s }
