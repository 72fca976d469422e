package stats

import (
	"time"
)

// MostFLOPS is the most floating-point operations a second that one GPU of 2026
// is sold with for float32: an NVIDIA B200 at 1,200 W, TF32 on tensor cores with
// sparsity (glennklockwood.com/garden/processors/B200; 90e12 without tensor cores).
const MostFLOPS = 2.5e15

// PlausibleFLOPs gives operations a second, and whether they stay within a
// limit in the same unit (MostFLOPS, or what the device can do). More than the
// limit, or a time of 0, means that the clock was stopped before the work was done.
func PlausibleFLOPs(operations float64, d time.Duration, limit float64) (perSecond float64, plausible bool) {
	if d <= 0 || operations <= 0 {
		return 0, false
	}
	perSecond = operations / d.Seconds()
	return perSecond, perSecond <= limit
}

// GBps is a rate in GB (1e9 bytes) a second. It is not defined, and false,
// without bytes or without time.
func GBps(bytes int64, d time.Duration) (float64, bool) {
	if bytes <= 0 || d <= 0 {
		return 0, false
	}
	return float64(bytes) / d.Seconds() / 1e9, true
}

// BreakEvenSteps is after how many steps that each save some time a set-up has
// paid for itself. It never does, and false, when a step saves nothing.
func BreakEvenSteps(setup, saved time.Duration) (int64, bool) {
	if saved <= 0 {
		return 0, false
	}
	if setup <= 0 {
		return 0, true
	}
	return int64((setup-1)/saved) + 1, true
}
