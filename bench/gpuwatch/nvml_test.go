//go:build linux && cgo

package gpuwatch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
)

// mockCard answers every question of ours. Its temperature is asked by the older
// call: the newer one cannot be mocked, go-nvml's type for it is closed.
func mockCard(uuid string, bus uint32) *mock.Device {
	return &mock.Device{
		GetNameFunc: func() (string, nvml.Return) { return "card " + uuid, nvml.SUCCESS },
		GetUUIDFunc: func() (string, nvml.Return) { return uuid, nvml.SUCCESS },
		GetPciInfoFunc: func() (nvml.PciInfo, nvml.Return) {
			return nvml.PciInfo{Bus: bus}, nvml.SUCCESS
		},
		GetCpuAffinityFunc: func(int) ([]uint, nvml.Return) { return []uint{0xff}, nvml.SUCCESS },
		GetMigModeFunc:     func() (int, int, nvml.Return) { return 0, 0, nvml.ERROR_NOT_SUPPORTED },
		GetMemoryInfo_v2Func: func() (nvml.Memory_v2, nvml.Return) {
			return nvml.Memory_v2{Total: 1000, Used: 200}, nvml.SUCCESS
		},
		GetMemoryInfoFunc: func() (nvml.Memory, nvml.Return) {
			return nvml.Memory{Total: 1000, Used: 300}, nvml.SUCCESS
		},
		GetUtilizationRatesFunc: func() (nvml.Utilization, nvml.Return) {
			return nvml.Utilization{Gpu: bus, Memory: 7}, nvml.SUCCESS
		},
		GetPcieThroughputFunc: func(c nvml.PcieUtilCounter) (uint32, nvml.Return) {
			return map[nvml.PcieUtilCounter]uint32{nvml.PCIE_UTIL_RX_BYTES: 55_000_000, nvml.PCIE_UTIL_TX_BYTES: 3}[c], nvml.SUCCESS
		},
		GetPcieReplayCounterFunc:         func() (int, nvml.Return) { return 4, nvml.SUCCESS },
		GetCurrPcieLinkGenerationFunc:    func() (int, nvml.Return) { return 1, nvml.SUCCESS },
		GetCurrPcieLinkWidthFunc:         func() (int, nvml.Return) { return 8, nvml.SUCCESS },
		GetMaxPcieLinkGenerationFunc:     func() (int, nvml.Return) { return 5, nvml.SUCCESS },
		GetMaxPcieLinkWidthFunc:          func() (int, nvml.Return) { return 16, nvml.SUCCESS },
		GetPowerUsageFunc:                func() (uint32, nvml.Return) { return 71_250, nvml.SUCCESS },
		GetPerformanceStateFunc:          func() (nvml.Pstates, nvml.Return) { return nvml.PSTATE_0, nvml.SUCCESS },
		GetTemperatureFunc:               func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 31, nvml.SUCCESS },
		GetCurrentClocksEventReasonsFunc: func() (uint64, nvml.Return) { return 4, nvml.SUCCESS },
		GetClockInfoFunc: func(c nvml.ClockType) (uint32, nvml.Return) {
			return map[nvml.ClockType]uint32{nvml.CLOCK_SM: 1980, nvml.CLOCK_MEM: 3201}[c], nvml.SUCCESS
		},
	}
}

func mockAPI(cards ...*mock.Device) *mock.Interface {
	return &mock.Interface{
		InitFunc:                          func() nvml.Return { return nvml.SUCCESS },
		ShutdownFunc:                      func() nvml.Return { return nvml.SUCCESS },
		SystemGetDriverVersionFunc:        func() (string, nvml.Return) { return "580.95.05", nvml.SUCCESS },
		SystemGetNVMLVersionFunc:          func() (string, nvml.Return) { return "13.580.95.05", nvml.SUCCESS },
		SystemGetCudaDriverVersion_v2Func: func() (int, nvml.Return) { return 12080, nvml.SUCCESS },
		DeviceGetCountFunc:                func() (int, nvml.Return) { return len(cards), nvml.SUCCESS },
		DeviceGetHandleByIndexFunc: func(i int) (nvml.Device, nvml.Return) {
			if cards[i] == nil {
				return nil, nvml.ERROR_GPU_IS_LOST
			}
			return cards[i], nvml.SUCCESS
		},
	}
}

// openMock opens a Watch on a mock whose library lacks some symbols.
func openMock(t *testing.T, api nvml.Interface, missing ...string) (*Watch, error) {
	t.Helper()
	lacks := map[string]bool{"nvmlDeviceGetTemperatureV": true}
	for _, s := range missing {
		lacks[s] = true
	}
	sysfs := t.TempDir()
	dir := filepath.Join(sysfs, "bus/pci/devices/0000:3b:00.0")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "numa_node"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := startNVML(api, func(s string) bool { return !lacks[s] }, Library{Name: libraryName}, sysfs)
	if err != nil {
		return nil, err
	}
	return newWatch(b), nil
}

func TestDevice(t *testing.T) {
	w, err := openMock(t, mockAPI(mockCard("GPU-aaaa", 0x3b)))
	if err != nil {
		t.Fatal(err)
	}
	d := w.Devices()[0]
	if d.MemoryBytes == nil || *d.MemoryBytes != 1000 || d.NUMANode == nil || *d.NUMANode != 1 {
		t.Errorf("memory %v, NUMA node %v", d.MemoryBytes, d.NUMANode)
	}
	d.MemoryBytes, d.NUMANode = nil, nil
	want := Device{Name: "card GPU-aaaa", UUID: "GPU-aaaa", PCIAddress: "0000:3b:00.0", Driver: "580.95.05", CUDA: "12.8", CPUs: "0-7"}
	if d != want {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
	if got := w.Library().Version; got != "13.580.95.05" {
		t.Errorf("library version %q", got)
	}
}

// C68: what the driver refuses, or does not have, or answers nonsense to, is
// not known; the other figures are not touched by that.
func TestSampleFigures(t *testing.T) {
	const all = "0,59,7,200,1000,1,8,5,16,4,1980,3201,71.25,31,0,power cap"
	for _, c := range []struct {
		name    string
		change  func(*mock.Device)
		missing []string
		want    string
	}{
		{"everything", func(*mock.Device) {}, nil, all},
		{"utilisation not supported", func(m *mock.Device) {
			m.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{}, nvml.ERROR_NOT_SUPPORTED }
		}, nil, "0,,,200,1000,1,8,5,16,4,1980,3201,71.25,31,0,power cap"},
		{"utilisation missing", func(m *mock.Device) { m.GetUtilizationRatesFunc = nil },
			[]string{"nvmlDeviceGetUtilizationRates"}, "0,,,200,1000,1,8,5,16,4,1980,3201,71.25,31,0,power cap"},
		{"utilisation of -1", func(m *mock.Device) {
			m.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) {
				return nvml.Utilization{Gpu: 0xffffffff, Memory: 101}, nvml.SUCCESS
			}
		}, nil, "0,,,200,1000,1,8,5,16,4,1980,3201,71.25,31,0,power cap"},
		{"full utilisation", func(m *mock.Device) {
			m.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) {
				return nvml.Utilization{Gpu: 100}, nvml.SUCCESS
			}
		}, nil, "0,100,0,200,1000,1,8,5,16,4,1980,3201,71.25,31,0,power cap"},
		{"power unknown error", func(m *mock.Device) {
			m.GetPowerUsageFunc = func() (uint32, nvml.Return) { return 0, nvml.ERROR_UNKNOWN }
		}, nil, "0,59,7,200,1000,1,8,5,16,4,1980,3201,,31,0,power cap"},
		{"performance state unknown", func(m *mock.Device) {
			m.GetPerformanceStateFunc = func() (nvml.Pstates, nvml.Return) { return nvml.PSTATE_UNKNOWN, nvml.SUCCESS }
		}, nil, "0,59,7,200,1000,1,8,5,16,4,1980,3201,71.25,31,,power cap"},
		{"old driver", func(m *mock.Device) {
			m.GetMemoryInfo_v2Func, m.GetCurrentClocksEventReasonsFunc = nil, nil
			m.GetCurrentClocksThrottleReasonsFunc = func() (uint64, nvml.Return) { return 0, nvml.SUCCESS }
		}, []string{"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetCurrentClocksEventReasons"},
			"0,59,7,300,1000,1,8,5,16,4,1980,3201,71.25,31,0,none"},
		{"nothing but a name", func(m *mock.Device) {
			*m = mock.Device{GetUUIDFunc: m.GetUUIDFunc}
		}, without("nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetUUID"), "0,,,,,,,,,,,,,,,"},
	} {
		t.Run(c.name, func(t *testing.T) {
			card := mockCard("GPU-aaaa", 0x3b)
			c.change(card)
			w, err := openMock(t, mockAPI(card), c.missing...)
			if err != nil {
				t.Fatal(err)
			}
			s, err := w.Read(Device{UUID: "GPU-aaaa"})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.CSV(), ","); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// without is all the symbols but some.
func without(kept ...string) (rest []string) {
	for _, s := range symbols {
		found := false
		for _, k := range kept {
			found = found || s == k
		}
		if !found {
			rest = append(rest, s)
		}
	}
	return rest
}

func TestTraffic(t *testing.T) {
	card := mockCard("GPU-aaaa", 0x3b)
	w, err := openMock(t, mockAPI(card))
	if err != nil {
		t.Fatal(err)
	}
	rx, tx := w.backend.traffic(0)
	if rx == nil || *rx != 55e9 || tx == nil || *tx != 3000 { // KB/s times 1000
		t.Errorf("rx %v, tx %v", rx, tx)
	}
	card.GetPcieThroughputFunc = func(nvml.PcieUtilCounter) (uint32, nvml.Return) { return 0, nvml.ERROR_NOT_SUPPORTED }
	if rx, tx := w.backend.traffic(0); rx != nil || tx != nil {
		t.Errorf("not supported: rx %v, tx %v", rx, tx)
	}
}

// C70: the driver's order is not CUDA's.
func TestOrderSwapped(t *testing.T) {
	w, err := openMock(t, mockAPI(mockCard("GPU-bbbb", 0x5e), mockCard("GPU-aaaa", 0x3b)))
	if err != nil {
		t.Fatal(err)
	}
	for uuid, want := range map[string]int64{"GPU-aaaa": 0x3b, "GPU-bbbb": 0x5e} {
		d, err := w.Match(uuid, "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.Read(d)
		if err != nil || *s.GPUPercent != want {
			t.Errorf("%s: utilisation %v, error %v; want %d", uuid, s.GPUPercent, err, want)
		}
	}
}

// C69: slices stand in the place of their card.
func TestMIG(t *testing.T) {
	slice := func(uuid, name string) *mock.Device {
		return &mock.Device{ // anything else asked of it panics
			GetNameFunc: func() (string, nvml.Return) { return name, nvml.SUCCESS },
			GetUUIDFunc: func() (string, nvml.Return) { return uuid, nvml.SUCCESS },
			GetMemoryInfo_v2Func: func() (nvml.Memory_v2, nvml.Return) {
				return nvml.Memory_v2{Total: 140, Used: 20}, nvml.SUCCESS
			},
		}
	}
	slices := map[int]*mock.Device{0: slice("MIG-1", "card MIG 1g.18gb"), 2: slice("MIG-2", "card")}
	card := mockCard("GPU-aaaa", 0x3b)
	card.GetMigModeFunc = func() (int, int, nvml.Return) { return 1, 1, nvml.SUCCESS }
	card.GetMaxMigDeviceCountFunc = func() (int, nvml.Return) { return 7, nvml.SUCCESS }
	card.GetMigDeviceHandleByIndexFunc = func(i int) (nvml.Device, nvml.Return) {
		if slices[i] == nil {
			return nil, nvml.ERROR_NOT_FOUND
		}
		return slices[i], nvml.SUCCESS
	}
	w, err := openMock(t, mockAPI(card))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range w.Devices() {
		names = append(names, d.Name)
		if !d.MIG || d.CardUUID != "GPU-aaaa" || *d.MemoryBytes != 140 || d.PCIAddress != "0000:3b:00.0" {
			t.Errorf("%+v", d)
		}
	}
	if got := strings.Join(names, ", "); got != "card MIG 1g.18gb, card GPU-aaaa MIG slice 2" {
		t.Errorf("names %s", got)
	}
	s, err := w.Read(Device{UUID: "MIG-2"})
	if got, want := strings.Join(s.CSV(), ","), "0,,,20,140,1,8,5,16,4,1980,3201,71.25,31,0,power cap"; err != nil || got != want {
		t.Errorf("got  %s, error %v\nwant %s", got, err, want)
	}

	clear(slices)
	_, err = openMock(t, mockAPI(card))
	var u *Unavailable
	if !errors.As(err, &u) || u.State != NoGPU || !strings.Contains(u.Reason, "no slice") {
		t.Errorf("no slices: error %v", err)
	}
}

func TestOpenStates(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*mock.Interface)
		cards   []*mock.Device
		missing []string
		state   State // Ready: no error
		words   string
	}{
		{name: "one card", cards: []*mock.Device{mockCard("GPU-aaaa", 1)}, state: Ready},
		{name: "no card", state: NoGPU, words: "580.95.05 is here but finds no GPU"},
		{name: "one of two lost", cards: []*mock.Device{nil, mockCard("GPU-aaaa", 1)}, state: Ready},
		{name: "the only one lost", cards: []*mock.Device{nil}, state: BadDriver, words: "no longer answers"},
		{name: "not loaded", change: func(m *mock.Interface) {
			m.InitFunc = func() nvml.Return { return nvml.ERROR_DRIVER_NOT_LOADED }
		}, state: BadDriver, words: "installed but not running"},
		{name: "versions differ", change: func(m *mock.Interface) {
			m.InitFunc = func() nvml.Return { return nvml.ERROR_LIB_RM_VERSION_MISMATCH }
		}, state: BadDriver, words: "restart the machine"},
		{name: "no permission", change: func(m *mock.Interface) {
			m.InitFunc = func() nvml.Return { return nvml.ERROR_NO_PERMISSION }
		}, state: BadDriver, words: "/dev/nvidia"},
		{name: "not found by the library", change: func(m *mock.Interface) {
			m.InitFunc = func() nvml.Return { return nvml.ERROR_GPU_NOT_FOUND }
		}, state: NoGPU, words: "finds no GPU"},
		{name: "unknown error", change: func(m *mock.Interface) {
			m.InitFunc = func() nvml.Return { return nvml.ERROR_UNKNOWN }
		}, state: BadDriver, words: "NVML code 999"},
		{name: "counting fails", change: func(m *mock.Interface) {
			m.DeviceGetCountFunc = func() (int, nvml.Return) { return 0, nvml.ERROR_UNKNOWN }
		}, state: BadDriver, words: "NVML code 999"},
		{name: "no init", missing: []string{"nvmlInit", "nvmlInit_v2"}, state: BadDriver, words: "has no nvmlInit"},
		{name: "old init", cards: []*mock.Device{mockCard("GPU-aaaa", 1)}, missing: []string{"nvmlInit_v2", "nvmlShutdown"}, state: Ready},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := mockAPI(c.cards...)
			if c.change != nil {
				c.change(api)
			}
			w, err := openMock(t, api, c.missing...)
			if c.state == Ready {
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			var u *Unavailable
			if !errors.As(err, &u) || u.State != c.state || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got state %v, error %v; want %v with %q", u, err, c.state, c.words)
			}
		})
	}
}
