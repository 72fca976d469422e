package sim

import (
	"encoding/binary"
	"fmt"

	"pinscope/cudamem"
)

// mostParts is how many parts a gather has at most.
const mostParts = 2

// Gather takes the link, and the engine of copies to the device, for as long as
// one copy of all rows of all parts.
func (d *device) Gather(on cudamem.Stream, dst cudamem.DeviceBuffer, indices *cudamem.HostBuffer, indexOffset int64, rows int,
	parts ...cudamem.GatherPart) error {
	const op = "simulated gather"
	s, err := d.own(op, on)
	if err != nil {
		return err
	}
	if rows < 1 || len(parts) < 1 || len(parts) > mostParts || indices.Kind() == cudamem.Pageable {
		return d.refuse(op, 0, fmt.Sprintf("%d rows in %d parts, indices in %v memory", rows, len(parts), indices.Kind()))
	}
	index, err := d.part(op, indices, indexOffset, 8*int64(rows))
	if err != nil {
		return err
	}
	var gathered [mostParts]gathered
	var total int64
	for i, part := range parts {
		if gathered[i], err = d.gathered(op, dst, part, rows); err != nil {
			return err
		}
		total += int64(len(gathered[i].dst))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.queue.get()
	a.kind, a.end = gathers, d.bookCopy(s, d.htod, d.clock.Now(), total)
	a.parts, a.index, a.full = gathered, index, d.full
	d.queue.push(a)
	return nil
}

// gathered is one part of a gather.
type gathered struct {
	dst, dataset []byte
	sampleBytes  int64
}

func (d *device) gathered(op string, dst cudamem.DeviceBuffer, part cudamem.GatherPart, rows int) (gathered, error) {
	if part.Bytes < 1 || part.Bytes > dst.Size()/int64(rows) {
		return gathered{}, d.refuse(op, part.Bytes, fmt.Sprintf("%d rows of %d bytes do not fit a buffer of %d bytes", rows, part.Bytes, dst.Size()))
	}
	if part.Dataset.Kind() == cudamem.Pageable {
		return gathered{}, d.refuse(op, part.Bytes, "the GPU cannot read pageable memory")
	}
	to, err := d.part(op, dst, part.DstOffset, part.Bytes*int64(rows))
	return gathered{to, part.Dataset.Bytes(), part.Bytes}, err
}

// gather moves every byte, or the lines of each part.
func (g *gathered) gather(index []byte, full bool) {
	if full {
		g.gatherRange(index, 0, int64(len(g.dst)))
		return
	}
	for at, n := range cudamem.Lines(int64(len(g.dst))) {
		g.gatherRange(index, at, n)
	}
}

func (g *gathered) gatherRange(index []byte, at, n int64) {
	for n > 0 {
		row, offset := at/g.sampleBytes, at%g.sampleBytes
		part := min(n, g.sampleBytes-offset)
		// An index outside the data set leaves what was there, which a check then finds.
		if sample := indexAt(index, row); sample >= 0 && sample < int64(len(g.dataset))/g.sampleBytes {
			copy(g.dst[at:at+part], g.dataset[sample*g.sampleBytes+offset:])
		}
		at, n = at+part, n-part
	}
}

// indexAt is the row-th of the indices, in the order that workers write them in.
func indexAt(index []byte, row int64) int64 {
	return int64(binary.LittleEndian.Uint64(index[8*row:]))
}
