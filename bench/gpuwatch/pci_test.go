package gpuwatch

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNUMANode(t *testing.T) {
	const unknown = -2
	sysfs := t.TempDir()
	for _, c := range []struct {
		pci, text string
		want      int64 // unknown for nil
	}{
		{"0000:01:00.0", "1\n", 1},
		{"0000:02:00.0", "0\n", 0},
		{"0000:03:00.0", "-1\n", unknown}, // the firmware did not say
		{"0000:04:00.0", "what\n", unknown},
		{"0000:05:00.0", "", unknown}, // no such file
	} {
		dir := filepath.Join(sysfs, "bus/pci/devices", c.pci)
		if c.text != "" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "numa_node"), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got := int64(unknown)
		if p := numaNode(sysfs, c.pci); p != nil {
			got = *p
		}
		if got != c.want {
			t.Errorf("%q: node %d, want %d", c.text, got, c.want)
		}
	}
}

func TestCPUList(t *testing.T) {
	for _, c := range []struct {
		words []uint64
		want  string
	}{
		{nil, ""},
		{[]uint64{0}, ""},
		{[]uint64{1}, "0"},
		{[]uint64{0xffff}, "0-15"},
		{[]uint64{0xffff_0000_0000_000d}, "0,2-3,48-63"},
		{[]uint64{1 << 63, 3}, "63-65"}, // a range over the edge of a word
		{[]uint64{0, 1 << 63}, "127"},
	} {
		if got := cpuList(c.words); got != c.want {
			t.Errorf("%x: %q, want %q", c.words, got, c.want)
		}
	}
}

func TestPCIAddress(t *testing.T) {
	if got := pciAddress(0, 0x3b, 0); got != "0000:3b:00.0" {
		t.Error(got)
	}
	if got := pciAddress(0x10000, 0xaf, 0x1f); got != "10000:af:1f.0" {
		t.Error(got)
	}
}
