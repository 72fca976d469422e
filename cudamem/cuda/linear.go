//go:build cuda

package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"gorgonia.org/cu"

	"pinscope/cudamem"
	"pinscope/cudamem/kernels"
)

// linear is a linear layer whose weights stay on the device.
type linear struct {
	d    *device
	spec cudamem.LinearSpec
	work work // forward, loss, gradient, update

	whole, parts cu.Function // the gradient of all rows, and of parts of them

	weights, bias, partial, delta, rowLoss, sums cudamem.DeviceBuffer
	cells                                        *cudamem.HostBuffer // a float32 each, which the device writes
}

// The launches of a step, by their place in work.
const (
	forward = iota
	loss
	gradient
	update
)

// NewLinear allocates a layer. The first of a type of input has the driver
// compile its kernels, which took 0.4 s on the H200 (and is kept in ~/.nv).
func (d *device) NewLinear(spec cudamem.LinearSpec) (_ cudamem.Linear, err error) {
	if err := d.check(spec); err != nil {
		return nil, err
	}
	tile := kernels.Tile(spec.Classes)
	ptx, names := kernels.Linear(spec.Input, tile)
	found, err := d.functions(fmt.Sprintf("linear %v %d", spec.Input, tile), ptx, names[:]...)
	if err != nil {
		return nil, err
	}
	l := &linear{d: d, spec: spec, whole: found[gradient], parts: found[update+1]}
	defer func() {
		if err != nil {
			_ = l.Close() // the first error is the one to tell
		}
	}()
	if l.work, err = newWork(found[:update+1]...); err != nil {
		return nil, d.fail("calloc", 0, err)
	}
	if err := l.allocate(); err != nil {
		return nil, err
	}
	return l, l.reset()
}

func (d *device) check(spec cudamem.LinearSpec) error {
	const most = math.MaxInt32 // the kernels count in 32 bits
	switch {
	case spec.Features < 1 || spec.Classes < 1 || spec.MaxRows < 1 || spec.Cells < 1:
		return d.misuse("linear layer", "features, classes, rows and cells must be at least 1: %+v", spec)
	case spec.Features > most-256 || spec.Classes > most-256 || spec.MaxRows > most-256:
		return d.misuse("linear layer", "features, classes and rows must be below %d: %+v", most-256, spec)
	}
	return nil
}

// allocate makes buffers that suffice for any number of rows.
func (l *linear) allocate() (err error) {
	var partial, delta, sums int64
	var stride int
	for rows := 1; rows <= l.spec.MaxRows; rows++ {
		s := kernels.Plan(rows, l.spec.Features, l.spec.Classes, l.d.multiprocessors)
		partial, delta, sums = max(partial, s.PartialBytes), max(delta, s.DeltaBytes), max(sums, s.SumBytes)
		stride = s.WeightStride
	}
	for _, b := range []struct {
		buffer *cudamem.DeviceBuffer
		bytes  int64
	}{
		{&l.weights, int64(l.spec.Classes) * int64(stride) * 4},
		{&l.bias, int64(l.spec.Classes) * 4},
		{&l.partial, partial},
		{&l.delta, delta},
		{&l.rowLoss, int64(l.spec.MaxRows) * 4},
		{&l.sums, max(sums, 4)},
	} {
		if *b.buffer, err = l.d.AllocDevice(b.bytes); err != nil {
			return err
		}
	}
	l.cells, err = l.d.AllocHost(cudamem.Mapped, int64(l.spec.Cells)*4)
	return err
}

// reset gives the layer its initial weights, class by class, and biases 0.
func (l *linear) reset() error {
	stride := int(l.weights.Size()) / 4 / l.spec.Classes
	padded := make([]float32, stride*l.spec.Classes)
	initial := initialWeights(l.spec)
	for f := range l.spec.Features {
		for c := range l.spec.Classes {
			padded[c*stride+f] = initial()
		}
	}
	if err := cu.MemcpyHtoD(at(l.weights), unsafe.Pointer(&padded[0]), l.weights.Size()); err != nil {
		return l.d.fail("cuMemcpyHtoD", l.weights.Size(), err)
	}
	if err := cu.MemsetD8(at(l.bias), 0, l.bias.Size()); err != nil {
		return l.d.fail("cuMemsetD8", l.bias.Size(), err)
	}
	// Both calls may return before the device is done, and the streams that steps
	// come on do not wait for the default stream that these are on.
	return l.d.fail("cuCtxSynchronize", 0, cu.Synchronize())
}

// initialWeights draws the weights, feature by feature, uniform in ±1/sqrt(Features).
func initialWeights(spec cudamem.LinearSpec) (next func() float32) {
	random := rand.New(rand.NewPCG(spec.Seed, 0))
	bound := 1 / float32(math.Sqrt(float64(spec.Features)))
	return func() float32 { return (2*random.Float32() - 1) * bound }
}

// at is where a buffer of this package lies on the device.
func at(b cudamem.DeviceBuffer) cu.DevicePtr { return b.(*deviceBuffer).at }

// Step queues forward, loss and gradient. It allocates nothing.
func (l *linear) Step(s cudamem.Stream, batch cudamem.Memory, inputOffset, labelOffset, labelStride int64, rows, cell int) error {
	const call = "training step"
	on, ok := s.(*stream)
	if !ok {
		return l.d.misuse(call, "%T is no stream of a CUDA device", s)
	}
	if err := on.open(call); err != nil {
		return err
	}
	if l.work.c == nil {
		return l.d.misuse(call, "the layer is closed")
	}
	size := l.spec.Input.Size()
	switch {
	case rows < 1 || rows > l.spec.MaxRows:
		return l.d.misuse(call, "%d rows, of 1 to %d", rows, l.spec.MaxRows)
	case cell < 0 || cell >= l.spec.Cells:
		return l.d.misuse(call, "cell %d of %d", cell, l.spec.Cells)
	case inputOffset%size != 0 || labelOffset%8 != 0 || labelStride%8 != 0 || labelStride < 0:
		return l.d.misuse(call, "values of %d bytes at %d, or labels of 8 at %d, %d apart, do not lie on multiples of their length",
			size, inputOffset, labelOffset, labelStride)
	}
	x, err := l.d.address(call, batch, inputOffset, int64(rows)*int64(l.spec.Features)*size)
	if err != nil {
		return err
	}
	labels, err := l.d.address(call, batch, labelOffset, int64(rows-1)*labelStride+8)
	if err != nil {
		return err
	}
	launches := l.prepare(x, labels, labelStride, rows, cell)
	return l.d.fail("cuLaunchKernel of a training step", 0, l.work.launch(on.s, launches))
}

// prepare sets grids and arguments, in the order in which linear.cu declares them.
func (l *linear) prepare(x, labels uint64, labelStride int64, rows, cell int) (launches int) {
	p := kernels.Plan(rows, l.spec.Features, l.spec.Classes, l.d.multiprocessors)
	n, features, classes := uint64(rows), uint64(l.spec.Features), uint64(l.spec.Classes)
	weights, bias, partial := uint64(at(l.weights)), uint64(at(l.bias)), uint64(at(l.partial))
	delta, rowLoss, sums := uint64(at(l.delta)), uint64(at(l.rowLoss)), uint64(at(l.sums))
	lost := l.d.hostAddress(l.cells) + uint64(cell)*4
	rate := uint64(math.Float32bits(l.spec.LearningRate))
	var wide uint64
	if kernels.Wide(l.spec.Input, x, l.spec.Features) {
		wide = 1
	}
	l.work.size(forward, grid{p.Slices, p.Tiles, p.Shares, kernels.ForwardThreads})
	l.work.setAll(forward, x, weights, partial, n, features, classes, uint64(p.SliceChunks), uint64(p.RowWarps), wide)
	l.work.size(loss, grid{p.LossBlocks, 1, 1, kernels.LossThreads})
	l.work.setAll(loss, partial, uint64(p.Partials), bias, labels, uint64(labelStride), delta, rowLoss, n, classes)
	l.work.size(gradient, grid{p.Blocks, p.Tiles, p.Parts, kernels.GradientThreads})
	l.work.setAll(gradient, x, weights, sums, bias, delta, rowLoss, lost, n, features, classes, rate, wide)
	if p.Parts == 1 {
		l.work.function(gradient, l.whole)
		return 3
	}
	l.work.function(gradient, l.parts)
	columns := l.spec.Classes * p.WeightStride / 4
	l.work.size(update, grid{(columns + kernels.UpdateThreads - 1) / kernels.UpdateThreads, 1, 1, kernels.UpdateThreads})
	l.work.setAll(update, weights, sums, uint64(p.Parts), uint64(columns), rate)
	return 4
}

func (l *linear) Loss(cell int) (loss float64, known bool) {
	if l.cells.Size() == 0 || cell < 0 || cell >= l.spec.Cells {
		return 0, false
	}
	return float64(math.Float32frombits(binary.NativeEndian.Uint32(l.cells.Bytes()[cell*4:]))), true
}

func (l *linear) Close() error {
	l.work.free()
	err := l.cells.Free()
	for _, b := range []cudamem.DeviceBuffer{l.weights, l.bias, l.partial, l.delta, l.rowLoss, l.sums} {
		if b == nil {
			continue
		}
		if failed := b.Free(); err == nil {
			err = failed
		}
	}
	return err
}
