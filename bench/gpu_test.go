package bench

import (
	"strings"
	"testing"

	"pinscope/bench/gpuwatch"
)

// TestLinkUnderLoad takes the fastest state that was seen: C54's idle Gen1 is no
// alarm, Gen1 all the time is one, and what is not known is none.
func TestLinkUnderLoad(t *testing.T) {
	link := func(generation, width int64) gpuwatch.Sample {
		four, sixteen := int64(4), int64(16)
		return gpuwatch.Sample{LinkGeneration: &generation, LinkWidth: &width, MaxLinkGeneration: &four, MaxLinkWidth: &sixteen}
	}
	for _, c := range []struct {
		name    string
		samples []gpuwatch.Sample
		alarm   string
	}{
		{"idle before, full under load", []gpuwatch.Sample{link(1, 16), link(4, 16), link(1, 16)}, ""},
		{"slow all the time", []gpuwatch.Sample{link(1, 16), link(1, 16)}, "PCIe 1 x16 under load and can do PCIe 4 x16"},
		{"narrow", []gpuwatch.Sample{link(1, 16), link(4, 8)}, "PCIe 4 x8 under load and can do PCIe 4 x16"},
		{"not known", []gpuwatch.Sample{{}}, ""},
		{"none", nil, ""},
	} {
		got := linkAlarm(&gpuwatch.Series{Samples: c.samples})
		if (got == "") != (c.alarm == "") || !strings.Contains(got, c.alarm) {
			t.Errorf("%s: %q, want %q", c.name, got, c.alarm)
		}
	}
}
