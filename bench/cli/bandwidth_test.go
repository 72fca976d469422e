package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinscope/bench/bandwidth"
	"pinscope/bench/pressure"
	"pinscope/cudamem"
)

// small is a measurement of some tenths of a second.
func small(more ...string) []string {
	return append([]string{"bandwidth", "--device", "sim", "--kinds", "pinned", "--sizes", "64KiB", "--seconds", "0"}, more...)
}

func TestBandwidth(t *testing.T) {
	folder := t.TempDir()
	asCSV := filepath.Join(folder, "b.csv")
	code, stdout, stderr := call(small("--json", "-", "--csv", asCSV)...)
	if code != exitFine {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var file struct {
		Tool      struct{ Version string }
		Simulated bool
		Device    struct{ Model map[string]string }
		Cells     []struct {
			Direction string
			GBps      struct{ Median *float64 }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &file); err != nil {
		t.Fatal(err)
	}
	if file.Tool.Version == "" || !file.Simulated || file.Device.Model["link-gbps"] != "12.4" || len(file.Cells) != 4 || file.Cells[0].GBps.Median == nil {
		t.Errorf("%s", stdout)
	}
	if !strings.HasPrefix(stderr, "SIMULATED: ") || !strings.Contains(stderr, "SIMULATED by sim:laptop") {
		t.Error(stderr)
	}
	opened, err := os.Open(asCSV)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if rows, err := csv.NewReader(opened).ReadAll(); err != nil || len(rows) != 1+4+2 || rows[0][1] != "simulated" || rows[1][1] != "true" {
		t.Errorf("%q, %v", rows, err)
	}
	if code, _, stderr := call(small("--csv", asCSV)...); code != exitInput || !strings.Contains(stderr, "the file exists") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, stdout, stderr := call(small("--quiet")...); code != exitFine || stderr != "" || strings.Count(stdout, "\n") != 2 || !strings.Contains(stdout, "SIMULATED") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestBandwidthRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"a kind", []string{"--kinds", "pinned,paper"}, `kinds: "paper" is not allowed; allowed is pageable, pinned`},
		{"a size", []string{"--sizes", "1MiB,big"}, `sizes: "big" is not allowed`},
		{"no size", []string{"--sizes", "0"}, "sizes: 0 is not allowed"},
		{"a direction", []string{"--directions", "up"}, "directions: up is not allowed; allowed is htod, dtoh, both"},
		{"time", []string{"--seconds", "61"}, "seconds: 61 is not allowed; allowed is 0 to 60"},
		{"no time", []string{"--seconds", "NaN"}, "seconds"},
		{"a limit below all", []string{"--max-size", "4095"}, "max-size: 4095 is not allowed"},
		{"a size above the limit", []string{"--sizes", "1MiB", "--max-size", "64KiB"}, "sizes: 1MiB is above max-size 64KiB"},
		{"more than the machine has", []string{"--sizes", "4096TiB"}, "4,503,599,694,479,360 B (4 PiB) of host memory are needed, "},
		{"more than the GPU has", []string{"--sim", "memory=65MiB", "--sizes", "2MiB"}, "134,217,728 B of device memory are needed, sim:laptop has 68,157,440 B; lower sizes or max-size"},
		{"no link", []string{"--device", "cpu"}, "cpu has no link"},
		{"no such device", []string{"--device", "sim:voodoo"}, "voodoo"},
		{"twice the same file", []string{"--json", "x", "--csv", "x"}, "already the file of --json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"bandwidth"}, c.args...)
			if !strings.Contains(strings.Join(args, " "), "--device") {
				args = append(args, "--device", "sim")
			}
			if code, stdout, stderr := call(args...); code != exitInput || stdout != "" || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d: %s%s", code, stdout, stderr)
			}
		})
	}
}

// TestBandwidthFits: what is pinned, and what is not, against what there is.
func TestBandwidthFits(t *testing.T) {
	const gib = 1 << 30
	available := int64(4 * gib)
	limits := pressure.Limits{AvailableBytes: &available, TotalBytes: &available, Source: pressure.FromSystem}
	for _, c := range []struct {
		kind cudamem.HostKind
		size int64
		fits bool
	}{
		{cudamem.Pinned, gib, true}, {cudamem.Pinned, 2 * gib, false}, // half of it can be pinned
		{cudamem.Pageable, 2 * gib, true}, {cudamem.Pageable, 4 * gib, false},
	} {
		o := bandwidth.Options{Kinds: []cudamem.HostKind{c.kind}, Sizes: []int64{c.size}, Directions: []bandwidth.Direction{bandwidth.HtoD}}
		err := fits(o, cudamem.Info{}, limits)
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "4,294,967,296 B") {
			t.Errorf("%v of %d: %v", c.kind, c.size, err)
		}
	}
}

// TestBandwidthSizesAreLowered, not refused, where they were not asked for.
func TestBandwidthSizesAreLowered(t *testing.T) {
	code, stdout, stderr := call("bandwidth", "--sim", "memory=80MiB,link-gbps=100000", "--kinds", "pageable", "--directions", "dtoh", "--seconds", "0")
	if code != exitFine || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "sizes above 64 MiB are left out: 268,435,456 B of device memory are needed") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	for _, want := range []string{"  64 MiB ", "device: settings of a simulated GPU are given"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("lacks %q: %s", want, stdout)
		}
	}
	if strings.Contains(stdout, fmt.Sprintf("\n%8s ", "256 MiB")) {
		t.Error(stdout)
	}
}
