package train

import (
	"testing"

	"pinscope/cudamem"
)

// someLosses is a layer that computes the loss of some batches only.
type someLosses struct {
	cudamem.Linear
	known map[int]float64
}

func (l someLosses) Loss(cell int) (float64, bool) {
	loss, known := l.known[cell]
	return loss, known
}

// A batch without a loss neither ends nor erases those of others.
func TestLossesOfSomeBatches(t *testing.T) {
	r := &run{t: &Trainer{linear: someLosses{known: map[int]float64{1: 0.5, 2: 0.25}}}}
	r.outcome.Losses = make([]float64, 0, mostLosses)
	for cell := range 4 {
		r.keepLoss(&flight{cell: cell})
	}
	if !r.lossKnown || r.lastLoss != 0.25 || len(r.outcome.Losses) != 2 {
		t.Errorf("last %g (known %v) of %v", r.lastLoss, r.lossKnown, r.outcome.Losses)
	}
}
