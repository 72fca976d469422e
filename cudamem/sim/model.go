package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Model is a GPU and its link, as the simulation sees them. Sizes are bytes,
// rates are GB/s of 1e9 bytes a second.
type Model struct {
	Name string // of the preset it started from: "laptop"

	LinkGBps float64       // of either direction, of page-locked memory; infinite: endless
	Latency  time.Duration // of each copy, before its bytes move
	// PageableGBps is the rate at which a pageable copy moves, its caller
	// blocked all the while; 0: staged by really copying, then moved at LinkGBps.
	PageableGBps float64
	// Ramp holds the rates of the first copies after the link was idle for a
	// second or more; none: it is always awake.
	Ramp        []float64
	CopyEngines int // 1: both directions share one

	Step      time.Duration // of a training step, if FixedStep
	FixedStep bool          // else the roofline of TFLOPS and MemoryGBps
	Launch    time.Duration // added to each step
	TFLOPS    float64       // float32, 1e12 operations a second
	MemGBps   float64       // of device memory

	MemoryBytes  int64   // of device memory
	PinLimit     int64   // most host memory that can be locked; 0: no limit of the model's
	PinSecPerGiB float64 // time it takes to lock host memory; 0: what it takes on this machine

	Jitter float64 // each copy and step takes up to this fraction more or less, 0..1
	Seed   uint64  // of the jitter
}

// copyNanos is how long the link takes for bytes at a rate, without latency.
func copyNanos(bytes int64, gbps float64) float64 {
	return float64(bytes) / gbps // GB/s are bytes a nanosecond
}

// rate is the link's rate for the n-th copy (from 0) since it was idle.
func (m *Model) rate(n int) float64 {
	if n < len(m.Ramp) {
		return min(m.Ramp[n], m.LinkGBps)
	}
	return m.LinkGBps
}

// stepNanos is the time of a training step over rows samples, launch included:
// its compute, or the time of reading the batch over the link if that is longer.
func (m *Model) stepNanos(rows, features, classes int, inputBytes int64, overLink bool) float64 {
	nanos := float64(m.Step)
	if !m.FixedStep {
		nanos = m.roofline(float64(rows), float64(features), float64(classes), float64(inputBytes))
	}
	if overLink {
		nanos = max(nanos, copyNanos(inputBytes, m.LinkGBps))
	}
	return float64(m.Launch) + nanos
}

// roofline: forward and weight gradient are a product of rows x features x classes
// each, of two operations a term. The input is read by both, the float32 weights
// are read by the forward pass and written by the update.
func (m *Model) roofline(rows, features, classes, inputBytes float64) float64 {
	operations := 4 * rows * features * classes
	bytes := 2*inputBytes + 2*4*features*classes
	return max(operations/(m.TFLOPS*1e3), bytes/m.MemGBps)
}

// duration rounds nanoseconds, once. What would not fit (292 years) is cut off
// far below, so that sums fit too.
func duration(nanos float64) time.Duration {
	return time.Duration(math.Round(min(nanos, 1e16)))
}

// Presets lists the names that Lookup takes; the first is the default.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Name
	}
	return names
}

// Lookup gives the preset of a name.
func Lookup(name string) (Model, error) {
	for _, p := range presets {
		if p.Name == name {
			p.Ramp = slices.Clone(p.Ramp)
			return p, nil
		}
	}
	return Model{}, fmt.Errorf("sim: no model %q; allowed is %s", name, strings.Join(Presets(), ", "))
}
