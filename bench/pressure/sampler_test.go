package pressure

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/cudamem"
)

// machine has everything that is sampled, in a version 2 group with a limit.
func machine() tree {
	return base().with(tree{
		"proc/self/stat":                  "4711 (pinscope) R 1 2 3 4 5 6 100 8 10 10\n",
		"proc/self/cgroup":                "0::/a\n",
		"proc/vmstat":                     "pgscan_kswapd 10\npgsteal_kswapd 5\nallocstall_normal 2\npswpin 1\npswpout 1\nworkingset_refault_file 3\n",
		"proc/pressure/memory":            "some avg10=1.50 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.25 avg60=0.00 avg300=0.00 total=7\n",
		"proc/pressure/io":                "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
		"proc/pressure/cpu":               "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n",
		"sys/fs/cgroup/a/memory.current":  "1073741824\n",
		"sys/fs/cgroup/a/memory.max":      "2147483648\n",
		"sys/fs/cgroup/a/memory.high":     "2000000000\n",
		"sys/fs/cgroup/a/memory.stat":     "shmem 4096\ninactive_file 8192\npgscan 1\npgsteal 1\nworkingset_refault_file 1\n",
		"sys/fs/cgroup/a/memory.events":   "high 1\nmax 2\noom 3\noom_kill 4\n",
		"sys/fs/cgroup/a/cgroup.type":     "domain\n",
		"sys/fs/cgroup/a/memory.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=8\n",
	})
}

func write(t *testing.T, root Root, name, text string) {
	t.Helper()
	must(t, os.WriteFile(root.path(name), []byte(text), 0o644))
}

func TestEveryFigureIsRead(t *testing.T) {
	s := newSampler(cudamem.NewPlainClock(), Options{Root: machine().root(t)})
	defer s.Stop()
	s.take()
	latest, ok := s.Latest()
	if !ok {
		t.Fatal("no sample")
	}
	for _, f := range Figures() {
		if _, known := latest.Int(f); !known {
			t.Errorf("%s is unknown", f)
		}
	}
	// 2,000,000,000 (high) - (1 GiB used - 8192 of cache)
	if got, _ := latest.Int(Available); got != 2000000000-(gib-8192) {
		t.Errorf("available %d", got)
	}
	for f, want := range map[Figure]string{MemorySomeAvg10: "1.50 %", GroupMax: "2 GiB", MinorFaults: "0", MemoryFullStall: "0 ns"} {
		if got := latest.Text(f); got != want {
			t.Errorf("%s reads %q, want %q", f, got, want)
		}
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	s := newSampler(cudamem.NewPlainClock(), Options{Root: tree{}.root(t)})
	s.take()
	latest, _ := s.Latest()
	text, err := json.Marshal(latest)
	must(t, err)
	for _, f := range Figures() {
		want := `"` + f.String() + `":null`
		if f == Pinned { // our own
			want = `"pinned_bytes":0`
		} else if got := latest.Text(f); got != "n/a" {
			t.Errorf("%s reads %q", f, got)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if cells := latest.CSV(); len(cells) != len(CSVHeader()) || cells[1] != "0" || cells[2] != "" {
		t.Errorf("CSV %q", cells)
	}
	series := s.Stop()
	if c, sum := series.Figure(Available); c != nil || sum != nil {
		t.Errorf("a column of nothing: %v, %v", c, sum)
	}
}

func TestCountersCountFromTheStart(t *testing.T) {
	root := machine().root(t)
	s := newSampler(cudamem.NewPlainClock(), Options{Root: root})
	defer s.Stop()
	s.take()
	write(t, root, "proc/self/stat", "4711 (pinscope) R 1 2 3 4 5 6 150 8 9 10\n") // major faults fall: nonsense
	write(t, root, "proc/pressure/memory", "some avg10=1.50 avg60=0.00 avg300=0.00 total=112\n")
	write(t, root, "proc/meminfo", strings.Replace(meminfo16G, "8388608", "4194304", 1))
	s.take()
	latest, _ := s.Latest()
	for f, want := range map[Figure]string{MinorFaults: "50", MajorFaults: "n/a", MemorySomeStall: "100 us", MemoryFullStall: "n/a", Free: "4 GiB"} {
		if got := latest.Text(f); got != want {
			t.Errorf("%s reads %q, want %q", f, got, want)
		}
	}
	series := s.Stop()
	column, sum := series.Figure(Free)
	if *sum != (Summary{First: 8 << 30, Last: 4 << 30, Min: 4 << 30, Max: 8 << 30, Delta: -4 << 30}) || *column.Last[1] != 4<<30 {
		t.Errorf("summary %+v", sum)
	}
	if column, _ := series.Figure(MajorFaults); column.Last[0] == nil || column.Last[1] != nil {
		t.Error("a counter that fell is known")
	}
}

func TestVersion1Group(t *testing.T) {
	root := base().with(tree{
		"proc/self/cgroup":                             "4:memory:/x\n0::/y\n",
		"proc/self/mountinfo":                          mountMemory + mountHybrid,
		"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "2147483648\n",
		"sys/fs/cgroup/memory/x/memory.usage_in_bytes": "1073741824\n",
		"sys/fs/cgroup/memory/x/memory.stat":           "shmem 1\ntotal_shmem 4096\ntotal_inactive_file 0\n",
		"sys/fs/cgroup/memory/x/memory.failcnt":        "3\n",
		"sys/fs/cgroup/memory/x/memory.oom_control":    "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
		"sys/fs/cgroup/unified/y/cgroup.type":          "domain\n",
		"sys/fs/cgroup/unified/y/memory.pressure":      "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=8\n",
	}).root(t)
	s := newSampler(cudamem.NewPlainClock(), Options{Root: root})
	s.take()
	latest, _ := s.Latest()
	for f, want := range map[Figure]string{GroupUsed: "1 GiB", GroupMax: "2 GiB", GroupShmem: "4 KiB", Available: "1 GiB",
		GroupHigh: "n/a", GroupMaxEvents: "0", GroupOOMKills: "0", GroupSomeStall: "0 ns"} {
		if got := latest.Text(f); got != want {
			t.Errorf("%s reads %q, want %q", f, got, want)
		}
	}
	if series := s.Stop(); series.Group != "/x" {
		t.Errorf("group %q", series.Group)
	}
}

// The top of all groups is the whole system: its pressure is not the group's.
func TestTopGroupHasNoPressureOfItsOwn(t *testing.T) {
	const some = "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
	for text, files := range map[string]tree{
		"n/a":  {"sys/fs/cgroup/memory.pressure": some},
		"0 ns": {"sys/fs/cgroup/memory.pressure": some, "sys/fs/cgroup/cgroup.type": "domain\n"}, // a container's own
	} {
		s := newSampler(cudamem.NewPlainClock(), Options{Root: base().with(files).root(t)})
		s.take()
		if latest, _ := s.Latest(); latest.Text(GroupSomeStall) != text {
			t.Errorf("%v: %s", files, latest.Text(GroupSomeStall))
		}
		s.Stop()
	}
}

// The group that is sampled is the one that limits the process.
func TestLimitingGroupIsSampled(t *testing.T) {
	root := machine().with(tree{
		"proc/self/cgroup":                 "0::/a/b\n",
		"sys/fs/cgroup/a/b/memory.current": "4096\n",
		"sys/fs/cgroup/a/b/memory.max":     "max\n",
	}).root(t)
	s := newSampler(cudamem.NewPlainClock(), Options{Root: root})
	s.take()
	if series := s.Stop(); series.Group != "/a" || *series.Summary["group_used_bytes"] != (Summary{First: 1 << 30, Last: 1 << 30, Min: 1 << 30, Max: 1 << 30}) {
		t.Errorf("group %q", series.Group)
	}
}

func TestTwentyASecond(t *testing.T) {
	root := machine().root(t)
	synctest.Test(t, func(t *testing.T) {
		var looks []time.Duration
		s := Start(t.Context(), cudamem.NewPlainClock(), Options{Root: root, Look: func(s *Sample) { looks = append(looks, s.At) }})
		time.Sleep(time.Second + time.Millisecond)
		series := s.Stop()
		// 21 of their own accord, and a last one at Stop.
		if len(looks) != 22 || len(series.At) != 22 || series.At[20] != time.Second || series.At[1] != DefaultEvery || series.At[21] != time.Second+time.Millisecond {
			t.Errorf("%d looks, %d samples at %v", len(looks), len(series.At), series.At)
		}
		if again := s.Stop(); again.Samples != series.Samples {
			t.Errorf("a second Stop gives %d samples", again.Samples)
		}
	})
}

func TestSamplingEndsWithItsContext(t *testing.T) {
	root := machine().root(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := Start(ctx, cudamem.NewPlainClock(), Options{Root: root, Every: time.Nanosecond}) // 5 ms, the least
		time.Sleep(12 * time.Millisecond)
		cancel()
		time.Sleep(time.Second)
		if series := s.Stop(); series.Samples != 3+1 || series.Every != minEvery {
			t.Errorf("%d samples, every %v", series.Samples, series.Every)
		}
	})
}

// A million samples with one peak in each direction: bounded, and both are kept.
func TestLongSeriesKeepsExtremes(t *testing.T) {
	const n, low, high = 1_000_000, 333_333, 777_777
	store := newStore()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var s Sample
	random := rand.New(rand.NewPCG(1, 2))
	for i := range int64(n) {
		s = Sample{At: time.Duration(i) * DefaultEvery}
		s.set(Pinned, 1000+random.Int64N(1000), true)
		s.set(MajorFaults, i, true)
		switch i {
		case low:
			s.set(Pinned, 1, true)
		case high:
			s.set(Pinned, 9999, true)
		}
		if i%3 > 0 { // known now and then
			s.set(Available, i, true)
		}
		store.add(&s)
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<10 {
		t.Errorf("%d bytes were allocated while sampling", grown)
	}
	series := store.series()
	// 1,000,000 / 2048 = 488.3: 512 a point, 1953 whole points and a last one of 64.
	if series.Samples != n || series.SamplesPerPoint != 512 || len(series.At) != 1954 {
		t.Fatalf("%d samples, %d a point, %d points", series.Samples, series.SamplesPerPoint, len(series.At))
	}
	pinned, sum := series.Figure(Pinned)
	if sum.Min != 1 || sum.Max != 9999 || *pinned.Min[low/512] != 1 || *pinned.Max[high/512] != 9999 {
		t.Errorf("extremes lost: %+v, %v, %v", sum, *pinned.Min[low/512], *pinned.Max[high/512])
	}
	faults, sum := series.Figure(MajorFaults)
	if *faults.Last[0] != 511 || *faults.Min[1] != 512 || *faults.Max[1953] != n-1 || sum.Delta != n-1 || sum.First != 0 {
		t.Errorf("points in the wrong place: %v %v %v %+v", *faults.Last[0], *faults.Min[1], *faults.Max[1953], sum)
	}
	if series.At[0] != 511*DefaultEvery || series.At[1953] != (n-1)*DefaultEvery {
		t.Errorf("times %v .. %v", series.At[0], series.At[1953])
	}
	// 511 is known (511 % 3 = 1), the last sample 999,999 is not.
	available, _ := series.Figure(Available)
	if *available.Last[0] != 511 || available.Last[1953] != nil || *available.Max[1953] != n-2 || *available.Min[0] != 1 {
		t.Errorf("values that are known now and then: %v %v", show(available.Last[0]), show(available.Last[1953]))
	}
}

// Points stand for the same samples however the thinning went.
func TestThinningAgreesWithRecounting(t *testing.T) {
	for _, n := range []int{1, 2, maxPoints - 1, maxPoints, maxPoints + 1, 2 * maxPoints, 2*maxPoints + 1, 5*maxPoints + 7} {
		store := newStore()
		for i := range n {
			var s Sample
			s.At = time.Duration(i)
			s.set(Free, int64(i*i%1009), true)
			s.set(Dirty, int64(i), i%8 >= 4) // known in turns
			store.add(&s)
		}
		series := store.series()
		per := int(series.SamplesPerPoint)
		if want := (n + per - 1) / per; len(series.At) != want || len(series.At) > maxPoints {
			t.Fatalf("n %d: %d points of %d", n, len(series.At), per)
		}
		column, _ := series.Figure(Free)
		for p := range series.At {
			least, most, last := 1<<30, -1, 0
			for i := p * per; i < min(n, (p+1)*per); i++ {
				last = i * i % 1009
				least, most = min(least, last), max(most, last)
			}
			if *column.Last[p] != float64(last) || per > 1 && (*column.Min[p] != float64(least) || *column.Max[p] != float64(most)) {
				t.Fatalf("n %d point %d: last %v, want %d", n, p, *column.Last[p], last)
			}
		}
		if n >= 8 {
			dirty, sum := series.Figure(Dirty)
			for p := range series.At { // from 8 samples a point on, 4 to 7 of each eight
				if per == 8 && (p+1)*8 <= n && (*dirty.Min[p] != float64(8*p+4) || *dirty.Max[p] != float64(8*p+7)) {
					t.Fatalf("n %d point %d: %v .. %v", n, p, *dirty.Min[p], *dirty.Max[p])
				}
			}
			if sum.First != 4 || sum.Min != 4 {
				t.Errorf("n %d: summary %+v", n, sum)
			}
		}
		if (column.Min != nil) != (per > 1) {
			t.Errorf("n %d: extremes of single samples", n)
		}
	}
}

func TestJSONReadsBack(t *testing.T) {
	s := newSampler(cudamem.NewPlainClock(), Options{Root: machine().root(t)})
	s.take()
	s.take()
	sample, _ := s.Latest()
	text, err := json.Marshal(sample)
	must(t, err)
	var sampleAgain Sample
	must(t, json.Unmarshal(text, &sampleAgain))
	if sample != sampleAgain {
		t.Errorf("sample read back %+v, want %+v", sampleAgain, sample)
	}
	series := s.Stop()
	text, err = json.Marshal(series)
	must(t, err)
	var again Series
	must(t, json.Unmarshal(text, &again))
	if !reflect.DeepEqual(series, again) {
		t.Errorf("series read back differs: %s", text)
	}
	for _, f := range Figures() {
		unit := map[Unit]string{InBytes: "_bytes", InPages: "_pages", InNanos: "_ns", InPercent: "_percent"}[f.Unit()]
		if f.String() == "" || !strings.HasSuffix(f.String(), unit) {
			t.Errorf("figure %d is named %q", f, f)
		}
	}
}

func TestSamplingAllocatesNothing(t *testing.T) {
	root := machine().root(t)
	dog, _, release := NewWatchdog(t.Context(), Rules{FloorBytes: 1, FullShare: 2, FullWindow: time.Nanosecond})
	defer release()
	s := newSampler(cudamem.NewPlainClock(), Options{Root: root, Look: dog.Look})
	defer s.Stop()
	if n := testing.AllocsPerRun(200, s.take); n != 0 {
		t.Errorf("%v allocations a sample on a fake machine", n)
	}
	here := newSampler(cudamem.NewPlainClock(), Options{})
	defer here.Stop()
	if n := testing.AllocsPerRun(200, here.take); n != 0 {
		t.Errorf("%v allocations a sample on this one", n)
	}
}

// The budget is 0.5 % of a core at 20 a second: 250 us a sample. A busy machine
// lengthens wall time but hardly CPU time, which is what is held to it.
func TestCostIsKnownAndSmall(t *testing.T) {
	if _, err := os.Stat("/proc/meminfo"); err != nil {
		t.Skip("no /proc here: nothing is read")
	}
	s := newSampler(cudamem.NewPlainClock(), Options{Every: DefaultEvery})
	for range 200 {
		s.take()
	}
	cost := s.Stop().Cost
	if cost.Samples != 201 || cost.CPUPerSample <= 0 || cost.Longest <= 0 || *cost.ShareOfCore <= 0 {
		t.Errorf("cost %+v", cost)
	}
	if *cost.ShareOfCore > 0.005 {
		t.Errorf("sampling takes %v CPU time each, %.2f %% of a core", cost.CPUPerSample, 100**cost.ShareOfCore)
	}
}

// A file that grows beyond the buffer loses its end, not its numbers.
func TestLongFile(t *testing.T) {
	long := "MemTotal: 99999999 kB\nMemFree: 7 kB\n" + strings.Repeat("Filler: 1 kB\n", bufferBytes) + "MemAvailable: 8 kB\n"
	root := machine().with(tree{"proc/meminfo": long}).root(t)
	s := newSampler(cudamem.NewPlainClock(), Options{Root: root})
	defer s.Stop()
	s.take()
	latest, _ := s.Latest()
	if latest.Text(Free) != "7 KiB" || latest.Text(SystemAvailable) != "n/a" {
		t.Errorf("free %s, available %s", latest.Text(Free), latest.Text(SystemAvailable))
	}
}

// A file that goes away while it is open leaves its figures unknown.
func TestFileGoesAway(t *testing.T) {
	root := machine().root(t)
	s := newSampler(cudamem.NewPlainClock(), Options{Root: root})
	defer s.Stop()
	s.take()
	must(t, os.Truncate(filepath.Join(string(root), "proc", "meminfo"), 0))
	s.take()
	latest, _ := s.Latest()
	if latest.Text(Free) != "n/a" || latest.Text(ScannedPages) != "0" {
		t.Errorf("free %s, scanned %s", latest.Text(Free), latest.Text(ScannedPages))
	}
}

// At the sampler's own pace the processor's caches hold little of it any more:
// 20 a second, so that 250,000 cpu-ns a sample are 0.5 % of a core.
func BenchmarkSampleAtPace(b *testing.B) {
	s := newSampler(cudamem.NewPlainClock(), Options{Every: DefaultEvery})
	defer s.Stop()
	for b.Loop() {
		time.Sleep(DefaultEvery)
		s.take()
	}
	cost := s.Cost()
	b.ReportMetric(float64(cost.CPUPerSample), "cpu-ns/op")
	b.ReportMetric(100**cost.ShareOfCore, "%core")
}

// One after the other.
func BenchmarkSample(b *testing.B) {
	s := newSampler(cudamem.NewPlainClock(), Options{Every: DefaultEvery})
	defer s.Stop()
	b.ReportAllocs()
	for b.Loop() {
		s.take()
	}
	cost := s.Cost()
	b.ReportMetric(float64(cost.CPUPerSample), "cpu-ns/op")
	b.ReportMetric(100**cost.ShareOfCore, "%core")
}
