//go:build cuda

package cuda

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pinscope/cudamem"
)

// Device time of what the package runs on a real GPU. On the CUDA machine:
//
//	go test -tags cuda,headless -run '^$' -bench . -benchtime 100x ./cudamem/cuda

// timed queues f b.N times after a few for warming up, and gives the device time of one.
func timed(b *testing.B, d *device, s cudamem.Stream, f func(i int) error) time.Duration {
	b.Helper()
	began, ended := newEvent(b, d), newEvent(b, d)
	for i := range 5 {
		must(b, f(i))
	}
	must(b, s.Synchronize(), d.Anchor(), s.Record(began))
	b.ResetTimer()
	for i := range b.N {
		must(b, f(i))
	}
	must(b, s.Record(ended), ended.Wait())
	b.StopTimer()
	from, err := began.Time()
	must(b, err)
	to, err := ended.Time()
	must(b, err)
	return (to - from) / time.Duration(b.N)
}

func realDevice(b *testing.B) *device {
	d := open(b)
	if overStandIn(d) {
		b.Skip("the stand-in driver has no speed to measure")
	}
	return d
}

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		input                   cudamem.DType
		rows, features, classes int
	}{
		{cudamem.Float32, 64, 150528, 10}, {cudamem.Float32, 1024, 150528, 10}, {cudamem.Float16, 64, 150528, 10},
		{cudamem.Uint8, 64, 150528, 10}, {cudamem.Uint8, 1024, 3072, 10}, {cudamem.Float32, 64, 150528, 16},
		{cudamem.Float32, 64, 150528, 100}, {cudamem.Float32, 64, 150527, 10},
	} {
		b.Run(fmt.Sprintf("%v rows=%d features=%d classes=%d", c.input, c.rows, c.features, c.classes), func(b *testing.B) {
			d := realDevice(b)
			s := newStream(b, d)
			l := newLayer(b, d, cudamem.LinearSpec{
				Features: c.features, Classes: c.classes, MaxRows: c.rows, Input: c.input, LearningRate: 1e-6, Cells: 1,
			})
			inputs := int64(c.rows) * 8
			size := inputs + int64(c.rows)*int64(c.features)*c.input.Size()
			host := newHost(b, d, cudamem.Pinned, size)
			fill(host.Bytes()[inputs:], c.input, rand.New(rand.NewPCG(1, 2)))
			var batches []cudamem.DeviceBuffer // together several times the size of the L2
			for total := int64(0); total < 400<<20 || len(batches) < 2; total += size {
				batches = append(batches, newDevice(b, d, size))
				must(b, s.CopyHtoD(batches[len(batches)-1], 0, host, 0, size), s.Synchronize())
			}
			took := timed(b, d, s, func(i int) error {
				return l.Step(s, batches[i%len(batches)], inputs, 0, 8, c.rows, 0)
			})
			b.ReportMetric(float64(took)/1e3, "us/step")
			b.ReportMetric(2*float64(size-inputs)/float64(took), "GB/s-read") // the batch, twice
		})
	}
}

func BenchmarkGather(b *testing.B) {
	d := realDevice(b)
	const bytes = 2 << 30
	data := newHost(b, d, cudamem.Mapped, bytes)
	random(data.Bytes()[:1<<20], 3)
	for _, c := range []struct {
		sample int64
		rows   int
	}{{602112, 64}, {147 << 10, 64}, {48 << 10, 64}, {12 << 10, 256}, {3 << 10, 1024}, {3074, 1024}} {
		b.Run(fmt.Sprintf("sample=%d rows=%d", c.sample, c.rows), func(b *testing.B) {
			bind(b, d)
			s := newStream(b, d)
			const batches = 64
			index := newHost(b, d, cudamem.Mapped, int64(batches*c.rows*8))
			for i := range batches * c.rows {
				binary.NativeEndian.PutUint64(index.Bytes()[i*8:], uint64(rand.Int64N(bytes/c.sample)))
			}
			// With a label each, as the trainer gathers.
			labels := c.sample * int64(c.rows)
			gpu := newDevice(b, d, labels+int64(c.rows*8+8))
			parts := []cudamem.GatherPart{{Dataset: data, Bytes: 8, DstOffset: (labels + 7) / 8 * 8}, {Dataset: data, Bytes: c.sample}}
			took := timed(b, d, s, func(i int) error {
				return d.Gather(s, gpu, index, int64(i%batches*c.rows*8), c.rows, parts...)
			})
			b.ReportMetric(float64(c.sample)*float64(c.rows)/float64(took), "GB/s")
			b.ReportMetric(float64(c.rows)/took.Seconds(), "samples/s")
		})
	}
}

func BenchmarkCopy(b *testing.B) {
	d := realDevice(b)
	const size = 64 << 20
	gpu := newDevice(b, d, size)
	for _, kind := range hostKinds {
		host := newHost(b, d, kind, size)
		for i := range host.Bytes() {
			host.Bytes()[i] = byte(i)
		}
		s := newStream(b, d)
		for name, f := range map[string]func(int) error{
			"HtoD": func(int) error { return s.CopyHtoD(gpu, 0, host, 0, size) },
			"DtoH": func(int) error { return s.CopyDtoH(host, 0, gpu, 0, size) },
		} {
			b.Run(fmt.Sprintf("%s %v", name, kind), func(b *testing.B) {
				bind(b, d)
				b.ReportMetric(size/float64(timed(b, d, s, f)), "GB/s")
			})
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	d := realDevice(b)
	const size = 64 * 602112
	s, g, gpu := newStream(b, d), newDigester(b, d, 1), newDevice(b, d, size)
	took := timed(b, d, s, func(int) error { return g.Digest(s, gpu, 0, size, 0, false) })
	b.ReportMetric(float64(took)/1e3, "us/digest")
}
