package cudamem

import "time"

// Device is one GPU, real or simulated, or the CPU standing in for one.
// It is implemented by cudamem/sim, cudamem/cpu and cudamem/cuda. Whoever opens
// a device closes it, after everything allocated on it has been freed.
type Device interface {
	// Info describes the device. It does not change while the device is open.
	Info() Info

	// Bind makes the calling goroutine able to use the device: on a real GPU
	// it is locked to its thread with the context current. It must be paired
	// with one call of release, by the same goroutine.
	Bind() (release func(), err error)

	// AllocHost allocates bytes (> 0) of host memory of a kind, rounded up to
	// whole pages and zeroed. A device that cannot lock the pages returns an
	// *Error for which [IsPinRefused] is true; the simulated GPU, when the
	// system's own lock limit is the obstacle, returns an unlocked buffer
	// (HostBuffer.Locked is false) instead.
	AllocHost(kind HostKind, bytes int64) (*HostBuffer, error)

	// AllocDevice allocates bytes (> 0) of device memory.
	AllocDevice(bytes int64) (DeviceBuffer, error)

	// NewStream makes an independent, non-blocking stream.
	NewStream() (Stream, error)

	// NewEvent makes an event that has not been recorded.
	NewEvent() (Event, error)

	// NewLinear allocates the weights and the state of a linear layer.
	NewLinear(spec LinearSpec) (Linear, error)

	// NewDigester makes a digester with a number of result cells. With full
	// every byte is digested, without it one line of [LineBytes] in each
	// [LineStride], which is also all that the simulated GPU then moves.
	// Only devices whose Info.AlwaysDigests is true accept full == false.
	NewDigester(cells int, full bool) (Digester, error)

	// Anchor ties the device's event times to the clock anew. It waits for
	// the device to be idle. Called before each measured stretch, it keeps the
	// drift between two oscillators out of the result.
	Anchor() error

	// Close frees the device. It may be called twice.
	Close() error
}

// Info describes a device. Strings are empty, and numbers zero, where the
// device does not tell; NUMANode is -1 there.
type Info struct {
	ID        string // as opened: "cuda:0", "sim:laptop", "cpu"
	Name      string // the product: "NVIDIA H200", "simulated laptop GPU"
	Simulated bool   // times come from a model, not from hardware

	UUID       string // "GPU-…" or "MIG-…"
	PCIAddress string // "0000:3b:00.0"
	Driver     string // "580.95.05"
	NUMANode   int

	MemoryBytes       int64
	CopyEngines       int
	UnifiedAddressing bool // a mapped host pointer is valid on the device as it is
	HostPageTables    bool // the device walks the host's page tables

	// LinkGBps is the bandwidth of the link in GB/s (1e9 bytes a second) that
	// no host-to-device copy can pass; 0 where there is no link or it is unknown.
	LinkGBps float64

	// InPlace says that a step reads host memory where it lies: there is no
	// transfer and no device slot (the CPU).
	InPlace bool

	// AlwaysDigests says that digests of sampled lines cost next to nothing and
	// every batch can be checked (the simulated GPU).
	AlwaysDigests bool

	// EventClock names where event times come from, for the result file.
	EventClock string

	// Model holds the values of the simulated GPU's model, as --sim would spell
	// them; nil on other devices.
	Model map[string]string
}

// Memory is something a kernel can read: a DeviceBuffer, or a *HostBuffer that
// the device can address (mapped, managed, or any on the CPU).
type Memory interface {
	// Size is the usable length in bytes.
	Size() int64
}

// DeviceBuffer is memory on the device. Free may be called twice; using a freed
// buffer is an error.
type DeviceBuffer interface {
	Memory
	Free() error
}

// Stream is an ordered queue of work on a device. Calls only queue work and
// return, but for a copy from or to pageable memory: that one blocks its caller
// while the bytes are staged, after whatever was queued before it on the stream.
type Stream interface {
	// CopyHtoD queues a copy of bytes from src[srcOffset:] to dst[dstOffset:].
	CopyHtoD(dst DeviceBuffer, dstOffset int64, src *HostBuffer, srcOffset, bytes int64) error

	// CopyDtoH queues a copy of bytes from src[srcOffset:] to dst[dstOffset:].
	CopyDtoH(dst *HostBuffer, dstOffset int64, src DeviceBuffer, srcOffset, bytes int64) error

	// Record puts e into the queue: e is done when everything queued before it is.
	Record(e Event) error

	// WaitFor makes work queued from now on wait, on the device, for the latest
	// recording of e. An event never recorded is not waited for.
	WaitFor(e Event) error

	// Synchronize blocks the caller until all queued work is done.
	Synchronize() error

	// Close synchronizes and frees the stream. It may be called twice.
	Close() error
}

// Event marks a place in a stream.
type Event interface {
	// Wait blocks the caller, without spinning for long, until the latest
	// recording is done; at once when there was none.
	Wait() error

	// Done tells whether the latest recording is done, without blocking.
	Done() (bool, error)

	// Time is when the latest recording was reached, on the device's Clock.
	// It is valid only after Wait, or after Done gave true.
	Time() (time.Duration, error)

	// Close frees the event. It may be called twice.
	Close() error
}

// LinearSpec is the shape of a linear layer y = xW + b, of the batches it is
// trained on, and of its training: mean softmax cross entropy and plain SGD.
type LinearSpec struct {
	Features     int     // input values per sample, >= 1
	Classes      int     // outputs, >= 1
	MaxRows      int     // most samples in a step, >= 1
	Input        DType   // of the samples; converted to float32 on the device
	LearningRate float32 // of plain SGD, >= 0
	Seed         uint64  // of the initial weights, uniform in ±1/sqrt(Features)
	Cells        int     // results in flight, >= 1
}

// Linear is a linear layer on a device.
type Linear interface {
	// Step queues on s one training step (forward, loss, backward, SGD) over
	// rows (1..MaxRows) samples that lie, sample after sample, at
	// batch[inputOffset:]; their class labels are int64 at batch[labelOffset:],
	// labelStride bytes apart (a multiple of 8), taken modulo Classes.
	// The result goes to a cell (0..Cells-1), overwriting it.
	Step(s Stream, batch Memory, inputOffset, labelOffset, labelStride int64, rows int, cell int) error

	// Loss is the mean cross entropy of the step last written to a cell, valid
	// once an event recorded after that step is done. known is false on the
	// simulated GPU, which times a step but does not compute one.
	Loss(cell int) (loss float64, known bool)

	// Close frees the layer. It may be called twice.
	Close() error
}

// Gatherer is the ability to collect a batch straight out of a data set in
// mapped host memory, over the link, with no host copy. A Device that has it
// implements this interface too.
type Gatherer interface {
	// Gather queues on s, as one piece of work: for each part and each r in
	// 0..rows-1, dst[part.DstOffset+r*part.Bytes:] =
	// part.Dataset[index[r]*part.Bytes:], where index is rows int64 values at
	// indices[indexOffset:], there when Gather is called and until the work is
	// done. There are one or two parts, inputs and labels say.
	// Data sets and indices are memory that the device can address (kind mapped
	// or registered). An index outside a data set is undefined behaviour.
	// Nothing keeps the parts: a caller that has them in a slice allocates nothing.
	Gather(s Stream, dst DeviceBuffer, indices *HostBuffer, indexOffset int64, rows int, parts ...GatherPart) error
}

// GatherPart is what a [Gatherer] takes of each sample, and where it puts it.
type GatherPart struct {
	Dataset   *HostBuffer
	Bytes     int64 // of one sample in the data set: above 0, below 2 GiB, any alignment
	DstOffset int64 // of the part's first sample
}

// Digester computes [Digest] of device memory on the device, to check what
// arrived there against what was written on the host.
type Digester interface {
	// Digest queues on s the digest of m[offset:offset+bytes] into a cell,
	// added to what the cell holds if add, else replacing it. offset is a
	// multiple of 64.
	Digest(s Stream, m Memory, offset, bytes int64, cell int, add bool) error

	// Value is the digest last written to a cell, valid once an event recorded
	// after it is done.
	Value(cell int) uint64

	// Close frees the digester. It may be called twice.
	Close() error
}
