package device

import (
	"strings"
	"testing"

	"pinscope/cudamem"
)

func TestOpen(t *testing.T) {
	none := map[string]string(nil)
	for _, c := range []struct {
		name     string
		settings map[string]string
		id       string   // "": refused
		says     []string // of the error
	}{
		{"cpu", none, "cpu", nil},
		{"sim", none, "sim:laptop", nil},
		{"sim:gh200", none, "sim:gh200", nil},
		{"sim:laptop", map[string]string{"latency": "6us", "link-gbps": "inf"}, "sim:laptop", nil},
		{"sim:", none, "", []string{"sim:", "laptop"}},
		{"sim:voodoo", none, "", []string{"voodoo", "laptop", "h200"}},
		{"sim", map[string]string{"latency": "soon"}, "", []string{"latency", "soon", "duration"}},
		{"sim", map[string]string{"colour": "red"}, "", []string{"colour", "link-gbps"}},
		{"cpu", map[string]string{"latency": "6us"}, "", []string{"cpu", "latency", "sim:NAME"}},
		{"cuda", map[string]string{"latency": "6us"}, "", []string{"cuda", "latency", "sim:NAME"}},
		{"cpu:1", none, "", []string{"cpu:1", "cpu", "sim:laptop", "cuda:0", "auto"}},
		{"gpu", none, "", []string{"gpu", "cpu", "sim:laptop", "cuda:0", "auto"}},
		{"", none, "", []string{"cpu", "sim:laptop", "cuda:0", "auto"}},
	} {
		dev, why, err := Open(c.name, c.settings, cudamem.NewPlainClock())
		if c.id == "" {
			if err == nil {
				t.Errorf("%q %v: no error", c.name, c.settings)
				continue
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q %v: %q does not say %q", c.name, c.settings, err, part)
				}
			}
			continue
		}
		if err != nil || dev.Info().ID != c.id || why != "" {
			t.Errorf("%q %v: %v, why %q", c.name, c.settings, err, why)
			continue
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAuto(t *testing.T) {
	for name, settings := range map[string]map[string]string{"none": nil, "some": {"link-gbps": "12"}} {
		dev, why, err := Open("auto", settings, cudamem.NewPlainClock())
		if err != nil {
			t.Fatal(err)
		}
		if why == "" || settings != nil && (dev.Info().ID != "sim:laptop" || !strings.Contains(why, "settings")) {
			t.Errorf("%s: took %s, because %q", name, dev.Info().ID, why)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
	if dev, _, err := Open("auto", map[string]string{"link-gbps": "no"}, cudamem.NewPlainClock()); err == nil || dev != nil {
		t.Errorf("wrong settings gave %v, %v", dev, err)
	}
}

func TestList(t *testing.T) {
	if got := strings.Join(List(), " "); !strings.HasPrefix(got, "auto cpu cuda:0 sim sim:laptop sim:h200") {
		t.Error(got)
	}
}
