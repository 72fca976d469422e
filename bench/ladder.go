package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"pinscope/bench/loader"
	"pinscope/bench/stats"
	"pinscope/cudamem"
)

// Cause is what a rung of a ladder changes.
type Cause string

// The causes that a ladder tells apart.
const (
	ExtraThread Cause = "extra thread"
	FasterCopy  Cause = "faster copy"
	Overlap     Cause = "overlap"
	SavedCopy   Cause = "saved staging copy"
	OtherMemory Cause = "kind of memory" // side steps
	Several     Cause = "several"        // a rung between could not be measured
)

// Causes are those that a ladder's total is split into, in the order they are shown.
func Causes() []Cause { return []Cause{FasterCopy, Overlap, ExtraThread, SavedCopy, Several} }

// Rung is one configuration of a ladder.
type Rung struct {
	Name   string
	Config Config
	Cause  Cause // what it changes; "" for the first
	Aside  bool  // a side step: compared with the last rung that copies, and not climbed from
}

// LadderRungs makes the rungs of a ladder: base with one thing at a time switched
// on, from pageable memory and a trainer that waits for each copy up to a pinned
// data set where the source has one in memory. With asides other kinds of memory
// are tried too. What base says of pinning is not used. The rungs are not
// validated; the error is an *InputError.
func LadderRungs(base Config, asides bool) ([]Rung, error) {
	if base.Device == "cpu" {
		return nil, &InputError{Field: "device", Value: "cpu", Problem: "the CPU trains on host memory where it lies: there is no copy to make faster; allowed is a GPU, real or simulated"}
	}
	if base.Workers == 0 {
		return nil, &InputError{Field: "workers", Value: "0", Problem: "a ladder needs workers: without them there is no thread that could pin; allowed is 1 to 4096"}
	}
	ring := base.RingSlots
	c := base
	c.Pin, c.NonBlocking, c.CopyStream, c.HostMemory, c.RingSlots = loader.PinOff, false, loader.Shared, cudamem.Pageable, 0
	rungs := []Rung{{Name: "pageable, blocking", Config: c}}
	climb := func(name string, cause Cause, change func(*Config)) {
		change(&c)
		rungs = append(rungs, Rung{Name: name, Config: c, Cause: cause})
	}
	climb("+ thread, still pageable", ExtraThread, func(c *Config) { c.Pin, c.RingSlots = loader.PageableThread, ring })
	climb("+ its ring is pinned", FasterCopy, func(c *Config) { c.Pin = loader.PinThread })
	climb("+ non_blocking", Overlap, func(c *Config) { c.NonBlocking = true })
	climb("+ workers fill the ring", SavedCopy, func(c *Config) { c.Pin = loader.PinDirect })
	climb("+ own copy stream", Overlap, func(c *Config) { c.CopyStream = loader.Dedicated })
	last := c
	if base.InMemory() {
		climb("+ data set is pinned", SavedCopy, func(c *Config) { c.Pin, c.RingSlots = loader.PinDataset, 0 })
	}
	if asides {
		for _, kind := range []cudamem.HostKind{cudamem.Registered, cudamem.WriteCombined, cudamem.Mapped, cudamem.Managed} {
			last.HostMemory = kind
			rungs = append(rungs, Rung{Name: kind.String() + " ring", Config: last, Cause: OtherMemory, Aside: true})
		}
	}
	return rungs, nil
}

// manySpans is how many spans a lane keeps where there are many repeats of many
// sides: an eighth of what is kept of a run.
const manySpans = 512

// RunLadder measures the rungs of a ladder, interleaved: in each round each rung
// has one turn, in random order. See Run.
func RunLadder(ctx context.Context, rungs []Rung, o RunOptions) (*Result, error) {
	configs := make([]Config, len(rungs))
	for i, r := range rungs {
		configs[i] = r.Config
	}
	o.rungs, o.Names = rungs, RungNames(rungs)
	o.SpansPerLane = cmp.Or(o.SpansPerLane, manySpans)
	return measure(ctx, KindLadder, configs, o)
}

// RungNames are the names of rungs, in their order.
func RungNames(rungs []Rung) []string {
	names := make([]string, len(rungs))
	for i, r := range rungs {
		names[i] = r.Name
	}
	return names
}

// Ladder is what each rung brought. Every comparison is one of rounds: both rungs
// had a turn in each.
type Ladder struct {
	Steps []LadderStep `json:"steps"` // in the order they were climbed, side steps last
	Total LadderStep   `json:"total"` // the top of the ladder by its foot
	Parts []LadderPart `json:"parts"` // of the total by cause; their ratios multiply up to it in each round
}

// LadderStep is a rung by the one before.
type LadderStep struct {
	Side       int              `json:"side"`    // number among the result's sides
	Against    int              `json:"against"` // likewise
	Cause      Cause            `json:"cause,omitempty"`
	Aside      bool             `json:"aside,omitempty"`
	Comparison stats.Comparison `json:"comparison"`
}

// LadderPart is the share of one cause.
type LadderPart struct {
	Cause      Cause            `json:"cause"`
	Comparison stats.Comparison `json:"comparison"`
}

// climb fills in the ladder. Of rungs some may be missing among the sides.
func (r *Result) climb(rungs []Rung) {
	for i := range r.Sides {
		r.NotValid = append(r.NotValid, r.Sides[i].notValid()...)
	}
	l := &Ladder{Steps: []LadderStep{}, Parts: []LadderPart{}}
	at := func(name string) int { return slices.IndexFunc(r.Sides, func(s Side) bool { return s.Name == name }) }
	foot, top, ring, missed := -1, -1, -1, false
	for _, rung := range rungs {
		i := at(rung.Name)
		switch {
		case i < 0:
			missed = missed || !rung.Aside
		case rung.Aside:
			if ring >= 0 {
				l.Steps = append(l.Steps, r.step(i, ring, rung.Cause, true))
			}
		case foot < 0:
			foot, top, ring, missed = i, i, i, false
		default:
			cause := rung.Cause
			if missed {
				cause = Several
			}
			l.Steps = append(l.Steps, r.step(i, top, cause, false))
			top, missed = i, false
			if rung.Config.Pin != loader.PinDataset {
				ring = i
			}
		}
	}
	if foot < 0 {
		return
	}
	l.Total = r.step(top, foot, "", false)
	for _, cause := range Causes() {
		if part, any := r.part(l, cause); any {
			l.Parts = append(l.Parts, part)
		}
	}
	r.Ladder = l
}

// step compares two sides round by round.
func (r *Result) step(side, against int, cause Cause, aside bool) LadderStep {
	return LadderStep{side, against, cause, aside, stats.Speedup(r.rounds(side, against))}
}

// rounds are the throughputs of two sides in each round that both finished.
func (r *Result) rounds(side, against int) []stats.Pair {
	a, b := r.Sides[against].measured(), r.Sides[side].measured()
	pairs := make([]stats.Pair, min(len(a), len(b)))
	for i := range pairs {
		pairs[i] = stats.Pair{A: a[i], B: b[i]}
	}
	return pairs
}

// part multiplies, round by round, the steps of one cause.
func (r *Result) part(l *Ladder, cause Cause) (part LadderPart, any bool) {
	var product []stats.Pair
	for _, step := range l.Steps {
		if step.Cause != cause || step.Aside {
			continue
		}
		pairs := r.rounds(step.Side, step.Against)
		if !any {
			product, any = pairs, true
			continue
		}
		product = product[:min(len(product), len(pairs))]
		for i := range product {
			product[i].A *= pairs[i].A
			product[i].B *= pairs[i].B
		}
	}
	return LadderPart{cause, stats.Speedup(product)}, any
}

// LadderCommandLine is the command line that makes the same ladder again.
func LadderCommandLine(base Config, asides bool) string {
	command := base.CommandLine(string(KindLadder))
	if asides {
		command += " --side-steps"
	}
	return command
}

// ladderSentence is the answer of a ladder, in words.
func (r *Result) ladderSentence() string {
	l := r.Ladder
	switch {
	case len(r.NotValid) > 0:
		return "no speed-up is claimed: " + list(r.NotValid) + "."
	case l == nil || l.Total.Comparison.Ratio == nil:
		return "no speed-up is claimed: no round was finished."
	}
	top, total := &r.Sides[l.Total.Side], l.Total.Comparison
	text := ""
	switch total.Verdict {
	case stats.Faster:
		text = fmt.Sprintf("pinned is %s faster on this machine (%s)", change(*total.Ratio), interval(&total))
	case stats.Slower:
		text = fmt.Sprintf("pinned is %s slower on this machine (%s)", change(*total.Ratio), interval(&total))
	case stats.NoDifference:
		return fmt.Sprintf("pinned or not: no measurable difference on this machine (%s)", interval(&total)) + r.price(top) + "."
	default:
		return "cannot tell: " + list(total.Warnings) + "."
	}
	return text + l.split() + r.price(top) + "."
}

// split says how much each cause gives.
func (l *Ladder) split() string {
	text, give := "", ""
	for i, part := range l.Parts {
		if part.Comparison.Ratio == nil {
			return ""
		}
		if i > 0 {
			text, give = text+" / ", give+" / "
		}
		text += string(part.Cause)
		if part.Comparison.Verdict == stats.NoDifference {
			give += "nothing measurable"
		} else {
			give += signed(*part.Comparison.Ratio)
		}
	}
	if text == "" {
		return ""
	}
	return "; of that, " + text + " give " + give + " (they multiply)"
}
