package bench

import (
	"strings"
	"testing"
	"time"

	"pinscope/bench/stats"
)

// The speed-up beside the cost of pinning is the one that is claimed, whatever
// the typical repeats took: A's 1.3 s by 1.25 are 1.04 s.
func TestPayBackSpeaksOfTheSameSpeedUp(t *testing.T) {
	ratio := 1.25
	for name, tc := range map[string]struct {
		extra time.Duration
		want  string
	}{
		"pays":     {52 * time.Millisecond, "saves 260 us a batch: it pays back in this run (1,000 batches; break-even at 200); B by A is 1.25x (+25.0 %) without and 1.19x (+19.0 %) with"},
		"does not": {520 * time.Millisecond, "it does not pay back in this run (1,000 batches; break-even at 2,000); B by A is 1.25x (+25.0 %) without and 0.83x (-16.7 %) with"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Result{Sides: []Side{replay("A", 1000, 0), replay("B", 1000, 0)}, Comparison: &stats.Comparison{Ratio: &ratio, Verdict: stats.Faster}}
			r.Sides[0].Repeats[0].Wall = 1300 * time.Millisecond
			r.Sides[1].Setup.PinDuration = tc.extra
			if got := strings.Join(r.payBack(), " "); !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
