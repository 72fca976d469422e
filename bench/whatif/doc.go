// Package whatif predicts a run without running it: the loader, the trainer and
// the device of packages loader, train and sim in virtual time, in one goroutine.
//
//	Pipeline (what there is) ─┐
//	Times (how long it takes) ├─► Predict ─► Outcome: wall time, the same spans
//	sim.Model (the device)   ─┘
//
// [Predict] is the model itself, equal to the real pipeline on the simulated GPU to
// the nanosecond wherever host work takes no time. [Base] feeds it: from the settings of a run and
// given times, or from a result that was measured, with some settings changed;
// [Base.Predict] gives a [Prediction] that says where each time came from.
//
// # Why there is no list of events
//
// Every queue in the pipeline is first in, first out, every hand-over happens in
// the order of batches, and the device knows the end of an operation when it is
// queued. So when slot s comes free for batch b is known once batch b minus the
// number of slots has been gone through, and the events follow from one another
// batch by batch: what waits for two things goes on at the later of them.
//
// # What it leaves out
//
// Each worker and thread is taken to have a CPU, and memory fast enough, to itself:
// stages take as long with 8 workers as they were measured to take with 2. Where
// that is in doubt a [Prediction] says so. What waking up after a wait takes is drawn
// from a result; without one, handing a batch over takes no time.
package whatif
