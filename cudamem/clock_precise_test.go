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

// TestSleepUntilIsNeverEarly takes some milliseconds of real time.
func TestSleepUntilIsNeverEarly(t *testing.T) {
	clock := NewClock()
	for _, d := range []time.Duration{-time.Hour, 0, 1, 30 * time.Microsecond, 90 * time.Microsecond, 600 * time.Microsecond, 3 * time.Millisecond} {
		until := clock.Now() + d
		clock.SleepUntil(until)
		if now := clock.Now(); now < until {
			t.Errorf("asked for %v: woke %v early", d, until-now)
		}
	}
}
