// Package loader brings the samples of a data set into host slots, batch after
// batch in the sampler's order.
//
//	source ─► worker 0..W-1 ─► slot ─► [pin thread ─► pinned slot] ─► Pass.Next
//	             ▲                                                        │
//	          sampler                              Slot.Release ◄─ the copy is done
//
// A [Loader] owns the slots: it allocates them all before any clock starts and
// frees them when it is closed. A [Pass] is one run over all epochs: it starts
// the workers, hands out filled slots in order and takes them back.
//
// # Why it cannot deadlock
//
// A worker first takes a free slot and only then claims the next batch number.
// So the batches claimed are always 0..n-1, each of them in a slot of its own,
// and the batch that the trainer waits for is never behind one without a slot.
//
// # Why it cannot lose or swap a batch
//
// Batch b travels through hand-over cell b modulo the number of slots. Two
// batches that share a cell would need one more slot than there is.
package loader
