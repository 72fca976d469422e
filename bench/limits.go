package bench

import (
	"fmt"
	"runtime"
)

// Limits is what the system has for this process.
type Limits struct {
	AvailableBytes *int64 `json:"available_bytes"` // memory that can be had without swapping; nil: unknown
	TotalBytes     *int64 `json:"total_bytes"`     // of the machine, or the container's limit; nil: unknown
	Source         string `json:"source"`          // of TotalBytes: "system memory", "container limit", "unknown"
	UsableCPUs     int    `json:"usable_cpus"`     // >= 1
}

// SystemLimits reads the limits now. Any goroutine may call it.
func SystemLimits() Limits {
	l := Limits{Source: "unknown", UsableCPUs: usableCPUs()}
	l.readMemory()
	return l
}

// usableCPUs is how many CPUs the process can keep busy. Go's runtime sets
// GOMAXPROCS from affinity and cgroup quota; whoever sets it higher by hand
// still has no more CPUs than the affinity allows.
func usableCPUs() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

// SpendableBytes is what a run may take of the available memory: an eighth, and
// at least 128 MiB of it, is left to everything else; nil if it is unknown.
func (l Limits) SpendableBytes() *int64 {
	if l.AvailableBytes == nil {
		return nil
	}
	const leastReserve = 128 << 20
	spendable := max(0, *l.AvailableBytes-max(*l.AvailableBytes/8, leastReserve))
	return &spendable
}

// PinnableBytes is what a run may page-lock unless it is told to risk more:
// half of the available memory; nil if that is unknown.
func (l Limits) PinnableBytes() *int64 {
	if l.AvailableBytes == nil {
		return nil
	}
	pinnable := *l.AvailableBytes / 2
	return &pinnable
}

// String is the memory in words.
func (l Limits) String() string {
	if l.AvailableBytes == nil || l.TotalBytes == nil {
		return "memory unknown"
	}
	return fmt.Sprintf("%s available of %s, %s", exact(*l.AvailableBytes), exact(*l.TotalBytes), l.Source)
}
