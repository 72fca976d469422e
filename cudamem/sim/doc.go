// Package sim is the simulated GPU: a [cudamem.Device] whose copies and steps
// end at times that a [Model] gives, on a real clock.
//
// A Model is plain data, looked up by name ([Lookup], [Presets]) and changed key
// by key ([Model.Set]). [Open] makes a device of it.
//
// # Time
//
// The start and the end of every operation are computed when it is queued, under
// one mutex: it starts at the latest of now, the end of what is before it on
// its stream, the events the stream waits for, and the end of what is before
// it on its engine; it ends its cost later. Nothing is read off a timer and no
// goroutine plays the engine: whoever waits sleeps until the computed time, so
// that wake-ups that come late do not add up.
//
// # Data
//
// What a copy or a digest does to memory is done when its end is observed: by
// whoever waits, for all operations whose end has passed, in the order of their
// ends. So a source is read no earlier than its copy ends, and a slot that is
// refilled before its copy's event was waited for is caught. A copy moves the
// sampled lines of its range ([cudamem.Lines]) and leaves the rest of the
// destination undefined, since the CPU must not pay for what a DMA engine
// would do; once a digester of every byte exists, every byte is moved, and
// timing is then not to be used.
//
// # What is real
//
// The host's side is: memory is mapped and, where the system lets us, locked;
// a copy from pageable memory costs its caller a copy into staging memory,
// unless the model gives it a rate. A training step is timed and not computed.
package sim
