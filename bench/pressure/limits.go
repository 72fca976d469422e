package pressure

import (
	"fmt"
	"math"
	"os"
	"path"
	"runtime"
	"strings"
)

// Sources of [Limits.TotalBytes].
const (
	FromSystem    = "system memory"
	FromContainer = "container limit"
	FromNowhere   = "unknown"
)

// Limits is what the system has for this process. Pointers are nil, and texts
// empty, where it is not known.
type Limits struct {
	// AvailableBytes can be had without swapping: the least of MemAvailable and
	// what each control group's limit leaves.
	AvailableBytes *int64 `json:"available_bytes"`
	// TotalBytes is the smallest of the machine's memory and the limits of the
	// process's control groups.
	TotalBytes    *int64 `json:"total_bytes"`
	Source        string `json:"source"`               // of TotalBytes: FromSystem, FromContainer, FromNowhere
	LimitedBy     string `json:"limited_by,omitempty"` // "memory.max of /docker/ab12 (cgroup v2)"; empty: no limit below the machine's memory
	RAMBytes      *int64 `json:"machine_memory_bytes"` // of the machine
	SwapBytes     *int64 `json:"swap_bytes"`           // 0: there is none
	SwapUsedBytes *int64 `json:"swap_used_bytes"`      //
	DevShmBytes   *int64 `json:"dev_shm_bytes"`        // size of the shared-memory mount

	UsableCPUs   int      `json:"usable_cpus"`            // >= 1: the smaller of affinity and quota, rounded up
	AffinityCPUs *int     `json:"affinity_cpus"`          // that the process may run on
	QuotaCPUs    *float64 `json:"quota_cpus"`             // of CPU time in each period; nil also where there is no quota
	QuotaSource  string   `json:"quota_source,omitempty"` // "cpu.max of /docker/ab12"

	// MemlockSoft limits mlock, and so the simulated GPU; not CUDA's pinned memory.
	MemlockSoft *Ceiling `json:"memlock_soft_bytes"`
	MemlockHard *Ceiling `json:"memlock_hard_bytes"`
	// MemlockExempt: the process has CAP_IPC_LOCK outside a user namespace (root,
	// mostly), and mlock is not limited (mlock(2)).
	MemlockExempt bool   `json:"memlock_exempt"`
	HugePages     string `json:"transparent_huge_pages,omitempty"` // "always", "madvise", "never"
	Overcommit    string `json:"overcommit,omitempty"`             // "heuristic", "always", "never" (strict accounting)
	NUMANodes     *int   `json:"numa_nodes"`                       // with memory or CPUs, online

	Container      string `json:"container,omitempty"`       // "docker", "podman", "lxc", "kubernetes", "container"; empty: no sign of one
	VirtualMachine string `json:"virtual_machine,omitempty"` // its maker or kind; empty: no sign of one
	WSL2           bool   `json:"wsl2"`

	binding *group // with the tightest limit, or the process's own
}

// ReadLimits reads the limits now. Any goroutine may call it; it takes a few
// milliseconds. What cannot be read stays unknown.
func ReadLimits(root Root) Limits {
	l := Limits{Source: FromNowhere}
	l.readMemory(root)
	l.readStatus(root)
	l.readCPUs(root)
	l.readMemlock(root)
	l.readKernel(root)
	l.readDevShm(root)
	l.Container, l.VirtualMachine, l.WSL2 = root.container(), root.virtualMachine(), root.wsl2()
	return l
}

// UsableCPUs is [Limits.UsableCPUs] alone, without reading memory.
func UsableCPUs(root Root) int {
	var l Limits
	l.readStatus(root)
	l.readCPUs(root)
	return l.UsableCPUs
}

// String is the memory in words: "10 GiB available of 16 GiB, system memory" with
// the exact bytes.
func (l Limits) String() string {
	if l.AvailableBytes == nil || l.TotalBytes == nil {
		return "memory unknown"
	}
	return fmt.Sprintf("%s available of %s, %s", exact(*l.AvailableBytes), exact(*l.TotalBytes), l.Source)
}

func (l *Limits) readMemory(root Root) {
	text, _ := os.ReadFile(root.path("proc/meminfo"))
	var s Sample
	m := readMemInfo(&s, text)
	if m.total > 0 {
		l.RAMBytes, l.TotalBytes, l.Source = &m.total, known(m.total), FromSystem
	}
	if m.swapTotal >= 0 {
		l.SwapBytes = &m.swapTotal
	}
	if used, ok := s.Int(SwapUsed); ok {
		l.SwapUsedBytes = &used
	}
	if available, ok := s.Int(SystemAvailable); ok {
		l.AvailableBytes = &available
	}
	bounds, own := root.memoryBounds()
	tightest, left := smallest(bounds)
	l.binding = own
	if l.AvailableBytes != nil && left != nil && *left < *l.AvailableBytes {
		l.AvailableBytes = left
	}
	if tightest == nil || l.TotalBytes != nil && tightest.limit >= *l.TotalBytes {
		return
	}
	l.TotalBytes, l.Source, l.LimitedBy = &tightest.limit, FromContainer, tightest.String()
	l.binding = &tightest.group
	if l.AvailableBytes == nil {
		l.AvailableBytes = left
	}
	if l.AvailableBytes != nil && *l.AvailableBytes > tightest.limit {
		l.AvailableBytes = &tightest.limit // what the group uses is unknown
	}
}

func known[T any](v T) *T { return &v }

func (l *Limits) readStatus(root Root) {
	_, self, err := root.procfs()
	if err != nil {
		return
	}
	status, err := self.NewStatus()
	if err != nil {
		return
	}
	l.MemlockExempt = root.memlockExempt(status.CapEff)
	if n := len(status.CpusAllowedList); n > 0 {
		l.AffinityCPUs = &n
	}
}

func (l *Limits) readCPUs(root Root) {
	l.UsableCPUs = runtime.NumCPU()
	if l.AffinityCPUs != nil {
		l.UsableCPUs = *l.AffinityCPUs
	}
	l.QuotaCPUs, l.QuotaSource = root.cpuQuota()
	if l.QuotaCPUs != nil && *l.QuotaCPUs < float64(l.UsableCPUs) {
		// Rounded up as Go's runtime does it for GOMAXPROCS.
		l.UsableCPUs = max(1, int(math.Ceil(*l.QuotaCPUs)))
	}
}

// readMemlock reads /proc/self/limits itself, since procfs drops hard limits.
func (l *Limits) readMemlock(root Root) {
	text, _ := root.text("proc/self/limits")
	for row := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(row, "Max locked memory")
		if !ok {
			continue
		}
		if fields := strings.Fields(rest); len(fields) == 3 && fields[2] == "bytes" {
			l.MemlockSoft, l.MemlockHard = ceiling(fields[0]), ceiling(fields[1])
		}
	}
}

// lockCapability is CAP_IPC_LOCK of linux/capability.h.
const lockCapability = 14

// memlockExempt: the kernel asks for the capability in the first user namespace,
// the one whose numbers are mapped to themselves.
func (r Root) memlockExempt(capabilities uint64) bool {
	ids, _ := r.text("proc/self/uid_map")
	return capabilities&(1<<lockCapability) != 0 && strings.Join(strings.Fields(ids), " ") == "0 0 4294967295"
}

func ceiling(text string) *Ceiling {
	if text == "unlimited" {
		return known(Unlimited)
	}
	if n, ok := whole([]byte(text)); ok {
		return known(Ceiling(n))
	}
	return nil
}

func (l *Limits) readKernel(root Root) {
	if text, ok := root.text("sys/kernel/mm/transparent_hugepage/enabled"); ok { // "always [madvise] never"
		_, rest, _ := strings.Cut(text, "[")
		l.HugePages, _, _ = strings.Cut(rest, "]")
	}
	// Documentation/mm/overcommit-accounting.rst
	if text, _ := root.text("proc/sys/vm/overcommit_memory"); len(text) == 1 {
		l.Overcommit = map[string]string{"0": "heuristic", "1": "always", "2": "never"}[text]
	}
	if text, ok := root.text("sys/devices/system/node/online"); ok {
		if n, ok := countList(text); ok {
			l.NUMANodes = &n
		}
	}
}

// countList counts the members of a kernel list: "0-3,8" has five.
func countList(text string) (n int, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, ok1 := whole([]byte(from))
		last, ok2 := whole([]byte(to))
		if !ok1 || !ok2 || last < first || last-first >= 1<<16 {
			return 0, false
		}
		n += int(last-first) + 1
	}
	return n, true
}

// readDevShm takes the size of the mount from its options; tmpfs shows it only
// where it is not half of the memory (mm/shmem.c, shmem_show_options).
func (l *Limits) readDevShm(root Root) {
	fs, _, err := root.procfs()
	if err != nil {
		return
	}
	mounts, err := fs.GetMounts()
	if err != nil {
		return
	}
	for _, m := range mounts { // the last hides those before it
		if path.Clean(m.MountPoint) != "/dev/shm" || m.FSType != "tmpfs" {
			continue
		}
		l.DevShmBytes = nil
		size, set := m.SuperOptions["size"]
		if digits, ok := strings.CutSuffix(size, "k"); ok {
			if n, ok := whole([]byte(digits)); ok && n <= math.MaxInt64/1024 {
				l.DevShmBytes = known(n * 1024)
			}
		} else if !set && l.RAMBytes != nil {
			l.DevShmBytes = known(*l.RAMBytes / 2)
		}
	}
}
