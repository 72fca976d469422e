package bench

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/units"
)

// Estimate is what a ladder or a sweep will take, told before it starts.
type Estimate struct {
	Sides         int           `json:"sides"`
	Repeats       int           `json:"repeats"` // of all sides, warm-up included
	LeastDuration time.Duration `json:"least_ns"`
	HostBytes     int64         `json:"host_bytes"`   // most that is held at once
	PinnedBytes   int64         `json:"pinned_bytes"` // of it
	Turns         bool          `json:"turns"`        // slots are allocated for each turn anew
	Simulated     bool          `json:"simulated"`    // times come from a model
}

// Text writes the estimate for a terminal, 80 columns wide.
func (e Estimate) Text(to io.Writer) error {
	w := &textWriter{bufio.NewWriter(to)}
	w.wrap("", e.String())
	w.line("")
	return w.Flush()
}

// String is the estimate in a sentence.
func (e Estimate) String() string {
	text := fmt.Sprintf("%d configurations, %s in all: at least %s by what is known of link, loading and steps; up to %s of host memory, %s of it pinned",
		e.Sides, plural(int64(e.Repeats), "repeat"), units.Duration(e.LeastDuration), units.Bytes(e.HostBytes), units.Bytes(e.PinnedBytes))
	if e.Turns {
		text += ", slots for one at a time"
	}
	if e.Simulated {
		text = "SIMULATED: " + text
	}
	return text
}

// estimate works out what is left to do after some rounds.
func (s *session) estimate(rounds int) Estimate {
	e := Estimate{Sides: len(s.sides), Turns: s.hold != holdAll, Simulated: s.result.Simulated}
	data := map[string]Plan{}
	var slots, pinned int64
	for _, side := range s.sides {
		turns := side.config.Repeats - rounds
		if turns > 0 {
			turns += side.config.Warmup
		}
		e.Repeats += turns
		e.LeastDuration += time.Duration(turns) * s.leastDuration(side)
		own, ownPinned := side.plan.HostBytes-side.plan.DatasetBytes, side.plan.PinnedBytes-side.plan.datasetPinned()
		if e.Turns {
			slots, pinned = max(slots, own), max(pinned, ownPinned)
		} else {
			slots, pinned = slots+own, pinned+ownPinned
		}
		shared := data[side.plan.data]
		shared.DatasetBytes = max(shared.DatasetBytes, side.plan.DatasetBytes)
		shared.PinnedBytes = max(shared.PinnedBytes, side.plan.datasetPinned())
		data[side.plan.data] = shared
	}
	var held, heldPinned int64
	for _, d := range data {
		if s.hold == holdTurn {
			held, heldPinned = max(held, d.DatasetBytes), max(heldPinned, d.PinnedBytes)
		} else {
			held, heldPinned = held+d.DatasetBytes, heldPinned+d.PinnedBytes
		}
	}
	e.HostBytes, e.PinnedBytes = slots+held, pinned+heldPinned
	return e
}

// leastDuration is what one repeat takes at least: the longest of all bytes on the
// link, all load times that are given, and all steps if the model gives theirs.
func (s *session) leastDuration(side *side) time.Duration {
	c, p := side.config, side.plan
	var least time.Duration
	if link := s.device.Info().LinkGBps; link > 0 {
		least = time.Duration(float64(p.EpochLinkBytes) * float64(c.Epochs) / link)
	}
	steps, _ := time.ParseDuration(s.device.Info().Model["compute"])
	steps *= time.Duration(c.StepsPerBatch)
	if given, paced := strings.CutPrefix(c.Source, "delay:"); paced && c.Pin != loader.PinDataset {
		given, _, _ = strings.Cut(given, "±")
		load, _ := time.ParseDuration(given)
		steps = max(steps, load/time.Duration(max(c.Workers, 1)))
	}
	return max(least, steps*time.Duration(p.TotalBatches))
}
