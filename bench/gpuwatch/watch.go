// Package gpuwatch reads what the NVIDIA driver's management library (NVML)
// tells about the GPUs: which there are, and what they do during a run. It is
// the one package that imports go-nvml, and only where that builds: Linux with
// cgo. Elsewhere [Open] says why nothing can be told.
//
// [Open] loads the library, [Watch.Match] finds the card that CUDA runs on,
// [Watch.Start] polls it until [Sampler.Stop]. NVML is not touched before Open
// nor after [Watch.Close].
//
// Figures are slow averages: utilisation covers the last 1/6 to 1 s, PCIe
// traffic 20 ms. What a single batch did comes from events, not from here. A
// figure the driver does not give is nil ("n/a", null in JSON, an empty CSV
// cell) and never 0.
package gpuwatch

import (
	"fmt"
	"strings"
	"sync"
)

// State is what could be found out about the driver.
type State uint8

// The states. Only Ready comes with a Watch.
const (
	Unknown   State = iota // this build cannot ask
	NoDriver               // there is no driver library
	BadDriver              // there is one, and it does not work as it is
	NoGPU                  // the driver works and has no usable GPU
	Ready                  // there is at least one usable GPU
)

var stateNames = [...]string{
	Unknown: "unknown", NoDriver: "no driver", BadDriver: "driver not working", NoGPU: "no GPU", Ready: "ready",
}

func (s State) String() string {
	if int(s) >= len(stateNames) {
		return fmt.Sprintf("State(%d)", uint8(s))
	}
	return stateNames[s]
}

// Unavailable is why Open gave no Watch.
type Unavailable struct {
	State  State
	Reason string // in plain words, to be shown: "no NVIDIA driver found"
	Cure   string // what is likely to help; may be empty
}

func (u *Unavailable) Error() string {
	if u.Cure == "" {
		return "gpuwatch: open: " + u.Reason
	}
	return "gpuwatch: open: " + u.Reason + "; " + u.Cure
}

// Library is the NVML library in use.
type Library struct {
	Name    string `json:"name"`              // asked for: "libnvidia-ml.so.1"
	Path    string `json:"path,omitempty"`    // the file behind that name, links followed
	Version string `json:"version,omitempty"` // NVML's own: "13.580.95.05"
}

// Device is a GPU that CUDA can use: a whole card, or one slice of a card that
// is divided (MIG), which then stands here in the card's place. Strings are
// empty, and pointers nil, where the driver does not tell.
type Device struct {
	Name        string `json:"name"` // a slice: "NVIDIA H200 MIG 1g.18gb"
	UUID        string `json:"uuid"` // "GPU-…", a slice "MIG-…"
	PCIAddress  string `json:"pci_address"`
	MemoryBytes *int64 `json:"memory_bytes"` // of the slice, where it is one
	Driver      string `json:"driver"`       // "580.95.05"
	CUDA        string `json:"cuda"`         // newest that the driver speaks: "13.0"
	MIG         bool   `json:"mig"`
	CardUUID    string `json:"card_uuid,omitempty"` // of the card a slice belongs to
	CPUs        string `json:"cpus,omitempty"`      // CPUs near it: "0-15,32-47"
	NUMANode    *int64 `json:"numa_node"`
}

func (d Device) String() string {
	return strings.Join(strings.Fields(d.Name+" "+d.UUID+" "+d.PCIAddress), " ")
}

// backend is the driver's side of a Watch: NVML, or a test's. Cards are numbered
// as in devices; its methods may be called from several goroutines.
type backend interface {
	library() Library
	devices() []Device
	read(card int, s *Sample)
	traffic(card int) (rx, tx *float64)
	close() error
}

// Watch is the open library. Its methods may be called from any goroutine.
type Watch struct {
	lib     Library
	devices []Device

	mu      sync.RWMutex // held for reading during each call into the driver
	backend backend      // nil once closed
}

// Open loads the driver's library and lists the GPUs. It fails with an
// [*Unavailable] whose State is not Ready. Whoever opens a Watch closes it.
func Open() (*Watch, error) {
	b, err := openBackend()
	if err != nil {
		return nil, err
	}
	return newWatch(b), nil
}

func newWatch(b backend) *Watch {
	return &Watch{lib: b.library(), devices: b.devices(), backend: b}
}

// Library is the library that was loaded.
func (w *Watch) Library() Library { return w.lib }

// Devices lists the GPUs in the driver's order, which need not be CUDA's.
func (w *Watch) Devices() []Device { return append([]Device(nil), w.devices...) }

// Match finds the GPU with the UUID and PCI address that CUDA gives for it; one
// of the two may be empty. Never by number: CUDA and NVML number cards
// differently. The UUID or address of a divided card stands for its slice where
// it has only one.
func (w *Watch) Match(uuid, pci string) (Device, error) {
	card, err := match(w.devices, uuid, pci)
	if err != nil {
		return Device{}, err
	}
	return w.devices[card], nil
}

// Read takes one sample of a GPU; At is left zero. Link generation and width
// are worth something only while the link is busy, since it slows down when idle.
func (w *Watch) Read(d Device) (Sample, error) {
	card, err := match(w.devices, d.UUID, d.PCIAddress)
	if err != nil {
		return Sample{}, err
	}
	var s Sample
	if !w.ask(func(b backend) { b.read(card, &s) }) {
		return Sample{}, fmt.Errorf("gpuwatch: read %s: closed", d)
	}
	return s, nil
}

// Close gives the library back, after the calls under way are done. Samplers
// still running take no more samples. It may be called twice.
func (w *Watch) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.backend == nil {
		return nil
	}
	b := w.backend
	w.backend = nil
	return b.close()
}

// ask calls the driver, unless the Watch is closed: then it gives false.
func (w *Watch) ask(call func(backend)) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.backend == nil {
		return false
	}
	call(w.backend)
	return true
}

func match(devices []Device, uuid, pci string) (int, error) {
	wanted := strings.TrimSpace(uuid + " " + pci)
	if wanted == "" {
		return 0, fmt.Errorf("gpuwatch: match: neither UUID nor PCI address given")
	}
	var found []int
	for i, d := range devices {
		if uuid != "" && !strings.EqualFold(uuid, d.UUID) && !strings.EqualFold(uuid, d.CardUUID) {
			continue
		}
		if pci != "" && !SameAddress(pci, d.PCIAddress) {
			continue
		}
		found = append(found, i)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return 0, fmt.Errorf("gpuwatch: match %s: %d slices of that card; name one of %s",
			wanted, len(found), list(devices, found))
	}
	all := make([]int, len(devices))
	for i := range all {
		all[i] = i
	}
	return 0, fmt.Errorf("gpuwatch: match %s: no such GPU; there is %s", wanted, list(devices, all))
}

func list(devices []Device, which []int) string {
	names := make([]string, len(which))
	for i, n := range which {
		names[i] = devices[n].String()
	}
	return strings.Join(names, ", ")
}
