package sim

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestSet(t *testing.T) {
	for _, c := range []struct {
		key, value string
		want       any    // of the field; nil: refused
		field      string //
		text       string // as Settings spells it; "": as value
	}{
		{"link-gbps", "12", 12.0, "LinkGBps", ""},
		{"link-gbps", "inf", math.Inf(1), "LinkGBps", ""},
		{"link-gbps", "0.001", 0.001, "LinkGBps", ""},
		{"link-gbps", "0.0009", nil, "", ""},
		{"link-gbps", "0", nil, "", ""},
		{"link-gbps", "-1", nil, "", ""},
		{"link-gbps", "NaN", nil, "", ""},
		{"link-gbps", "2e9", nil, "", ""},
		{"link-gbps", "fast", nil, "", ""},
		{"link-gbps", "", nil, "", ""},
		{"pageable-gbps", "6", 6.0, "PageableGBps", ""},
		{"pageable-gbps", "0", 0.0, "PageableGBps", ""},
		{"pageable-gbps", "-0.5", nil, "", ""},
		{"mem-gbps", "256", 256.0, "MemGBps", ""},
		{"tflops", "14.6", 14.6, "TFLOPS", ""},
		{"latency", "6us", 6 * time.Microsecond, "Latency", "6µs"},
		{"latency", "0", time.Duration(0), "Latency", "0s"},
		{"latency", "1h", time.Hour, "Latency", "1h0m0s"},
		{"latency", "1h1ns", nil, "", ""},
		{"latency", "-1ns", nil, "", ""},
		{"latency", "6", nil, "", ""},
		{"launch", "5us", 5 * time.Microsecond, "Launch", "5µs"},
		{"compute", "12.845ms", 12845 * time.Microsecond, "Step", ""},
		{"compute", "0", time.Duration(0), "Step", "0s"},
		{"compute", "roofline", false, "FixedStep", ""},
		{"compute", "quick", nil, "", ""},
		{"copy-engines", "1", 1, "CopyEngines", ""},
		{"copy-engines", "16", 16, "CopyEngines", ""},
		{"copy-engines", "0", nil, "", ""},
		{"copy-engines", "17", nil, "", ""},
		{"copy-engines", "1.5", nil, "", ""},
		{"pin-s-per-gib", "0.5", 0.5, "PinSecPerGiB", ""},
		{"pin-s-per-gib", "3601", nil, "", ""},
		{"pin-s-per-gib", "NaN", nil, "", ""},
		{"pin-limit", "500MiB", int64(524288000), "PinLimit", ""},
		{"pin-limit", "524288001", int64(524288001), "PinLimit", ""},
		{"pin-limit", "524288000B", int64(524288000), "PinLimit", "500MiB"},
		{"pin-limit", "1.5 GiB", int64(3 << 29), "PinLimit", "1536MiB"},
		{"pin-limit", "0", int64(0), "PinLimit", ""},
		{"pin-limit", "0.5", nil, "", ""},
		{"pin-limit", "-1", nil, "", ""},
		{"pin-limit", "500MB", nil, "", ""},
		{"pin-limit", "9000000TiB", nil, "", ""},
		{"memory", "8GiB", int64(8 << 30), "MemoryBytes", ""},
		{"memory", "0", nil, "", ""},
		{"jitter", "0.05", 0.05, "Jitter", ""},
		{"jitter", "5%", 0.05, "Jitter", "0.05"},
		{"jitter", "0", 0.0, "Jitter", ""},
		{"jitter", "1", nil, "", ""},
		{"jitter", "100%", nil, "", ""},
		{"jitter", "-1%", nil, "", ""},
		{"ramp", "3:6:12", []float64{3, 6, 12}, "Ramp", ""},
		{"ramp", "3", []float64{3}, "Ramp", ""},
		{"ramp", "0", []float64(nil), "Ramp", ""},
		{"ramp", "", []float64(nil), "Ramp", "0"},
		{"ramp", "3:0:12", nil, "", ""},
		{"ramp", "3::12", nil, "", ""},
		{"seed", "18446744073709551615", uint64(math.MaxUint64), "Seed", ""},
		{"seed", "-1", nil, "", ""},
		{"colour", "red", nil, "", ""},
	} {
		m, before := model(t, map[string]string{"ramp": "1:2"}), model(t, map[string]string{"ramp": "1:2"})
		err := m.Set(c.key, c.value)
		if c.want == nil {
			if err == nil || !strings.Contains(err.Error(), c.key) || !strings.Contains(err.Error(), c.value) || !strings.Contains(err.Error(), "want") {
				t.Errorf("%s=%s: error %v does not name key, value and what is allowed", c.key, c.value, err)
			}
			if !reflect.DeepEqual(m, before) {
				t.Errorf("%s=%s: refused, but changed the model", c.key, c.value)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s=%s: %v", c.key, c.value, err)
			continue
		}
		if got := reflect.ValueOf(m).FieldByName(c.field).Interface(); !reflect.DeepEqual(got, c.want) && !(reflect.ValueOf(c.want).IsZero() && reflect.ValueOf(got).IsZero()) {
			t.Errorf("%s=%s: %s is %v, want %v", c.key, c.value, c.field, got, c.want)
		}
		if c.text == "" {
			c.text = c.value
		}
		if got := m.Settings()[c.key]; got != c.text {
			t.Errorf("%s=%s: spelled %q, want %q", c.key, c.value, got, c.text)
		}
	}
}

func TestPresets(t *testing.T) {
	want := []string{"laptop", "h200", "a100-pcie4", "rtx4090", "rtx3060", "gtx1080-pcie3", "gh200"}
	if !reflect.DeepEqual(Presets(), want) {
		t.Errorf("presets %v, want %v", Presets(), want)
	}
	for _, name := range Presets() {
		m, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		again := Model{Name: name}
		for key, value := range m.Settings() {
			if err := again.Set(key, value); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !reflect.DeepEqual(again, m) {
			t.Errorf("%s: its settings give %+v, not %+v", name, again, m)
		}
	}
	if _, err := Lookup("voodoo"); err == nil || !strings.Contains(err.Error(), "gtx1080-pcie3") {
		t.Errorf("an unknown model: %v", err)
	}
}

// TestH200 compares the model with copies measured on the card.
func TestH200(t *testing.T) {
	m, err := Lookup("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bytes int64
		gbps  float64
	}{{62_500, 11.4}, {1_000_000, 43.9}, {9_600_000, 54.0}, {38_500_000, 55.0}, {1_000_000_000, 55.4}} {
		got := float64(c.bytes) / (float64(m.Latency) + copyNanos(c.bytes, m.rate(0)))
		if math.Abs(got/c.gbps-1) > 0.02 {
			t.Errorf("%d bytes: %.2f GB/s, measured %.2f", c.bytes, got, c.gbps)
		}
	}
}
