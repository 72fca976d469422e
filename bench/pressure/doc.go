// Package pressure tells what the memory system has for this process and what
// it pays while memory is pinned.
//
// The parts are used in this order: [ReadLimits] reads what there is; [Guard]
// holds the need of a run against it before anything is allocated, and
// [SafeRing] says how much should be pinned at most; during the run a [Sampler]
// records the system's counters on the run's clock, and a [Watchdog] that looks
// at its samples ends the run when memory gets short. [Experiment] pins more and
// more as ballast and [FindKnee] finds where that begins to hurt.
//
// # Where host memory shows up
//
// Rings of 341 slots, 4,292,169,728 bytes (4.00 GiB), in `pinscope run` on an H200
// (driver 580.159, Linux, 2026-12): GiB above the first sample, at most. The last
// sample was taken while the last slots of two of them were still being pinned.
//
//	kind             ledger  RssAnon  RssFile  RssShmem  available
//	pinned             3.95     0.00     0.00      3.96      -4.05
//	mapped             4.00     0.01     0.00      4.00      -4.09
//	write-combined     3.94     0.00     3.94      0.00      -4.03
//	registered         4.00     4.00     0.00      0.00      -4.07
//	managed            0.00     0.00     4.00      0.00      -4.06
//	pageable           0.00     3.99     0.00      0.00      -4.01
//
// Of pinned and mapped memory the control group's shmem rose as RssShmem did; of
// pinned memory the system's Shmem as well, and VmLck, Mlocked and Unevictable did
// not move. Memory of the simulated GPU, locked by mlock, is in RssAnon, VmLck,
// Mlocked and Unevictable: a ring of 1,073,758,208 bytes took the ledger from 0 to
// 1.00 GiB and VmLck, Mlocked and Unevictable to 1.00 GiB more than nothing, with
// RssShmem still at 0 (2-core virtual machine, 2026-12-01). So no counter of the system shows what is pinned: only
// our own ledger does, and what is available falls.
//
// Everything is read from text below one [Root], so that tests and bug reports
// can stand a folder in for a machine. What the system does not tell is unknown:
// nil, null in JSON, "n/a" in text, never 0. Outside Linux nearly all is unknown.
//
// Package github.com/prometheus/procfs reads control groups, mounts and
// processors. The sampled figures are parsed here: procfs opens, allocates and
// parses whole files into strings at each call (0.2 to 0.3 ms and hundreds of
// allocations), which a sampler beside a measurement must not do; and of
// /proc/meminfo it gives nothing at all when one line is odd.
package pressure
