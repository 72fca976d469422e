package cudamem

import "sync"

// HostBuffer is host memory outside the Go heap: the garbage collector neither
// moves nor scans it, and a copy that is still under way never sees a Go
// pointer. Its pages count in the [Ledger] while they are locked.
type HostBuffer struct {
	kind   HostKind
	locked bool

	mu    sync.Mutex // guards Free against itself only
	bytes []byte
	free  func() error
}

// NewHostBuffer wraps memory that a device has allocated; free gives it back.
// locked says that its pages really are page-locked, and enters their length
// (a whole number of pages, cap(bytes)) into the [Ledger].
func NewHostBuffer(kind HostKind, locked bool, bytes []byte, free func() error) *HostBuffer {
	if locked {
		ledger.add(int64(cap(bytes)))
	}
	return &HostBuffer{kind: kind, locked: locked, bytes: bytes, free: free}
}

// Bytes is the memory itself, nil after Free. Whoever holds the buffer decides
// who may touch it; write-combined memory must not be read.
func (b *HostBuffer) Bytes() []byte { return b.bytes }

// Size is the length asked for, in bytes; 0 after Free.
func (b *HostBuffer) Size() int64 { return int64(len(b.bytes)) }

// Kind is the kind asked for.
func (b *HostBuffer) Kind() HostKind { return b.kind }

// Locked says whether the pages are page-locked in fact.
func (b *HostBuffer) Locked() bool { return b.locked }

// Free gives the memory back. It may be called twice; a buffer freed is empty,
// so that using it fails at once. No copy may be under way.
func (b *HostBuffer) Free() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes == nil {
		return nil
	}
	length := int64(cap(b.bytes))
	b.bytes = nil
	if err := b.free(); err != nil {
		return err // still locked, for all that is known
	}
	if b.locked {
		ledger.add(-length)
	}
	return nil
}
