package sim

import (
	"fmt"
	"sync/atomic"

	"pinscope/cudamem"
)

// linear is a layer whose steps take time and compute nothing.
type linear struct {
	device *device
	spec   cudamem.LinearSpec
	bytes  int64 // of weights and biases
	closed atomic.Bool
}

var _ cudamem.Linear = (*linear)(nil)

// NewLinear books the memory of the weights.
func (d *device) NewLinear(spec cudamem.LinearSpec) (cudamem.Linear, error) {
	const op = "simulated linear layer"
	if spec.Features < 1 || spec.Classes < 1 || spec.MaxRows < 1 || spec.Cells < 1 {
		return nil, d.refuse(op, 0, fmt.Sprintf("features %d, classes %d, most rows %d and cells %d must all be above 0",
			spec.Features, spec.Classes, spec.MaxRows, spec.Cells))
	}
	if int64(spec.Features) >= d.model.MemoryBytes/4/int64(spec.Classes) {
		return nil, d.refuse(op, 0, fmt.Sprintf("%d x %d float32 weights do not fit the GPU's %d bytes",
			spec.Features, spec.Classes, d.model.MemoryBytes))
	}
	bytes := 4 * (int64(spec.Features) + 1) * int64(spec.Classes)
	if err := d.takeMemory(bytes); err != nil {
		return nil, err
	}
	return &linear{device: d, spec: spec, bytes: bytes}, nil
}

// Step takes the compute engine for as long as the model says. Where the batch
// is host memory, it is read over the link and takes at least as long as that.
func (l *linear) Step(on cudamem.Stream, batch cudamem.Memory, inputOffset, labelOffset, labelStride int64, rows int, cell int) error {
	const op = "simulated training step"
	d := l.device
	s, err := d.own(op, on)
	if err != nil {
		return err
	}
	if err := l.check(op, rows, cell, labelStride); err != nil {
		return err
	}
	inputBytes := int64(rows) * int64(l.spec.Features) * l.spec.Input.Size()
	if _, err := d.part(op, batch, inputOffset, inputBytes); err != nil {
		return err
	}
	if _, err := d.part(op, batch, labelOffset, int64(rows-1)*labelStride+8); err != nil {
		return err
	}
	overLink, err := d.overLink(op, batch)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.launches++
	if d.launches == d.faults.FailLaunchAt {
		return d.refuse(op, 0, fmt.Sprintf("launch %d failed, as the test asked", d.launches))
	}
	nanos := d.model.stepNanos(rows, l.spec.Features, l.spec.Classes, inputBytes, overLink)
	d.book(s, d.compute, d.start(s, d.compute, d.clock.Now()), d.compute.cost(nanos))
	return nil
}

func (l *linear) check(op string, rows, cell int, labelStride int64) error {
	switch {
	case l.closed.Load():
		return l.device.refuse(op, 0, "the layer is closed")
	case rows < 1 || rows > l.spec.MaxRows:
		return l.device.refuse(op, 0, fmt.Sprintf("%d rows are not 1 to %d", rows, l.spec.MaxRows))
	case cell < 0 || cell >= l.spec.Cells:
		return l.device.refuse(op, 0, fmt.Sprintf("cell %d is not 0 to %d", cell, l.spec.Cells-1))
	case labelStride < 0 || labelStride%8 != 0:
		return l.device.refuse(op, 0, fmt.Sprintf("label stride %d is not a multiple of 8", labelStride))
	}
	return nil
}

// overLink says whether a kernel reads this memory over the link.
func (d *device) overLink(op string, memory cudamem.Memory) (bool, error) {
	host, ok := memory.(*cudamem.HostBuffer)
	if ok && !host.Kind().DeviceReadable() {
		return false, d.refuse(op, host.Size(), "a kernel cannot read "+host.Kind().String()+" host memory")
	}
	return ok, nil
}

// Loss is not known.
func (l *linear) Loss(int) (loss float64, known bool) { return 0, false }

// Close gives the weights' memory back. It may be called twice.
func (l *linear) Close() error {
	if l.closed.CompareAndSwap(false, true) {
		l.device.settle()
		l.device.giveMemory(l.bytes)
	}
	return nil
}
