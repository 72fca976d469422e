package bench

import "pinscope/bench/pressure"

// Limits is what the system has for this process.
type Limits = pressure.Limits

// SystemLimits reads the limits now. Any goroutine may call it; it takes a few
// milliseconds.
func SystemLimits() Limits { return pressure.ReadLimits("") }

// usableCPUs is how many CPUs the process can keep busy, by affinity and quota.
func usableCPUs() int { return pressure.UsableCPUs("") }
