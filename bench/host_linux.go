package bench

import (
	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// addSystem fills in what /proc and uname tell.
func (h *Host) addSystem() {
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		h.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return
	}
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
		h.CPU = cpus[0].ModelName
	}
	if memory, err := fs.Meminfo(); err == nil && memory.MemTotalBytes != nil {
		total := int64(*memory.MemTotalBytes)
		h.MemoryBytes = &total
	}
}
