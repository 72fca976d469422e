package bench

import (
	"fmt"

	"pinscope/bench/stats"
	"pinscope/bench/units"
)

// textLadder is each rung with what it brought, then the total and its parts.
func (r *Result) textLadder(w *textWriter) {
	l := r.Ladder
	if l == nil {
		return
	}
	w.line("")
	w.line("%-26s %10s  %-9s %-15s %10s", "Ladder", "samples/s", "by before", "95 % interval", "pinned")
	steps := map[int]LadderStep{}
	for _, step := range l.Steps {
		steps[step.Side] = step
	}
	aside := false
	for i := range r.Sides {
		step, climbed := steps[i]
		if step.Aside && !aside {
			aside = true
			w.line("Side steps, by %s", r.Sides[step.Against].Label)
		}
		r.ladderRow(w, &r.Sides[i], step.Comparison, climbed)
	}
	w.line("")
	top, foot := &r.Sides[l.Total.Side], &r.Sides[l.Total.Against]
	w.line("%s", comparisonRow("Total, "+top.Label+" by "+foot.Label, l.Total.Comparison))
	for _, part := range l.Parts {
		w.line("%s", comparisonRow("  "+string(part.Cause), part.Comparison))
	}
}

func (r *Result) ladderRow(w *textWriter, s *Side, c stats.Comparison, climbed bool) {
	median := units.NotAvailable
	if m := s.SamplesPerS.Median; m != nil {
		median = units.SampleRate(*m)
	}
	by, between := "", ""
	if climbed {
		by, between = ratioTexts(c)
	}
	w.line("%-26s %10s  %-9s %-15s %10s", s.Label+" "+s.Name, median, by, between, units.Bytes(s.Setup.PinnedBytes))
}

func comparisonRow(name string, c stats.Comparison) string {
	by, between := ratioTexts(c)
	return fmt.Sprintf("%-28s  %-9s %-15s %s", name, by, between, c.Verdict)
}

// ratioTexts are a ratio and its interval.
func ratioTexts(c stats.Comparison) (by, between string) {
	if c.Ratio == nil {
		return units.NotAvailable, ""
	}
	by = fmt.Sprintf("%.3fx", *c.Ratio)
	if c.Interval != nil {
		between = fmt.Sprintf("%.3f..%.3f", c.Interval.Lo, c.Interval.Hi)
	}
	return by, between
}
