package view

import (
	"slices"

	"pinscope/bench"
	"pinscope/bench/report"
	"pinscope/bench/stats"
)

// ladderSets are the settings that a ladder sets by itself, another way on each rung.
var ladderSets = []string{"--pin", "--non-blocking", "--no-non-blocking", "--copy-stream", "--host-memory", "--ring-slots"}

// Args are the arguments that measure a configuration one way or another.
func Args(kind bench.Kind, c bench.Config) []string {
	args := c.Args()
	if kind != bench.KindLadder {
		return args
	}
	var kept []string
	for i := 0; i < len(args); i++ {
		if !slices.Contains(ladderSets, args[i]) {
			kept = append(kept, args[i])
			continue
		}
		if args[i] != "--non-blocking" && args[i] != "--no-non-blocking" {
			i++ // its value
		}
	}
	return kept
}

// Rungs are the rungs of a ladder that were measured, from the foot to the top,
// side steps left out.
func Rungs(r *bench.Result) []report.Rung {
	if r.Ladder == nil {
		return nil
	}
	steps := []bench.LadderStep{{Side: r.Ladder.Total.Against}}
	for _, step := range r.Ladder.Steps {
		if !step.Aside {
			steps = append(steps, step)
		}
	}
	var rungs []report.Rung
	for n, step := range steps {
		i := step.Side
		if i < 0 || i >= len(r.Sides) || r.Sides[i].SamplesPerS.Median == nil {
			continue // a file may say anything
		}
		s := &r.Sides[i]
		rung := report.Rung{Name: s.Name, SamplesPerS: *s.SamplesPerS.Median}
		if n > 0 {
			rung.Step = &step.Comparison
		}
		if in := s.SamplesPerS.Interval; in != nil {
			rung.Lo, rung.Hi = in.Lo, in.Hi
		}
		rungs = append(rungs, rung)
	}
	return rungs
}

// answer is the comparison that answers what was asked; nil if there is none.
func answer(r *bench.Result) *stats.Comparison {
	if r.Kind == bench.KindLadder && r.Ladder != nil {
		return &r.Ladder.Total.Comparison
	}
	return r.Comparison
}
