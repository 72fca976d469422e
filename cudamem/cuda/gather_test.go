//go:build cuda

package cuda

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"gorgonia.org/cu"

	"pinscope/cudamem"
)

func newDigester(t testing.TB, d cudamem.Device, cells int) cudamem.Digester {
	t.Helper()
	g, err := d.NewDigester(cells, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTwice(t, g) })
	return g
}

func TestGather(t *testing.T) {
	d := open(t)
	s := newStream(t, d)
	for _, kind := range []cudamem.HostKind{cudamem.Mapped, cudamem.Registered} {
		for _, c := range []struct {
			bytes, at int64 // of a sample; where in device memory
			rows      int
			label     int64 // bytes of a second part, right behind the first; 0 if there is none
		}{
			{1, 0, 1, 0}, {1, 3, 5000, 8}, {7, 0, 33, 1}, {8, 8, 40, 8}, {12, 0, 1025, 4}, {12, 1, 64, 0}, {16, 0, 4096, 8},
			{24, 16, 3000, 40}, {3072, 64, 1024, 8}, {3073, 0, 10, 3072}, {602112, 512, 9, 8}, {16, 0, 64, 0}, {600_000, 16, 13, 8}, {524_289, 3, 7, 530_000},
		} {
			t.Run(fmt.Sprintf("%v %d of %d and %d", kind, c.rows, c.bytes, c.label), func(t *testing.T) {
				bind(t, d)
				samples := max(4, 2_000_000/c.bytes)
				data := newHost(t, d, kind, samples*c.bytes)
				random(data.Bytes(), uint64(c.bytes))
				labels := newHost(t, d, kind, samples*max(1, c.label))
				random(labels.Bytes(), uint64(c.label))
				index := newHost(t, d, kind, 8+int64(c.rows)*8)
				total := int64(c.rows) * c.bytes
				labelsAt := c.at + total
				want := bytes.Repeat([]byte{0xee}, int(labelsAt+int64(c.rows)*c.label+5))
				for r := range c.rows {
					i := rand.Int64N(samples)
					binary.NativeEndian.PutUint64(index.Bytes()[8+8*r:], uint64(i))
					copy(want[c.at+int64(r)*c.bytes:], data.Bytes()[i*c.bytes:][:c.bytes])
					copy(want[labelsAt+int64(r)*c.label:], labels.Bytes()[i*c.label:][:c.label])
				}
				parts := []cudamem.GatherPart{{Dataset: data, Bytes: c.bytes, DstOffset: c.at}}
				if c.label > 0 {
					parts = append(parts, cudamem.GatherPart{Dataset: labels, Bytes: c.label, DstOffset: labelsAt})
				}
				gpu, back := newDevice(t, d, int64(len(want))), newHost(t, d, cudamem.Pageable, int64(len(want)))
				must(t, cu.MemsetD8(at(gpu), 0xee, gpu.Size()), cu.Synchronize())
				must(t, d.Gather(s, gpu, index, 8, c.rows, parts...), s.CopyDtoH(back, 0, gpu, 0, gpu.Size()), s.Synchronize())
				if !bytes.Equal(back.Bytes(), want) {
					t.Error("the batch is not the samples asked for, and nothing else")
				}
			})
		}
	}
}

// What the copy engine fetches beside the kernel comes behind what was queued before, and
// ahead of what is queued after.
func TestGatherKeepsOrder(t *testing.T) {
	t.Setenv("PINSCOPE_STANDIN_COPY_US", "2000")
	const sample, rows = 600_000, 8
	d := open(t)
	s := newStream(t, d)
	data, index := newHost(t, d, cudamem.Mapped, sample), newHost(t, d, cudamem.Mapped, rows*8) // all indices 0
	random(data.Bytes(), 1)
	gpu := newDevice(t, d, sample*rows)
	before, after := newHost(t, d, cudamem.Pinned, sample*rows), newHost(t, d, cudamem.Pinned, sample*rows)
	must(t, cu.MemsetD8(at(gpu), 0xee, gpu.Size()), cu.Synchronize(),
		s.CopyDtoH(after, 0, gpu, 0, gpu.Size()), s.CopyDtoH(before, 0, gpu, 0, gpu.Size()),
		d.Gather(s, gpu, index, 0, rows, cudamem.GatherPart{Dataset: data, Bytes: sample}),
		s.CopyDtoH(after, 0, gpu, 0, gpu.Size()), s.Synchronize())
	if !bytes.Equal(before.Bytes()[:sample*rows], bytes.Repeat([]byte{0xee}, sample*rows)) {
		t.Error("a gather overwrote what was still to be read")
	}
	if !bytes.Equal(after.Bytes()[:sample*rows], bytes.Repeat(data.Bytes()[:sample], rows)) {
		t.Error("a copy behind a gather read ahead of it")
	}
}

func TestGatherMisuse(t *testing.T) {
	d := open(t)
	s := newStream(t, d)
	gpu, mapped := newDevice(t, d, 4096), newHost(t, d, cudamem.Mapped, 4096)
	pageable := newHost(t, d, cudamem.Pageable, 4096)
	big, long := newDevice(t, d, 1_800_000), newHost(t, d, cudamem.Mapped, 600_000)
	binary.NativeEndian.PutUint64(mapped.Bytes()[16:], 1<<40)
	part := func(dataset *cudamem.HostBuffer, bytes, at int64) cudamem.GatherPart {
		return cudamem.GatherPart{Dataset: dataset, Bytes: bytes, DstOffset: at}
	}
	for name, err := range map[string]error{
		"no part":                  d.Gather(s, gpu, mapped, 0, 2),
		"three parts":              d.Gather(s, gpu, mapped, 0, 2, part(mapped, 8, 0), part(mapped, 8, 64), part(mapped, 8, 128)),
		"no rows":                  d.Gather(s, gpu, mapped, 0, 0, part(mapped, 8, 0)),
		"indices past the end":     d.Gather(s, gpu, mapped, 4088, 2, part(mapped, 8, 0)),
		"indices off 8 bytes":      d.Gather(s, gpu, mapped, 4, 2, part(mapped, 8, 0)),
		"samples of nothing":       d.Gather(s, gpu, mapped, 0, 2, part(mapped, 0, 0)),
		"samples past the end":     d.Gather(s, gpu, mapped, 0, 2, part(mapped, 8, 4088)),
		"the second past the end":  d.Gather(s, gpu, mapped, 0, 2, part(mapped, 8, 0), part(mapped, 8, 4088)),
		"samples of pageable":      d.Gather(s, gpu, mapped, 0, 2, part(pageable, 8, 0)),
		"indices of pageable":      d.Gather(s, gpu, pageable, 0, 2, part(mapped, 8, 0)),
		"copies past the end":      d.Gather(s, big, mapped, 0, 3, part(long, 600_000, 0)), // index 1<<40
		"more than a kernel takes": d.Gather(s, gpu, mapped, 0, 1, part(mapped, 1<<31, 0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	must(t, s.Synchronize())
}

func TestDigest(t *testing.T) {
	const size = 3<<20 + 13
	d := open(t)
	s, g := newStream(t, d), newDigester(t, d, 3)
	host, gpu := newHost(t, d, cudamem.Mapped, size), newDevice(t, d, size)
	random(host.Bytes(), 9)
	must(t, s.CopyHtoD(gpu, 0, host, 0, size))
	for _, c := range []struct{ offset, bytes int64 }{
		{0, 0}, {0, 1}, {0, 7}, {0, 8}, {64, 9}, {128, 64}, {0, 4096}, {64, 100_003}, {0, size}, {1 << 20, size - 1<<20},
	} {
		want := cudamem.Digest(host.Bytes()[c.offset:][:c.bytes], c.offset)
		for name, m := range map[string]cudamem.Memory{"device": gpu, "mapped": host} {
			must(t, g.Digest(s, m, c.offset, c.bytes, 1, false), s.Synchronize())
			if got := g.Value(1); got != want {
				t.Errorf("%s memory, %d bytes at %d: %x, want %x", name, c.bytes, c.offset, got, want)
			}
		}
	}
	must(t, g.Digest(s, gpu, 0, 640, 2, false), g.Digest(s, gpu, 640, 1000, 2, true), s.Synchronize())
	if got, want := g.Value(2), cudamem.Digest(host.Bytes()[:1640], 0); got != want {
		t.Errorf("in two parts: %x, want %x", got, want)
	}
	if g.Value(0) != 0 || g.Value(3) != 0 || g.Value(-1) != 0 {
		t.Error("a cell that nothing was written to, or that is not there, is not 0")
	}
	for name, err := range map[string]error{
		"offset 8":  g.Digest(s, gpu, 8, 8, 0, false),
		"too long":  g.Digest(s, gpu, 64, size, 0, false),
		"cell 3":    g.Digest(s, gpu, 0, 8, 3, false),
		"cell -1":   g.Digest(s, gpu, 0, 8, -1, false),
		"foreign m": g.Digest(s, nowhere{}, 0, 8, 0, false),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := d.NewDigester(1, false); err == nil {
		t.Error("made a digester of sampled lines")
	}
	if _, err := d.NewDigester(0, true); err == nil {
		t.Error("made a digester without a cell")
	}
}

// nowhere is memory of no device.
type nowhere struct{}

func (nowhere) Size() int64 { return 64 }
