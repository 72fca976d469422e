// Package tune finds good settings for a loader on the machine at hand: it
// predicts a grid of ways to load and to pin with package whatif, from one short
// calibration run, and measures only the few that the model likes best.
//
// [Tune] does all of it; [Outcome.Text] shows the way it took.
package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/stats"
	"pinscope/bench/whatif"
)

// Options say what is allowed and what is wanted.
type Options struct {
	BudgetBytes int64   // most pinned memory; 0: no limit
	Within      float64 // of the best throughput, 0 to 1, that is given up for less pinned memory
	Workers     []int   // numbers of workers to try; nil: 1, 2, 4, ... up to the usable CPUs
}

// Tried is one way of loading.
type Tried struct {
	Settings    []string     // as sweeps spell them
	Predicted   float64      // samples/s; 0: the model cannot tell
	PinnedBytes int64        // planned
	Side        int          // of the confirming result; -1: not run
	config      bench.Config //
}

// Outcome is what was found, and how.
type Outcome struct {
	Grid    []Tried       // everything within the budget, best prediction first
	TooMuch int           // settings beyond the budget
	Unknown int           // settings that the model could not predict
	Runs    int           // configurations that were run: the calibration and those confirmed
	Chosen  int           // number in Grid
	Result  *bench.Result // of the runs that confirm
	options Options
}

// runShare is the part of the grid that is run at most, the calibration included.
const runShare = 4

// Tune looks for the best settings over base, which says everything but workers,
// pinning and streams. In a result beside an error is what was measured until then.
func Tune(ctx context.Context, base bench.Config, o Options, run bench.RunOptions) (*Outcome, error) {
	model, err := whatif.Calibrate(ctx, base, nil, run)
	if err != nil {
		return nil, fmt.Errorf("calibration run: %w", err)
	}
	out := &Outcome{Chosen: -1, Runs: 1, options: o}
	if err := out.predict(model, base); err != nil {
		return nil, err
	}
	most := max(2, (len(out.Grid)+out.TooMuch+out.Unknown)/runShare-1)
	confirm := out.Grid[:min(most, len(out.Grid))]
	cells := make([][]string, len(confirm))
	for i := range confirm {
		cells[i] = confirm[i].Settings
	}
	sweep, err := bench.SweepOf(base, cells)
	if err != nil {
		return nil, err
	}
	if out.Result, err = bench.RunSweep(ctx, sweep, run, nil); out.Result == nil {
		return nil, err
	}
	out.Runs += len(out.Result.Sides)
	out.choose()
	return out, err
}

// predict fills in the grid.
func (out *Outcome) predict(model *whatif.Base, base bench.Config) error {
	var last error
	for _, settings := range candidates(base, out.options) {
		t := Tried{Settings: settings, Side: -1}
		p, err := predicted(model, settings)
		var input *bench.InputError
		switch {
		case errors.As(err, &input):
			out.Unknown, last = out.Unknown+1, err
			continue
		case err != nil:
			return err
		case out.options.BudgetBytes > 0 && p.Plan.PinnedBytes > out.options.BudgetBytes:
			out.TooMuch++
			continue
		case p.SamplesPerS != nil:
			t.Predicted = *p.SamplesPerS
		}
		t.PinnedBytes, t.config = p.Plan.PinnedBytes, p.Config
		out.Grid = append(out.Grid, t)
	}
	if len(out.Grid) == 0 {
		return cmp.Or(last, error(&bench.InputError{Field: "budget-mib", Problem: "nothing fits into the budget"}))
	}
	// Equal predictions: what pins less first.
	slices.SortStableFunc(out.Grid, func(a, b Tried) int {
		return cmp.Or(cmp.Compare(b.Predicted, a.Predicted), cmp.Compare(a.PinnedBytes, b.PinnedBytes))
	})
	return nil
}

func predicted(model *whatif.Base, settings []string) (*whatif.Prediction, error) {
	b, err := model.With(settings...)
	if err != nil {
		return nil, err
	}
	return b.Predict()
}

// candidates are the ways of loading that are worth a thought: a copy stream of its
// own brings a pageable copy nothing that a pinned one would not bring more of.
func candidates(base bench.Config, o Options) [][]string {
	workers := o.Workers
	if workers == nil {
		for n := 1; n < bench.SystemLimits().UsableCPUs; n *= 2 {
			workers = append(workers, n)
		}
		workers = append(workers, max(1, bench.SystemLimits().UsableCPUs))
	}
	pins := []loader.PinMode{loader.PinOff, loader.PinThread, loader.PinDirect}
	if base.InMemory() {
		pins = append(pins, loader.PinDataset)
	}
	var out [][]string
	for _, n := range workers {
		for _, pin := range pins {
			for _, stream := range []loader.CopyStream{loader.Shared, loader.Dedicated} {
				out = append(out, []string{fmt.Sprintf("workers=%d", n), "pin=" + pin.String(),
					"copy-stream=" + stream.String(), "non-blocking=" + fmt.Sprint(pin.Pins())})
			}
		}
	}
	return out
}

// choose takes what pins least of what is as fast as the fastest that was measured,
// within what may be given up or as far as one can tell.
func (out *Outcome) choose() {
	best := out.Result.Sweep.Best
	for i, name := range names(out.Grid) {
		out.Grid[i].Side = slices.IndexFunc(out.Result.Sides, func(s bench.Side) bool { return s.Name == name })
	}
	if best < 0 {
		return
	}
	fastest := *out.Result.Sides[best].SamplesPerS.Median
	for i, t := range out.Grid {
		if t.Side < 0 {
			continue
		}
		m := out.Result.Sides[t.Side].SamplesPerS.Median
		near := m != nil && *m >= fastest*(1-out.options.Within)
		if !near && out.Result.Sweep.ByBest[t.Side].Verdict != stats.NoDifference {
			continue
		}
		if out.Chosen < 0 || out.Result.Sides[t.Side].Setup.PinnedBytes < out.Result.Sides[out.Grid[out.Chosen].Side].Setup.PinnedBytes {
			out.Chosen = i
		}
	}
}
