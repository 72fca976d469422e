package bandwidth

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/bench/stats"
	"pinscope/cudamem"
	"pinscope/cudamem/cpu"
	"pinscope/cudamem/sim"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// inBubble runs a test on a simulated GPU whose clock stands still but while all
// wait: 12 GB/s, no latency, two copy engines, and the settings given. It checks
// that no pinned memory is left.
func inBubble(t *testing.T, settings map[string]string, test func(t *testing.T, dev cudamem.Device, clock cudamem.Clock)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		before := cudamem.ReadLedger().PinnedBytes
		clock := cudamem.NewPlainClock()
		dev := open(t, settings, clock)
		test(t, dev, clock)
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if left := cudamem.ReadLedger().PinnedBytes - before; left != 0 {
			t.Errorf("%d bytes are still locked", left)
		}
	})
}

func open(t testing.TB, settings map[string]string, clock cudamem.Clock) cudamem.Device {
	t.Helper()
	model, err := sim.Lookup("laptop")
	if err != nil {
		t.Fatal(err)
	}
	for _, some := range []map[string]string{{"link-gbps": "12", "latency": "0"}, settings} {
		for key, value := range some {
			if err := model.Set(key, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	dev, err := sim.Open(model, clock)
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

func all(kinds []cudamem.HostKind, sizes ...int64) Options {
	return Options{Kinds: kinds, Sizes: sizes, Directions: []Direction{HtoD, DtoH, HtoDWhileDtoH, DtoHWhileHtoD}, PerCell: 50 * ms}
}

func run(t *testing.T, dev cudamem.Device, clock cudamem.Clock, o Options) *Result {
	t.Helper()
	r, err := Run(t.Context(), dev, clock, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func median(t *testing.T, s stats.Summary) float64 {
	t.Helper()
	if s.Median == nil {
		t.Fatal("no median")
	}
	return *s.Median
}

// TestFiguresFollowTheModel: 6 us and bytes at 12 GB/s (pageable: 6 GB/s) a copy.
// 4,096 B take 0.341 us and 0.683 us, 1 MiB 87.381 us and 174.763 us.
func TestFiguresFollowTheModel(t *testing.T) {
	const small, large = 4 << 10, 1 << 20
	for _, c := range []struct {
		name      string
		engines   string
		direction Direction
		kind      cudamem.HostKind
		bytes     int64
		dma       time.Duration
		blocked   time.Duration
	}{
		{"pinned, small", "2", HtoD, cudamem.Pinned, small, 6341, 0},
		{"pinned", "2", HtoD, cudamem.Pinned, large, 93381, 0},
		{"pinned, down", "2", DtoH, cudamem.Pinned, large, 93381, 0},
		{"registered", "2", HtoD, cudamem.Registered, large, 93381, 0},
		{"write-combined", "2", DtoH, cudamem.WriteCombined, large, 93381, 0},
		{"mapped, by a kernel", "2", HtoD, cudamem.Mapped, large, 93381, 0},
		{"pageable that goes along with the call", "2", HtoD, cudamem.Pageable, small, 6683, 0},
		{"pageable", "2", HtoD, cudamem.Pageable, large, 180763, 180763},
		{"pageable, down", "2", DtoH, cudamem.Pageable, large, 180763, 180763},
		{"an engine for each way", "2", HtoDWhileDtoH, cudamem.Pinned, large, 93381, 0},
		{"an engine for each way, down", "2", DtoHWhileHtoD, cudamem.Pinned, large, 93381, 0},
		{"one engine: in turn", "1", HtoDWhileDtoH, cudamem.Pinned, large, 2 * 93381, 0},
		{"one engine: in turn, down", "1", DtoHWhileHtoD, cudamem.Pinned, large, 2 * 93381, 0},
		{"one engine, alone", "1", DtoH, cudamem.Pinned, large, 93381, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings := map[string]string{"latency": "6us", "pageable-gbps": "6", "copy-engines": c.engines}
			inBubble(t, settings, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
				r := run(t, dev, clock, Options{Kinds: []cudamem.HostKind{c.kind}, Sizes: []int64{c.bytes}, Directions: []Direction{c.direction}, PerCell: 50 * ms})
				if len(r.Cells) != 1 {
					t.Fatalf("%d cells; %q", len(r.Cells), r.Notes)
				}
				cell := r.Cells[0]
				if got := median(t, cell.DMANanos); got != float64(c.dma) {
					t.Errorf("DMA %v ns, want %v", got, float64(c.dma))
				}
				if got := median(t, cell.BlockedNanos); got != float64(c.blocked) {
					t.Errorf("blocked %v ns, want %v", got, float64(c.blocked))
				}
				if got, want := median(t, cell.GBps), float64(c.bytes)/float64(c.dma); math.Abs(got-want) > 1e-9 {
					t.Errorf("%v GB/s, want %v", got, want)
				}
				// The time of a cell has room for 25 samples of 16 copies, but for the
				// pageable MiB (16 x 181 us: 17.3 in 50 ms) and two in turn (16.7).
				if cell.copies() != 16 || cell.GBps.Count < 17 || cell.GBps.Count > 25 || cell.GBps.Interval == nil {
					t.Errorf("%d samples of %d copies, interval %v", cell.GBps.Count, cell.copies(), cell.GBps.Interval)
				}
				if cell.AboveLimit || cell.Alone {
					t.Errorf("above limit %v, alone %v", cell.AboveLimit, cell.Alone)
				}
			})
		})
	}
}

// TestLargeCopiesAreFewer: 64 MiB take 5.592 ms at 12 GB/s, 6 of them fit 50 ms
// one by one; of 16 MiB (1.398 ms) 5 make a sample.
func TestLargeCopiesAreFewer(t *testing.T) {
	for _, c := range []struct {
		perCopy, perCell time.Duration
		want             int
	}{
		{5592 * us, 50 * ms, 1}, {1398 * us, 50 * ms, 5}, {520 * us, 50 * ms, 16}, {521 * us, 50 * ms, 15},
		{time.Second, 50 * ms, 1}, {0, 50 * ms, 16}, {1, 0, 1},
	} {
		if got := copiesFor(c.perCopy, c.perCell); got != c.want {
			t.Errorf("%v a copy in %v: %d, want %d", c.perCopy, c.perCell, got, c.want)
		}
	}
	inBubble(t, nil, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		o := all([]cudamem.HostKind{cudamem.Pinned}, 128<<20)
		o.PerCell = 0
		r := run(t, dev, clock, o)
		for _, cell := range r.Cells {
			if cell.copies() != 1 || cell.GBps.Count != leastSamples {
				t.Errorf("%v: %d samples of %d copies", cell.Direction, cell.GBps.Count, cell.copies())
			}
			if cell.Alone || math.Abs(median(t, cell.GBps)-12) > 1e-6 {
				t.Errorf("%v: %v GB/s, alone %v", cell.Direction, *cell.GBps.Median, cell.Alone)
			}
		}
		if len(r.Cells) != 4 {
			t.Errorf("%d cells", len(r.Cells))
		}
	})
}

// TestEnoughForAnInterval: 64 MiB up and down in turn over 12 GB/s take 11.2 ms and
// a sample 16.8 ms, of which only 3 fit 50 ms; there are 6 nevertheless.
func TestEnoughForAnInterval(t *testing.T) {
	inBubble(t, map[string]string{"copy-engines": "1"}, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		r := run(t, dev, clock, Options{Kinds: []cudamem.HostKind{cudamem.Pinned}, Sizes: []int64{64 << 20}, Directions: []Direction{HtoDWhileDtoH}, PerCell: 50 * ms})
		if cell := r.Cells[0]; cell.GBps.Count != 6 || cell.GBps.Interval == nil || math.Abs(*cell.GBps.Median-6) > 1e-6 {
			t.Errorf("%+v", cell.GBps)
		}
	})
}

// TestC54LinkWakesUp: 3, 6, then 12 GB/s; the first two are kept and not counted.
func TestC54LinkWakesUp(t *testing.T) {
	// Allocating takes 1.25 s, so that the link falls asleep again before the cell.
	settings := map[string]string{"ramp": "3:6:12", "pin-s-per-gib": "20"}
	inBubble(t, settings, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		r := run(t, dev, clock, all([]cudamem.HostKind{cudamem.Pinned}, 4096, 64<<20))
		if r.WarmUp.Slow != 2 || !rises(r.WarmUp.GBps) {
			t.Errorf("%d slow, %.3f", r.WarmUp.Slow, r.WarmUp.GBps[:min(5, len(r.WarmUp.GBps))])
		}
		first := r.Cell(HtoD, cudamem.Pinned, 64<<20)
		if !rises(first.WarmUp) {
			t.Errorf("before the cell: %.3f", first.WarmUp)
		}
		for _, cell := range append(slices.Clone(r.Cells), r.Reference...) {
			if least := *cell.GBps.Min; math.Abs(least/12-1) > 0.05 || math.Abs(*cell.GBps.Max/12-1) > 0.05 {
				t.Errorf("%v %d bytes: %v..%v GB/s counted", cell.Direction, cell.Bytes, least, *cell.GBps.Max)
			}
		}
		if text := r.WarmUp.text(); !strings.Contains(text, "kept but not counted; slow at first: 2, from 3.00 GB/s on") {
			t.Error(text)
		}
	})
}

func rises(gbps []float64) bool {
	want := []float64{3, 6, 12, 12, 12}
	if len(gbps) < len(want) {
		return false
	}
	for i, v := range want {
		if math.Abs(gbps[i]/v-1) > 1e-3 {
			return false
		}
	}
	return true
}

func TestSteady(t *testing.T) {
	for _, c := range []struct {
		name  string
		rates []float64
		want  bool
		slow  int
	}{
		{"none", nil, false, 0},
		{"too few", []float64{12, 12}, false, 0},
		{"steady at once", []float64{12, 12, 12}, true, 0},
		{"5 % apart", []float64{11.4, 12, 12}, true, 0},
		{"more than 5 % apart", []float64{11.39, 12, 12}, false, 1},
		{"still rising", []float64{3, 6, 12}, false, 1}, // of 3, 6, 12 the median is 6
		{"awake", []float64{3, 6, 12, 12, 12}, true, 2},
	} {
		if got, slow := steady(c.rates), slowAtFirst(c.rates); got != c.want || slow != c.slow {
			t.Errorf("%s: steady %v with %d slow, want %v with %d", c.name, got, slow, c.want, c.slow)
		}
	}
}

// TestC61Reference: 64 MiB, pinned, 16 copies, 3 samples, whatever was asked for.
func TestC61Reference(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		r := run(t, dev, clock, Options{Kinds: []cudamem.HostKind{cudamem.Pageable}, Sizes: []int64{4096}, Directions: []Direction{DtoH}})
		if len(r.Reference) != 2 || r.Reference[0].Direction != HtoD || r.Reference[1].Direction != DtoH {
			t.Fatalf("%d cells", len(r.Reference))
		}
		for _, cell := range r.Reference {
			if cell.Kind != cudamem.Pinned || cell.Bytes != 64<<20 || cell.copies() != 16 || cell.GBps.Count != 3 {
				t.Errorf("%v of %d bytes: %d samples of %d", cell.Kind, cell.Bytes, cell.GBps.Count, cell.copies())
			}
			if math.Abs(median(t, cell.GBps)-12) > 1e-6 {
				t.Errorf("%v GB/s", *cell.GBps.Median)
			}
		}
		want := "Pinned copies as nvbandwidth makes them (64 MiB buffer, 16 copies, median of 3):\n  HtoD 12.00 GB/s, DtoH 12.00 GB/s; SIMULATED by sim:laptop"
		if got := r.Sentence(); got != want {
			t.Errorf("%q", got)
		}
	})
}

func TestAllocationCosts(t *testing.T) {
	inBubble(t, map[string]string{"pin-s-per-gib": "1.024"}, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		r := run(t, dev, clock, all([]cudamem.HostKind{cudamem.Pageable, cudamem.Pinned}, 1<<20, 64<<20))
		for _, c := range []struct {
			kind  cudamem.HostKind
			bytes int64
			want  time.Duration
			tries int
		}{
			{cudamem.Pageable, 1 << 20, 0, 7}, {cudamem.Pageable, 64 << 20, 0, 7}, // real work: no time in the bubble
			{cudamem.Pinned, 1 << 20, ms, 7}, {cudamem.Pinned, 64 << 20, 64 * ms, 1},
		} {
			a := r.allocation(c.kind, c.bytes)
			if a == nil || median(t, a.AllocNanos) != float64(c.want) || a.AllocNanos.Count != c.tries || a.FreeNanos.Count != c.tries {
				t.Errorf("%v of %d bytes: %+v", c.kind, c.bytes, a)
			}
		}
	})
}

func TestLeftOut(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings map[string]string
		kinds    []cudamem.HostKind
		sizes    []int64
		cells    int
		note     string
	}{
		{"both ways of pageable", nil, []cudamem.HostKind{cudamem.Pageable}, []int64{4096}, 2, "pageable is left out of both ways"},
		{"mapped but by a kernel", nil, []cudamem.HostKind{cudamem.Mapped}, []int64{4096}, 1, "mapped only as HtoD alone"},
		{"managed", nil, []cudamem.HostKind{cudamem.Managed}, []int64{4096}, 0, "the simulated GPU has no model of pages that move"},
		{"what cannot be pinned", map[string]string{"pin-limit": "65MiB"}, []cudamem.HostKind{cudamem.Pinned}, []int64{64 << 10, 8 << 20}, 4, "pinned of 8 MiB is left out"},
		{"no pinned memory for the reference", map[string]string{"pin-limit": "1MiB"}, []cudamem.HostKind{cudamem.Pinned}, []int64{4096}, 2, "the comparison with nvbandwidth is left out"},
		{"no pinned memory at all", map[string]string{"pin-limit": "1B"}, []cudamem.HostKind{cudamem.Mapped}, []int64{4096}, 0, "no memory for the kernel's index"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, c.settings, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
				o := all(c.kinds, c.sizes...)
				r := run(t, dev, clock, o)
				if len(r.Cells) != c.cells || !strings.Contains(strings.Join(r.Notes, "\n"), c.note) {
					t.Errorf("%d cells, want %d; notes %q", len(r.Cells), c.cells, r.Notes)
				}
				checkText(t, r)
			})
		})
	}
}

// TestOtherDirectionStaysBusy: copies that take three times as long as those of
// the other direction need four of these each.
func TestOtherDirectionStaysBusy(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		e := &engine{dev: dev, clock: clock, o: all([]cudamem.HostKind{cudamem.Pinned}, 1<<20), result: newResult(dev.Info(), Options{})}
		if err := e.open(); err != nil {
			t.Fatal(err)
		}
		m, other := e.movers(HtoDWhileDtoH, e.reference, 1<<20)
		m.stream = slowStream{m.stream}
		p, err := e.plan(m, other)
		if err != nil || p.others != 4 || p.copies != 16 {
			t.Errorf("plan %+v, %v", p, err)
		}
		if _, alone, err := e.samples(m, other, p); alone || err != nil {
			t.Errorf("alone %v, %v", alone, err)
		}
		p.others = 2
		if _, alone, err := e.samples(m, other, p); !alone || err != nil {
			t.Errorf("with too few: alone %v, %v", alone, err)
		}
		if err := e.close(); err != nil {
			t.Error(err)
		}
	})
}

// slowStream copies everything three times.
type slowStream struct{ cudamem.Stream }

func (s slowStream) CopyHtoD(dst cudamem.DeviceBuffer, at int64, src *cudamem.HostBuffer, from, bytes int64) error {
	for range 2 {
		if err := s.Stream.CopyHtoD(dst, at, src, from, bytes); err != nil {
			return err
		}
	}
	return s.Stream.CopyHtoD(dst, at, src, from, bytes)
}

func TestCancel(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		o := all([]cudamem.HostKind{cudamem.Pinned}, 4096)
		calls := 0
		o.Progress = func(done, total int) {
			if done != calls || total != 4 {
				t.Errorf("%d of %d, want %d of 4", done, total, calls)
			}
			if calls++; done == 2 {
				cancel(why)
			}
		}
		if r, err := Run(ctx, dev, clock, o); !errors.Is(err, why) || r != nil || calls != 3 {
			t.Errorf("%v, %v after %d calls", r, err, calls)
		}
	})
}

func TestNoLink(t *testing.T) {
	dev, err := cpu.Open(cudamem.NewPlainClock())
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if _, err := Run(t.Context(), dev, cudamem.NewPlainClock(), all(Kinds(), 4096)); err == nil || !strings.Contains(err.Error(), "cpu has no link") {
		t.Error(err)
	}
}

// TestNothingIsAllocated in a sample.
func TestNothingIsAllocated(t *testing.T) {
	clock := cudamem.NewPlainClock()
	dev := open(t, map[string]string{"link-gbps": "inf"}, clock)
	e := &engine{dev: dev, clock: clock, o: all([]cudamem.HostKind{cudamem.Pinned}, 1<<20), result: newResult(dev.Info(), Options{})}
	if err := e.open(); err != nil {
		t.Fatal(err)
	}
	for d, others := range map[Direction]int{HtoD: 0, DtoHWhileHtoD: 1} {
		m, other := e.movers(d, e.reference, 1<<20)
		if n := testing.AllocsPerRun(50, func() {
			if _, err := e.timer.sample(m, other, 4, others); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations a sample", d, n)
		}
	}
	if err := errors.Join(e.close(), dev.Close()); err != nil {
		t.Error(err)
	}
}

func TestNeeds(t *testing.T) {
	pinned := []cudamem.HostKind{cudamem.Pageable, cudamem.Pinned}
	for _, c := range []struct {
		name                 string
		o                    Options
		host, locked, device int64
	}{
		{"1 GiB, both ways", all(pinned, 4096, 1<<30), 1<<30 + 64<<20, 1<<30 + 64<<20, 1<<30 + 64<<20},
		{"one way", Options{Kinds: pinned, Sizes: []int64{1 << 30}, Directions: []Direction{HtoD}}, 1<<30 + 64<<20, 1<<30 + 64<<20, 1 << 30},
		{"pageable", Options{Kinds: pinned[:1], Sizes: []int64{1 << 30}, Directions: []Direction{DtoH}}, 1<<30 + 64<<20, 64 << 20, 1 << 30},
		{"small", Options{Kinds: pinned, Sizes: []int64{4096}, Directions: []Direction{DtoH}}, 4096 + 64<<20, 4096 + 64<<20, 64 << 20},
		{"what would wrap", all(pinned, math.MaxInt64-1), math.MaxInt64, math.MaxInt64, math.MaxInt64},
	} {
		if host, locked, device := c.o.Needs(); host != c.host || locked != c.locked || device != c.device {
			t.Errorf("%s: %d, %d, %d", c.name, host, locked, device)
		}
	}
	if got := Sizes(1 << 40); len(got) != 10 || got[0] != 4096 || got[9] != 1<<30 {
		t.Errorf("%d", got)
	}
	if got := Sizes(4095); got != nil {
		t.Errorf("%d", got)
	}
}
