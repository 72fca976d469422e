package pressure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/cudamem"
)

func TestFindKnee(t *testing.T) {
	nan := math.NaN()
	cases := []struct {
		name   string
		bytes  []int64
		values []float64 // NaN: not measured
		knee   int64     // -1: none
		good   int64
	}{
		{"flat", []int64{0, 0, 1, 2, 3}, []float64{100, 101, 99, 100, 100}, -1, 0},
		{"cliff", []int64{0, 0, 1, 2, 3, 4}, []float64{100, 101, 99, 100, 50, 40}, 3, 2},
		{"cliff at the first ballast", []int64{0, 0, 1, 2}, []float64{100, 100, 50, 50}, 1, 0},
		{"a lucky first value", []int64{0, 0, 1, 2}, []float64{115, 100, 100, 100}, -1, 0},
		{"one dip", []int64{0, 0, 1, 2, 3, 4}, []float64{100, 100, 50, 100, 100, 100}, -1, 0},
		{"a dip and then a fall", []int64{0, 0, 1, 2, 3, 4, 5, 6}, []float64{100, 100, 100, 100, 50, 100, 60, 60}, 5, 4},
		{"sinking slowly", []int64{0, 0, 1, 2, 3, 4, 5}, []float64{100, 100, 97, 94, 91, 86, 80}, 4, 3},
		{"a tenth is no fall yet", []int64{0, 0, 1}, []float64{100, 100, 90}, -1, 0},
		{"more than a tenth", []int64{0, 0, 1}, []float64{100, 100, 89.9}, 1, 0},
		// Median 100, neighbours 20 20 10 20 apart: scatter 20 / 0.954 = 20.97, bound 100 - 62.9 = 37.1.
		{"noisy: within three scatters", []int64{0, 0, 0, 0, 0, 1}, []float64{100, 80, 100, 90, 110, 38}, -1, 0},
		{"noisy: beyond", []int64{0, 0, 0, 0, 0, 1}, []float64{100, 80, 100, 90, 110, 37}, 1, 0},
		{"at the last step", []int64{0, 0, 1, 2}, []float64{100, 100, 100, 10}, 2, 1},
		{"not measured are left out", []int64{0, 0, 1, 2, 3}, []float64{100, nan, 100, nan, 10}, 3, 1},
		{"nothing", nil, nil, -1, 0},
		{"one", []int64{0}, []float64{100}, -1, 0},
		{"nothing moves", []int64{0, 0, 1}, []float64{0, 0, 0}, -1, 0},
		{"rising", []int64{0, 0, 1, 2}, []float64{100, 100, 150, 200}, -1, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var points []Point
			for i := range tc.bytes {
				points = append(points, Point{tc.bytes[i], &tc.values[i]})
			}
			points = append(points, Point{Bytes: 99})
			knee := FindKnee(points)
			if (knee == nil) != (tc.knee < 0) {
				t.Fatalf("knee %+v, want %d", knee, tc.knee)
			}
			if knee != nil && (knee.Bytes != tc.knee || knee.LastGood != tc.good) {
				t.Errorf("knee %+v, want %d after %d", knee, tc.knee, tc.good)
			}
		})
	}
	knee := FindKnee([]Point{{0, known(100.0)}, {1 << 20, known(25.0)}})
	if want := "throughput falls by 75.0 % once 1 MiB are held; with 0 B it was still good (seen at the last step only)"; knee.Text("throughput") != want {
		t.Errorf("%q", knee.Text("throughput"))
	}
}

func TestBallastSteps(t *testing.T) {
	l := machineOf(16*gib, 10*gib)
	cases := []struct {
		name  string
		l     Limits
		share float64
		steps int
		want  []int64
	}{
		{"60 % in three", l, 0.6, 3, []int64{0, 0, 2 * gib, 4 * gib, 6 * gib}},
		{"never above what can be used", l, 5, 1, []int64{0, 0, 8*gib + 3*gib/4}},
		{"whole pages", machineOf(16*gib, 10*gib), 0.1, 3, []int64{0, 0, gib / 3 / 4096 * 4096, gib / 3 * 2 / 4096 * 4096, gib / 3 * 3 / 4096 * 4096}},
		{"unknown", Limits{}, 0.6, 3, nil}, {"no steps", l, 0.6, 0, nil}, {"nothing", l, 0, 3, nil}, {"nonsense", l, math.NaN(), 3, nil},
		{"nothing to spend", machineOf(16*gib, 100), 0.6, 3, nil},
	}
	for _, tc := range cases {
		if got := BallastSteps(tc.l, tc.share, tc.steps); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// fakeMachine has memory that ballast takes from, told by its meminfo.
type fakeMachine struct {
	t         *testing.T
	root      Root
	available int64
	held      int64
	most      int64
	calls     int
	refuse    int64 // no more than this is given; 0: all
}

func (m *fakeMachine) tell() {
	write(m.t, m.root, "proc/meminfo", fmt.Sprintf("MemTotal: 16777216 kB\nMemAvailable: %d kB\n", (m.available-m.held)/1024))
}

func (m *fakeMachine) alloc(bytes int64) (func() error, error) {
	m.calls++
	if m.refuse > 0 && m.held+bytes > m.refuse {
		return nil, errors.New("the driver refused")
	}
	m.held += bytes
	m.most = max(m.most, m.held)
	m.tell()
	return func() error { m.held -= bytes; m.tell(); return nil }, nil
}

func newFakeMachine(t *testing.T) *fakeMachine {
	m := &fakeMachine{t: t, root: base().root(t), available: 10 * gib}
	m.tell()
	return m
}

func (m *fakeMachine) experiment(clock cudamem.Clock, measure func(context.Context) (float64, error)) Experiment {
	l := ReadLimits(m.root)
	return Experiment{Root: m.root, Clock: clock, Kind: "pinned", Pinned: true, Alloc: m.alloc, Ballast: BallastSteps(l, 0.8, 8),
		Override: true, Rules: DefaultRules(l), Measure: measure}
}

func TestExperimentFindsTheKnee(t *testing.T) {
	m := newFakeMachine(t)
	synctest.Test(t, func(t *testing.T) {
		clock := cudamem.NewPlainClock()
		e := m.experiment(clock, func(ctx context.Context) (float64, error) {
			time.Sleep(time.Second + DefaultEvery/2)
			if m.held > 5*gib {
				return 400, nil
			}
			return 1000, nil
		})
		var told int
		e.OnStep = func(Step) { told++ }
		out, err := e.Run(t.Context())
		must(t, err)
		if len(out.Steps) != 10 || told != 10 || out.Ended != "" || m.held != 0 || m.most != e.Ballast[9] {
			t.Fatalf("%d steps, told %d, ended %q, held %d, most %d", len(out.Steps), told, out.Ended, m.held, m.most)
		}
		if out.RateKnee == nil || out.RateKnee.Bytes != e.Ballast[7] || *out.SafeBytes != e.Ballast[6] || out.CacheKnee != nil || out.StrainBytes != nil {
			t.Errorf("knee %+v, safe %v", out.RateKnee, show(out.SafeBytes))
		}
		if want := "5 GiB of pinned memory were held without harm; throughput falls by 60.0 % once 6 GiB are held; with 5 GiB it was still good."; out.Text != want {
			t.Errorf("%q", out.Text)
		}
		last := out.Steps[9]
		if *last.LeastAvailableBytes != float64(2*gib) || last.Elapsed != time.Second+DefaultEvery/2 || last.FullShare != nil || last.Cost.Samples != 22 {
			t.Errorf("last step %+v", last)
		}
		if _, err := json.Marshal(out); err != nil {
			t.Error(err)
		}
	})
}

func TestExperimentEnds(t *testing.T) {
	cases := []struct {
		name    string
		prepare func(*fakeMachine, *Experiment)
		steps   int
		ended   string // part of Outcome.Ended
		failed  string // part of the error
	}{
		{"without the override", func(m *fakeMachine, e *Experiment) { e.Override = false }, 0, "", "overriding the cap is possible"},
		{"more than can be had", func(m *fakeMachine, e *Experiment) { e.Ballast = []int64{0, 9 * gib} }, 0, "", "lower up-to"},
		{"no steps", func(m *fakeMachine, e *Experiment) { e.Ballast = nil }, 0, "", "no steps"},
		{"ballast refused", func(m *fakeMachine, e *Experiment) { m.refuse = 3 * gib }, 6, "the driver refused", ""},
		{"others take memory", func(m *fakeMachine, e *Experiment) { e.OnStep = func(Step) { m.available -= gib; m.tell() } }, 7, "0 B can be used", ""},
		{"the loader fails", func(m *fakeMachine, e *Experiment) {
			measure, n := e.Measure, 0
			e.Measure = func(ctx context.Context) (float64, error) {
				if n++; n == 3 {
					return 0, errors.New("no such file")
				}
				return measure(ctx)
			}
		}, 2, "", "no such file"},
		{"memory runs out while measuring", func(m *fakeMachine, e *Experiment) {
			n := 0
			e.Rules = Rules{} // the default ones
			e.Measure = func(ctx context.Context) (float64, error) {
				if n++; n == 4 {
					m.available -= 8 * gib
					m.tell()
				}
				select {
				case <-ctx.Done():
					return 0, ctx.Err()
				case <-time.After(time.Second):
					return 1000, nil
				}
			}
		}, 4, "less than the floor of 512 MiB", ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			m := newFakeMachine(t)
			synctest.Test(t, func(t *testing.T) {
				e := m.experiment(cudamem.NewPlainClock(), func(ctx context.Context) (float64, error) { return 1000, nil })
				tc.prepare(m, &e)
				out, err := e.Run(t.Context())
				if (err == nil) != (tc.failed == "") || err != nil && !strings.Contains(err.Error(), tc.failed) {
					t.Errorf("error %v, want %q", err, tc.failed)
				}
				if len(out.Steps) != tc.steps || !strings.Contains(out.Ended, tc.ended) || (out.Ended == "") != (tc.ended == "") {
					t.Errorf("%d steps, ended %q; want %d, %q", len(out.Steps), out.Ended, tc.steps, tc.ended)
				}
				if m.held != 0 {
					t.Errorf("%d bytes of ballast are still held", m.held)
				}
				if tc.steps == 0 && m.calls > 0 {
					t.Errorf("memory was taken before the refusal")
				}
				if tc.ended != "" && (out.StrainBytes == nil || out.SafeBytes == nil || *out.SafeBytes >= *out.StrainBytes) {
					t.Errorf("strain %v, safe %v", show(out.StrainBytes), show(out.SafeBytes))
				}
			})
		})
	}
}

func TestExperimentIsCancelled(t *testing.T) {
	m := newFakeMachine(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stopped by the user")
		n := 0
		e := m.experiment(cudamem.NewPlainClock(), func(ctx context.Context) (float64, error) {
			if n++; n == 3 {
				cancel(stop)
				return 0, context.Cause(ctx)
			}
			return 1000, nil
		})
		out, err := e.Run(ctx)
		if !errors.Is(err, stop) || len(out.Steps) != 2 || out.Text == "" || m.held != 0 {
			t.Errorf("error %v, %d steps, held %d", err, len(out.Steps), m.held)
		}
	})
}

func TestExperimentIsCancelledWhileGrowing(t *testing.T) {
	m := newFakeMachine(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stopped by the user")
		e := m.experiment(cudamem.NewPlainClock(), func(ctx context.Context) (float64, error) { return 1000, nil })
		e.Alloc = func(bytes int64) (func() error, error) {
			cancel(stop)
			return m.alloc(bytes)
		}
		out, err := e.Run(ctx)
		if !errors.Is(err, stop) || len(out.Steps) != 2 || out.Ended != "" || m.held != 0 {
			t.Errorf("error %v, %d steps, ended %q, held %d", err, len(out.Steps), out.Ended, m.held)
		}
	})
}

// What is safe lies before whatever suffers first.
func TestConclusion(t *testing.T) {
	steps := func(change func(i int, s *Step)) *Outcome {
		o := &Outcome{Kind: "pinned"}
		for i, bytes := range []int64{0, 0, 1, 2, 3, 4} {
			s := Step{BallastBytes: bytes << 30, SamplesPerSecond: known(100.0), Cache: &CacheReading{Bytes: 1, BytesPerSecond: 100}}
			change(i, &s)
			o.Steps = append(o.Steps, s)
		}
		o.conclude()
		return o
	}
	cases := []struct {
		name   string
		change func(i int, s *Step)
		safe   any
		text   string
	}{
		{"nothing", func(int, *Step) {}, 4 * gib, "4 GiB of pinned memory were held and nothing suffered."},
		{"throughput", func(i int, s *Step) {
			if i >= 4 {
				*s.SamplesPerSecond = 50
			}
		}, 2 * gib, "throughput falls by 50.0 % once 3 GiB are held"},
		{"cached files", func(i int, s *Step) {
			if i >= 3 {
				s.Cache.BytesPerSecond = 5
			}
		}, 1 * gib, "reading of cached files falls by 95.0 % once 2 GiB are held"},
		{"throughput, of a system at ease", func(i int, s *Step) {
			s.ScannedPages, s.StolenPages, s.SwapOutPages, s.SomeShare = known(0.0), known(0.0), known(0.0), known(0.0)
			if i >= 4 {
				*s.SamplesPerSecond = 50
			}
		}, 4 * gib, "nothing suffered"},
		{"throughput, with reclaim at the end", func(i int, s *Step) {
			s.ScannedPages, s.StolenPages, s.SwapOutPages, s.SomeShare = known(0.0), known(0.0), known(0.0), known(0.0)
			if i >= 4 {
				*s.SamplesPerSecond = 50
			}
			if i == 5 {
				*s.ScannedPages = 32
			}
		}, 2 * gib, "throughput falls by 50.0 % once 3 GiB are held"},
		{"strain", func(i int, s *Step) {
			if i == 5 {
				s.FullShare = known(0.5)
			}
		}, 3 * gib, "at 4 GiB the system was strained"},
		{"from the start", func(i int, s *Step) { s.SomeShare = known(0.5) }, nil, "before any ballast"},
		{"a reader that got nothing", func(i int, s *Step) {
			if i >= 3 {
				*s.Cache = CacheReading{}
			}
		}, 4 * gib, "nothing suffered"},
	}
	for _, tc := range cases {
		if o := steps(tc.change); show(o.SafeBytes) != tc.safe || !strings.Contains(o.Text, tc.text) {
			t.Errorf("%s: safe %v, %q; want %v, %q", tc.name, show(o.SafeBytes), o.Text, tc.safe, tc.text)
		}
	}
}

func TestStrain(t *testing.T) {
	cases := []struct {
		name string
		step Step
		want bool
	}{
		{"calm", Step{FullShare: known(0.009), SomeShare: known(0.049)}, false},
		{"all wait", Step{FullShare: known(0.01)}, true},
		{"some wait", Step{SomeShare: known(0.05)}, true},
		{"unknown", Step{}, false},
		{"ended", Step{Ended: "x"}, true},
	}
	for _, tc := range cases {
		if got := tc.step.strained(); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

// Shares come from PSI over the measurement.
func TestStepTakesPressureFromTheSampler(t *testing.T) {
	m := newFakeMachine(t)
	psi := func(some, full int) {
		must(t, os.MkdirAll(m.root.path("proc/pressure"), 0o755))
		write(t, m.root, "proc/pressure/memory", fmt.Sprintf("some avg10=0.00 total=%d\nfull avg10=0.00 total=%d\n", some, full))
	}
	psi(1000, 1000)
	synctest.Test(t, func(t *testing.T) {
		e := m.experiment(cudamem.NewPlainClock(), func(ctx context.Context) (float64, error) {
			time.Sleep(time.Second - DefaultEvery/2)
			psi(1000+100_000, 1000+19_000) // 100 and 19 ms of the 1.025 s sampled
			m.available = 7 * gib
			m.tell()
			time.Sleep(DefaultEvery)
			return 1, nil
		})
		e.Ballast = []int64{0}
		out, err := e.Run(t.Context())
		must(t, err)
		s := out.Steps[0]
		if s.SomeShare == nil || math.Abs(*s.SomeShare-0.1/1.025) > 1e-9 || math.Abs(*s.FullShare-0.019/1.025) > 1e-9 || *s.LeastAvailableBytes != float64(7*gib) || *out.StrainBytes != 0 || out.SafeBytes != nil {
			t.Errorf("some %v, full %v, strain %v", show(s.SomeShare), show(s.FullShare), show(out.StrainBytes))
		}
	})
}

func TestBallast(t *testing.T) {
	m := newFakeMachine(t)
	b := NewBallast(m.alloc, true, func() Limits { return ReadLimits(m.root) })
	must(t, b.GrowTo(t.Context(), gib+5))
	if b.Bytes() != gib+5 || m.held != gib+5 || m.calls != 5 { // chunks of 256 MiB
		t.Errorf("holds %d, machine %d in %d calls", b.Bytes(), m.held, m.calls)
	}
	must(t, b.GrowTo(t.Context(), gib)) // less: nothing happens
	must(t, b.Release())
	must(t, b.Release())
	if b.Bytes() != 0 || m.held != 0 {
		t.Errorf("holds %d, machine %d after release", b.Bytes(), m.held)
	}
	unknown := NewBallast(m.alloc, true, func() Limits { return Limits{} })
	if err := unknown.GrowTo(t.Context(), 1); err == nil || unknown.Bytes() != 0 {
		t.Errorf("grew without knowing what is there: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.GrowTo(gone, 1); !errors.Is(err, context.Canceled) || b.Bytes() != 0 {
		t.Errorf("grew after the end: %v", err)
	}
}

func TestCacheReader(t *testing.T) {
	clock := cudamem.NewPlainClock()
	folder := t.TempDir()
	r, err := NewCacheReader(t.Context(), base().root(t), folder, 3<<20+7, clock)
	must(t, err)
	if info, err := r.file.Stat(); err != nil || info.Size() != 3<<20+7 {
		t.Fatalf("%v, %v", info, err)
	}
	// It has no name, and so is gone with its process even if that is killed.
	if files, err := os.ReadDir(folder); runtime.GOOS == "linux" && (err != nil || len(files) != 0) {
		t.Errorf("files %v, %v", files, err)
	}
	synctest.Test(t, func(t *testing.T) {
		r.clock = cudamem.NewPlainClock()
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Millisecond)
		defer cancel()
		got, err := r.Run(ctx)
		must(t, err)
		// In a bubble reading takes no time, so that only the least rests pass: at 0, 20, 40, 60, 80 ms.
		if got.Passes != 5 || got.Bytes != 5*(3<<20+7) || got.BytesPerSecond != 0 {
			t.Errorf("%+v", got)
		}
	})
	must(t, r.Close())
	must(t, r.Close())
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}

	for _, tc := range []struct {
		l    Limits
		want int64
	}{
		{machineOf(16*gib, 4*gib), 256 << 20}, {machineOf(16*gib, 8*gib), 512 << 20}, {machineOf(99*gib, 64*gib), 512 << 20},
		{machineOf(gib, 0), 0}, {Limits{}, 0},
	} {
		if got := CacheFileBytes(tc.l); got != tc.want {
			t.Errorf("file of %d bytes with %s, want %d", got, tc.l, tc.want)
		}
	}
	for _, bytes := range []int64{0, -1, MaxCacheFileBytes + 1} {
		if _, err := NewCacheReader(t.Context(), "", folder, bytes, clock); err == nil {
			t.Errorf("%d bytes were accepted", bytes)
		}
	}
	memory := base().with(tree{"proc/self/mountinfo": "28 27 0:24 / " + folder + " rw - tmpfs tmpfs rw\n27 1 254:0 / / rw - ext4 /dev/a rw\n"}).root(t)
	if _, err := NewCacheReader(t.Context(), memory, folder, 1, clock); err == nil || !strings.Contains(err.Error(), "tmpfs is memory") {
		t.Errorf("a file in memory: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewCacheReader(gone, base().root(t), folder, 1<<20, clock); !errors.Is(err, context.Canceled) {
		t.Errorf("written after the end: %v", err)
	}
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

func TestCacheReaderRate(t *testing.T) {
	r, err := NewCacheReader(t.Context(), base().root(t), t.TempDir(), 1<<20, cudamem.NewPlainClock())
	must(t, err)
	defer r.Close()
	r.clock = &tickingClock{} // a pass takes one tick of 1 ms
	ctx, cancel := context.WithCancel(t.Context())
	r.clock.(*tickingClock).after = cancel
	got, err := r.Run(ctx)
	must(t, err)
	if got.Passes != 1 || got.BytesPerSecond != (1<<20)/0.001 {
		t.Errorf("%+v", got)
	}
}

// tickingClock is a millisecond later each time it is read; at the second reading
// it calls after.
type tickingClock struct {
	now   time.Duration
	after func()
}

func (c *tickingClock) Now() time.Duration {
	if c.now += time.Millisecond; c.now == 2*time.Millisecond {
		c.after()
	}
	return c.now
}
func (c *tickingClock) SleepUntil(time.Duration) {}
