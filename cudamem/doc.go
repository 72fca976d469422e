// Package cudamem is host memory, device memory and the queues between them, on
// a real GPU, on a simulated one or on none, behind one face shaped by CUDA's
// driver API.
//
// It knows about buffers, streams, events and one compute operation (a linear
// layer's training step). It knows nothing of batches, workers or charts.
//
// The parts are used in this order: a [Clock] is made, a [Device] is opened on
// it (package cudamem/device opens by name), host and device buffers are
// allocated, streams and events are made, copies and steps are queued on the
// streams, events tell when they are done and at what time on the clock, and
// everything is freed by whoever allocated it.
//
// # Goroutines
//
// A CUDA context belongs to a thread. Every goroutine that calls a method of a
// Device, Stream, Event or Linear first calls [Device.Bind] and keeps to
// itself until it calls the release function that Bind returned; on the
// devices that need no thread Bind does nothing. A Stream and a Linear belong
// to one goroutine at a time; an Event may be recorded by one goroutine and
// waited for by another. Reading and writing [HostBuffer.Bytes] needs no Bind.
//
// # Errors
//
// A failed call gives an [*Error]: which call, what code, how many bytes, on
// what device, and what is likely to cure it.
package cudamem
