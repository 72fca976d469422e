package pressure

import (
	"encoding/json"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestMemoryLimits(t *testing.T) {
	v1Stat := "cache 0\ninactive_file 1\nhierarchical_memory_limit 9223372036854771712\ntotal_inactive_file 104857600\n"
	cases := []struct {
		name      string
		tree      tree
		total     any // int64 or nil
		available any
		source    string
		limitedBy string
	}{
		{"no limit", base(), 16 * gib, 12 * gib, FromSystem, ""},
		{"nothing readable", tree{}, nil, nil, FromNowhere, ""},
		{"v2 limit of the own group", base().with(tree{
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":     "2147483648\n",
			"sys/fs/cgroup/a/b/memory.high":    "max\n",
			"sys/fs/cgroup/a/b/memory.current": "1073741824\n",
			"sys/fs/cgroup/a/b/memory.stat":    "anon 5\ninactive_file 536870912\n",
		}), 2 * gib, 2*gib - gib/2, FromContainer, "memory.max of /a/b (cgroup v2)"}, // 1 GiB used less 0.5 GiB cache
		{"v2 smaller limit above", base().with(tree{
			"proc/self/cgroup":             "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "8589934592\n",
			"sys/fs/cgroup/a/memory.max":   "4294967296\n",
		}), 4 * gib, 4 * gib, FromContainer, "memory.max of /a (cgroup v2)"},
		{"v2 group above is nearly full", base().with(tree{ // the smaller limit is not the one that leaves least
			"proc/self/cgroup":               "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":   "4294967296\n",
			"sys/fs/cgroup/a/memory.max":     "8589934592\n",
			"sys/fs/cgroup/a/memory.current": "7516192768\n",
		}), 4 * gib, 1 * gib, FromContainer, "memory.max of /a/b (cgroup v2)"},
		{"v2 high below max", base().with(tree{
			"proc/self/cgroup":            "0::/a\n",
			"sys/fs/cgroup/a/memory.max":  "8589934592\n",
			"sys/fs/cgroup/a/memory.high": "3221225472\n",
		}), 3 * gib, 3 * gib, FromContainer, "memory.high of /a (cgroup v2)"},
		{"v2 limit above the machine's memory", base().with(tree{
			"proc/self/cgroup":           "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "68719476736\n",
		}), 16 * gib, 12 * gib, FromSystem, ""},
		{"v2 limit of all memory, nearly used up", base().with(tree{
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "17179869184\n",
			"sys/fs/cgroup/a/memory.current": "16106127360\n",
		}), 16 * gib, 1 * gib, FromSystem, ""},
		{"v2 bind mount: the container's path on the host, its own group at the top", base().with(tree{
			"proc/self/cgroup":             "0::/system.slice/docker-ab12.scope\n",
			"proc/self/mountinfo":          mountProc + "30 1 0:29 /system.slice/docker-ab12.scope /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory.max":     "1073741824\n",
			"sys/fs/cgroup/memory.current": "0\n",
		}), 1 * gib, 1 * gib, FromContainer, "memory.max of / (cgroup v2)"},
		{"v2 namespace: the path lies outside", base().with(tree{
			"proc/self/cgroup":               "0::/../other\n",
			"sys/fs/cgroup/memory.max":       "1073741824\n",
			"sys/fs/cgroup/other/memory.max": "4096\n", // another group of that name
		}), 1 * gib, 1 * gib, FromContainer, "memory.max of / (cgroup v2)"},
		{"v2 path that is not there", base().with(tree{
			"proc/self/cgroup":         "0::/docker/ab12\n",
			"sys/fs/cgroup/memory.max": "1073741824\n",
		}), 1 * gib, 1 * gib, FromContainer, "memory.max of / (cgroup v2)"},
		{"v2 mounted elsewhere", base().with(tree{
			"proc/self/cgroup":        "0::/a\n",
			"proc/self/mountinfo":     "30 1 0:29 / /mnt/groups rw - cgroup2 cgroup2 rw\n",
			"mnt/groups/a/memory.max": "1073741824\n",
		}), 1 * gib, 1 * gib, FromContainer, "memory.max of /a (cgroup v2)"},
		{"v2 seen twice: the mount that shows the group", base().with(tree{
			"proc/self/cgroup":              "0::/a\n",
			"proc/self/mountinfo":           mountV2 + "31 1 0:29 /other /var/lib/x/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/a/memory.max":    "1073741824\n",
			"var/lib/x/cgroup/memory.max":   "4096\n",
			"var/lib/x/cgroup/a/memory.max": "4096\n",
		}), 1 * gib, 1 * gib, FromContainer, "memory.max of /a (cgroup v2)"},
		{"v2 mounted twice: the one that shows the group is elsewhere", base().with(tree{
			"proc/self/cgroup": "0::/a\n",
			"proc/self/mountinfo": "30 1 0:29 / /mnt/groups rw - cgroup2 cgroup2 rw\n" +
				"31 1 0:29 /other /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"mnt/groups/a/memory.max":  "1073741824\n",
			"sys/fs/cgroup/memory.max": "4096\n",
		}), 1 * gib, 1 * gib, FromContainer, "memory.max of /a (cgroup v2)"},
		{"v2 mount that does not show the group", base().with(tree{
			"proc/self/cgroup":           "0::/a\n",
			"proc/self/mountinfo":        "31 1 0:29 /other /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory.max":   "1073741824\n",
			"sys/fs/cgroup/a/memory.max": "4096\n", // /other/a
		}), 1 * gib, 1 * gib, FromContainer, "memory.max of / (cgroup v2)"},
		{"v1 without limits, nothing else known", tree{
			"proc/self/cgroup":                           "4:memory:/\n",
			"proc/self/mountinfo":                        mountMemory,
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.stat":           v1Stat,
		}, nil, nil, FromNowhere, ""},
		{"v1", base().with(tree{
			"proc/self/cgroup":    "4:memory:/docker/ab12\n1:cpu,cpuacct:/docker/ab12\n",
			"proc/self/mountinfo": mountProc + mountMemory + mountCPU,
			"sys/fs/cgroup/memory/docker/ab12/memory.limit_in_bytes": "2147483648\n",
			"sys/fs/cgroup/memory/docker/ab12/memory.usage_in_bytes": "1178599424\n", // 1 GiB and 100 MiB of cache
			"sys/fs/cgroup/memory/docker/ab12/memory.stat":           v1Stat,
			"sys/fs/cgroup/memory/memory.limit_in_bytes":             "9223372036854771712\n",
		}), 2 * gib, 1 * gib, FromContainer, "memory.limit_in_bytes of /docker/ab12 (cgroup v1)"},
		{"v1 limit above the mount, known to the kernel", base().with(tree{
			"proc/self/cgroup":                           "4:memory:/pod/ab12\n",
			"proc/self/mountinfo":                        "35 1 0:32 /pod/ab12 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.stat":           "hierarchical_memory_limit 2147483648\n",
		}), 2 * gib, 2 * gib, FromContainer, "hierarchical_memory_limit of / (cgroup v1)"},
		{"hybrid: memory in v1", base().with(tree{
			"proc/self/cgroup":                             "4:memory:/x\n0::/x\n",
			"proc/self/mountinfo":                          mountProc + mountMemory + mountHybrid,
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "2147483648\n",
			"sys/fs/cgroup/unified/x/":                     "",
		}), 2 * gib, 2 * gib, FromContainer, "memory.limit_in_bytes of /x (cgroup v1)"},
		{"hybrid: memory in v2", base().with(tree{
			"proc/self/cgroup":                   "3:cpu,cpuacct:/x\n0::/x\n",
			"proc/self/mountinfo":                mountProc + mountCPU + mountHybrid,
			"sys/fs/cgroup/unified/x/memory.max": "2147483648\n",
		}), 2 * gib, 2 * gib, FromContainer, "memory.max of /x (cgroup v2)"},
		{"nonsense limits", base().with(tree{
			"proc/self/cgroup":               "0::/a/b/c\n",
			"sys/fs/cgroup/a/b/c/memory.max": "-1\n",
			"sys/fs/cgroup/a/b/memory.max":   "99999999999999999999999\n",
			"sys/fs/cgroup/a/memory.max":     "1234", // cut off: no end of line
		}), 16 * gib, 12 * gib, FromSystem, ""},
		{"nonsense use counts as unknown", base().with(tree{
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "2147483648\n",
			"sys/fs/cgroup/a/memory.current": "-5\n",
		}), 2 * gib, 2 * gib, FromContainer, "memory.max of /a (cgroup v2)"},
		{"more used than allowed", base().with(tree{
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "2147483648\n",
			"sys/fs/cgroup/a/memory.current": "3221225472\n",
		}), 2 * gib, int64(0), FromContainer, "memory.max of /a (cgroup v2)"},
		{"MemAvailable missing (before Linux 3.14)", base().with(tree{
			"proc/meminfo": "MemTotal:       16777216 kB\nMemFree:         8388608 kB\n",
		}), 16 * gib, nil, FromSystem, ""},
		{"MemAvailable missing, limit below", base().with(tree{
			"proc/meminfo":                   "MemTotal:       16777216 kB\n",
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "2147483648\n",
			"sys/fs/cgroup/a/memory.current": "1073741824\n",
		}), 2 * gib, 1 * gib, FromContainer, "memory.max of /a (cgroup v2)"},
		{"MemAvailable missing, limit above", base().with(tree{ // what the group's limit leaves says nothing then
			"proc/meminfo":                   "MemTotal:       16777216 kB\n",
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "68719476736\n",
			"sys/fs/cgroup/a/memory.current": "0\n",
		}), 16 * gib, nil, FromSystem, ""},
		{"MemAvailable above MemTotal", base().with(tree{
			"proc/meminfo": "MemTotal:       16777216 kB\nMemAvailable:   16777217 kB\n",
		}), 16 * gib, nil, FromSystem, ""},
		{"one odd line does not hide the rest", base().with(tree{
			"proc/meminfo": "Odd: x y z 1\nMemFree: -3 kB\n" + meminfo16G,
		}), 16 * gib, 12 * gib, FromSystem, ""},
		{"mountinfo unreadable: the usual place", base().without("proc/self/mountinfo").with(tree{
			"proc/self/cgroup":           "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "2147483648\n",
		}), 2 * gib, 2 * gib, FromContainer, "memory.max of /a (cgroup v2)"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			l := ReadLimits(tc.tree.root(t))
			if got := show(l.TotalBytes); got != tc.total {
				t.Errorf("total %v, want %v", got, tc.total)
			}
			if got := show(l.AvailableBytes); got != tc.available {
				t.Errorf("available %v, want %v", got, tc.available)
			}
			if l.Source != tc.source || l.LimitedBy != tc.limitedBy {
				t.Errorf("source %q, limited by %q; want %q, %q", l.Source, l.LimitedBy, tc.source, tc.limitedBy)
			}
		})
	}
}

func TestUsableCPUs(t *testing.T) {
	v1 := base().with(tree{
		"proc/self/cgroup":                                "1:cpu,cpuacct:/x/y\n",
		"proc/self/mountinfo":                             mountCPU,
		"sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_quota_us":  "-1\n",
		"sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_period_us": "100000\n",
	})
	cases := []struct {
		name     string
		tree     tree
		usable   int
		affinity any
		quota    any
	}{
		{"no quota", base(), 8, 8, nil},
		{"affinity of four (taskset -c 0-3)", base().with(tree{"proc/self/status": "Cpus_allowed_list:\t0-3\n"}), 4, 4, nil},
		{"v2 quota of two", base().with(tree{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "200000 100000\n"}), 2, 8, 2.0},
		{"v2 quota rounded up", base().with(tree{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "250000 100000\n"}), 3, 8, 2.5},
		{"v2 tiny quota", base().with(tree{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "1000 100000\n"}), 1, 8, 0.01},
		{"v2 quota above affinity", base().with(tree{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "6400000 100000\n"}), 8, 8, 64.0},
		{"v2 smaller quota above", base().with(tree{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
			"sys/fs/cgroup/a/cpu.max": "300000 100000\n"}), 3, 8, 3.0},
		{"v2 larger quota above", base().with(tree{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "200000 100000\n",
			"sys/fs/cgroup/a/cpu.max": "300000 100000\n"}), 2, 8, 2.0},
		{"v2 two quotas", base().with(tree{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
			"sys/fs/cgroup/a/cpu.max": "300000 100000\n"}), 3, 8, 3.0},
		{"v1 none", v1, 8, 8, nil},
		{"v1 quota above", v1.with(tree{"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "150000\n",
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n"}), 2, 8, 1.5},
		{"nonsense quota", base().with(tree{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "200000 0\n"}), 8, 8, nil},
		{"nothing known", tree{}, runtime.NumCPU(), nil, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			root := tc.tree.root(t)
			l := ReadLimits(root)
			if n := UsableCPUs(root); n != tc.usable {
				t.Errorf("%d usable CPUs, read alone", n)
			}
			if l.UsableCPUs != tc.usable || show(l.AffinityCPUs) != tc.affinity || show(l.QuotaCPUs) != tc.quota {
				t.Errorf("usable %d, affinity %v, quota %v; want %d, %v, %v",
					l.UsableCPUs, show(l.AffinityCPUs), show(l.QuotaCPUs), tc.usable, tc.affinity, tc.quota)
			}
		})
	}
}

func TestOtherLimits(t *testing.T) {
	full := base().with(tree{
		"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
		"proc/sys/vm/overcommit_memory":              "2\n",
		"sys/devices/system/node/online":             "0-1,4\n",
		"proc/sys/kernel/osrelease":                  "6.6.87.2-microsoft-standard-WSL2\n",
		"proc/self/mountinfo":                        mountProc + mountV2 + "25 1 0:23 / /dev/shm rw - tmpfs shm rw,size=65536k\n",
	})
	l := ReadLimits(full.root(t))
	got := []any{l.HugePages, l.Overcommit, show(l.NUMANodes), l.WSL2, show(l.DevShmBytes), show(l.MemlockSoft),
		show(l.MemlockHard), show(l.SwapBytes), show(l.SwapUsedBytes), show(l.RAMBytes)}
	want := []any{"madvise", "never", 3, true, int64(64 << 20), Ceiling(8 << 20), Unlimited, 2 * gib, 1 * gib, 16 * gib}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	text, err := json.Marshal(l)
	must(t, err)
	if !strings.Contains(string(text), `"memlock_hard_bytes":"unlimited"`) || !strings.Contains(string(text), `"quota_cpus":null`) {
		t.Errorf("JSON %s", text)
	}
	var again Limits
	must(t, json.Unmarshal(text, &again))
	again.binding = l.binding
	if !reflect.DeepEqual(l, again) {
		t.Errorf("read back %+v\nwant %+v", again, l)
	}

	if want := "12,884,901,888 B (12 GiB) available of 17,179,869,184 B (16 GiB), system memory"; l.String() != want {
		t.Errorf("%q, want %q", l, want)
	}
	if unknown := (Limits{}); unknown.String() != "memory unknown" {
		t.Errorf("%q", unknown)
	}

	odd := ReadLimits(tree{
		"proc/self/limits":                           "Max locked memory 12x -1 bytes\n",
		"sys/kernel/mm/transparent_hugepage/enabled": "nonsense\n",
		"proc/sys/vm/overcommit_memory":              "7\n",
		"sys/devices/system/node/online":             "3-1\n",
		"proc/self/mountinfo":                        "nonsense\n",
	}.root(t))
	text, err = json.Marshal(odd)
	must(t, err)
	for _, want := range []string{`"memlock_soft_bytes":null`, `"memlock_hard_bytes":null`, `"numa_nodes":null`, `"dev_shm_bytes":null`,
		`"swap_bytes":null`, `"total_bytes":null`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if odd.HugePages != "" || odd.Overcommit != "" || odd.WSL2 {
		t.Errorf("nonsense was taken for something: %+v", odd)
	}
}

func TestMemlockExempt(t *testing.T) {
	const first, nested = "         0          0 4294967295\n", "         0       1000          1\n"
	cases := []struct {
		name, capabilities, ids string
		want                    bool
	}{
		{"root", "000001ffffffffff", first, true},
		{"the one capability", "0000000000004000", first, true},
		{"all but that", "000001ffffffbfff", first, false},
		{"root of a user namespace", "000001ffffffffff", nested, false},
		{"user", "0000000000000000", first, false},
		{"nonsense", "xyz", first, false},
	}
	for _, tc := range cases {
		l := ReadLimits(base().with(tree{"proc/self/status": "CapEff:\t" + tc.capabilities + "\n", "proc/self/uid_map": tc.ids}).root(t))
		if l.MemlockExempt != tc.want {
			t.Errorf("%s: %v", tc.name, l.MemlockExempt)
		}
	}
}

func TestDevShm(t *testing.T) {
	shm := func(options string) tree {
		return base().with(tree{"proc/self/mountinfo": "25 1 0:23 / /dev/shm rw - tmpfs shm " + options + "\n"})
	}
	cases := []struct {
		name string
		tree tree
		size any
	}{
		{"docker's 64 MiB", shm("rw,size=65536k"), int64(64 << 20)},
		{"half of the memory", shm("rw,inode64"), 8 * gib},
		{"nonsense", shm("rw,size=-4k"), nil},
		{"not mounted", base(), nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := show(ReadLimits(tc.tree.root(t)).DevShmBytes); got != tc.size {
				t.Errorf("%v, want %v", got, tc.size)
			}
		})
	}
}

func TestSurroundings(t *testing.T) {
	cases := []struct {
		name      string
		tree      tree
		container string
		machine   string
	}{
		{"bare machine", base().with(tree{"sys/class/dmi/id/sys_vendor": "Dell Inc.\n", "sys/class/dmi/id/product_name": "XPS 15\n"}), "", ""},
		{"docker", base().with(tree{".dockerenv": ""}), "docker", ""},
		{"podman", base().with(tree{"run/.containerenv": ""}), "podman", ""},
		{"kubernetes, with docker's mark too", base().with(tree{".dockerenv": "", "var/run/secrets/kubernetes.io/token": ""}), "kubernetes", ""},
		{"docker by its group", base().with(tree{"proc/self/cgroup": "4:memory:/docker/ab12\n"}), "docker", ""},
		{"lxc by its group", base().with(tree{"proc/self/cgroup": "0::/lxc.payload.box/init.scope\n"}), "lxc", ""},
		{"lxc by the first process", base().with(tree{"proc/1/environ": "TERM=linux\x00container=lxc\x00"}), "lxc", ""},
		{"nspawn by systemd's file", base().with(tree{"run/systemd/container": "systemd-nspawn\n"}), "systemd-nspawn", ""},
		{"KVM", base().with(tree{"sys/class/dmi/id/sys_vendor": "QEMU\n", "sys/class/dmi/id/product_name": "Standard PC\n"}), "", "QEMU"},
		{"EC2", base().with(tree{"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "g5.xlarge\n"}), "", "Amazon EC2"},
		{"EC2, the machine itself", base().with(tree{"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "g5.metal\n"}), "", ""},
		{"xen", base().with(tree{"sys/hypervisor/type": "xen\n"}), "", "xen"},
		{"only the flag", base().with(tree{"proc/cpuinfo": cpuinfo("fpu hypervisor sse2")}), "", "unknown hypervisor"},
		{"without the flag", base().with(tree{"proc/cpuinfo": cpuinfo("fpu sse2")}), "", ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			l := ReadLimits(tc.tree.root(t))
			if l.Container != tc.container || l.VirtualMachine != tc.machine || l.WSL2 {
				t.Errorf("container %q, virtual machine %q, WSL2 %v; want %q, %q, false", l.Container, l.VirtualMachine, l.WSL2, tc.container, tc.machine)
			}
		})
	}
}

func cpuinfo(flags string) string {
	return "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel name\t: A CPU\nflags\t\t: " + flags + "\n\n"
}

func TestWSL2(t *testing.T) {
	for release, want := range map[string]bool{
		"6.6.87.2-microsoft-standard-WSL2\n": true,
		"5.15.90-microsoft-custom\n":         true,
		"6.1.0-own-WSL2\n":                   true,
		"4.4.0-19041-Microsoft\n":            false, // version 1
		"6.8.0-45-generic\n":                 false,
	} {
		if got := ReadLimits(tree{"proc/sys/kernel/osrelease": release}.root(t)).WSL2; got != want {
			t.Errorf("%q: %v", release, got)
		}
	}
}

// The machine at hand, whatever it is.
func TestLimitsOfThisMachine(t *testing.T) {
	l := ReadLimits("")
	if l.UsableCPUs < 1 || l.UsableCPUs > runtime.NumCPU() {
		t.Errorf("%d usable CPUs of %d", l.UsableCPUs, runtime.NumCPU())
	}
	if _, err := os.Stat("/proc/meminfo"); err != nil {
		if l.TotalBytes != nil || l.Source != FromNowhere {
			t.Errorf("known without /proc/meminfo: %+v", l)
		}
		return
	}
	if l.TotalBytes == nil || l.AvailableBytes == nil || *l.AvailableBytes > *l.TotalBytes || *l.TotalBytes > *l.RAMBytes {
		t.Errorf("total %v, available %v of %v", show(l.TotalBytes), show(l.AvailableBytes), show(l.RAMBytes))
	}
}
