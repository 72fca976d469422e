package bench

import (
	"fmt"
	"math"
	"os"
	"testing"
)

// tries is how often a measurement in real time may be disturbed by whatever else
// the machine does before it counts as wrong.
const tries = 4

// withinInRealTime measures until the figure is within 3 % of what arithmetic says.
func withinInRealTime(t *testing.T, c Config, want float64, figure func(*Result) float64) {
	t.Helper()
	var seen []float64
	for range tries {
		got := figure(realTime(t, c, nil))
		if math.Abs(got-want) <= 0.03*want {
			return
		}
		seen = append(seen, got)
	}
	t.Errorf("%v, want %v within 3 %%", seen, want)
}

// TestC12InRealTime runs the positive control on the precise clock.
func TestC12InRealTime(t *testing.T) {
	if os.Getenv("PINSCOPE_REALTIME") != "1" {
		t.Skip("measures in real time, alone on the machine: set PINSCOPE_REALTIME=1")
	}
	const steps = 40
	base := []string{"samples=10240", "batch=256", "workers=1", "prefetch=1", "ring-slots=3"}
	for setting, want := range map[string]float64{
		pageableBlocking: steps * (25.690e-3 + 12.845e-3), pinnedBlocking: steps * 2 * 12.845e-3, pinnedOwnStream: (steps + 1) * 12.845e-3,
	} {
		t.Run(setting, func(t *testing.T) {
			c := withSim(settings(t, with(base, setting)...), append(still, "link-gbps=12", "pageable-gbps=6", "compute=12.845ms")...)
			withinInRealTime(t, c, want, func(r *Result) float64 { return wall(r).Seconds() })
		})
	}
}

// TestC07InRealTime runs too few workers, and enough, on the precise clock: the
// period once all workers are under way, which is when each has given one batch.
func TestC07InRealTime(t *testing.T) {
	if os.Getenv("PINSCOPE_REALTIME") != "1" {
		t.Skip("measures in real time, alone on the machine: set PINSCOPE_REALTIME=1")
	}
	for workers, period := range map[int]float64{2: 317e-3, 4: 158.5e-3, 8: 100e-3} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			batches := int64(3 * workers)
			c := settings(t, "source=delay:634ms", "shape=16", "batch=1", "non-blocking=false", "pin=off")
			c.Workers, c.Samples = workers, batches
			c = withSim(c, append(still, "link-gbps=inf", "pageable-gbps=inf", "compute=100ms")...)
			want := 3*0.634 + 0.1*float64(workers) // workers finish together and the last step ends the run
			if period == 0.1 {
				want = 0.634 + 0.1*float64(batches)
			}
			withinInRealTime(t, c, want, func(r *Result) float64 { return wall(r).Seconds() })
		})
	}
}
