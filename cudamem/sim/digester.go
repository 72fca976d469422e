package sim

import (
	"fmt"
	"sync/atomic"

	"pinscope/cudamem"
)

// digester computes digests on the host, of what the data actions moved.
type digester struct {
	device *device
	full   bool
	cells  []atomic.Uint64
}

var _ cudamem.Digester = (*digester)(nil)

// NewDigester makes a digester. With full, copies queued from now on move every byte.
func (d *device) NewDigester(cells int, full bool) (cudamem.Digester, error) {
	if cells < 1 {
		return nil, d.refuse("simulated digester", 0, fmt.Sprintf("%d cells: want at least 1", cells))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = d.full || full
	return &digester{device: d, full: full, cells: make([]atomic.Uint64, cells)}, nil
}

// Digest is computed when the stream gets there; in the model it takes no time.
func (g *digester) Digest(on cudamem.Stream, m cudamem.Memory, offset, bytes int64, cell int, add bool) error {
	const op = "simulated digest"
	d := g.device
	s, err := d.own(op, on)
	if err != nil {
		return err
	}
	src, err := d.part(op, m, offset, bytes)
	if err != nil {
		return err
	}
	if _, err := d.overLink(op, m); err != nil {
		return err
	}
	if cell < 0 || cell >= len(g.cells) || offset%cudamem.LineBytes != 0 {
		return d.refuse(op, bytes, fmt.Sprintf("cell %d is not 0 to %d, or offset %d no multiple of %d", cell, len(g.cells)-1, offset, cudamem.LineBytes))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.tail = max(s.tail, d.clock.Now())
	d.lastEnd = max(d.lastEnd, s.tail)
	a := d.queue.get()
	a.kind, a.end, a.src, a.base, a.full = digests, s.tail, src, offset, g.full
	a.digester, a.cell, a.add = g, cell, add
	d.queue.push(a)
	return nil
}

// Value is the digest last written to a cell.
func (g *digester) Value(cell int) uint64 { return g.cells[cell].Load() }

// Close has nothing to free.
func (g *digester) Close() error { return nil }
