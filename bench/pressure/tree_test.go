package pressure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is a machine made of files, by path below the root.
type tree map[string]string

// mounts of the usual places.
const (
	mountProc   = "22 1 0:21 / /proc rw - proc proc rw\n"
	mountV2     = "30 1 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	mountMemory = "35 1 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	mountCPU    = "36 1 0:33 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	mountHybrid = "37 1 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	meminfo16G  = "MemTotal:       16777216 kB\nMemFree:         8388608 kB\nMemAvailable:   12582912 kB\n" +
		"Cached:          4194304 kB\nUnevictable:          16 kB\nMlocked:               16 kB\nSwapTotal:       2097152 kB\n" +
		"SwapFree:        1048576 kB\nDirty:               100 kB\nShmem:             10240 kB\n"
	status = "Name:\tpinscope\nVmLck:\t      64 kB\nVmRSS:\t    7000 kB\nRssAnon:\t    4000 kB\nRssFile:\t    2000 kB\n" +
		"RssShmem:\t    1000 kB\nVmSwap:\t       0 kB\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n"
	limitsText = "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max cpu time              unlimited            unlimited            seconds   \n" +
		"Max locked memory         8388608              unlimited            bytes     \n"
)

const gib = int64(1) << 30

// base is an ordinary machine of 16 GiB, 12 of them available, and 8 CPUs.
func base() tree {
	return tree{
		"proc/meminfo":        meminfo16G,
		"proc/self/status":    status,
		"proc/self/limits":    limitsText,
		"proc/self/cgroup":    "0::/\n",
		"proc/self/mountinfo": mountProc + mountV2,
		"sys/fs/cgroup/":      "",
	}
}

// with lays files over a copy.
func (t tree) with(more tree) tree {
	out := tree{}
	for k, v := range t {
		out[k] = v
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func (t tree) without(names ...string) tree {
	out := t.with(nil)
	for _, n := range names {
		delete(out, n)
	}
	return out
}

// root writes the machine into a folder. "self" is what it is on a real one: a
// link to the folder of the process's number.
func (t tree) root(tb testing.TB) Root {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range t {
		name = strings.Replace(name, "proc/self/", "proc/4711/", 1)
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(tb, os.MkdirAll(path, 0o755))
			continue
		}
		must(tb, os.MkdirAll(filepath.Dir(path), 0o755))
		must(tb, os.WriteFile(path, []byte(text), 0o644))
	}
	must(tb, os.MkdirAll(filepath.Join(dir, "proc", "4711"), 0o755))
	must(tb, os.Symlink("4711", filepath.Join(dir, "proc", "self")))
	return Root(dir)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// show writes a pointer's value for comparing: "nil" or the number.
func show[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
