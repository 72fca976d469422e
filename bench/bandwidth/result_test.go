package bandwidth

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pinscope/bench/units"
	"pinscope/cudamem"
)

func TestNewCell(t *testing.T) {
	for _, c := range []struct {
		name    string
		bytes   int64
		samples []Sample
		limit   float64
		gbps    float64 // 0: n/a
		above   bool
		text    string
	}{
		{"C53: 4 MiB in 8.192 us", 4 << 20, []Sample{{Copies: 1, DMA: 8192}}, 63, 512, true, "512.0 GB/s (476.8 GiB/s)"},
		{"C53: time 0", 4 << 20, []Sample{{Copies: 1}}, 63, 0, false, "n/a"},
		{"C53: 0 copies", 4 << 20, []Sample{{DMA: time.Second}}, 63, 0, false, "n/a"},
		{"C53: no samples", 4 << 20, nil, 63, 0, false, "n/a"},
		{"a time below 0", 4 << 20, []Sample{{Copies: 1, DMA: -1}}, 63, 0, false, "n/a"},
		{"limit unknown", 4 << 20, []Sample{{Copies: 1, DMA: 8192}}, 0, 512, false, "512.0 GB/s (476.8 GiB/s)"},
		{"1 % above", 63_630_000_000, []Sample{{Copies: 1, DMA: time.Second}}, 63, 63.63, false, "63.63 GB/s (59.26 GiB/s)"},
		{"more than that", 63_640_000_000, []Sample{{Copies: 1, DMA: time.Second}}, 63, 63.64, true, "63.64 GB/s (59.27 GiB/s)"},
		{"C06: in the loader", 154_140_672, []Sample{{Copies: 1, DMA: 30 * ms}}, 63, 5.1380224, false, "5.14 GB/s (4.79 GiB/s)"},
		{"C06: by hand", 154_140_672, []Sample{{Copies: 1, DMA: 14 * ms}}, 63, 11.010048, false, "11.01 GB/s (10.25 GiB/s)"},
		{"16 copies", 64 << 20, []Sample{{Copies: 16, DMA: 16 * 1216 * us}}, 63, 55.188, false, "55.19 GB/s (51.40 GiB/s)"},
		{"one of three without time", 12_000_000, []Sample{{Copies: 1, DMA: ms}, {Copies: 1}, {Copies: 1, DMA: ms}}, 63, 12, false, "12.00 GB/s (11.18 GiB/s)"},
	} {
		cell := NewCell(HtoD, cudamem.Pinned, c.bytes, c.samples, c.limit)
		switch {
		case c.gbps == 0 && (cell.GBps.Median != nil || cell.DMANanos.Median != nil):
			t.Errorf("%s: %v GB/s", c.name, *cell.GBps.Median)
		case c.gbps != 0 && math.Abs(median(t, cell.GBps)-c.gbps) > 1e-3:
			t.Errorf("%s: %v GB/s, want %v", c.name, *cell.GBps.Median, c.gbps)
		}
		counted := 0
		for _, s := range c.samples {
			counted += min(s.Copies, 1)
		}
		if cell.BlockedNanos.Count != counted {
			t.Errorf("%s: %d calls, want %d", c.name, cell.BlockedNanos.Count, counted)
		}
		if cell.AboveLimit != c.above {
			t.Errorf("%s: above the limit: %v", c.name, cell.AboveLimit)
		}
		var dma time.Duration
		if cell.DMANanos.Median != nil {
			dma = time.Duration(*cell.DMANanos.Median)
		}
		if got := units.Throughput(c.bytes, dma); got != c.text {
			t.Errorf("%s: %s, want %s", c.name, got, c.text)
		}
	}
}

func number(n int64) *int64 { return &n }

func state(generation, width, mostGeneration, mostWidth int64) LinkState {
	return LinkState{number(generation), number(width), number(mostGeneration), number(mostWidth)}
}

func TestPCIeLimit(t *testing.T) {
	for _, c := range []struct {
		generation, width int64
		want              float64 // 0: unknown
	}{{3, 16, 15.75}, {4, 16, 31.5}, {5, 16, 63}, {1, 16, 4}, {4, 8, 15.75}, {5, 1, 3.9375}, {0, 16, 0}, {9, 16, 0}, {3, 0, 0}, {3, 33, 0}} {
		if got, ok := PCIeLimitGBps(c.generation, c.width); got != c.want || ok != (c.want != 0) {
			t.Errorf("PCIe %d x%d: %v, %v", c.generation, c.width, got, ok)
		}
	}
}

func TestAlarm(t *testing.T) {
	idle, full, narrow := state(1, 16, 5, 16), state(5, 16, 5, 16), state(5, 8, 5, 16)
	for _, c := range []struct {
		name  string
		link  Link
		alarm string
	}{
		{"nothing known", Link{}, ""},
		{"generation 1 at idle", Link{Before: &idle, During: &full}, ""},
		{"generation 1 under load", Link{Before: &idle, During: &idle}, "under load the link ran as PCIe 1 x16, its maximum is PCIe 5 x16"},
		{"half the lanes", Link{During: &narrow}, "ran as PCIe 5 x8"},
		{"not told", Link{During: &LinkState{}}, ""},
	} {
		if got := c.link.Alarm(); (got == "") != (c.alarm == "") || !strings.Contains(got, c.alarm) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestLimit(t *testing.T) {
	full := state(5, 16, 5, 16)
	for _, c := range []struct {
		name string
		info cudamem.Info
		link Link
		want float64
		from string
	}{
		{"simulated", cudamem.Info{Simulated: true, LinkGBps: 12}, Link{}, 12, "the model"},
		{"simulated with jitter", cudamem.Info{Simulated: true, LinkGBps: 12, Model: map[string]string{"jitter": "0.5"}}, Link{}, 24, "the model"},
		{"simulated and endless", cudamem.Info{Simulated: true}, Link{}, 0, ""},
		{"PCIe 5", cudamem.Info{LinkGBps: 126}, Link{During: &full}, 63, "PCIe 5 x16"},
		{"what the device says", cudamem.Info{LinkGBps: 63}, Link{}, 63, "the device"},
		{"another link than PCIe", cudamem.Info{LinkGBps: 63, HostPageTables: true}, Link{During: &full}, 0, ""},
	} {
		c.link.limit(c.info)
		r := Result{Link: c.link}
		if r.limitGBps() != c.want || c.link.LimitFrom != c.from {
			t.Errorf("%s: %v from %q", c.name, r.limitGBps(), c.link.LimitFrom)
		}
	}
}

// TestLinkUnderLoad: a link still waking up is looked at again; a driver that
// fails or hangs is noted.
func TestLinkUnderLoad(t *testing.T) {
	for _, c := range []struct {
		name   string
		read   func(call int) (LinkState, error)
		before string
		during string
		alarm  bool
		note   string
	}{
		{"awake at the third reading", func(call int) (LinkState, error) {
			return state(min(int64(call), 4), 16, 4, 16), nil
		}, "PCIe 1 x16", "PCIe 4 x16", false, ""},
		{"never awake", func(int) (LinkState, error) { return state(1, 16, 4, 16), nil }, "PCIe 1 x16", "PCIe 1 x16", true, ""},
		{"fails", func(int) (LinkState, error) { return LinkState{}, errors.New("lost") }, "", "", false, "could not be read: lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
				o := Options{Kinds: []cudamem.HostKind{cudamem.Pinned}, Sizes: []int64{4096}, Directions: []Direction{HtoD}}
				calls := 0
				o.ReadLink = func() (LinkState, error) { calls++; return c.read(calls) }
				r := run(t, dev, clock, o)
				if text(r.Link.Before) != c.before || text(r.Link.During) != c.during || (r.Link.Alarm() != "") != c.alarm {
					t.Errorf("%v before, %v during, alarm %q", r.Link.Before, r.Link.During, r.Link.Alarm())
				}
				if !strings.Contains(strings.Join(r.Notes, "\n"), c.note) {
					t.Errorf("notes %q", r.Notes)
				}
				checkText(t, r)
			})
		})
	}
	t.Run("hangs", func(t *testing.T) {
		inBubble(t, nil, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
			hang := make(chan struct{})
			calls := 0
			o := Options{Kinds: []cudamem.HostKind{cudamem.Pinned}, Sizes: []int64{4096}, Directions: []Direction{HtoD}}
			o.ReadLink = func() (LinkState, error) {
				if calls++; calls > 1 {
					<-hang
				}
				return LinkState{}, nil
			}
			r := run(t, dev, clock, o)
			if late := clock.Now(); late > 8*time.Second {
				t.Errorf("given up after %v", late)
			}
			if r.Link.During != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "within 5 s") {
				t.Errorf("%v, notes %q", r.Link.During, r.Notes)
			}
			close(hang)
		})
	})
}

func text(s *LinkState) string {
	if s == nil {
		return ""
	}
	return s.String()
}

// TestNothingDefined: an endless link takes no time. Nowhere stands 0, inf or nan.
func TestNothingDefined(t *testing.T) {
	inBubble(t, map[string]string{"link-gbps": "inf"}, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		r := run(t, dev, clock, all([]cudamem.HostKind{cudamem.Pinned}, 4096))
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Simulated bool
			Device    struct{ Model map[string]string }
			Link      map[string]any
			Cells     []struct{ GBps struct{ Median *float64 } }
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		if !file.Simulated || file.Device.Model["link-gbps"] != "inf" || len(file.Cells) != 4 || file.Cells[0].GBps.Median != nil || file.Link["limit_gbps"] != nil {
			t.Errorf("%s", data)
		}
		if !bytes.Contains(data, []byte(`"gbps":{"count":0,"median":null`)) {
			t.Errorf("%s", data)
		}
		shown := checkText(t, r)
		if !strings.Contains(shown, "   4 KiB        n/a") || strings.Contains(strings.ToLower(shown), "nan") || strings.Contains(shown, "Inf") {
			t.Error(shown)
		}
		if rows := readCSV(t, r); rows[1][8] != "" || rows[1][11] != "" || rows[1][17] != "" {
			t.Errorf("%q", rows[1])
		}
		if points, without := r.Curve(HtoD, cudamem.Pinned); points != nil || without != 1 {
			t.Errorf("%v, %d without", points, without)
		}
	})
}

func readCSV(t *testing.T, r *Result) [][]string {
	t.Helper()
	var out bytes.Buffer
	if err := r.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != bytes.Count(out.Bytes(), []byte("\r\n")) {
		t.Error("lines do not end in CRLF (RFC 4180)")
	}
	rows, err := csv.NewReader(&out).ReadAll() // checks that all rows are as long as the first
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+len(r.Cells)+len(r.Reference) {
		t.Errorf("%d rows", len(rows))
	}
	return rows
}

func TestCSV(t *testing.T) {
	inBubble(t, map[string]string{"pin-s-per-gib": "1.024"}, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		r := run(t, dev, clock, Options{Kinds: []cudamem.HostKind{cudamem.Pinned}, Sizes: []int64{12 << 20}, Directions: []Direction{HtoD}, PerCell: 50 * ms})
		rows := readCSV(t, r)
		// 12 MiB take 1.048576 ms at 12 GB/s: 7 copies in each of 7 samples fit 50 ms.
		want := "sim:laptop,true,cell,htod,pinned,12582912,7,7,12,12,12,1048576,1048576,1048576,0,0,0,12,false,12000000,0,"
		if got := strings.Join(rows[1], ","); strings.TrimSuffix(strings.TrimSuffix(got, "true"), "false") != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if got := strings.Join(rows[2][:8], ",") + rows[2][19]; got != "sim:laptop,true,nvbandwidth,htod,pinned,67108864,16,3" {
			t.Error(got)
		}
	})
}

// checkText checks that the text fits 80 columns of ASCII and says that it is simulated.
func checkText(t *testing.T, r *Result) string {
	t.Helper()
	var out strings.Builder
	if err := r.Text(&out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > textWidth || strings.ContainsFunc(line, func(c rune) bool { return c > '~' }) {
			t.Errorf("%d columns, or not ASCII: %s", len(line), line)
		}
		if title := strings.Contains(line, "GB/s of DMA time") || strings.Contains(line, "All figures at"); title && r.Simulated && !strings.Contains(line, "SIMULATED") {
			t.Errorf("does not say SIMULATED: %s", line)
		}
	}
	return out.String()
}

func TestNotesComeOnce(t *testing.T) {
	r := newResult(cudamem.Info{}, Options{})
	r.note("%d", 1)
	r.note("%d", 2)
	r.note("%d", 1)
	if len(r.Notes) != 2 {
		t.Errorf("%q", r.Notes)
	}
}

func TestText(t *testing.T) {
	o := all(Kinds(), 4096, 64<<20)
	r := newResult(cudamem.Info{ID: "cuda:0", Name: "a GPU", Driver: "580"}, o)
	idle, full := state(1, 16, 4, 16), state(4, 16, 4, 16)
	r.Link = Link{Before: &idle, During: &full}
	r.Link.limit(cudamem.Info{})
	cell := func(d Direction, k cudamem.HostKind, bytes int64, gbps ...float64) {
		var samples []Sample
		for _, rate := range gbps {
			samples = append(samples, Sample{Copies: 1, DMA: time.Duration(float64(bytes) / rate), Blocked: 2500})
		}
		r.Cells = append(r.Cells, NewCell(d, k, bytes, samples, r.limitGBps()))
	}
	cell(HtoD, cudamem.Pinned, 64<<20, 24.8, 24.8, 24.8)
	cell(HtoDWhileDtoH, cudamem.Pinned, 64<<20, 11, 11, 11)
	cell(DtoH, cudamem.Pinned, 64<<20, 24, 24, 24)
	cell(DtoHWhileHtoD, cudamem.Pinned, 64<<20, 23.9, 23.9, 23.9)
	cell(HtoD, cudamem.Registered, 64<<20, 512, 512, 512)
	cell(HtoD, cudamem.Pageable, 64<<20, 5, 6, 7, 8, 9, 10)
	r.Cells[2].Alone = true
	shown := checkText(t, r)
	for _, want := range []string{
		"Device   cuda:0, a GPU, driver 580\n",
		"Link     PCIe 1 x16 before, PCIe 4 x16 under load, PCIe 4 x16 at most\nLimit    31.50 GB/s each way (PCIe 4 x16)\n",
		"HtoD alone, GB/s of DMA time\n    size   pageable      pinned  registered\n   4 KiB          -           -           -\n  64 MiB       7.50~      24.80       512.0!\n",
		"HtoD alone, time that a call blocks its caller\n",
		"! above the link's limit",
		"~ the 95 % interval",
		"+ the other direction was not busy",
		"HtoD while downloading, pinned         11.00            n/a   6.101 ms    2.5 us\n",
		// C57: 11 / 24.8 = 44.4 %
		"HtoD while downloading: pinned 44.4 % of what it is alone. This comes of two-way\ntraffic, not of pinning.\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("lacks %q:\n%s", want, shown)
		}
	}
	for _, not := range []string{"SIMULATED", "ALARM", "DtoH while uploading:"} {
		if strings.Contains(shown, not) {
			t.Errorf("has %q", not)
		}
	}
	r.Link.During = &idle
	if shown := checkText(t, r); !strings.Contains(shown, "ALARM    under load the link ran as PCIe 1 x16") {
		t.Error(shown)
	}
	r.Simulated, r.Device.ID = true, "sim:x"
	if shown := checkText(t, r); !strings.HasPrefix(shown, "SIMULATED") || !strings.HasSuffix(shown, "n/a; SIMULATED by sim:x\n") {
		t.Error(shown)
	}
}

// TestC74Curve: points for logarithmic axes are above 0, what has no figure is counted.
func TestC74Curve(t *testing.T) {
	r := &Result{Cells: []Cell{
		NewCell(HtoD, cudamem.Pinned, 12000, []Sample{{Copies: 1, DMA: 1000}}, 0),
		NewCell(HtoD, cudamem.Pinned, 5000, []Sample{{Copies: 1, DMA: 1000}}, 0),
		NewCell(HtoD, cudamem.Pinned, 100, []Sample{{Copies: 1}}, 0),
		NewCell(DtoH, cudamem.Pinned, 1000, []Sample{{Copies: 1, DMA: 1000}}, 0),
	}}
	points, without := r.Curve(HtoD, cudamem.Pinned)
	if len(points) != 2 || points[0] != (Point{5000, 5}) || points[1] != (Point{12000, 12}) || without != 1 {
		t.Errorf("%v, %d without", points, without)
	}
	if points, without := r.Curve(DtoH, cudamem.Pinned); len(points) != 1 || points[0].GBps != 1 || without != 0 {
		t.Errorf("%v, %d without", points, without)
	}
}

func TestDirections(t *testing.T) {
	got, err := ParseDirections([]string{"both", "dtoh", "both"})
	if err != nil || len(got) != 3 || got[0] != HtoDWhileDtoH || got[1] != DtoHWhileHtoD || got[2] != DtoH {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ParseDirections([]string{"up"}); err == nil || !strings.Contains(err.Error(), "htod, dtoh, both") {
		t.Error(err)
	}
	for d := range Direction(len(directions)) {
		var again Direction
		if text, _ := d.MarshalText(); again.UnmarshalText(text) != nil || again != d {
			t.Errorf("%v became %v", d, again)
		}
	}
	if new(Direction).UnmarshalText([]byte("up")) == nil {
		t.Error("up is taken for a direction")
	}
}
