package view

import (
	"testing"

	"pinscope/bench"
	"pinscope/bench/stats"
)

// Each rung but the foot carries what the rounds say of it by the one before.
func TestRungsCarryTheirComparisons(t *testing.T) {
	median, ratio := 5.0, 1.5
	side := bench.Side{SamplesPerS: stats.Summary{Median: &median}}
	rungs := Rungs(&bench.Result{Kind: bench.KindLadder, Sides: []bench.Side{side, side}, Ladder: &bench.Ladder{
		Steps: []bench.LadderStep{{Side: 1, Comparison: stats.Comparison{Ratio: &ratio, Verdict: stats.NoDifference}}}}})
	if len(rungs) != 2 || rungs[0].Step != nil || rungs[1].Step == nil || rungs[1].Step.Verdict != stats.NoDifference {
		t.Errorf("%+v", rungs)
	}
}
