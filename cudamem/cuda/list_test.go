//go:build cuda

package cuda

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"pinscope/cudamem"
)

func TestChoose(t *testing.T) {
	all := []cudamem.Info{
		{UUID: "GPU-1a2b3c4d-0000-0000-0000-000000000001", PCIAddress: "0000:3b:00.0"},
		{UUID: "MIG-1a2b3c4d-0000-0000-0000-000000000002", PCIAddress: "0000:5e:00.0"},
		{UUID: "MIG-1a2b3c4d-0000-0000-0000-000000000003", PCIAddress: "0000:86:00.0"},
	}
	for _, c := range []struct {
		id   string
		want int // -1: an error
	}{
		{"cuda", 0}, {"cuda:0", 0}, {"cuda:2", 2}, {"cuda:3", -1}, {"cuda:-1", -1},
		{"cuda:GPU-1a2b3c4d-0000-0000-0000-000000000001", 0},
		{"cuda:gpu-1A2B", 0},
		{"cuda:MIG-1a2b3c4d-0000-0000-0000-000000000002", 1},
		{"cuda:MIG-1a2b", -1}, // two of them
		{"cuda:GPU-ffff", -1},
		{"cuda:0000:5e:00.0", 1}, {"cuda:5E:00.0", 1}, {"cuda:00000000:86:00", 2}, {"cuda:0000:ff:00.0", -1},
		{"cuda:0000:5e:00.1", -1},
		{"cuda:", -1}, {"cudax", -1}, {"sim", -1}, {"cuda:fast", -1},
	} {
		got, err := choose(c.id, all)
		if err != nil {
			got = -1
		}
		if got != c.want {
			t.Errorf("%s: got %d (%v), want %d", c.id, got, err, c.want)
		}
	}
	if _, err := choose("cuda", nil); err == nil {
		t.Error("device 0 of none")
	}
}

func TestSysfs(t *testing.T) {
	const pci = "0000:3b:00.0"
	for _, c := range []struct {
		name, speed, width, node string
		gbps                     float64
		numa                     int
	}{
		{"generation 5", "32.0 GT/s PCIe\n", "16\n", "1\n", 32 * 16 / 8 * 128.0 / 130, 1},
		{"generation 3", "8.0 GT/s PCIe\n", "8\n", "0\n", 8 * 8 / 8 * 128.0 / 130, 0},
		{"generation 2", "5.0 GT/s PCIe\n", "16\n", "-1\n", 8, -1},
		{"generation 6", "64.0 GT/s PCIe\n", "16\n", "-1\n", 128, -1},
		{"not told", "Unknown\n", "255\n", "", 0, -1},
		{"nothing there", "", "", "", 0, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			sys := t.TempDir()
			dir := filepath.Join(sys, "bus/pci/devices", pci)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"max_link_speed": c.speed, "max_link_width": c.width, "numa_node": c.node} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := linkGBps(sys, pci); math.Abs(got-c.gbps) > 1e-9 {
				t.Errorf("link: got %v GB/s, want %v", got, c.gbps)
			}
			if got := numaNode(sys, pci); got != c.numa {
				t.Errorf("node: got %d, want %d", got, c.numa)
			}
		})
	}
}
