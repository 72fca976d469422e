//go:build cuda

package cuda

import (
	"encoding/binary"

	"gorgonia.org/cu"

	"pinscope/cudamem"
	"pinscope/cudamem/kernels"
)

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
	if g.work, err = newWork(d.digest); err != nil {
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
	g.work.size(0, grid{kernels.DigestBlocks(bytes, g.d.multiprocessors), 1, 1, kernels.DigestThreads})
	g.work.setAll(0, from, uint64(bytes), uint64(offset/8), uint64(at(g.scratch))+uint64(cell)*16,
		g.d.hostAddress(g.cells)+uint64(cell)*8, adding)
	return g.d.fail("cuLaunchKernel of a digest", bytes, g.work.launch(on.s, 1))
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
