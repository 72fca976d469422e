package report

import (
	"strings"
	"testing"

	"pinscope/bench"
	"pinscope/cudamem"
)

// A file's own shape and type are shown, not the settings, which it ignores.
func TestShapeIsTheDataSets(t *testing.T) {
	r := comparison()
	for i := range r.Sides {
		r.Sides[i].Plan.Shape, r.Sides[i].Plan.DType = bench.Shape{5, 7}, cudamem.Uint8
	}
	var out strings.Builder
	if err := WriteMarkdown(&out, r, Options{}); err != nil || !strings.Contains(out.String(), "x 5x7 uint8") {
		t.Errorf("%v:\n%s", err, out.String())
	}
	e := experimentResult()
	e.Plan.Shape, e.Plan.DType = bench.Shape{5, 7}, cudamem.Uint8
	for _, row := range newExperimentPage(e, Options{}).settings() {
		if row.name == (Look{}).say(rowSource) && !strings.HasSuffix(row.values[0], "x 5x7 uint8") {
			t.Errorf("page of an experiment: %s", row.values[0])
		}
	}
}
