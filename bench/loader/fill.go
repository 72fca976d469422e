package loader

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"pinscope/bench/source"
	"pinscope/cudamem"
	"pinscope/cudamem/hostcopy"
)

// writer fills slots for one goroutine.
type writer struct {
	o       Options
	spec    source.Spec
	filler  source.Filler
	pacer   source.Pacer    // the filler, if its load time is given
	memory  source.InMemory // only PinDataset
	inputs  int64           // offset of the inputs in a slot
	scratch []byte          // a whole slot: only where the slot itself must not be read
	sample  atomic.Int64    // being filled now, for the message about a stuck worker
}

func (l *Loader) newWriter() *writer {
	// What goes into a pinned slot is read next by a DMA engine, unless its
	// digest is taken first.
	streaming := l.o.Pin == PinDirect && l.o.Check != CheckAll
	w := &writer{o: l.o, spec: l.spec, filler: l.source.NewFiller(streaming), memory: l.memory,
		inputs: InputOffset(l.spec, l.o.Batch)}
	w.pacer, _ = w.filler.(source.Pacer)
	if l.o.Pin == PinDirect && l.o.HostMemory == cudamem.WriteCombined && l.o.Check != CheckNone {
		w.scratch = make([]byte, SlotBytes(l.spec, l.o.Batch))
	}
	w.sample.Store(-1)
	return w
}

// SampleError is a sample that the source could not give.
type SampleError struct {
	Sample, Batch, Row int64
	Err                error // the source's
}

func (e *SampleError) Error() string {
	return fmt.Sprintf("sample %d (batch %d, row %d): %v", e.Sample, e.Batch, e.Row, e.Err)
}

// Unwrap gives the source's error.
func (e *SampleError) Unwrap() error { return e.Err }

// fill writes a batch into a slot; it stops between samples when the pass ends.
func (w *writer) fill(p *Pass, slot *Slot, batch int64) error {
	order := w.o.At(batch)
	slot.Batch, slot.Rows = batch, order.Rows
	if w.memory != nil {
		w.writeIndices(slot, order)
		return nil
	}
	bytes := slot.Buffer.Bytes()
	if w.scratch != nil {
		bytes = w.scratch
	}
	for row := range order.Rows {
		if p.over() {
			return p.err
		}
		index := order.Index(row)
		w.sample.Store(index)
		label := bytes[row*w.spec.LabelBytes:][:w.spec.LabelBytes]
		input := bytes[w.inputs+row*w.spec.SampleBytes:][:w.spec.SampleBytes]
		if err := w.filler.Fill(input, label, index); err != nil {
			return &SampleError{index, batch, row, err}
		}
	}
	slot.Digest = w.digest(bytes, order.Rows)
	if w.scratch != nil {
		hostcopy.Stream(slot.Buffer.Bytes(), w.scratch)
	}
	return nil
}

// digest is that of a slot's labels plus that of its inputs, each counted from
// its place in the slot.
func (w *writer) digest(bytes []byte, rows int64) uint64 {
	labels := bytes[:rows*w.spec.LabelBytes]
	inputs := bytes[w.inputs:][:rows*w.spec.SampleBytes]
	switch w.o.Check {
	case CheckLines:
		return cudamem.DigestLines(labels, 0) + cudamem.DigestLines(inputs, w.inputs)
	case CheckAll:
		return cudamem.Digest(labels, 0) + cudamem.Digest(inputs, w.inputs)
	default:
		return 0
	}
}

// writeIndices writes the rows' sample numbers, for the device to gather.
func (w *writer) writeIndices(slot *Slot, order Order) {
	bytes := slot.Buffer.Bytes()
	for row := range order.Rows {
		binary.LittleEndian.PutUint64(bytes[row*indexBytes:], uint64(order.Index(row)))
	}
	slot.Digest = w.gatheredDigest(order)
}

// gatheredDigest is what digest would be of the batch that the device gathers.
func (w *writer) gatheredDigest(order Order) uint64 {
	if w.o.Check == CheckNone {
		return 0
	}
	labels := gathered{w.memory.Labels().Bytes(), w.spec.LabelBytes, order}
	inputs := gathered{w.memory.Samples().Bytes(), w.spec.SampleBytes, order}
	all := w.o.Check == CheckAll
	return labels.digest(0, all) + inputs.digest(w.inputs, all)
}

// gathered is a batch as it will be once gathered: part length bytes of each of
// the order's samples, end to end.
type gathered struct {
	data   []byte
	length int64
	order  Order
}

func (g gathered) digest(base int64, all bool) (sum uint64) {
	var line [cudamem.LineBytes]byte
	total := g.order.Rows * g.length
	add := func(at, n int64) {
		g.read(line[:n], at)
		sum += cudamem.Digest(line[:n], base+at)
	}
	if all {
		for at := int64(0); at < total; at += cudamem.LineBytes {
			add(at, min(cudamem.LineBytes, total-at))
		}
		return sum
	}
	for at, n := range cudamem.Lines(total) {
		add(at, n)
	}
	return sum
}

// read copies the bytes at offset at of the gathered batch.
func (g gathered) read(dst []byte, at int64) {
	for len(dst) > 0 {
		row, within := at/g.length, at%g.length
		from := g.order.Index(row)*g.length + within
		n := copy(dst[:min(int64(len(dst)), g.length-within)], g.data[from:])
		dst, at = dst[n:], at+int64(n)
	}
}
