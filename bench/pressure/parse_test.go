package pressure

import (
	"math"
	"testing"
)

// parsers by the file they read, for the table and for fuzzing.
var parsers = map[string]func(*Sample, []byte){
	"status": processStatus, "stat": processStat, "meminfo": meminfo, "vmstat": vmstat,
	"psi":  stalls{MemorySomeStall, MemoryFullStall, MemorySomeAvg10, MemoryFullAvg10}.psi,
	"cpu":  stalls{CPUSomeStall, none, none, none}.psi,
	"used": groupUsed, "max": groupMax, "high": groupHigh, "gstat": groupStat, "events": groupEvents, "failcnt": groupFailures,
}

func TestParsers(t *testing.T) {
	type figures map[Figure]int64 // -1: unknown
	const unknown = -1
	cases := []struct {
		name, file, text string
		want             figures
	}{
		{"status", "status", status, figures{LockedMemory: 64 << 10, RSSAnon: 4000 << 10, RSSFile: 2000 << 10, RSSShmem: 1000 << 10, Swapped: 0}},
		{"status before Linux 4.5", "status", "VmLck:\t0 kB\nVmRSS:\t70 kB\n", figures{LockedMemory: 0, RSSAnon: unknown, RSSShmem: unknown}},
		{"status cut off inside a number", "status", "RssAnon:\t 1234 kB\nRssFile:\t 12", figures{RSSAnon: 1234 << 10, RSSFile: unknown}},
		{"status cut off inside the unit", "status", "RssFile:\t 1200 k\n", figures{RSSFile: unknown}},
		{"status negative", "status", "RssAnon:\t -4 kB\n", figures{RSSAnon: unknown}},
		{"status largest", "status", "RssAnon:\t 9007199254740991 kB\n", figures{RSSAnon: math.MaxInt64 - 1023}},
		{"status too large", "status", "RssAnon:\t 9007199254740992 kB\n", figures{RSSAnon: unknown}},
		{"empty", "status", "", figures{RSSAnon: unknown}},

		{"stat with an odd name", "stat", "12 (a b) c)) R 1 2 3 4 5 6 77 8 99 10 11\n", figures{MinorFaults: 77, MajorFaults: 99}},
		{"stat cut off", "stat", "12 (a) R 1 2 3 4 5 6 77 8 99", figures{MinorFaults: unknown, MajorFaults: unknown}},
		{"stat short", "stat", "12 (a) R 1 2 3 4 5 6 77\n", figures{MinorFaults: 77, MajorFaults: unknown}},
		{"stat without a name", "stat", "12 R 1 2 3 4 5 6 77 8 99 10\n", figures{MinorFaults: unknown, MajorFaults: unknown}},
		{"stat negative", "stat", "12 (a) R 1 2 3 4 5 6 -77 8 99 10\n", figures{MinorFaults: unknown, MajorFaults: 99}},

		{"meminfo", "meminfo", meminfo16G, figures{SystemAvailable: 12 * gib, Free: 8 * gib, Cached: 4 * gib, SwapUsed: gib, Shmem: 10 << 20, Dirty: 100 << 10, Mlocked: 16 << 10, Unevictable: 16 << 10}},
		{"meminfo without swap", "meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n", figures{SwapUsed: 0, Free: unknown}},
		{"meminfo with half of swap's lines", "meminfo", "SwapTotal: 5 kB\n", figures{SwapUsed: unknown}},
		{"meminfo with more swap free than there is", "meminfo", "SwapTotal: 5 kB\nSwapFree: 6 kB\n", figures{SwapUsed: unknown}},
		{"meminfo with more than there is", "meminfo", "MemTotal: 5 kB\nMemFree: 6 kB\nMemAvailable: 5 kB\n", figures{Free: unknown, SystemAvailable: 5 << 10}},
		{"meminfo in another unit", "meminfo", "MemFree: 6 MB\nCached: 7\n", figures{Free: unknown, Cached: unknown}},

		{"vmstat of Linux 6", "vmstat", "allocstall_dma 1\nallocstall_normal 2\nallocstall_movable 3\npgscan_kswapd 10\npgscan_direct 20\n" +
			"pgscan_khugepaged 30\npgscan_proactive 40\npgscan_direct_throttle 1000\npgscan_anon 50\npgscan_file 50\npgsteal_kswapd 1\n" +
			"pgsteal_direct 2\npgsteal_anon 3\nworkingset_refault_anon 4\nworkingset_refault_file 5\npswpin 6\npswpout 7\n",
			figures{AllocStalls: 6, ScannedPages: 100, StolenPages: 3, RefaultPages: 9, SwapInPages: 6, SwapOutPages: 7}},
		{"vmstat of Linux 4.4", "vmstat", "pgscan_kswapd_dma 1\npgscan_kswapd_normal 2\npgscan_direct_normal 3\nallocstall 4\nworkingset_refault 5\n",
			figures{ScannedPages: 6, AllocStalls: 4, RefaultPages: 5, StolenPages: unknown}},
		{"vmstat whose sum is too large", "vmstat", "pgscan_kswapd 9223372036854775807\npgscan_direct 1\n", figures{ScannedPages: unknown}},
		{"vmstat cut off", "vmstat", "pswpin 6\npswpout 7", figures{SwapInPages: 6, SwapOutPages: unknown}},
		{"vmstat negative", "vmstat", "pswpin -6\n", figures{SwapInPages: unknown}},

		{"PSI", "psi", "some avg10=1.50 avg60=0.00 avg300=0.00 total=12\nfull avg10=100.00 avg60=0.00 avg300=0.00 total=7\n",
			figures{MemorySomeStall: 12000, MemoryFullStall: 7000, MemorySomeAvg10: 150, MemoryFullAvg10: 10000}},
		{"PSI without full (CPU before Linux 5.13)", "cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n", figures{CPUSomeStall: 5000}},
		{"PSI above 100 %", "psi", "some avg10=100.01 total=12\n", figures{MemorySomeAvg10: unknown, MemorySomeStall: 12000}},
		{"PSI with odd averages", "psi", "some avg10=1 total=1\nfull avg10=-1.00 total=2\n", figures{MemorySomeAvg10: unknown, MemoryFullAvg10: unknown, MemoryFullStall: 2000}},
		{"PSI total that does not fit", "psi", "some avg10=0.00 total=9223372036854776\n", figures{MemorySomeStall: unknown, MemorySomeAvg10: 0}},
		{"PSI total that would wrap round to 384 ns", "psi", "some avg10=0.00 total=18446744073709552\n", figures{MemorySomeStall: unknown}},
		{"PSI switched off", "psi", "", figures{MemorySomeStall: unknown}},
		{"PSI cut off", "psi", "some avg10=0.00 avg60=0.00 avg300=0.00 total=12", figures{MemorySomeStall: unknown}},

		{"group's use", "used", "4096\n", figures{GroupUsed: 4096}},
		{"group's use, largest", "used", "9223372036854775807\n", figures{GroupUsed: math.MaxInt64}},
		{"group's use that would wrap round to 1", "used", "18446744073709551617\n", figures{GroupUsed: unknown}},
		{"group's use cut off", "used", "4096", figures{GroupUsed: unknown}},
		{"group's use in two lines", "used", "4096\n1\n", figures{GroupUsed: unknown}},
		{"no limit, version 2", "max", "max\n", figures{GroupMax: unknown}},
		{"no limit, version 1", "max", "9223372036854771712\n", figures{GroupMax: unknown}},
		{"no limit, version 1 with pages of 64 KiB", "max", "9223372036854710272\n", figures{GroupMax: unknown}},
		{"limit", "high", "2147483648\n", figures{GroupHigh: 2 * gib}},
		{"limit of nothing", "max", "0\n", figures{GroupMax: 0}},
		{"group's stat, version 2", "gstat", "anon 1\nfile 2\nshmem 3\ninactive_file 4\npgscan 5\npgsteal 6\npgscan_kswapd 7\nworkingset_refault_anon 8\nworkingset_refault_file 9\n",
			figures{GroupShmem: 3, GroupInactiveFile: 4, GroupScannedPages: 5, GroupStolenPages: 6, GroupRefaultPages: 17}},
		{"group's stat, version 1", "gstat", "shmem 1\ninactive_file 2\ntotal_shmem 3\ntotal_inactive_file 4\n", figures{GroupShmem: 3, GroupInactiveFile: 4, GroupScannedPages: unknown}},
		{"group's events", "events", "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n", figures{GroupHighEvents: 2, GroupMaxEvents: 3, GroupOOMEvents: 4, GroupOOMKills: 5}},
		{"oom_control of version 1", "events", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n", figures{GroupOOMKills: 5, GroupOOMEvents: unknown, GroupHighEvents: unknown}},
		{"failcnt", "failcnt", "9\n", figures{GroupMaxEvents: 9}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var s Sample
			parsers[tc.file](&s, []byte(tc.text))
			for f, want := range tc.want {
				got, ok := s.Int(f)
				if !ok {
					got = unknown
				}
				if got != want {
					t.Errorf("%s is %d, want %d", f, got, want)
				}
			}
		})
	}
}

func TestCountList(t *testing.T) {
	cases := []struct {
		text string
		want int
		ok   bool
	}{
		{"0", 1, true}, {"0-3,8", 5, true}, {"0-65535", 65536, true}, {"0-65536", 0, false}, {"", 0, false}, {"3-1", 0, false},
		{"-1", 0, false}, {"1,,2", 0, false}, {"a", 0, false},
	}
	for _, c := range cases {
		if got, ok := countList(c.text); got != c.want || ok != c.ok {
			t.Errorf("%q: %d, %v; want %d, %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

// Whatever a file holds, no figure is negative, none is more than 100 %, and
// reading the text cut short gives no figure that the whole does not have. (Sums
// of several lines may be smaller, and a repeated line may differ.)
func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		status, meminfo16G, "12 (a b) c)) R 1 2 3 4 5 6 77 8 99 10 11\n", "pgscan_kswapd 10\npgscan_direct 20\n",
		"some avg10=1.50 avg60=0.00 avg300=0.00 total=12\nfull avg10=100.00 avg60=0.00 avg300=0.00 total=7\n",
		"max\n", "9223372036854771712\n", "99999999999999999999\n", "-1\n", "anon 1\nshmem 3\n", "\x00\n \n:\n", "MemFree: \t9007199254740992 kB\n",
	} {
		f.Add(seed, len(seed)/2)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		for name, parse := range parsers {
			var whole, part Sample
			parse(&whole, []byte(text))
			parse(&part, []byte(text)[:max(0, min(cut, len(text)))])
			for _, figure := range Figures() {
				v, ok := whole.Int(figure)
				if ok && (v < 0 || figure.Unit() == InPercent && v > 100*percentScale) {
					t.Errorf("%s of %q: %s is %d", name, text, figure, v)
				}
			}
			// A number that is cut off is left out, so that at most whole lines are missing.
			if short, ok := part.Int(GroupUsed); ok {
				if v, known := whole.Int(GroupUsed); known && v != short {
					t.Errorf("%s of %q cut at %d: %d instead of %d", name, text, cut, short, v)
				}
			}
		}
	})
}

// Limits are read from whatever the files hold without a panic, and keep their order.
func FuzzLimits(f *testing.F) {
	f.Add("0::/a\n", mountV2, "2147483648\n", "1073741824\n", "inactive_file 5\n", "200000 100000\n")
	f.Add("4:memory:/a\n0::/\n", mountMemory+mountHybrid, "-1\n", "max\n", "", "max 100000\n")
	f.Add("0::/../..\n", "nonsense", "99999999999999999999\n", "", "\n", "1\n")
	f.Fuzz(func(t *testing.T, groups, mounts, most, used, stat, cpu string) {
		l := ReadLimits(base().with(tree{
			"proc/self/cgroup": groups, "proc/self/mountinfo": mounts,
			"sys/fs/cgroup/a/memory.max": most, "sys/fs/cgroup/a/memory.current": used, "sys/fs/cgroup/a/memory.stat": stat,
			"sys/fs/cgroup/a/cpu.max": cpu, "sys/fs/cgroup/memory/a/memory.limit_in_bytes": most,
		}).root(t))
		if *l.TotalBytes < 0 || *l.TotalBytes > 16*gib || l.UsableCPUs < 1 || l.UsableCPUs > 8 {
			t.Errorf("total %d, CPUs %d", *l.TotalBytes, l.UsableCPUs)
		}
		if l.AvailableBytes == nil || *l.AvailableBytes < 0 || *l.AvailableBytes > *l.TotalBytes || *l.AvailableBytes > 12*gib {
			t.Errorf("available %v of %d", show(l.AvailableBytes), *l.TotalBytes)
		}
	})
}
