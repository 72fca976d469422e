//go:build cuda

package cuda

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
	"gorgonia.org/cu"

	"pinscope/cudamem"
)

// AllocHost allocates host memory of a kind, zeroed.
func (d *device) AllocHost(kind cudamem.HostKind, bytes int64) (*cudamem.HostBuffer, error) {
	page := int64(os.Getpagesize())
	if bytes <= 0 || bytes > 1<<62 {
		return nil, d.misuse("host allocation", "%d bytes is no length above 0", bytes)
	}
	pages := (bytes + page - 1) / page * page
	switch kind {
	case cudamem.Pageable:
		memory, err := cudamem.MapPages(bytes)
		if err != nil {
			return nil, err
		}
		return cudamem.NewHostBuffer(kind, false, memory, func() error { return cudamem.UnmapPages(memory) }), nil
	case cudamem.Pinned:
		return d.allocPinned(kind, bytes, pages, hostPlain)
	case cudamem.WriteCombined:
		return d.allocPinned(kind, bytes, pages, hostWriteCombined)
	case cudamem.Mapped:
		return d.allocPinned(kind, bytes, pages, hostMapped)
	case cudamem.Registered:
		return d.register(bytes, pages)
	case cudamem.Managed:
		return d.allocManaged(bytes, pages)
	}
	return nil, d.misuse("host allocation", "there is no memory of kind %v", kind)
}

// allocPinned has the driver allocate page-locked memory.
func (d *device) allocPinned(kind cudamem.HostKind, bytes, pages int64, flags uint) (*cudamem.HostBuffer, error) {
	at, err := hostAlloc(pages, flags)
	if err != nil {
		return nil, d.failPin("cuMemHostAlloc", pages, err)
	}
	free := func() error { return d.fail("cuMemFreeHost", pages, cu.MemFreeHost(at)) }
	memory := unsafe.Slice((*byte)(at), pages)[:bytes:pages]
	clear(memory[:pages]) // the driver keeps freed memory and gives it out again as it was
	if kind == cudamem.Mapped {
		if free, err = d.showDevice(memory, pages, free); err != nil {
			return nil, err
		}
	}
	return cudamem.NewHostBuffer(kind, true, memory, free), nil
}

// register maps ordinary memory, in huge pages where there are any, touches it so
// that locking need not make pages (83 ms a GB on the H200's machine, of which
// cuMemHostAlloc takes 1.5 s), and page-locks it.
func (d *device) register(bytes, pages int64) (*cudamem.HostBuffer, error) {
	memory, err := cudamem.MapPages(bytes)
	if err != nil {
		return nil, err
	}
	const huge = 2 << 20
	if pages >= huge {
		_ = unix.Madvise(memory[:pages], unix.MADV_HUGEPAGE) // a kernel without them says so
	}
	cudamem.TouchPages(memory)
	at := unsafe.Pointer(unsafe.SliceData(memory))
	if err := hostRegister(at, pages); err != nil {
		_ = cudamem.UnmapPages(memory) // the refusal is the error to tell
		return nil, d.failPin("cuMemHostRegister", pages, err)
	}
	free := func() error {
		// Memory that is still registered must not be unmapped: the device could write to it.
		if err := hostUnregister(at); err != nil {
			return d.fail("cuMemHostUnregister", pages, err)
		}
		return cudamem.UnmapPages(memory)
	}
	if free, err = d.showDevice(memory, pages, free); err != nil {
		return nil, err
	}
	return cudamem.NewHostBuffer(cudamem.Registered, true, memory, free), nil
}

// allocManaged allocates memory whose pages move to whoever touches them.
func (d *device) allocManaged(bytes, pages int64) (*cudamem.HostBuffer, error) {
	address, err := cu.MemAllocManaged(pages, cu.AttachGlobal)
	if err != nil {
		return nil, d.fail("cuMemAllocManaged", pages, err)
	}
	// Read as a pointer: the memory is not the collector's, which vet cannot know.
	memory := unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), pages)[:bytes:pages]
	clear(memory[:pages])
	free := func() error { return d.fail("cuMemFree", pages, cu.MemFree(address)) }
	return cudamem.NewHostBuffer(cudamem.Managed, false, memory, free), nil
}

// showDevice notes where the device sees page-locked memory, if not where the host
// does, until free. On an error it frees.
func (d *device) showDevice(memory []byte, pages int64, free func() error) (func() error, error) {
	at := unsafe.SliceData(memory)
	seen, err := hostDevicePointer(unsafe.Pointer(at))
	if err != nil {
		_ = free() // the first error is the one to tell
		return nil, d.fail("cuMemHostGetDevicePointer", pages, err)
	}
	if uintptr(seen) == uintptr(unsafe.Pointer(at)) {
		return free, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shifted[at] = uint64(seen)
	return func() error {
		d.mu.Lock()
		delete(d.shifted, at)
		d.mu.Unlock()
		return free()
	}, nil
}

// hostAddress is where the device sees memory that it can address.
func (d *device) hostAddress(b *cudamem.HostBuffer) uint64 {
	at := unsafe.SliceData(b.Bytes())
	d.mu.Lock()
	defer d.mu.Unlock()
	if seen, ok := d.shifted[at]; ok {
		return seen
	}
	return uint64(uintptr(unsafe.Pointer(at)))
}
