//go:build unix

package source

import (
	"fmt"
	"math"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// canMap says that files can be mapped.
const canMap = true

// mappedNpy is a file in the page cache.
type mappedNpy struct {
	file    *npyFile // closed
	classes int64
	bytes   []byte // the whole file; nil when closed
}

func mapNpy(f *npyFile, classes int64) (Source, error) {
	length := f.body + f.spec.Samples*f.spec.SampleBytes
	if length > math.MaxInt {
		return nil, f.explain(fmt.Errorf("its %d bytes do not fit the address space", length))
	}
	bytes, err := unix.Mmap(int(f.Fd()), 0, int(length), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, f.explain(fmt.Errorf("map %d bytes: %w", length, err))
	}
	return &mappedNpy{f, classes, bytes}, nil
}

func (m *mappedNpy) Spec() Spec { return m.file.spec }

func (m *mappedNpy) NewFiller(streaming bool) Filler { return &mappedFiller{m, copier(streaming)} }

func (m *mappedNpy) Close() error {
	if m.bytes == nil {
		return nil
	}
	bytes := m.bytes
	m.bytes = nil
	return m.file.explain(unix.Munmap(bytes))
}

type mappedFiller struct {
	*mappedNpy
	copy func(dst, src []byte)
}

// Fill turns the fault that reading past the end of a file that has become shorter
// raises into an error. What is left of the last page reads as zeros, without a
// fault.
func (f *mappedFiller) Fill(dst, label []byte, index int64) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer f.explainFault(&err)
	putClass(label, index%f.classes)
	f.copy(dst, f.bytes[f.file.body+index*f.file.spec.SampleBytes:][:f.file.spec.SampleBytes])
	return nil
}

// explainFault goes on panicking unless the fault lies in the file.
func (f *mappedFiller) explainFault(err *error) {
	switch fault := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }:
		if fault.Addr()-uintptr(unsafe.Pointer(unsafe.SliceData(f.bytes))) >= uintptr(len(f.bytes)) {
			panic(fault)
		}
		*err = f.file.explain(errShorter)
	default:
		panic(fault)
	}
}

// Close leaves the mapping to the source.
func (f *mappedFiller) Close() error { return nil }
