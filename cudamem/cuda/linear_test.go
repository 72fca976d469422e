//go:build cuda

package cuda

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/x448/float16"
	"gorgonia.org/cu"

	"pinscope/cudamem"
)

func newLayer(t testing.TB, d *device, spec cudamem.LinearSpec) *linear {
	t.Helper()
	l, err := d.NewLinear(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTwice(t, l) })
	return l.(*linear)
}

// poison fills all that a step should write: 0xff bytes are not a number.
func (l *linear) poison(t testing.TB) {
	for _, b := range []cudamem.DeviceBuffer{l.partial, l.delta, l.rowLoss, l.sums} {
		must(t, cu.MemsetD8(at(b), 0xff, b.Size()))
	}
	must(t, cu.Synchronize())
	for i := range l.cells.Bytes() {
		l.cells.Bytes()[i] = 0xff
	}
}

// download reads weights, without padding, and biases.
func (l *linear) download(t testing.TB) (weights, bias []float32) {
	padded := make([]float32, l.weights.Size()/4)
	bias = make([]float32, l.spec.Classes)
	must(t, cu.MemcpyDtoH(unsafe.Pointer(&padded[0]), at(l.weights), l.weights.Size()),
		cu.MemcpyDtoH(unsafe.Pointer(&bias[0]), at(l.bias), l.bias.Size()))
	stride := len(padded) / l.spec.Classes
	for c := range l.spec.Classes {
		weights = append(weights, padded[c*stride:][:l.spec.Features]...)
	}
	return weights, bias
}

// reference is the layer in float64: weights [class][feature].
type reference struct {
	features, classes int
	weights, bias     []float64
	rate              float64
}

func newReference(t testing.TB, l *linear) *reference {
	w, b := l.download(t)
	r := &reference{features: l.spec.Features, classes: l.spec.Classes, rate: float64(l.spec.LearningRate)}
	for _, v := range w {
		r.weights = append(r.weights, float64(v))
	}
	for _, v := range b {
		r.bias = append(r.bias, float64(v))
	}
	return r
}

// step trains on x [row][feature] and gives the mean loss.
func (r *reference) step(x []float64, labels []int64) (loss float64) {
	rows := len(labels)
	delta := make([]float64, rows*r.classes)
	for n, label := range labels {
		row, logits := x[n*r.features:][:r.features], delta[n*r.classes:][:r.classes]
		largest := math.Inf(-1)
		for c := range logits {
			logits[c] = r.bias[c]
			for f, v := range r.weights[c*r.features:][:r.features] {
				logits[c] += v * row[f]
			}
			largest = max(largest, logits[c])
		}
		var sum float64
		for _, v := range logits {
			sum += math.Exp(v - largest)
		}
		right := int((label%int64(r.classes) + int64(r.classes)) % int64(r.classes))
		loss += math.Log(sum) + largest - logits[right]
		for c, v := range logits {
			logits[c] = math.Exp(v-largest) / sum / float64(rows)
		}
		logits[right] -= 1 / float64(rows)
	}
	for c := range r.classes {
		gradient := make([]float64, r.features)
		for n := range rows {
			k := delta[n*r.classes+c]
			r.bias[c] -= r.rate * k
			for f, v := range x[n*r.features:][:r.features] {
				gradient[f] += k * v
			}
		}
		for f, v := range gradient {
			r.weights[c*r.features+f] -= r.rate * v
		}
	}
	return loss / float64(rows)
}

// fill puts random values of a type into b, and gives what they count as.
func fill(b []byte, input cudamem.DType, random *rand.Rand) []float64 {
	x := make([]float64, int64(len(b))/input.Size())
	for i := range x {
		switch at := b[int64(i)*input.Size():]; input {
		case cudamem.Float32:
			v := 2*random.Float32() - 1
			binary.NativeEndian.PutUint32(at, math.Float32bits(v))
			x[i] = float64(v)
		case cudamem.Float16:
			v := float16.Fromfloat32(2*random.Float32() - 1)
			binary.NativeEndian.PutUint16(at, v.Bits())
			x[i] = float64(v.Float32())
		case cudamem.Uint8:
			at[0] = byte(random.UintN(256))
			x[i] = float64(at[0]) / 255
		case cudamem.Int64:
			v := random.Int64N(1<<18) - 1<<17
			binary.NativeEndian.PutUint64(at, uint64(v))
			x[i] = float64(v) / 65536
		}
	}
	return x
}

// difference is ||got-want|| / ||want||.
func difference(got []float32, want []float64) float64 {
	var off, all float64
	for i, v := range got {
		off += (float64(v) - want[i]) * (float64(v) - want[i])
		all += want[i] * want[i]
	}
	return math.Sqrt(off / all)
}

// change is new-old.
func change[A, B float32 | float64](new []A, old []B) []float64 {
	c := make([]float64, len(new))
	for i := range c {
		c[i] = float64(new[i]) - float64(old[i])
	}
	return c
}

// norm is ||v||.
func norm(v []float64) (n float64) {
	for _, x := range v {
		n += x * x
	}
	return math.Sqrt(n)
}

func TestLinear(t *testing.T) {
	d := open(t)
	type shape struct{ features, classes, rows int }
	shapes := []shape{
		{1, 1, 1}, {7, 3, 5}, {4, 2, 3}, {128, 10, 64}, {129, 11, 65}, {1023, 10, 33}, {1024, 16, 128},
		{515, 17, 130}, {130, 127, 9}, {132, 128, 4}, {129, 300, 5}, {3072, 10, 1}, {771, 10, 333}, {258, 20, 509},
	}
	large := []shape{
		{150528, 10, 64}, {150528, 10, 1023}, {150528, 16, 61}, {150527, 10, 7}, {49152, 1000, 6}, {3072, 10, 4096}, {768, 1000, 1024},
	}
	if !overStandIn(d) { // its loops would take minutes
		shapes = append(shapes, large...)
	}
	for _, input := range []cudamem.DType{cudamem.Float32, cudamem.Float16, cudamem.Uint8, cudamem.Int64} {
		for _, c := range shapes {
			work := c.features * c.classes * c.rows
			for _, shift := range []int64{0, 3} { // of the samples: on 64 bytes, and just on a value
				if work > 150e6 && (shift > 0 || input != cudamem.Float32) {
					continue // minutes of reference
				}
				t.Run(fmt.Sprintf("%v %dx%dx%d+%d", input, c.features, c.classes, c.rows, shift), func(t *testing.T) {
					bind(t, d)
					checkLinear(t, d, input, c.features, c.classes, c.rows, shift)
				})
			}
		}
	}
}

// checkLinear takes two steps over fresh random batches and compares losses, weights
// and biases with float64.
func checkLinear(t *testing.T, d *device, input cudamem.DType, features, classes, rows int, shift int64) {
	const within = 1e-5
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	// So that a step moves logits by about 1: neither lost in rounding nor off to where
	// losses are the difference of large numbers.
	rate := float32(min(0.5, float64(rows)/float64(features)))
	l := newLayer(t, d, cudamem.LinearSpec{
		Features: features, Classes: classes, MaxRows: rows + 3, Input: input, LearningRate: rate, Seed: seed, Cells: 2,
	})
	limit := 1 / math.Sqrt(float64(features)) * (1 + 1e-6)
	for _, v := range newReference(t, l).weights {
		if math.Abs(v) > limit {
			t.Fatalf("an initial weight of %v, beyond ±%v", v, limit)
		}
	}
	const labelStride = 16
	inputs := (int64(rows)*labelStride+63)/64*64 + shift*input.Size()
	size := inputs + int64(rows)*int64(features)*input.Size()
	s := newStream(t, d)
	host, gpu := newHost(t, d, cudamem.Mapped, size), newDevice(t, d, size)
	for step, m := range []cudamem.Memory{gpu, host} { // the second reads host memory in place
		want := newReference(t, l)
		old := slices.Clone(want.weights)
		labels := make([]int64, rows)
		for r := range labels {
			labels[r] = random.Int64() // negative ones too
			if r%2 == 0 {
				labels[r] = -labels[r]
			}
			binary.NativeEndian.PutUint64(host.Bytes()[int64(r)*labelStride:], uint64(labels[r]))
		}
		x := fill(host.Bytes()[inputs:], input, random)
		l.poison(t)
		must(t, s.CopyHtoD(gpu, 0, host, 0, size), l.Step(s, m, inputs, 0, labelStride, rows, step), s.Synchronize())
		loss, known := l.Loss(step)
		wantLoss := want.step(x, labels)
		if !known || !(math.Abs(loss-wantLoss) <= within*max(wantLoss, 1e-3)) {
			t.Errorf("step %d: loss %v (known %v), want %v", step, loss, known, wantLoss)
		}
		if step == 0 {
			if other, _ := l.Loss(1); !math.IsNaN(other) {
				t.Errorf("the other cell holds %v", other)
			}
		}
		got, bias := l.download(t)
		if off := difference(got, want.weights); !(off < within) {
			t.Errorf("step %d: weights are off by %.2g", step, off)
		}
		if off := norm(change(bias, want.bias)) / max(norm(want.bias), 1e-3); !(off < within) {
			t.Errorf("step %d: biases are off by %.2g", step, off)
		}
		// The step alone, which what weights are rounded to (2^-25 of them) may blur.
		moved, wantMoved := change(got, old), change(want.weights, old)
		blur := norm(old) * math.Exp2(-25) * 2
		if off := norm(change(moved, wantMoved)); !(off <= within*norm(wantMoved)+blur) {
			t.Errorf("step %d: the gradient is off by %.2g", step, off/norm(wantMoved))
		}
	}
}

// Two layers of one seed that see the same batches go the same way, bit by bit.
func TestLinearRepeats(t *testing.T) {
	const features, classes, rows = 5000, 10, 100
	d := open(t)
	s := newStream(t, d)
	size := int64(rows*8 + rows*features*4)
	host, gpu := newHost(t, d, cudamem.Pinned, size), newDevice(t, d, size)
	fill(host.Bytes()[rows*8:], cudamem.Float32, rand.New(rand.NewPCG(1, 1)))
	must(t, s.CopyHtoD(gpu, 0, host, 0, size))
	spec := cudamem.LinearSpec{Features: features, Classes: classes, MaxRows: rows, LearningRate: 0.1, Seed: 5, Cells: 4}
	series := func(spec cudamem.LinearSpec) (losses [4]float64) {
		l := newLayer(t, d, spec)
		for i := range losses {
			must(t, l.Step(s, gpu, rows*8, 0, 8, rows-i, i))
		}
		must(t, s.Synchronize())
		for i := range losses {
			losses[i], _ = l.Loss(i)
		}
		return losses
	}
	first, second := series(spec), series(spec)
	if first != second {
		t.Errorf("%v, then %v", first, second)
	}
	spec.Seed = 6
	if other := series(spec); other == first {
		t.Errorf("another seed gives %v too", other)
	}
}

func TestLinearMisuse(t *testing.T) {
	d := open(t)
	good := cudamem.LinearSpec{Features: 8, Classes: 2, MaxRows: 4, Cells: 2}
	for _, spoil := range []func(*cudamem.LinearSpec){
		func(s *cudamem.LinearSpec) { s.Features = 0 }, func(s *cudamem.LinearSpec) { s.Classes = 0 },
		func(s *cudamem.LinearSpec) { s.MaxRows = -1 }, func(s *cudamem.LinearSpec) { s.Cells = 0 },
		func(s *cudamem.LinearSpec) { s.Features = math.MaxInt32 },
	} {
		spec := good
		spoil(&spec)
		if _, err := d.NewLinear(spec); err == nil {
			t.Errorf("made a layer of %+v", spec)
		}
	}
	l, s := newLayer(t, d, good), newStream(t, d)
	const size = 32 + 4*8*4
	gpu, pinned := newDevice(t, d, size), newHost(t, d, cudamem.Pinned, size)
	for _, c := range []struct {
		name                  string
		m                     cudamem.Memory
		inputs, labels, apart int64
		rows, cell            int
		ok                    bool
	}{
		{"right", gpu, 32, 0, 8, 4, 1, true},
		{"no rows", gpu, 32, 0, 8, 0, 0, false},
		{"too many rows", gpu, 32, 0, 8, 5, 0, false},
		{"samples past the end", gpu, 36, 0, 8, 4, 0, false},
		{"samples off their alignment", gpu, 30, 0, 8, 3, 0, false},
		{"labels past the end", gpu, 0, size - 24, 8, 4, 0, false},
		{"labels off their alignment", gpu, 32, 4, 8, 2, 0, false},
		{"labels too near each other", gpu, 32, 0, 4, 4, 0, false},
		{"labels backwards", gpu, 32, 24, -8, 4, 0, false},
		{"cell past the last", gpu, 32, 0, 8, 4, 2, false},
		{"cell before the first", gpu, 32, 0, 8, 4, -1, false},
		{"memory out of the device's reach", pinned, 32, 0, 8, 4, 0, false},
	} {
		if err := l.Step(s, c.m, c.inputs, c.labels, c.apart, c.rows, c.cell); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	must(t, s.Synchronize(), l.Close())
	if err := l.Step(s, gpu, 32, 0, 8, 4, 1); err == nil {
		t.Error("stepped a closed layer")
	}
	if _, known := l.Loss(1); known {
		t.Error("a closed layer knows its loss")
	}
}
