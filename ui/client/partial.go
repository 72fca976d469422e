package client

import (
	"time"

	"pinscope/bench"
	"pinscope/bench/stats"
)

// partial puts together the result of a runner that gave none, out of what it had
// said before; nil when no repeat that counts was finished.
func (s *State) partial(why string, cancelled bool, began time.Time) *bench.Result {
	r := s.Preview()
	if r == nil {
		return nil
	}
	r.Started, r.Cancelled, r.Error = began.UTC(), cancelled, why
	for _, side := range r.Sides {
		if side.SamplesPerS.Count > 0 {
			return r
		}
	}
	return nil
}

// Preview is an incomplete result of the repeats so far, without spans; nil until
// the plans are known. It is what charts show of a run under way.
func (s *State) Preview() *bench.Result {
	if s.Start == nil || len(s.Plans) == 0 {
		return nil
	}
	r := &bench.Result{
		Schema: bench.SchemaVersion, Kind: s.Start.Kind, Simulated: s.Start.Device.Simulated, Tool: s.Start.Tool,
		Command: s.Start.Command, Host: s.Start.Host, Device: s.Start.Device,
		NotValid: []string{}, Findings: []string{}, Warnings: append([]string{}, s.Warnings...),
	}
	for _, plan := range s.Plans {
		r.Sides = append(r.Sides, s.side(plan))
	}
	if len(r.Sides) == 2 {
		comparison := stats.Speedup(pairs(counted(r.Sides[0]), counted(r.Sides[1])))
		r.Comparison = &comparison
	}
	return r
}

func (s *State) side(plan bench.PlanInfo) bench.Side {
	side := bench.Side{Label: plan.Side, Config: plan.Config, Plan: plan.Plan,
		Command: plan.Config.CommandLine(string(bench.KindRun)), Repeats: []bench.Repeat{}}
	for _, info := range s.Repeats {
		if info.Side == plan.Side {
			side.Repeats = append(side.Repeats, info.Repeat)
		}
	}
	side.SamplesPerS = stats.Summarize(counted(side))
	return side
}

// counted is the throughput of each repeat that was finished and is no warm-up, in samples/s.
func counted(side bench.Side) []float64 {
	var rates []float64
	for _, r := range side.Repeats {
		if r.Complete && !r.Warmup && r.SamplesPerS != nil {
			rates = append(rates, *r.SamplesPerS)
		}
	}
	return rates
}

func pairs(a, b []float64) []stats.Pair {
	var out []stats.Pair
	for i := range min(len(a), len(b)) {
		out = append(out, stats.Pair{A: a[i], B: b[i]})
	}
	return out
}
