package sim

import (
	"encoding/binary"
	"fmt"

	"pinscope/cudamem"
)

// Gather takes the link, and the engine of copies to the device, for as long as
// one copy of all the rows.
func (d *device) Gather(on cudamem.Stream, dst cudamem.DeviceBuffer, dstOffset int64, dataset *cudamem.HostBuffer, bytes int64,
	indices *cudamem.HostBuffer, indexOffset int64, rows int) error {
	const op = "simulated gather"
	s, err := d.own(op, on)
	if err != nil {
		return err
	}
	if rows < 1 || bytes < 1 || bytes > dst.Size()/int64(rows) {
		return d.refuse(op, bytes, fmt.Sprintf("%d rows of %d bytes do not fit a buffer of %d bytes", rows, bytes, dst.Size()))
	}
	for _, host := range []*cudamem.HostBuffer{dataset, indices} {
		if host.Kind() == cudamem.Pageable {
			return d.refuse(op, bytes, "the GPU cannot read pageable memory")
		}
	}
	to, err := d.part(op, dst, dstOffset, bytes*int64(rows))
	if err != nil {
		return err
	}
	index, err := d.part(op, indices, indexOffset, 8*int64(rows))
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.queue.get()
	a.kind, a.end = gathers, d.bookCopy(s, d.htod, d.clock.Now(), int64(len(to)))
	a.dst, a.dataset, a.index, a.sampleBytes, a.full = to, dataset.Bytes(), index, bytes, d.full
	d.queue.push(a)
	return nil
}

// indexAt is the row-th of the indices, in the machine's order as workers write it.
func indexAt(index []byte, row int64) int64 {
	return int64(binary.NativeEndian.Uint64(index[8*row:]))
}
