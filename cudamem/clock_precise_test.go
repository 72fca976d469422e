package cudamem

import (
	"testing"
	"time"
)

// BenchmarkSleepUntil measures how late sleeps of some lengths end.
func BenchmarkSleepUntil(b *testing.B) {
	for _, c := range []struct {
		name  string
		clock Clock
	}{{"plain", NewPlainClock()}, {"precise", NewClock()}} {
		for _, d := range []time.Duration{20 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 3 * time.Millisecond, 20 * time.Millisecond} {
			b.Run(c.name+"/"+d.String(), func(b *testing.B) {
				var total, worst time.Duration
				for range b.N {
					t := c.clock.Now() + d
					c.clock.SleepUntil(t)
					late := c.clock.Now() - t
					total += late
					worst = max(worst, late)
				}
				b.ReportMetric(float64(total.Nanoseconds())/float64(b.N)/1e3, "us-late")
				b.ReportMetric(float64(worst.Nanoseconds())/1e3, "us-late-worst")
			})
		}
	}
}
