package gpuwatch

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func ptr[T any](v T) *T { return &v }

// C68: not known is null in JSON and an empty cell in CSV, zero is a zero.
func TestUnknownIsNotZero(t *testing.T) {
	for _, c := range []struct {
		name      string
		s         Sample
		json, csv string
	}{
		{"nothing known", Sample{},
			`"gpu_percent":null,`, "0,,,,,,,,,,,,,,,"},
		{"zeros", Sample{GPUPercent: ptr[int64](0), PowerWatts: ptr(0.0), ClockLimits: []string{}},
			`"gpu_percent":0,`, "0,0,,,,,,,,,,,0,,,none"},
		{"figures", Sample{At: 5, MemoryUsedBytes: ptr[int64](150754820096), PowerWatts: ptr(71.25), ClockLimits: []string{"idle", "power cap"}},
			`"memory_used_bytes":150754820096,`, "5,,,150754820096,,,,,,,,,71.25,,,idle; power cap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := json.Marshal(c.s)
			if err != nil || !strings.Contains(string(text), c.json) {
				t.Errorf("JSON %s, error %v; want %s in it", text, err, c.json)
			}
			if got := strings.Join(c.s.CSV(), ","); got != c.csv {
				t.Errorf("CSV %s\nwant %s", got, c.csv)
			}
			if got, want := len(c.s.CSV()), len(CSVHeader()); got != want {
				t.Errorf("%d cells under %d headings", got, want)
			}
		})
	}
}

// Each figure reads the field that has its name in JSON.
func TestFiguresAreTheFields(t *testing.T) {
	fields := reflect.TypeFor[Sample]()
	for _, f := range Figures() {
		var s Sample
		found := false
		for i := range fields.NumField() {
			if fields.Field(i).Tag.Get("json") == f.Name {
				found = true
				field := reflect.ValueOf(&s).Elem().Field(i)
				field.Set(reflect.New(field.Type().Elem()))
			}
		}
		if v := f.Value(&s); !found || v == nil || *v != 0 {
			t.Errorf("%s: field found %v, value %v", f.Name, found, v)
		}
	}
	if got, want := len(Figures()), fields.NumField()-2; got != want { // all but at and clock_limits
		t.Errorf("%d figures for %d fields", got, want)
	}
}

func TestClockLimits(t *testing.T) {
	for _, c := range []struct {
		bits uint64
		want string
	}{
		{0, ""},
		{1, "idle"},
		{0x44, "power cap, too hot (hardware)"},
		{0x400, "limit for reliability"},
		{0x800, "reason 0x800"}, // newer than this program
	} {
		got := clockLimits(c.bits)
		if got == nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%#x: %q, want %q", c.bits, got, c.want)
		}
	}
}
