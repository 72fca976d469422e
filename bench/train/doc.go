// Package train is the trainer: it takes batches from a loader, brings them to
// the device and runs the training step on each.
//
//	Pass.Next ─► copy stream: labels, inputs ─► device slot ─► compute stream: step
//	                 │ copy done                    ▲               │ step done
//	                 └► slot back to the loader     └───────────────┘ device slot free
//
// Only events order the work on the device; the trainer itself waits for the
// copy when non_blocking is off, and for the step when the loop reads its loss.
//
// # Goroutines
//
// The trainer runs on the goroutine that calls Run. Where a slot's copy is still
// under way when the trainer goes on, a second goroutine, the returner, waits
// for its event and gives the slot back, so that workers never stand still
// because the trainer waits for a batch.
package train
