//go:build cuda

package cuda

import (
	"math"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"pinscope/cudamem"
	"pinscope/cudamem/kernels"
)

// gathering is what batches are gathered with: a kernel for all of a batch or, of long
// samples, for most of it, while the copy engine fetches the others beside it.
type gathering struct {
	mu         sync.Mutex // goroutines with a stream each may gather
	work       work
	side       cu.Stream // of the copies
	fork, join cu.Event  // between it and the caller's stream
}

func (d *device) startGathering() error {
	found, err := d.functions("transfer", kernels.Transfer(), "digest", "gather")
	if err != nil {
		return err
	}
	d.digest = found[0]
	g := &d.gathering
	if g.work, err = newWork(found[1]); err != nil {
		return d.fail("calloc", 0, err)
	}
	if g.side, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return d.fail("cuStreamCreate", 0, err)
	}
	for _, e := range []*cu.Event{&g.fork, &g.join} {
		if *e, err = cu.MakeEvent(cu.DefaultEvent); err != nil {
			return d.fail("cuEventCreate", 0, err)
		}
	}
	return nil
}

// Gather queues what collects all parts. It allocates nothing.
func (d *device) Gather(s cudamem.Stream, dst cudamem.DeviceBuffer, indices *cudamem.HostBuffer, indexOffset int64, rows int,
	parts ...cudamem.GatherPart) error {
	const call = "gather"
	on, ok := s.(*stream)
	if !ok {
		return d.misuse(call, "%T is no stream of a CUDA device", s)
	}
	if err := on.open(call); err != nil {
		return err
	}
	if rows < 1 || rows > math.MaxInt32 || indexOffset%8 != 0 || len(parts) < 1 || len(parts) > kernels.GatherParts {
		return d.misuse(call, "%d parts of %d samples, indices at %d", len(parts), rows, indexOffset)
	}
	index, err := d.address(call, indices, indexOffset, int64(rows)*8)
	if err != nil {
		return err
	}
	var cut [kernels.GatherParts]gathered
	for i, part := range parts {
		if cut[i], err = d.cut(call, dst, part, rows); err != nil {
			return err
		}
	}
	if len(parts) == 1 {
		cut[1] = cut[0] // addresses that are there
		cut[1].blocks, cut[1].copied = 0, 0
	}
	g := &d.gathering
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.work.c == nil {
		return d.misuse(call, "the device is closed")
	}
	g.work.size(0, grid{cut[0].blocks + cut[1].blocks, 1, 1, kernels.GatherThreads})
	g.work.setAll(0, index,
		cut[0].to, cut[0].from, cut[0].units, cut[0].width, uint64(cut[0].rows), uint64(cut[0].blocks),
		cut[1].to, cut[1].from, cut[1].units, cut[1].width, uint64(cut[1].rows), uint64(cut[1].blocks))
	if cut[0].copied+cut[1].copied == 0 {
		return d.fail("cuLaunchKernel of a gather", 0, g.work.launch(on.s, 1))
	}
	return d.fail("gather", 0, g.beside(on.s, indices.Bytes()[indexOffset:], parts, cut[:]))
}

// gathered is how a part is cut up: the first rows for the kernel, which moves a sample
// as so many units of a width in bytes, the others for the copy engine.
type gathered struct {
	to, from, units, width uint64
	blocks, rows, copied   int
}

func (d *device) cut(call string, dst cudamem.DeviceBuffer, part cudamem.GatherPart, rows int) (g gathered, err error) {
	if part.Bytes < 1 || part.Bytes > math.MaxInt32 {
		return g, d.misuse(call, "samples of %d bytes, of 1 to %d", part.Bytes, math.MaxInt32)
	}
	if g.to, err = d.address(call, dst, part.DstOffset, int64(rows)*part.Bytes); err != nil {
		return g, err
	}
	if g.from, err = d.address(call, part.Dataset, 0, part.Bytes); err != nil {
		return g, err
	}
	g.width = kernels.GatherWidth(g.to, g.from, uint64(part.Bytes))
	g.units = uint64(part.Bytes) / g.width
	g.copied = kernels.GatherCopies(part.Bytes, rows)
	g.rows = rows - g.copied
	g.blocks = kernels.GatherBlocks(part.Bytes, g.rows, g.copied)
	return g, nil
}

// beside queues the kernel, and on the side stream the copies of what it leaves out.
// Whatever fails, s goes on only when the side stream is done.
func (g *gathering) beside(s cu.Stream, index []byte, parts []cudamem.GatherPart, cut []gathered) error {
	if err := order(s, g.fork, g.side); err != nil {
		return err
	}
	err := g.work.launch(s, 1)
	for i, part := range parts {
		c := cut[i]
		if err != nil || c.copied == 0 {
			continue
		}
		to := cu.DevicePtr(c.to + uint64(c.rows)*uint64(part.Bytes))
		dataset := part.Dataset.Bytes()
		err = copySamples(to, unsafe.Pointer(&dataset[0]), part.Bytes, int64(len(dataset))/part.Bytes,
			unsafe.Pointer(&index[c.rows*8]), c.copied, g.side)
	}
	if failed := order(g.side, g.join, s); err == nil {
		err = failed
	}
	return err
}

// close may be called on what was started in part.
func (g *gathering) close() error {
	g.work.free()
	var err error
	for _, e := range []*cu.Event{&g.fork, &g.join} {
		if *e != (cu.Event{}) {
			if failed := cu.DestroyEvent(e); err == nil {
				err = failed
			}
		}
	}
	if g.side != cu.NoStream {
		if failed := g.side.Destroy(); err == nil {
			err = failed
		}
	}
	return err
}
