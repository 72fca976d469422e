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
