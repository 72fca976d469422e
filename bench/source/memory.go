package source

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"pinscope/cudamem"
	"pinscope/cudamem/hostcopy"
)

// memory is a data set that lies in host memory, sample after sample.
type memory struct {
	spec            Spec
	samples, labels *cudamem.HostBuffer
}

// newMemory allocates memory for what the spec holds and lets fill write each
// sample into it, on all CPUs. fill is called from several goroutines.
func newMemory(o Options, spec Spec, fill func(sample, label []byte, index int64) error) (*memory, error) {
	m := &memory{spec: spec}
	err := m.allocate(o)
	if err == nil {
		err = m.fill(o, fill)
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *memory) allocate(o Options) (err error) {
	alloc := o.Alloc
	if alloc == nil {
		alloc = allocPageable
	}
	samples, labels := m.spec.Samples*m.spec.SampleBytes, m.spec.Samples*m.spec.LabelBytes
	if m.samples, err = alloc(samples); err != nil {
		return fmt.Errorf("memory for %d samples, %d bytes: %w", m.spec.Samples, samples, err)
	}
	if m.labels, err = alloc(labels); err != nil {
		return fmt.Errorf("memory for %d labels, %d bytes: %w", m.spec.Samples, labels, err)
	}
	return nil
}

func allocPageable(bytes int64) (*cudamem.HostBuffer, error) {
	pages, err := cudamem.MapPages(bytes)
	if err != nil {
		return nil, err
	}
	return cudamem.NewHostBuffer(cudamem.Pageable, false, pages, func() error { return cudamem.UnmapPages(pages) }), nil
}

// touchBytes is how much memory is touched between two looks at the context.
const touchBytes = 64 << 20

// fill touches the memory from the calling goroutine, which may be bound to a
// NUMA node, before goroutines that are not write to it.
func (m *memory) fill(o Options, fill func(sample, label []byte, index int64) error) error {
	for bytes := m.samples.Bytes(); len(bytes) > 0; bytes = bytes[min(touchBytes, len(bytes)):] {
		if err := o.Context.Err(); err != nil {
			return err
		}
		n := min(touchBytes, len(bytes))
		cudamem.TouchPages(bytes[:n:n])
	}
	var (
		next   atomic.Int64
		failed atomic.Pointer[error]
		group  sync.WaitGroup
	)
	for range min(int64(runtime.GOMAXPROCS(0)), m.spec.Samples) {
		group.Go(func() {
			for index := next.Add(1) - 1; index < m.spec.Samples && failed.Load() == nil; index = next.Add(1) - 1 {
				err := o.Context.Err()
				if err == nil {
					err = fill(m.sample(index), m.label(index), index)
				}
				if err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (m *memory) sample(index int64) []byte {
	return m.samples.Bytes()[index*m.spec.SampleBytes:][:m.spec.SampleBytes]
}

func (m *memory) label(index int64) []byte {
	return m.labels.Bytes()[index*m.spec.LabelBytes:][:m.spec.LabelBytes]
}

func (m *memory) Spec() Spec                   { return m.spec }
func (m *memory) Samples() *cudamem.HostBuffer { return m.samples }
func (m *memory) Labels() *cudamem.HostBuffer  { return m.labels }
func (m *memory) Close() error                 { return errors.Join(m.samples.Free(), m.labels.Free()) }

func (m *memory) NewFiller(streaming bool) Filler { return &memoryFiller{m, copier(streaming)} }

// memoryFiller copies samples.
type memoryFiller struct {
	*memory
	copy func(dst, src []byte)
}

func (f *memoryFiller) Fill(dst, label []byte, index int64) error {
	f.copy(dst, f.sample(index))
	copy(label, f.label(index))
	return nil
}

// Close leaves the memory to the source.
func (f *memoryFiller) Close() error { return nil }

// copier is how samples are copied.
func copier(streaming bool) func(dst, src []byte) {
	if streaming {
		return hostcopy.Stream
	}
	return func(dst, src []byte) { copy(dst, src) }
}

var _ InMemory = (*memory)(nil)
