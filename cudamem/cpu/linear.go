package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"pinscope/cudamem"
)

// linear is a layer and its scratch memory.
type linear struct {
	spec    cudamem.LinearSpec
	weights blas32.General // Classes x Features
	bias    []float32
	input   []float32 // MaxRows x Features, of samples that are not float32
	delta   []float32 // MaxRows x Classes: logits, then the loss's gradient by them
	losses  []float64 // cells
}

var _ cudamem.Linear = (*linear)(nil)

// NewLinear allocates a layer. Its initial weights are drawn in the same order as
// the real GPU's, so that losses can be compared; biases are 0.
func (d *device) NewLinear(spec cudamem.LinearSpec) (cudamem.Linear, error) {
	if spec.Features < 1 || spec.Classes < 1 || spec.MaxRows < 1 || spec.Cells < 1 {
		return nil, refuse("linear layer", 0, fmt.Sprintf("features %d, classes %d, most rows %d and cells %d must all be above 0",
			spec.Features, spec.Classes, spec.MaxRows, spec.Cells))
	}
	l := &linear{
		spec: spec, bias: make([]float32, spec.Classes), losses: make([]float64, spec.Cells),
		delta: make([]float32, spec.MaxRows*spec.Classes),
		weights: blas32.General{Rows: spec.Classes, Cols: spec.Features, Stride: spec.Features,
			Data: make([]float32, spec.Classes*spec.Features)},
	}
	if spec.Input != cudamem.Float32 {
		l.input = make([]float32, spec.MaxRows*spec.Features)
	}
	random := rand.New(rand.NewPCG(spec.Seed, 0))
	bound := 1 / float32(math.Sqrt(float64(spec.Features)))
	for f := range spec.Features {
		for c := range spec.Classes {
			l.weights.Data[c*spec.Features+f] = (2*random.Float32() - 1) * bound
		}
	}
	return l, nil
}

// Step computes one training step on the calling goroutine. It allocates nothing.
func (l *linear) Step(_ cudamem.Stream, batch cudamem.Memory, inputOffset, labelOffset, labelStride int64, rows int, cell int) error {
	const op = "training step"
	size := l.spec.Input.Size()
	switch {
	case rows < 1 || rows > l.spec.MaxRows:
		return refuse(op, 0, fmt.Sprintf("%d rows are not 1 to %d", rows, l.spec.MaxRows))
	case cell < 0 || cell >= l.spec.Cells:
		return refuse(op, 0, fmt.Sprintf("cell %d is not 0 to %d", cell, l.spec.Cells-1))
	case inputOffset%size != 0 || labelStride < 0 || labelStride%8 != 0:
		return refuse(op, 0, fmt.Sprintf("input offset %d or label stride %d is not a multiple of %d or 8", inputOffset, labelStride, size))
	}
	values, err := part(op, batch, inputOffset, int64(rows)*int64(l.spec.Features)*size)
	if err != nil {
		return err
	}
	labels, err := part(op, batch, labelOffset, int64(rows-1)*labelStride+8)
	if err != nil {
		return err
	}
	x := blas32.General{Rows: rows, Cols: l.spec.Features, Stride: l.spec.Features, Data: l.floats(values)}
	delta := blas32.General{Rows: rows, Cols: l.spec.Classes, Stride: l.spec.Classes, Data: l.delta[:rows*l.spec.Classes]}
	l.forward(x, delta)
	l.losses[cell] = l.loss(delta, labels, labelStride)
	l.update(x, delta)
	return nil
}

// forward computes the logits: xWᵀ + bias.
func (l *linear) forward(x, logits blas32.General) {
	for r := range logits.Rows {
		copy(logits.Data[r*logits.Stride:], l.bias)
	}
	for r := range tiles(x.Rows, tileRows) {
		for c := range tiles(l.weights.Rows, tileCols) {
			blas32.Gemm(blas.NoTrans, blas.Trans, 1, tile(x, r, span{0, x.Cols}), tile(l.weights, c, span{0, x.Cols}), 1, tile(logits, r, c))
		}
	}
}

// loss is the mean cross entropy; the logits become its gradient by them.
// Subtracting the largest keeps the exponentials from overflowing.
func (l *linear) loss(logits blas32.General, labels []byte, stride int64) float64 {
	var total float64
	for r := range logits.Rows {
		row := logits.Data[r*logits.Stride:][:logits.Cols]
		label := class(labels[int64(r)*stride:], logits.Cols)
		largest := row[0]
		for _, z := range row {
			largest = max(largest, z)
		}
		var sum float64
		for _, z := range row {
			sum += math.Exp(float64(z - largest))
		}
		total += math.Log(sum) - float64(row[label]-largest)
		for c, z := range row {
			row[c] = float32(math.Exp(float64(z-largest)) / sum / float64(logits.Rows))
		}
		row[label] -= 1 / float32(logits.Rows)
	}
	return total / float64(logits.Rows)
}

// class is a label modulo the number of classes.
func class(label []byte, classes int) int {
	c := int64(binary.NativeEndian.Uint64(label)) % int64(classes)
	if c < 0 {
		c += int64(classes)
	}
	return int(c)
}

// update takes one step of SGD: W -= rate·deltaᵀx, bias -= rate·(sum of delta).
func (l *linear) update(x, delta blas32.General) {
	rate := l.spec.LearningRate
	for c := range tiles(l.weights.Rows, tileRows) {
		for f := range tiles(x.Cols, tileCols) {
			blas32.Gemm(blas.Trans, blas.NoTrans, -rate, tile(delta, span{0, x.Rows}, c), tile(x, span{0, x.Rows}, f), 1, tile(l.weights, c, f))
		}
	}
	for r := range delta.Rows {
		for c, d := range delta.Data[r*delta.Stride:][:delta.Cols] {
			l.bias[c] -= rate * d
		}
	}
}

// Products are computed in tiles of their result, so small that gonum computes
// each on the calling goroutine: from 4 blocks of 64 x 64 on it starts
// goroutines, and allocates (blas/gonum/sgemm.go, v0.17.0).
const (
	tileRows = 64
	tileCols = 3 * 64
)

// span is a range of rows or columns.
type span struct{ from, to int }

// tiles cuts 0..n-1 into spans of a size.
func tiles(n, size int) func(yield func(span) bool) {
	return func(yield func(span) bool) {
		for from := 0; from < n; from += size {
			if !yield(span{from, min(from+size, n)}) {
				return
			}
		}
	}
}

// tile is a part of a matrix.
func tile(m blas32.General, rows, cols span) blas32.General {
	return blas32.General{Rows: rows.to - rows.from, Cols: cols.to - cols.from, Stride: m.Stride,
		Data: m.Data[rows.from*m.Stride+cols.from : (rows.to-1)*m.Stride+cols.to]}
}

// Loss is the mean cross entropy of the step last written to a cell.
func (l *linear) Loss(cell int) (loss float64, known bool) { return l.losses[cell], true }

// Close frees the layer.
func (l *linear) Close() error {
	l.weights, l.input, l.delta = blas32.General{}, nil, nil
	l.spec.MaxRows = 0 // no number of rows is allowed any more
	return nil
}
