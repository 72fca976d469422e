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

// readMemory reads what the process and the system hold now.
func readMemory() (m LiveMemory) {
	if self, err := procfs.Self(); err == nil {
		if stat, err := self.Stat(); err == nil {
			resident := int64(stat.ResidentMemory())
			m.ResidentBytes = &resident
		}
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return m
	}
	if memory, err := fs.Meminfo(); err == nil && memory.MemAvailableBytes != nil {
		available := int64(*memory.MemAvailableBytes)
		m.AvailableBytes = &available
	}
	return m
}
