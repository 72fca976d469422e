package pressure

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// group is a control group of the process, or one above it.
type group struct {
	folder string // on this file system
	name   string // as the mount shows it: "/user.slice/user-1000.slice"
	v1     bool
}

// files of a memory group, by version.
func (g group) used() string { return g.pick("memory.usage_in_bytes", "memory.current") }
func (g group) max() string  { return g.pick("memory.limit_in_bytes", "memory.max") }

func (g group) pick(v1, v2 string) string {
	if g.v1 {
		return v1
	}
	return v2
}

func (g group) read(file string) []byte {
	text, err := os.ReadFile(filepath.Join(g.folder, file))
	if err != nil {
		return nil
	}
	return text
}

// hierarchy is the chain from the process's own group to the top of what is
// mounted. What lies above the mount, outside a container, cannot be seen.
type hierarchy []group

// unified is the chain of version 2; nil without one.
func (r Root) unified() hierarchy { return r.chain("", "/sys/fs/cgroup") }

// legacy is the chain of a version 1 controller; nil without one. A hybrid system
// has both kinds, each controller in one of them.
func (r Root) legacy(controller string) hierarchy {
	return r.chain(controller, "/sys/fs/cgroup/"+controller)
}

// chain finds the groups of a version 1 controller, or with none of version 2.
func (r Root) chain(controller, usualMount string) hierarchy {
	fs, self, err := r.procfs()
	if err != nil {
		return nil
	}
	groups, err := self.Cgroups()
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(groups, func(g procfs.Cgroup) bool {
		if controller == "" {
			return g.HierarchyID == 0
		}
		return slices.Contains(g.Controllers, controller)
	})
	if at < 0 {
		return nil
	}
	mount, inside := usualMount, below("/", groups[at].Path)
	if mounts, err := fs.GetMounts(); err == nil {
		found := bestMount(mounts, controller, groups[at].Path)
		if found == nil {
			return nil
		}
		mount, inside = found.MountPoint, below(found.Root, groups[at].Path)
	}
	return r.climb(mount, inside, controller != "")
}

// bestMount is the mount that shows the group: rather one whose root is above the
// group, since others are bind mounts of something else; rather the usual place;
// of several at one place the last, which hides the others.
func bestMount(mounts []*procfs.MountInfo, controller, inside string) (best *procfs.MountInfo) {
	bestScore := -1
	for _, m := range mounts {
		_, hasController := m.SuperOptions[controller]
		if controller == "" && m.FSType != "cgroup2" || controller != "" && (m.FSType != "cgroup" || !hasController) {
			continue
		}
		score := 0
		if covers(m.Root, inside) {
			score += 2
		}
		if strings.HasPrefix(m.MountPoint, "/sys/fs/cgroup") {
			score++
		}
		if score >= bestScore {
			best, bestScore = m, score
		}
	}
	return best
}

// covers says whether a mount of root shows the group inside.
func covers(root, inside string) bool {
	return root == "/" || inside == root || strings.HasPrefix(inside, root+"/")
}

// below is the group's path under a mount of root. A path that starts with "/.."
// lies outside the process's cgroup namespace: then the mount's top is the
// nearest that can be seen, as it is when the mount does not show the group.
func below(root, inside string) string {
	switch {
	case strings.HasPrefix(inside, "/.."), !covers(root, inside):
		return "/"
	case root == "/":
		return path.Clean("/" + inside)
	default:
		return path.Clean("/" + strings.TrimPrefix(inside, root))
	}
}

// climb lists the groups from inside up to the mount's top. Levels that are not
// there, as in a container that is told its path on the host, are left out.
func (r Root) climb(mount, inside string, v1 bool) (chain hierarchy) {
	for {
		g := group{folder: r.path(mount, inside), name: inside, v1: v1}
		if info, err := os.Stat(g.folder); err == nil && info.IsDir() {
			chain = append(chain, g)
		}
		if inside == "/" {
			return chain
		}
		inside = path.Dir(inside)
	}
}

// memoryBound is a limit of one group and what it leaves.
type memoryBound struct {
	group     group
	file      string // memory.max, memory.high, memory.limit_in_bytes
	limit     int64
	available *int64 // nil: use unknown
}

func (b memoryBound) String() string {
	return fmt.Sprintf("%s of %s (cgroup v%s)", b.file, b.group.name, b.group.pick("1", "2"))
}

// memoryBounds lists the limits along both chains, the process's own group first.
// Above memory.high the kernel only throttles; but pinned memory cannot be
// reclaimed, so that a group kept above it by pinning stays throttled: it counts.
func (r Root) memoryBounds() (bounds []memoryBound, own *group) {
	for _, chain := range []hierarchy{r.legacy("memory"), r.unified()} {
		for _, g := range chain {
			var s Sample
			groupUsed(&s, g.read(g.used()))
			groupStat(&s, g.read("memory.stat"))
			if _, ok := s.Int(GroupUsed); ok && own == nil {
				own = &g
			}
			for _, file := range []string{g.max(), "memory.high"} {
				if n, unlimited, ok := limit(g.read(file)); ok && !unlimited {
					bounds = append(bounds, memoryBound{g, file, n, headroom(&s, n)})
				}
			}
			if n, ok := hierarchical(g); ok {
				bounds = append(bounds, memoryBound{g, "hierarchical_memory_limit", n, headroom(&s, n)})
			}
		}
	}
	return bounds, own
}

// hierarchical is the smallest limit at and above a version 1 group, as the
// kernel works it out: it also knows groups above the mount.
func hierarchical(g group) (bytes int64, ok bool) {
	if !g.v1 {
		return 0, false
	}
	eachPair(g.read("memory.stat"), func(key []byte, value int64) {
		if string(key) == "hierarchical_memory_limit" && value < 1<<62 {
			bytes, ok = value, true
		}
	})
	return bytes, ok
}

// headroom is what a limit leaves: page cache that is not in use is dropped
// before the limit is enforced. Counting inactive_file alone as such is what
// Kubernetes does for its working set (kubelet, cadvisor), on the safe side.
func headroom(s *Sample, limit int64) *int64 {
	used, ok := s.Int(GroupUsed)
	if !ok {
		return nil
	}
	inactive, _ := s.Int(GroupInactiveFile)
	left := max(0, limit-max(0, used-inactive))
	return &left
}

// cpuQuota is the smallest CPU quota along the chains, in CPUs; nil: none or unknown.
func (r Root) cpuQuota() (cpus *float64, source string) {
	for _, chain := range []hierarchy{r.legacy("cpu"), r.unified()} {
		for _, g := range chain {
			quota, ok := g.quota()
			if ok && (cpus == nil || quota < *cpus) {
				cpus, source = &quota, fmt.Sprintf("%s of %s", g.pick("cpu.cfs_quota_us", "cpu.max"), g.name)
			}
		}
	}
	return cpus, source
}

// quota reads cpu.max ("50000 100000", microseconds in each period) or version
// 1's two files; without a limit it gives false.
func (g group) quota() (cpus float64, ok bool) {
	text := string(g.read("cpu.max"))
	if g.v1 {
		text = strings.TrimSpace(string(g.read("cpu.cfs_quota_us"))) + " " + string(g.read("cpu.cfs_period_us"))
	}
	first, rest := word([]byte(strings.TrimSpace(text)))
	second, _ := word(rest)
	quota, ok1 := whole(first) // not "max", not "-1"
	period, ok2 := whole(second)
	if !ok1 || !ok2 || quota == 0 || period == 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}

// smallest is the tightest of the bounds, and the least that any leaves.
func smallest(bounds []memoryBound) (tightest *memoryBound, available *int64) {
	least := int64(math.MaxInt64)
	for i := range bounds {
		b := &bounds[i]
		if tightest == nil || b.limit < tightest.limit {
			tightest = b
		}
		if b.available != nil && *b.available < least {
			least = *b.available
			available = b.available
		}
	}
	return tightest, available
}
