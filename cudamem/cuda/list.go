//go:build cuda

package cuda

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gorgonia.org/cu"

	"pinscope/cudamem"
)

// List describes the GPUs that CUDA shows this process, by ordinal. It makes no context.
func List() ([]cudamem.Info, error) {
	count, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("cuda: count devices: cuDeviceGetCount: %w", codeOf(err))
	}
	all := make([]cudamem.Info, count)
	for i := range all {
		gpu, err := cu.GetDevice(i)
		if err != nil {
			return nil, fmt.Errorf("cuda: device %d: cuDeviceGet: %w", i, codeOf(err))
		}
		if all[i], err = describe(gpu); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// find resolves what Open was given. An unknown name is an error: falling back to
// device 0 would measure another GPU than was asked for.
func find(id string) (cu.Device, error) {
	all, err := List()
	if err != nil {
		return 0, err
	}
	ordinal, err := choose(id, all)
	if err != nil {
		return 0, err
	}
	gpu, err := cu.GetDevice(ordinal)
	if err != nil {
		return 0, fmt.Errorf("cuda: open %q: cuDeviceGet: %w", id, codeOf(err))
	}
	return gpu, nil
}

// choose finds the ordinal of the device that id names.
func choose(id string, all []cudamem.Info) (int, error) {
	name, ok := strings.CutPrefix(id, "cuda")
	if !ok || name != "" && name[0] != ':' {
		return 0, fmt.Errorf("cuda: open %q: a CUDA device is cuda, cuda:N, cuda:GPU-…, cuda:MIG-… or cuda:PCI-ADDRESS", id)
	}
	name = strings.TrimPrefix(name, ":")
	if name == "" {
		if id != "cuda" {
			return 0, fmt.Errorf("cuda: open %q: nothing follows the colon", id)
		}
		name = "0"
	}
	if n, err := strconv.ParseUint(name, 10, 31); err == nil {
		if n >= uint64(len(all)) {
			return 0, fmt.Errorf("cuda: open %q: there are %d CUDA devices%s", id, len(all), visible())
		}
		return int(n), nil
	}
	var found []int
	for i, info := range all {
		if matches(name, info) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return 0, fmt.Errorf("cuda: open %q: none of the %d CUDA devices has that UUID or PCI address%s", id, len(all), visible())
	default:
		return 0, fmt.Errorf("cuda: open %q: %d devices match, give more of the UUID", id, len(found))
	}
}

// matches says whether name is the beginning of a UUID, or the PCI address.
func matches(name string, info cudamem.Info) bool {
	if upper := strings.ToUpper(name); strings.HasPrefix(upper, "GPU-") || strings.HasPrefix(upper, "MIG-") {
		return strings.HasPrefix(strings.ToLower(info.UUID), strings.ToLower(name))
	}
	a, okA := pciAddress(name)
	b, okB := pciAddress(info.PCIAddress)
	return okA && okB && a == b
}

// pciAddress reads [domain:]bus:device[.function], in hexadecimal; NVML writes the
// domain with eight digits, CUDA with four.
func pciAddress(text string) (address [4]uint64, ok bool) {
	place, function, dotted := strings.Cut(text, ".")
	if !dotted {
		function = "0"
	}
	parts := strings.Split(place, ":")
	if len(parts) == 2 {
		parts = append([]string{"0"}, parts...)
	}
	if parts = append(parts, function); len(parts) != len(address) {
		return address, false
	}
	for i, part := range parts {
		v, err := strconv.ParseUint(part, 16, 32)
		if err != nil {
			return address, false
		}
		address[i] = v
	}
	return address, true
}

// visible reminds of the variable that hides devices.
func visible() string {
	if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		return fmt.Sprintf(" with CUDA_VISIBLE_DEVICES=%q", v)
	}
	return ""
}

// describe reads what the driver and /sys tell of a device.
func describe(gpu cu.Device) (info cudamem.Info, err error) {
	info = cudamem.Info{
		ID:         fmt.Sprintf("cuda:%d", int(gpu)),
		Driver:     driverVersion("/sys"),
		EventClock: "CUDA events, tied to the host's monotonic clock by an anchor event",
	}
	ask := func(call string, failed error) {
		if err == nil && failed != nil {
			err = fmt.Errorf("cuda: describe %s: %s: %w", info.ID, call, codeOf(failed))
		}
	}
	attribute := func(a cu.DeviceAttribute) int {
		v, failed := gpu.Attribute(a)
		ask("cuDeviceGetAttribute", failed)
		return v
	}
	var failed error
	info.Name, failed = gpu.Name()
	ask("cuDeviceGetName", failed)
	info.UUID, failed = deviceUUID(gpu)
	ask("cuDeviceGetUuid", failed)
	info.PCIAddress, failed = devicePCI(gpu)
	ask("cuDeviceGetPCIBusId", failed)
	info.MemoryBytes, failed = gpu.TotalMem()
	ask("cuDeviceTotalMem", failed)
	info.CopyEngines = attribute(cu.AsyncEngineCount)
	info.UnifiedAddressing = attribute(cu.UnifiedAddressing) != 0
	info.HostPageTables = attribute(pageableUsesHostPageTables) != 0
	info.NUMANode = numaNode("/sys", info.PCIAddress)
	info.LinkGBps = linkGBps("/sys", info.PCIAddress)
	return info, err
}

// pageableUsesHostPageTables is CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES
// of cuda.h, which cu does not name.
const pageableUsesHostPageTables cu.DeviceAttribute = 100

// driverVersion is the driver's own, "580.95.05", or where the system does not tell
// (WSL2) the newest CUDA it knows, "CUDA 13.0".
func driverVersion(sys string) string {
	if text, err := os.ReadFile(filepath.Join(sys, "module/nvidia/version")); err == nil {
		return strings.TrimSpace(string(text))
	}
	if v := cu.Version(); v > 0 {
		return fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
	}
	return ""
}

// numaNode is -1 where the system does not tell.
func numaNode(sys, pci string) int {
	text, err := os.ReadFile(filepath.Join(sys, "bus/pci/devices", pci, "numa_node"))
	if err != nil {
		return -1
	}
	node, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || node < 0 {
		return -1
	}
	return node
}

// linkGBps is what the widest and fastest link of the GPU carries, before packet
// headers: 32 GT/s, 16 lanes and 128 bits in 130 are 63.0 GB/s. The line code is
// 8 bits in 10 up to generation 2 (5 GT/s), and none from 6 on (64 GT/s).
func linkGBps(sys, pci string) float64 {
	read := func(name string) float64 {
		text, err := os.ReadFile(filepath.Join(sys, "bus/pci/devices", pci, name))
		if err != nil {
			return 0
		}
		number, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ") // "32.0 GT/s PCIe"
		v, _ := strconv.ParseFloat(number, 64)                            // "Unknown" is 0
		return v
	}
	transfers, lanes := read("max_link_speed"), read("max_link_width")
	code := 128.0 / 130
	switch {
	case transfers <= 5:
		code = 0.8
	case transfers >= 64:
		code = 1
	}
	return transfers * lanes / 8 * code
}
