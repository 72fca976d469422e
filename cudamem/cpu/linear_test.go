package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/x448/float16"

	"pinscope/cudamem"
)

// reference is the layer in float64, written as the formulas are.
type reference struct {
	features, classes int
	rate              float64
	weights           [][]float64 // by class, then feature
	bias              []float64
}

func newReference(l *linear) *reference {
	r := &reference{features: l.spec.Features, classes: l.spec.Classes, rate: float64(l.spec.LearningRate), bias: make([]float64, l.spec.Classes)}
	for c := range r.classes {
		r.weights = append(r.weights, make([]float64, r.features))
		for f := range r.features {
			r.weights[c][f] = float64(l.weights.Data[c*r.features+f])
		}
	}
	return r
}

func (r *reference) step(x [][]float64, labels []int) (loss float64) {
	p := make([][]float64, len(x))
	for i := range x {
		p[i] = make([]float64, r.classes)
		var sum float64
		for c := range p[i] {
			z := r.bias[c]
			for f, v := range x[i] {
				z += r.weights[c][f] * v
			}
			p[i][c] = math.Exp(z)
			sum += p[i][c]
		}
		for c := range p[i] {
			p[i][c] /= sum
		}
		loss -= math.Log(p[i][labels[i]]) / float64(len(x))
	}
	for i := range x {
		for c := range r.classes {
			gradient := p[i][c] / float64(len(x))
			if c == labels[i] {
				gradient -= 1 / float64(len(x))
			}
			r.bias[c] -= r.rate * gradient
			for f, v := range x[i] {
				r.weights[c][f] -= r.rate * gradient * v
			}
		}
	}
	return loss
}

// batch is samples in host memory, labels first, as a loader lays them out.
type batch struct {
	buffer *cudamem.HostBuffer
	inputs int64 // offset
	x      [][]float64
	labels []int
}

// newBatch draws a batch. Labels are given far from 0..classes-1: they count modulo.
func newBatch(t testing.TB, d cudamem.Device, spec cudamem.LinearSpec, rows int, random *rand.Rand) *batch {
	t.Helper()
	size := spec.Input.Size()
	b := &batch{inputs: int64(rows+7) / 8 * 64}
	var err error
	if b.buffer, err = d.AllocHost(cudamem.Pinned, b.inputs+int64(rows*spec.Features)*size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.buffer.Free() })
	at := b.buffer.Bytes()[b.inputs:]
	for r := range rows {
		label := random.IntN(spec.Classes)
		b.labels = append(b.labels, label)
		far := label + spec.Classes*(random.IntN(5)-2)
		binary.NativeEndian.PutUint64(b.buffer.Bytes()[8*r:], uint64(far))
		b.x = append(b.x, make([]float64, spec.Features))
		for f := range spec.Features {
			b.x[r][f] = draw(at, spec.Input, random)
			at = at[size:]
		}
	}
	return b
}

// draw writes a value and gives what it stands for.
func draw(at []byte, as cudamem.DType, random *rand.Rand) float64 {
	switch as {
	case cudamem.Float16:
		v := float16.Fromfloat32(float32(random.NormFloat64()))
		binary.NativeEndian.PutUint16(at, v.Bits())
		return float64(v.Float32())
	case cudamem.Uint8:
		at[0] = byte(random.IntN(256))
		return float64(at[0]) / 255
	case cudamem.Int64:
		v := random.Int64N(200_000) - 100_000
		binary.NativeEndian.PutUint64(at, uint64(v))
		return float64(v) / 65536
	default:
		v := float32(random.NormFloat64())
		binary.NativeEndian.PutUint32(at, math.Float32bits(v))
		return float64(v)
	}
}

func newLinear(t testing.TB, d cudamem.Device, spec cudamem.LinearSpec) *linear {
	t.Helper()
	l, err := d.NewLinear(spec)
	if err != nil {
		t.Fatal(err)
	}
	return l.(*linear)
}

// TestStepMatchesReference: losses and weights after three steps against float64, on sizes
// that are odd and on both sides of the tiles' edges.
func TestStepMatchesReference(t *testing.T) {
	d, _ := Open(cudamem.NewPlainClock())
	for _, c := range []struct{ features, classes, rows int }{
		{1, 1, 1}, {1, 2, 3}, {7, 3, 5}, {63, 10, 64}, {193, 191, 65}, {192, 64, 64}, {385, 193, 2}, {1001, 5, 130},
	} {
		for _, input := range []cudamem.DType{cudamem.Float32, cudamem.Float16, cudamem.Uint8, cudamem.Int64} {
			t.Run(fmt.Sprintf("%d features, %d classes, %d rows, %v", c.features, c.classes, c.rows, input), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(c.features), uint64(input)))
				spec := cudamem.LinearSpec{Features: c.features, Classes: c.classes, MaxRows: c.rows + 1, Input: input, LearningRate: 0.1, Seed: 7, Cells: 3}
				l := newLinear(t, d, spec)
				r := newReference(l)
				for step := range 3 {
					b := newBatch(t, d, spec, c.rows, random)
					if err := l.Step(nil, b.buffer, b.inputs, 0, 8, c.rows, step); err != nil {
						t.Fatal(err)
					}
					want := r.step(b.x, b.labels)
					got, known := l.Loss(step)
					if !known || math.Abs(got-want) > 1e-5*math.Max(1, want) {
						t.Errorf("step %d: loss %v (known %v), want %v", step, got, known, want)
					}
				}
				for class := range c.classes {
					if got, want := float64(l.bias[class]), r.bias[class]; math.Abs(got-want) > 1e-5 {
						t.Fatalf("bias of class %d is %v, want %v", class, got, want)
					}
					for f := range c.features {
						if got, want := float64(l.weights.Data[class*c.features+f]), r.weights[class][f]; math.Abs(got-want) > 1e-5 {
							t.Fatalf("weight of class %d, feature %d is %v, want %v", class, f, got, want)
						}
					}
				}
			})
		}
	}
}

// TestLossFalls on data whose classes lie apart: from ln(3) to almost nothing.
func TestLossFalls(t *testing.T) {
	d, _ := Open(cudamem.NewPlainClock())
	const rows, features, classes = 60, 20, 3
	spec := cudamem.LinearSpec{Features: features, Classes: classes, MaxRows: rows, LearningRate: 0.5, Seed: 1, Cells: 1}
	l := newLinear(t, d, spec)
	random := rand.New(rand.NewPCG(3, 3))
	b := newBatch(t, d, spec, rows, random)
	for r, label := range b.labels { // class c has 3 added to feature c
		at := b.buffer.Bytes()[b.inputs+int64(r*features+label)*4:]
		binary.NativeEndian.PutUint32(at, math.Float32bits(float32(b.x[r][label])+3))
	}
	var first, last float64
	for step := range 200 {
		if err := l.Step(nil, b.buffer, b.inputs, 0, 8, rows, 0); err != nil {
			t.Fatal(err)
		}
		last, _ = l.Loss(0)
		if step == 0 {
			first = last
		}
	}
	if math.Abs(first-math.Log(classes)) > 0.7 || last > 0.1 {
		t.Errorf("loss went from %.3f to %.3f", first, last)
	}
}

// TestHugeLogits: exponentials of which none fits a float64 give a finite loss.
func TestHugeLogits(t *testing.T) {
	d, _ := Open(cudamem.NewPlainClock())
	spec := cudamem.LinearSpec{Features: 1, Classes: 2, MaxRows: 1, LearningRate: 1, Cells: 1}
	for label, weights := range [][]float32{{-2000, 2000}, {2000, -2000}} {
		l := newLinear(t, d, spec)
		copy(l.weights.Data, weights)
		b := newBatch(t, d, spec, 1, rand.New(rand.NewPCG(1, 1)))
		binary.NativeEndian.PutUint32(b.buffer.Bytes()[b.inputs:], math.Float32bits(1))
		binary.NativeEndian.PutUint64(b.buffer.Bytes(), uint64(label))
		if err := l.Step(nil, b.buffer, b.inputs, 0, 8, 1, 0); err != nil {
			t.Fatal(err)
		}
		if loss, _ := l.Loss(0); loss != 4000 {
			t.Errorf("weights %v: loss %v, want 4000", weights, loss)
		}
	}
}

// TestConversion: what the values of each type stand for.
func TestConversion(t *testing.T) {
	for _, c := range []struct {
		as    cudamem.DType
		bytes []byte
		want  []float32
	}{
		{cudamem.Float32, binary.NativeEndian.AppendUint32(nil, math.Float32bits(-1.5)), []float32{-1.5}},
		{cudamem.Float16, binary.NativeEndian.AppendUint16(nil, 0xbe00), []float32{-1.5}},
		{cudamem.Uint8, []byte{0, 255}, []float32{0, 1}},
		{cudamem.Int64, binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, 65536), math.MaxUint64), []float32{1, -1.0 / 65536}},
	} {
		l := &linear{spec: cudamem.LinearSpec{Input: c.as}, input: make([]float32, 8)}
		if got := l.floats(c.bytes); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.as, got, c.want)
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	d, _ := Open(cudamem.NewPlainClock())
	s, _ := d.NewStream()
	e, _ := d.NewEvent()
	for _, input := range []cudamem.DType{cudamem.Float32, cudamem.Uint8} {
		// 4 x 4 blocks of 64 x 64: enough for gonum to start goroutines.
		spec := cudamem.LinearSpec{Features: 256, Classes: 256, MaxRows: 256, Input: input, LearningRate: 0.1, Cells: 1}
		l := newLinear(t, d, spec)
		b := newBatch(t, d, spec, 256, rand.New(rand.NewPCG(1, 1)))
		if n := testing.AllocsPerRun(5, func() {
			if l.Step(s, b.buffer, b.inputs, 0, 8, 256, 0) != nil || s.Record(e) != nil || e.Wait() != nil {
				t.Fatal("step failed")
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations a step", input, n)
		}
	}
}

// BenchmarkStep is the step of the article's script: 64 samples of 3x224x224 into 10 classes.
func BenchmarkStep(b *testing.B) {
	d, _ := Open(cudamem.NewPlainClock())
	for _, input := range []cudamem.DType{cudamem.Float32, cudamem.Uint8} {
		b.Run(input.String(), func(b *testing.B) {
			spec := cudamem.LinearSpec{Features: 150528, Classes: 10, MaxRows: 64, Input: input, LearningRate: 0.01, Cells: 1}
			l := newLinear(b, d, spec)
			samples := newBatch(b, d, spec, 64, rand.New(rand.NewPCG(1, 1)))
			b.ReportAllocs()
			for b.Loop() {
				if err := l.Step(nil, samples.buffer, samples.inputs, 0, 8, 64, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
