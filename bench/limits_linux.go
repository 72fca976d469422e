package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/prometheus/procfs"
)

// readMemory takes the system's memory, or the container's limit if that leaves less.
func (l *Limits) readMemory() {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return
	}
	memory, err := fs.Meminfo()
	if err != nil || memory.MemAvailableBytes == nil || memory.MemTotalBytes == nil {
		return
	}
	available, total := int64(*memory.MemAvailableBytes), int64(*memory.MemTotalBytes)
	l.Source = "system memory"
	limit, err := memlimit.FromCgroup()
	if used, ok := cgroupUse("/sys/fs/cgroup"); err == nil && limit < uint64(total) {
		if !ok {
			used = 0
		}
		total, l.Source = int64(limit), "container limit"
		available = min(available, max(0, int64(limit)-used))
	}
	l.AvailableBytes, l.TotalBytes = &available, &total
}

// cgroupUse is what the control group of the process holds, less the page cache
// that the kernel drops when it needs room.
func cgroupUse(mount string) (bytes int64, ok bool) {
	self, err := procfs.Self()
	if err != nil {
		return 0, false
	}
	groups, err := self.Cgroups()
	if err != nil {
		return 0, false
	}
	for _, group := range groups {
		folder, file, cache := mount, "memory.current", "inactive_file"
		switch {
		case slices.Contains(group.Controllers, "memory"): // version 1
			folder, file, cache = filepath.Join(mount, "memory"), "memory.usage_in_bytes", "total_inactive_file"
		case group.HierarchyID != 0:
			continue
		}
		// Inside a container the mount may be the group itself.
		for _, folder := range []string{filepath.Join(folder, group.Path), folder} {
			if used, ok := readCgroupUse(folder, file, cache); ok {
				return used, true
			}
		}
	}
	return 0, false
}

func readCgroupUse(folder, file, cache string) (bytes int64, ok bool) {
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		return 0, false
	}
	used, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, false
	}
	stat, _ := os.ReadFile(filepath.Join(folder, "memory.stat")) // without it, all counts as used
	for line := range strings.Lines(string(stat)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == cache {
			inactive, _ := strconv.ParseInt(fields[1], 10, 64)
			return max(0, used-inactive), true
		}
	}
	return used, true
}
