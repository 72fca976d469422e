package cudamem

import "fmt"

// HostKind is a kind of host memory, as a copy sees it.
type HostKind uint8

// The kinds of host memory. The zero value is ordinary memory.
const (
	Pageable      HostKind = iota // malloc's: the driver stages every copy
	Pinned                        // cuMemHostAlloc
	Registered                    // ordinary memory, page-locked afterwards by cuMemHostRegister
	WriteCombined                 // cuMemHostAlloc WRITECOMBINED: must never be read by the CPU
	Mapped                        // cuMemHostAlloc DEVICEMAP: kernels read it over the link, zero-copy
	Managed                       // cuMemAllocManaged: pages move to whoever touches them
)

var hostKinds = [...]string{
	Pageable: "pageable", Pinned: "pinned", Registered: "registered",
	WriteCombined: "write-combined", Mapped: "mapped", Managed: "managed",
}

// String is the name used in flags and files.
func (k HostKind) String() string {
	if int(k) >= len(hostKinds) {
		return fmt.Sprintf("HostKind(%d)", uint8(k))
	}
	return hostKinds[k]
}

// PageLocked says that memory of this kind is locked in RAM: the DMA engine can
// read it at any time and the system cannot take it back.
func (k HostKind) PageLocked() bool {
	return k == Pinned || k == Registered || k == WriteCombined || k == Mapped
}

// DeviceReadable says that a kernel can read memory of this kind in place, so
// that no copy precedes the step.
func (k HostKind) DeviceReadable() bool { return k == Mapped || k == Managed }

// HostKindNames lists the names that UnmarshalText takes.
func HostKindNames() []string {
	return names(len(hostKinds), func(i int) string { return hostKinds[i] })
}

// MarshalText gives the name.
func (k HostKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes a name.
func (k *HostKind) UnmarshalText(text []byte) error {
	i, err := indexOf(string(text), HostKindNames())
	*k = HostKind(i)
	return err
}
