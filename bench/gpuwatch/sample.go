package gpuwatch

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Sample is what a GPU said of itself at one time. A nil figure is one the
// driver did not give. On a slice (MIG) memory is the slice's own, utilisation
// is nil, and the rest is the whole card's.
type Sample struct {
	At time.Duration `json:"at_ns"` // on the run's clock, when the reading began

	GPUPercent       *int64 `json:"gpu_percent"`    // of the time a kernel ran, 0..100
	MemoryPercent    *int64 `json:"memory_percent"` // of the time device memory was read or written, 0..100
	MemoryUsedBytes  *int64 `json:"memory_used_bytes"`
	MemoryTotalBytes *int64 `json:"memory_total_bytes"`

	LinkGeneration    *int64 `json:"link_generation"` // PCIe, now: falls when idle
	LinkWidth         *int64 `json:"link_width"`      // lanes
	MaxLinkGeneration *int64 `json:"max_link_generation"`
	MaxLinkWidth      *int64 `json:"max_link_width"`
	PCIeReplays       *int64 `json:"pcie_replays"` // packets sent again since the driver started

	SMClockMHz     *int64   `json:"sm_clock_mhz"`
	MemoryClockMHz *int64   `json:"memory_clock_mhz"`
	PowerWatts     *float64 `json:"power_watts"`
	TemperatureC   *int64   `json:"temperature_c"`
	PState         *int64   `json:"pstate"` // 0 fastest .. 15

	// ClockLimits says in words what holds the clocks down ("power cap"):
	// nil not known, empty nothing does.
	ClockLimits []string `json:"clock_limits"`
}

// Traffic is the PCIe traffic of a card over 20 ms, in bytes a second. It is a
// sample of a rate, which does not add up to a total, and counts more than the
// data: 59.7 GB/s where copies moved 55.3, and 5.2 the other way where nothing
// was copied (H200, PCIe 5 x16, driver 580, 2026-12).
type Traffic struct {
	At               time.Duration `json:"at_ns"`          // when the reading began
	RXBytesPerSecond *float64      `json:"rx_bytes_per_s"` // received by the GPU: HtoD
	TXBytesPerSecond *float64      `json:"tx_bytes_per_s"` // sent by the GPU: DtoH
}

// Figure is one number of a Sample, for tables and charts.
type Figure struct {
	Name  string // with its unit, as in CSV: "power_watts"
	Value func(*Sample) *float64
}

// Figures lists the numbers of a Sample in the order of its fields.
func Figures() []Figure {
	whole := func(get func(*Sample) *int64) func(*Sample) *float64 {
		return func(s *Sample) *float64 {
			p := get(s)
			if p == nil {
				return nil
			}
			v := float64(*p)
			return &v
		}
	}
	return []Figure{
		{"gpu_percent", whole(func(s *Sample) *int64 { return s.GPUPercent })},
		{"memory_percent", whole(func(s *Sample) *int64 { return s.MemoryPercent })},
		{"memory_used_bytes", whole(func(s *Sample) *int64 { return s.MemoryUsedBytes })},
		{"memory_total_bytes", whole(func(s *Sample) *int64 { return s.MemoryTotalBytes })},
		{"link_generation", whole(func(s *Sample) *int64 { return s.LinkGeneration })},
		{"link_width", whole(func(s *Sample) *int64 { return s.LinkWidth })},
		{"max_link_generation", whole(func(s *Sample) *int64 { return s.MaxLinkGeneration })},
		{"max_link_width", whole(func(s *Sample) *int64 { return s.MaxLinkWidth })},
		{"pcie_replays", whole(func(s *Sample) *int64 { return s.PCIeReplays })},
		{"sm_clock_mhz", whole(func(s *Sample) *int64 { return s.SMClockMHz })},
		{"memory_clock_mhz", whole(func(s *Sample) *int64 { return s.MemoryClockMHz })},
		{"power_watts", func(s *Sample) *float64 { return s.PowerWatts }},
		{"temperature_c", whole(func(s *Sample) *int64 { return s.TemperatureC })},
		{"pstate", whole(func(s *Sample) *int64 { return s.PState })},
	}
}

// CSVHeader names the cells of [Sample.CSV].
func CSVHeader() []string {
	cells := []string{"at_ns"}
	for _, f := range Figures() {
		cells = append(cells, f.Name)
	}
	return append(cells, "clock_limits")
}

// CSV is the sample as cells; what is not known is an empty one.
func (s Sample) CSV() []string {
	cells := []string{strconv.FormatInt(int64(s.At), 10)}
	for _, f := range Figures() {
		cell := ""
		if v := f.Value(&s); v != nil {
			cell = strconv.FormatFloat(*v, 'f', -1, 64)
		}
		cells = append(cells, cell)
	}
	limits := strings.Join(s.ClockLimits, "; ")
	if s.ClockLimits != nil && limits == "" {
		limits = "none"
	}
	return append(cells, limits)
}

// clockLimits puts the bits of nvmlDeviceGetCurrentClocksEventReasons into
// words. The bits are those of nvml.h (NVML 13), nvmlClocksEventReasons.
func clockLimits(bits uint64) []string {
	words := []string{
		"idle",                       // 0x1 GpuIdle
		"clocks set by the user",     // 0x2 ApplicationsClocksSetting
		"power cap",                  // 0x4 SwPowerCap
		"hardware slowdown",          // 0x8 HwSlowdown
		"sync boost group",           // 0x10 SyncBoost
		"too hot (driver)",           // 0x20 SwThermalSlowdown
		"too hot (hardware)",         // 0x40 HwThermalSlowdown
		"power brake from outside",   // 0x80 HwPowerBrakeSlowdown
		"clocks set for the display", // 0x100 DisplayClockSetting
		"limit of the board",         // 0x200 BoardLimit
		"limit for reliability",      // 0x400 Reliability
	}
	limits := []string{}
	for bit := 0; bits != 0; bit, bits = bit+1, bits>>1 {
		switch {
		case bits&1 == 0:
		case bit < len(words):
			limits = append(limits, words[bit])
		default:
			limits = append(limits, fmt.Sprintf("reason %#x", uint64(1)<<bit))
		}
	}
	return limits
}
