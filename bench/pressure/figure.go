package pressure

import "fmt"

// Figure names one number of a [Sample].
type Figure uint8

// The figures, in the order they are shown. Memory is in bytes; counters count
// from the first sample of the series.
const (
	// Pinned is our own ledger of page-locked bytes; the system's counters do
	// not show them as such (see cudamem.Ledger).
	Pinned Figure = iota

	RSSAnon      // of the process: heap, stacks; registered memory too
	RSSFile      // of the process: mapped files
	RSSShmem     // of the process: shared memory; cuMemHostAlloc's shows here
	LockedMemory // VmLck: mlock alone, not CUDA's
	Swapped      // of the process, in swap
	MinorFaults  // of the process: served without reading from disk
	MajorFaults  // of the process: waited for the disk

	// Available is what can be had without swapping: the smaller of
	// SystemAvailable and what the control group's limit leaves.
	Available
	SystemAvailable // MemAvailable
	Free            // MemFree
	Shmem           // of the system
	Mlocked         // of the system: mlock alone
	Unevictable     // of the system: mlock, ramfs and the like
	Dirty           // waits to be written to disk
	Cached          // page cache, Shmem included
	SwapUsed        // of the system

	ScannedPages // looked at by reclaim, whole system
	StolenPages  // taken back by reclaim
	AllocStalls  // allocations that had to reclaim by themselves
	SwapInPages
	SwapOutPages
	RefaultPages // dropped and soon needed again

	MemorySomeStall // PSI: time in which some task waited for memory
	MemoryFullStall // PSI: time in which all did
	MemorySomeAvg10 // PSI: per cent of the last 10 s, the kernel's running mean
	MemoryFullAvg10
	IOSomeStall
	IOFullStall
	CPUSomeStall

	// Of the control group with the smallest limit, or the process's own.
	GroupUsed         // page cache included
	GroupMax          // its limit; null also where it has none
	GroupHigh         // throttled above; null also where it has none
	GroupShmem        //
	GroupInactiveFile // page cache that reclaim takes first
	GroupMaxEvents    // how often the limit was met
	GroupHighEvents   // how often the group was throttled
	GroupOOMEvents    // version 2 only
	GroupOOMKills     //
	GroupScannedPages // version 2 only
	GroupStolenPages  // version 2 only
	GroupRefaultPages //
	GroupSomeStall    // PSI of the group
	GroupFullStall    //

	figureCount
)

// Unit is what a figure counts.
type Unit uint8

// The units of figures.
const (
	InBytes Unit = iota
	InPages
	InEvents
	InNanos
	InPercent
)

// figureInfo describes a figure. A counter grows for as long as the machine
// runs, so that only its change means something.
var figureInfo = [figureCount]struct {
	name    string // with its unit, as in JSON and CSV
	unit    Unit
	counter bool
}{
	Pinned:            {name: "pinned_bytes"},
	RSSAnon:           {name: "rss_anon_bytes"},
	RSSFile:           {name: "rss_file_bytes"},
	RSSShmem:          {name: "rss_shmem_bytes"},
	LockedMemory:      {name: "locked_bytes"},
	Swapped:           {name: "swapped_bytes"},
	MinorFaults:       {"minor_faults", InEvents, true},
	MajorFaults:       {"major_faults", InEvents, true},
	Available:         {name: "available_bytes"},
	SystemAvailable:   {name: "system_available_bytes"},
	Free:              {name: "system_free_bytes"},
	Shmem:             {name: "system_shmem_bytes"},
	Mlocked:           {name: "system_mlocked_bytes"},
	Unevictable:       {name: "system_unevictable_bytes"},
	Dirty:             {name: "system_dirty_bytes"},
	Cached:            {name: "system_cached_bytes"},
	SwapUsed:          {name: "system_swap_used_bytes"},
	ScannedPages:      {"scanned_pages", InPages, true},
	StolenPages:       {"stolen_pages", InPages, true},
	AllocStalls:       {"alloc_stalls", InEvents, true},
	SwapInPages:       {"swap_in_pages", InPages, true},
	SwapOutPages:      {"swap_out_pages", InPages, true},
	RefaultPages:      {"refault_pages", InPages, true},
	MemorySomeStall:   {"memory_some_stall_ns", InNanos, true},
	MemoryFullStall:   {"memory_full_stall_ns", InNanos, true},
	MemorySomeAvg10:   {name: "memory_some_avg10_percent", unit: InPercent},
	MemoryFullAvg10:   {name: "memory_full_avg10_percent", unit: InPercent},
	IOSomeStall:       {"io_some_stall_ns", InNanos, true},
	IOFullStall:       {"io_full_stall_ns", InNanos, true},
	CPUSomeStall:      {"cpu_some_stall_ns", InNanos, true},
	GroupUsed:         {name: "group_used_bytes"},
	GroupMax:          {name: "group_max_bytes"},
	GroupHigh:         {name: "group_high_bytes"},
	GroupShmem:        {name: "group_shmem_bytes"},
	GroupInactiveFile: {name: "group_inactive_file_bytes"},
	GroupMaxEvents:    {"group_max_events", InEvents, true},
	GroupHighEvents:   {"group_high_events", InEvents, true},
	GroupOOMEvents:    {"group_oom_events", InEvents, true},
	GroupOOMKills:     {"group_oom_kills", InEvents, true},
	GroupScannedPages: {"group_scanned_pages", InPages, true},
	GroupStolenPages:  {"group_stolen_pages", InPages, true},
	GroupRefaultPages: {"group_refault_pages", InPages, true},
	GroupSomeStall:    {"group_some_stall_ns", InNanos, true},
	GroupFullStall:    {"group_full_stall_ns", InNanos, true},
}

// Figures lists all figures in the order they are shown.
func Figures() []Figure {
	all := make([]Figure, figureCount)
	for i := range all {
		all[i] = Figure(i)
	}
	return all
}

// String is the name with its unit, as in JSON and CSV: "rss_anon_bytes".
func (f Figure) String() string {
	if f >= figureCount {
		return fmt.Sprintf("Figure(%d)", uint8(f))
	}
	return figureInfo[f].name
}

// Unit is what the figure counts.
func (f Figure) Unit() Unit { return figureInfo[f].unit }

// IsCounter says that only changes of the figure mean something.
func (f Figure) IsCounter() bool { return figureInfo[f].counter }
