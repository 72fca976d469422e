package gpuwatch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// pciAddress spells an address as CUDA and Linux do: "0000:3b:00.0".
// A GPU is function 0 of its PCI device.
func pciAddress(domain, bus, device uint32) string {
	return fmt.Sprintf("%04x:%02x:%02x.0", domain, bus, device)
}

// SameAddress compares PCI addresses by value: NVML writes the domain with
// eight digits, others with four or none.
func SameAddress(a, b string) bool {
	x, okX := parseAddress(a)
	y, okY := parseAddress(b)
	return okX && okY && x == y
}

// parseAddress reads [domain:]bus:device[.function] in hexadecimal.
func parseAddress(text string) (address [4]uint64, ok bool) {
	place, function, _ := strings.Cut(text, ".")
	parts := strings.Split(place, ":")
	if len(parts) == 2 {
		parts = append([]string{"0"}, parts...)
	}
	if function == "" {
		function = "0"
	}
	parts = append(parts, function)
	if len(parts) != len(address) {
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

// numaNode reads the NUMA node of a PCI device below /sys, nil where the system
// does not say (it writes -1 then). NVML's own GetNumaNodeId is about GPUs that
// are NUMA nodes themselves.
func numaNode(sysfs, pci string) *int64 {
	text, err := os.ReadFile(filepath.Join(sysfs, "bus/pci/devices", pci, "numa_node"))
	if err != nil {
		return nil
	}
	node, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || node < 0 {
		return nil
	}
	return &node
}

// cpuList spells a set of CPUs, bit n of word n/64, as Linux does: "0-15,32".
func cpuList(words []uint64) string {
	has := func(cpu int) bool { return cpu < 64*len(words) && words[cpu/64]>>(cpu%64)&1 == 1 }
	var ranges []string
	for cpu := 0; cpu < 64*len(words); cpu++ {
		if !has(cpu) {
			continue
		}
		first := cpu
		for has(cpu + 1) {
			cpu++
		}
		if first == cpu {
			ranges = append(ranges, strconv.Itoa(first))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d-%d", first, cpu))
		}
	}
	return strings.Join(ranges, ",")
}
