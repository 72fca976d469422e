//go:build cuda

package cuda

import (
	"encoding/binary"
	"fmt"
	"sync"

	"gorgonia.org/cu"

	"pinscope/cudamem"
	"pinscope/cudamem/kernels"
)

// transfer is what gathers and digests are launched with.
type transfer struct {
	gathers [len(gatherWidths)]cu.Function
	digest  cu.Function

	mu   sync.Mutex // guards work: goroutines with a stream each may gather
	work work
}

// gatherWidths are the bytes that a gather kernel moves at once, widest first.
var gatherWidths = [...]uint64{16, 8, 4, 1}

func (d *device) startTransfer() error {
	names := []string{"digest"}
	for _, width := range gatherWidths {
		names = append(names, fmt.Sprintf("gather_%d", width))
	}
	found, err := d.functions("transfer", kernels.Transfer(), names...)
	if err != nil {
		return err
	}
	d.transfer.digest = found[0]
	copy(d.transfer.gathers[:], found[1:])
	d.transfer.work, err = newWork(found[1])
	return d.fail("calloc", 0, err)
}

// Gather queues a kernel that collects a batch out of the data set. It allocates nothing.
func (d *device) Gather(s cudamem.Stream, dst cudamem.DeviceBuffer, dstOffset int64, dataset *cudamem.HostBuffer, bytes int64,
	indices *cudamem.HostBuffer, indexOffset int64, rows int) error {
	const call = "gather"
	on, ok := s.(*stream)
	if !ok {
		return d.misuse(call, "%T is no stream of a CUDA device", s)
	}
	if err := on.open(call); err != nil {
		return err
	}
	if bytes < 1 || rows < 1 || indexOffset%8 != 0 {
		return d.misuse(call, "%d samples of %d bytes, indices at %d", rows, bytes, indexOffset)
	}
	total := int64(rows) * bytes
	to, err := d.address(call, dst, dstOffset, total)
	if err != nil {
		return err
	}
	from, err := d.address(call, dataset, 0, bytes)
	if err != nil {
		return err
	}
	index, err := d.address(call, indices, indexOffset, int64(rows)*8)
	if err != nil {
		return err
	}
	d.transfer.mu.Lock()
	defer d.transfer.mu.Unlock()
	w := d.transfer.work
	if w.c == nil {
		return d.misuse(call, "the device is closed")
	}
	for i, width := range gatherWidths {
		if (to|from|uint64(bytes))%width == 0 {
			w.function(0, d.transfer.gathers[i])
			w.setAll(0, to, from, index, uint64(bytes)/width, uint64(rows))
			break
		}
	}
	w.size(0, kernels.GatherBlocks(total), 1, kernels.GatherThreads)
	return d.fail("cuLaunchKernel of a gather", total, w.launch(on.s))
}

// digester keeps, for each cell, what its blocks add up in and how many have.
type digester struct {
	d       *device
	work    work
	scratch cudamem.DeviceBuffer // two uint64 a cell, 0 between digests
	cells   *cudamem.HostBuffer  // a uint64 each, which the device writes
}

// NewDigester makes a digester of every byte; this device has no other.
func (d *device) NewDigester(cells int, full bool) (_ cudamem.Digester, err error) {
	switch {
	case cells < 1:
		return nil, d.misuse("digester", "%d cells", cells)
	case !full:
		return nil, d.misuse("digester", "a digest of sampled lines is for the simulated GPU alone")
	}
	g := &digester{d: d}
	defer func() {
		if err != nil {
			_ = g.Close() // the first error is the one to tell
		}
	}()
	if g.work, err = newWork(d.transfer.digest); err != nil {
		return nil, d.fail("calloc", 0, err)
	}
	if g.scratch, err = d.AllocDevice(int64(cells) * 16); err != nil {
		return nil, err
	}
	if g.cells, err = d.AllocHost(cudamem.Mapped, int64(cells)*8); err != nil {
		return nil, err
	}
	if err := cu.MemsetD8(at(g.scratch), 0, g.scratch.Size()); err != nil {
		return nil, d.fail("cuMemsetD8", g.scratch.Size(), err)
	}
	return g, d.fail("cuCtxSynchronize", 0, cu.Synchronize()) // see linear.reset
}

// Digest queues the kernel. It allocates nothing.
func (g *digester) Digest(s cudamem.Stream, m cudamem.Memory, offset, bytes int64, cell int, add bool) error {
	const call = "digest"
	on, ok := s.(*stream)
	if !ok {
		return g.d.misuse(call, "%T is no stream of a CUDA device", s)
	}
	if err := on.open(call); err != nil {
		return err
	}
	if g.work.c == nil {
		return g.d.misuse(call, "the digester is closed")
	}
	if offset%64 != 0 || cell < 0 || int64(cell) >= g.cells.Size()/8 {
		return g.d.misuse(call, "offset %d, which must be a multiple of 64, into cell %d of %d", offset, cell, g.cells.Size()/8)
	}
	from, err := g.d.address(call, m, offset, bytes)
	if err != nil {
		return err
	}
	var adding uint64
	if add {
		adding = 1
	}
	g.work.size(0, kernels.DigestBlocks(bytes, g.d.multiprocessors), 1, kernels.DigestThreads)
	g.work.setAll(0, from, uint64(bytes), uint64(offset/8), uint64(at(g.scratch))+uint64(cell)*16,
		g.d.hostAddress(g.cells)+uint64(cell)*8, adding)
	return g.d.fail("cuLaunchKernel of a digest", bytes, g.work.launch(on.s))
}

func (g *digester) Value(cell int) uint64 {
	if cell < 0 || int64(cell) >= g.cells.Size()/8 {
		return 0
	}
	return binary.NativeEndian.Uint64(g.cells.Bytes()[cell*8:])
}

func (g *digester) Close() error {
	g.work.free()
	err := g.cells.Free()
	if g.scratch != nil {
		if failed := g.scratch.Free(); err == nil {
			err = failed
		}
	}
	return err
}
