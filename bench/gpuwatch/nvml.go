//go:build linux && cgo

package gpuwatch

import (
	"fmt"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// nvmlBackend is NVML behind go-nvml. go-nvml resolves symbols when they are
// first called and a missing one ends the process, so every call is made only
// where has says that the loaded library offers it.
type nvmlBackend struct {
	api   nvml.Interface
	has   map[string]bool
	info  Library
	cards []nvmlCard
}

// nvmlCard is one Device. On a slice, own is the slice and card the whole card,
// which NVML wants for the figures that only exist once; else they are the same.
type nvmlCard struct {
	device    Device
	own, card nvml.Device
}

// The symbols used. go-nvml takes the newest version of the first four.
var symbols = []string{
	"nvmlInit", "nvmlInit_v2",
	"nvmlDeviceGetCount", "nvmlDeviceGetCount_v2",
	"nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2",
	"nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo_v3",
	"nvmlShutdown",
	"nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion", "nvmlSystemGetCudaDriverVersion_v2",
	"nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetCpuAffinity",
	"nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex",
	"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2",
	"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPcieThroughput", "nvmlDeviceGetPcieReplayCounter",
	"nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth",
	"nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth",
	"nvmlDeviceGetClockInfo", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetPerformanceState",
	"nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature",
	"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",
}

// startNVML starts a library that has been found and lists its GPUs. sysfs is
// where the system tells about PCI devices.
func startNVML(api nvml.Interface, has func(symbol string) bool, info Library, sysfs string) (backend, error) {
	n := &nvmlBackend{api: api, info: info, has: make(map[string]bool, len(symbols))}
	for _, s := range symbols {
		n.has[s] = has(s)
	}
	for _, s := range []string{"nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"} {
		if !n.has[s] && !n.has[s+"_v2"] {
			return nil, &Unavailable{State: BadDriver, Reason: fmt.Sprintf("the NVIDIA driver's library %s has no %s", info.Path, s)}
		}
	}
	if code := api.Init(); code != nvml.SUCCESS {
		return nil, initFailed(code)
	}
	if err := n.enumerate(sysfs); err != nil {
		_ = n.close() // what went wrong first is what counts
		return nil, err
	}
	return n, nil
}

func (n *nvmlBackend) library() Library { return n.info }

func (n *nvmlBackend) devices() []Device {
	devices := make([]Device, len(n.cards))
	for i, c := range n.cards {
		devices[i] = c.device
	}
	return devices
}

func (n *nvmlBackend) close() error {
	if !n.has["nvmlShutdown"] {
		return nil
	}
	if code := n.api.Shutdown(); code != nvml.SUCCESS {
		return fmt.Errorf("gpuwatch: close: nvmlShutdown: code %d", code)
	}
	return nil
}

func (n *nvmlBackend) enumerate(sysfs string) error {
	n.info.Version = text(n, "nvmlSystemGetNVMLVersion", n.api.SystemGetNVMLVersion)
	common := Device{Driver: text(n, "nvmlSystemGetDriverVersion", n.api.SystemGetDriverVersion)}
	if v := ask(n, "nvmlSystemGetCudaDriverVersion_v2", n.api.SystemGetCudaDriverVersion_v2); v != nil {
		common.CUDA = fmt.Sprintf("%d.%d", *v/1000, *v%1000/10) // 13000 is 13.0
	}
	count, code := n.api.DeviceGetCount()
	if code != nvml.SUCCESS {
		return initFailed(code)
	}
	var silent nvml.Return
	empty := 0
	for i := range count {
		card, code := n.api.DeviceGetHandleByIndex(i)
		if code != nvml.SUCCESS {
			silent = code // the other cards are still of use
			continue
		}
		d := n.describe(common, card, sysfs)
		if !n.divided(card) {
			n.cards = append(n.cards, nvmlCard{d, card, card})
			continue
		}
		slices := n.slices(d, card)
		if len(slices) == 0 {
			empty++
		}
		n.cards = append(n.cards, slices...)
	}
	switch {
	case len(n.cards) > 0:
		return nil
	case silent != nvml.SUCCESS:
		return initFailed(silent)
	case empty > 0:
		return &Unavailable{State: NoGPU, Reason: "the GPU is in MIG mode and has no slice to run on",
			Cure: "make one (nvidia-smi mig -cgi … -C) or leave MIG mode"}
	}
	return &Unavailable{State: NoGPU, Reason: "the NVIDIA driver " + common.Driver + " is here but finds no GPU"}
}

func (n *nvmlBackend) describe(d Device, card nvml.Device, sysfs string) Device {
	d.Name = text(n, "nvmlDeviceGetName", card.GetName)
	d.UUID = text(n, "nvmlDeviceGetUUID", card.GetUUID)
	d.MemoryBytes, _ = n.memory(card)
	if n.has["nvmlDeviceGetPciInfo"] || n.has["nvmlDeviceGetPciInfo_v2"] || n.has["nvmlDeviceGetPciInfo_v3"] {
		if pci, code := card.GetPciInfo(); code == nvml.SUCCESS {
			d.PCIAddress = pciAddress(pci.Domain, pci.Bus, pci.Device)
			d.NUMANode = numaNode(sysfs, d.PCIAddress)
		}
	}
	// Room for 8192 CPUs, the most that Linux is built for.
	if mask := ask(n, "nvmlDeviceGetCpuAffinity", func() ([]uint, nvml.Return) { return card.GetCpuAffinity(1024) }); mask != nil {
		words := make([]uint64, len(*mask))
		for i, w := range *mask {
			words[i] = uint64(w)
		}
		d.CPUs = cpuList(words)
	}
	return d
}

func (n *nvmlBackend) divided(card nvml.Device) bool {
	if !n.has["nvmlDeviceGetMigMode"] {
		return false
	}
	mode, _, code := card.GetMigMode()
	return code == nvml.SUCCESS && mode == nvml.DEVICE_MIG_ENABLE
}

// slices lists the slices of a divided card that is described by whole.
func (n *nvmlBackend) slices(whole Device, card nvml.Device) []nvmlCard {
	most := ask(n, "nvmlDeviceGetMaxMigDeviceCount", card.GetMaxMigDeviceCount)
	if most == nil {
		return nil
	}
	var slices []nvmlCard
	for i := range *most {
		slice := ask(n, "nvmlDeviceGetMigDeviceHandleByIndex",
			func() (nvml.Device, nvml.Return) { return card.GetMigDeviceHandleByIndex(i) })
		if slice == nil {
			continue // places may be empty
		}
		d := whole
		d.MIG, d.CardUUID = true, whole.UUID
		d.UUID = text(n, "nvmlDeviceGetUUID", (*slice).GetUUID)
		d.MemoryBytes, _ = n.memory(*slice)
		d.Name = text(n, "nvmlDeviceGetName", (*slice).GetName)
		if !strings.Contains(d.Name, "MIG") {
			d.Name = fmt.Sprintf("%s MIG slice %d", whole.Name, i)
		}
		slices = append(slices, nvmlCard{d, *slice, card})
	}
	return slices
}

func (n *nvmlBackend) read(which int, s *Sample) {
	own, card := n.cards[which].own, n.cards[which].card
	if !n.cards[which].device.MIG {
		if u := ask(n, "nvmlDeviceGetUtilizationRates", card.GetUtilizationRates); u != nil {
			s.GPUPercent, s.MemoryPercent = percent(u.Gpu), percent(u.Memory)
		}
	}
	s.MemoryTotalBytes, s.MemoryUsedBytes = n.memory(own)
	s.LinkGeneration = whole(ask(n, "nvmlDeviceGetCurrPcieLinkGeneration", card.GetCurrPcieLinkGeneration))
	s.LinkWidth = whole(ask(n, "nvmlDeviceGetCurrPcieLinkWidth", card.GetCurrPcieLinkWidth))
	s.MaxLinkGeneration = whole(ask(n, "nvmlDeviceGetMaxPcieLinkGeneration", card.GetMaxPcieLinkGeneration))
	s.MaxLinkWidth = whole(ask(n, "nvmlDeviceGetMaxPcieLinkWidth", card.GetMaxPcieLinkWidth))
	s.PCIeReplays = whole(ask(n, "nvmlDeviceGetPcieReplayCounter", card.GetPcieReplayCounter))
	s.SMClockMHz = n.clock(card, nvml.CLOCK_SM)
	s.MemoryClockMHz = n.clock(card, nvml.CLOCK_MEM)
	if milliwatts := ask(n, "nvmlDeviceGetPowerUsage", card.GetPowerUsage); milliwatts != nil {
		watts := float64(*milliwatts) / 1000
		s.PowerWatts = &watts
	}
	s.TemperatureC = n.temperature(card)
	if p := ask(n, "nvmlDeviceGetPerformanceState", card.GetPerformanceState); p != nil && *p != nvml.PSTATE_UNKNOWN {
		s.PState = whole(p)
	}
	s.ClockLimits = n.limits(card)
}

// traffic takes two calls of 20 ms each. TX and RX are as the GPU sees them.
func (n *nvmlBackend) traffic(which int) (rx, tx *float64) {
	get := func(counter nvml.PcieUtilCounter) *float64 {
		kilobytes := ask(n, "nvmlDeviceGetPcieThroughput",
			func() (uint32, nvml.Return) { return n.cards[which].card.GetPcieThroughput(counter) })
		if kilobytes == nil {
			return nil
		}
		bytes := float64(*kilobytes) * 1000 // nvmlDeviceGetPcieThroughput gives KB/s
		return &bytes
	}
	return get(nvml.PCIE_UTIL_RX_BYTES), get(nvml.PCIE_UTIL_TX_BYTES)
}

// memory prefers the second version, which leaves what the driver keeps for
// itself out of used; drivers before 510 have the first alone.
func (n *nvmlBackend) memory(d nvml.Device) (total, used *int64) {
	if m := ask(n, "nvmlDeviceGetMemoryInfo_v2", d.GetMemoryInfo_v2); m != nil {
		return whole(&m.Total), whole(&m.Used)
	}
	if m := ask(n, "nvmlDeviceGetMemoryInfo", d.GetMemoryInfo); m != nil {
		return whole(&m.Total), whole(&m.Used)
	}
	return nil, nil
}

func (n *nvmlBackend) clock(d nvml.Device, which nvml.ClockType) *int64 {
	return whole(ask(n, "nvmlDeviceGetClockInfo", func() (uint32, nvml.Return) { return d.GetClockInfo(which) }))
}

// temperature asks by the deprecated call where the driver is too old for the other.
func (n *nvmlBackend) temperature(d nvml.Device) *int64 {
	if t := ask(n, "nvmlDeviceGetTemperatureV", func() (nvml.Temperature, nvml.Return) { return d.GetTemperatureV().V1() }); t != nil {
		return whole(&t.Temperature)
	}
	return whole(ask(n, "nvmlDeviceGetTemperature", func() (uint32, nvml.Return) {
		// Deprecated, and all that drivers of the 470 and 535 branches have.
		return d.GetTemperature(nvml.TEMPERATURE_GPU)
	}))
}

func (n *nvmlBackend) limits(d nvml.Device) []string {
	bits := ask(n, "nvmlDeviceGetCurrentClocksEventReasons", d.GetCurrentClocksEventReasons)
	if bits == nil {
		// Deprecated: the name it had in drivers before 535.
		bits = ask(n, "nvmlDeviceGetCurrentClocksThrottleReasons", d.GetCurrentClocksThrottleReasons)
	}
	if bits == nil {
		return nil
	}
	return clockLimits(*bits)
}

// ask makes a call that the library offers; nil means that there is no answer,
// for whatever reason: NOT_SUPPORTED, UNKNOWN and a missing symbol alike.
func ask[T any](n *nvmlBackend, symbol string, call func() (T, nvml.Return)) *T {
	if !n.has[symbol] {
		return nil
	}
	v, code := call()
	if code != nvml.SUCCESS {
		return nil
	}
	return &v
}

func text(n *nvmlBackend, symbol string, call func() (string, nvml.Return)) string {
	if s := ask(n, symbol, call); s != nil {
		return *s
	}
	return ""
}

func whole[T int | int32 | uint32 | uint64 | nvml.Pstates](p *T) *int64 {
	if p == nil {
		return nil
	}
	v := int64(*p)
	return &v
}

// percent takes what cannot be one, such as the -1 of some drivers, for no answer.
func percent(p uint32) *int64 {
	if p > 100 {
		return nil
	}
	return whole(&p)
}
