package loader

import (
	"fmt"
	"slices"
)

// PinMode is who puts a batch into page-locked memory, if anybody.
type PinMode uint8

// The pin modes. The zero value pins nothing.
const (
	PinOff     PinMode = iota // workers fill pageable slots; the driver stages each copy
	PinThread                 // a thread of its own copies each batch into a pinned slot, as PyTorch does
	PinDirect                 // workers fill pinned slots
	PinDataset                // the whole data set is pinned once, the device gathers batches from it

	// A thread copies as with PinThread, but into memory that is not pinned: what
	// differs from PinOff is the thread alone, what differs from PinThread the
	// pinning alone.
	PageableThread
)

var pinModes = [...]string{PinOff: "off", PinThread: "thread", PinDirect: "direct", PinDataset: "dataset",
	PageableThread: "pageable-thread"}

// Pins says that batches reach the device from page-locked memory.
func (m PinMode) Pins() bool { return m != PinOff && m != PageableThread }

// HasThread says that a thread of its own copies each batch into the ring.
func (m PinMode) HasThread() bool { return m == PinThread || m == PageableThread }

// String is the name used in flags and files.
func (m PinMode) String() string {
	if int(m) >= len(pinModes) {
		return fmt.Sprintf("PinMode(%d)", uint8(m))
	}
	return pinModes[m]
}

// PinModeNames lists the names that UnmarshalText takes.
func PinModeNames() []string { return slices.Clone(pinModes[:]) }

// MarshalText gives the name.
func (m PinMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText takes a name.
func (m *PinMode) UnmarshalText(text []byte) error {
	i := slices.Index(pinModes[:], string(text))
	if i < 0 {
		return fmt.Errorf("%q is not one of %v", text, pinModes)
	}
	*m = PinMode(i)
	return nil
}

// CopyStream is which stream copies to the device are queued on.
type CopyStream uint8

// The copy streams. The zero value is PyTorch's default.
const (
	Shared    CopyStream = iota // that of the training steps: a copy and a step never overlap
	Dedicated                   // one of its own: they do, where the device has a copy engine free
)

var copyStreams = [...]string{Shared: "shared", Dedicated: "dedicated"}

// String is the name used in flags and files.
func (s CopyStream) String() string {
	if int(s) >= len(copyStreams) {
		return fmt.Sprintf("CopyStream(%d)", uint8(s))
	}
	return copyStreams[s]
}

// CopyStreamNames lists the names that UnmarshalText takes.
func CopyStreamNames() []string { return slices.Clone(copyStreams[:]) }

// MarshalText gives the name.
func (s CopyStream) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes a name.
func (s *CopyStream) UnmarshalText(text []byte) error {
	i := slices.Index(copyStreams[:], string(text))
	if i < 0 {
		return fmt.Errorf("%q is not one of %v", text, copyStreams)
	}
	*s = CopyStream(i)
	return nil
}
