package cpu

import (
	"fmt"

	"pinscope/cudamem"
)

// digester computes digests as it is called.
type digester struct {
	full  bool
	cells []uint64
}

var _ cudamem.Digester = (*digester)(nil)

// NewDigester makes a digester. Digests of lines are to be had too.
func (d *device) NewDigester(cells int, full bool) (cudamem.Digester, error) {
	if cells < 1 {
		return nil, refuse("digester", 0, fmt.Sprintf("%d cells: want at least 1", cells))
	}
	return &digester{full: full, cells: make([]uint64, cells)}, nil
}

// Digest computes the digest of host memory.
func (g *digester) Digest(_ cudamem.Stream, m cudamem.Memory, offset, bytes int64, cell int, add bool) error {
	b, err := part("digest", m, offset, bytes)
	if err != nil {
		return err
	}
	if cell < 0 || cell >= len(g.cells) || offset%cudamem.LineBytes != 0 {
		return refuse("digest", bytes, fmt.Sprintf("cell %d is not 0 to %d, or offset %d no multiple of %d",
			cell, len(g.cells)-1, offset, cudamem.LineBytes))
	}
	sum := cudamem.DigestLines
	if g.full {
		sum = cudamem.Digest
	}
	if add {
		g.cells[cell] += sum(b, offset)
	} else {
		g.cells[cell] = sum(b, offset)
	}
	return nil
}

// Value is the digest last written to a cell.
func (g *digester) Value(cell int) uint64 { return g.cells[cell] }

// Close has nothing to free.
func (g *digester) Close() error { return nil }
