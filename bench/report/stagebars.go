package report

import (
	"image/color"
	"strings"
	"time"

	"pinscope/bench"
	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// trainerStages are what the trainer does with a batch, in order; without
// workers it does all a host does.
func trainerStages(workers int) []trace.Stage {
	if workers == 0 {
		return []trace.Stage{trace.WaitSlot, trace.Load, trace.Collate, trace.RingWait, trace.PinCopy,
			trace.CopyCall, trace.WaitCopy, trace.WaitStep, trace.Launch}
	}
	return []trace.Stage{trace.WaitBatch, trace.CopyCall, trace.WaitCopy, trace.WaitStep, trace.Launch}
}

// StageBars shows what the trainer's time of a batch consists of, for each side's
// typical repeat: means over the repeat, so that with the rest they add up to its
// wall time.
func StageBars(look Look, sides []bench.Side) *Chart {
	c := &Chart{look: look, title: look.say(barsTitle)}
	var all []bar
	var names, ends []string
	var met [trace.Stages]bool
	longest, anyRest := 0.0, false
	for i := len(sides) - 1; i >= 0; i-- {
		side := &sides[i]
		if side.Typical == nil || *side.Typical < 0 || *side.Typical >= len(side.Repeats) {
			continue
		}
		r := &side.Repeats[*side.Typical]
		if r.Batches <= 0 || r.Wall <= 0 {
			continue
		}
		at := float64(len(names))
		for _, b := range look.stageRow(r, side.Config.Workers, at) {
			all = append(all, b.bar)
			if b.stage < 0 {
				anyRest = true
			} else {
				met[b.stage] = true
			}
			longest = max(longest, b.to)
		}
		names = append(names, sideTitle(side))
		ends = append([]string{strings.TrimSpace(side.Label + " " + units.Duration(perBatch(r.Wall, r.Batches)))}, ends...)
	}
	if len(names) == 0 {
		c.empty = true
		return c
	}
	for s := range trace.Stage(trace.Stages) {
		if met[s] {
			c.legend = append(c.legend, key{text: look.stage(s), ink: stageInk[s], hatched: isWait(s)})
		}
	}
	if anyRest {
		c.legend = append(c.legend, key{text: look.say(rest), ink: look.restInk()})
	}
	c.x = axis{title: look.say(barsAxis), unit: inNanos}
	c.x.spanExactly(0, longest*1.03)
	c.y = axis{names: names, min: -0.5, max: float64(len(names)) - 0.5}
	c.notes = []string{look.say(restNote, strings.Join(ends, ", "))}
	c.plotters = append(c.plotters, bars{look: look, all: all, thick: 0.62})
	return c
}

// stageBar is a bar with its stage, -1 for the rest.
type stageBar struct {
	bar
	stage int
}

// stageRow is one side's bar, piece by piece.
func (l Look) stageRow(r *bench.Repeat, workers int, at float64) []stageBar {
	var row []stageBar
	from, left := 0.0, r.Wall
	add := func(stage int, total time.Duration, ink color.NRGBA, hatched bool) {
		to := from + float64(total)/float64(r.Batches)
		text := units.Duration(time.Duration(to - from))
		row = append(row, stageBar{bar{from: from, to: to, at: at, ink: ink, hatched: hatched, text: text}, stage})
		from, left = to, left-total
	}
	for _, stage := range trainerStages(workers) {
		for _, s := range r.Stages {
			if s.Stage == stage && s.Total > 0 {
				add(int(stage), s.Total, stageInk[stage], isWait(stage))
			}
		}
	}
	if left > 0 {
		add(-1, left, l.restInk(), false)
	}
	return row
}

// restInk is the colour of time that no stage accounts for.
func (l Look) restInk() color.NRGBA { return mix(l.theme().ground, l.theme().muted, 0.45) }

// perBatch is the mean of a total over batches, of which there is at least one.
func perBatch(total time.Duration, batches int64) time.Duration {
	return total / time.Duration(batches)
}
