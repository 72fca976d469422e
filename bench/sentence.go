package bench

import (
	"fmt"
	"strings"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// sentence is the answer in words, as far as this result knows it.
func (r *Result) sentence() string {
	text := ""
	switch {
	case len(r.Sides) == 0:
		return ""
	case r.Kind == KindCompare:
		text = r.comparisonSentence()
	case r.Kind == KindLadder:
		text = r.ladderSentence()
	case r.Kind == KindSweep:
		text = r.sweepSentence()
	default:
		text = r.runSentence(&r.Sides[0])
	}
	if text == "" {
		return ""
	}
	if caveats := r.caveats(); len(caveats) > 0 {
		text = strings.TrimSuffix(text, ".") + " (" + strings.Join(caveats, "; ") + ")."
	}
	if r.Simulated {
		text = "SIMULATED: " + text
	}
	return text
}

// caveats are what whoever reads only the sentence must know beside it.
func (r *Result) caveats() (out []string) {
	if !r.Complete {
		out = append(out, "ended early, after "+plural(int64(r.counted()), "repeat"))
	}
	for i := range r.Sides {
		s := &r.Sides[i]
		switch {
		case s.Config.Verify && i == 0:
			out = append(out, "every byte was verified meanwhile: this is no speed")
		case s.Setup.PinEffective == PinnedPart && r.Kind != KindCompare: // a comparison is not claimed then
			out = append(out, fmt.Sprintf("%sonly %d of %d slots are pinned", s.named(), s.Setup.RingSlotsLocked, s.Setup.RingSlotsAsked))
		case s.Setup.PinEffective == PinnedSim:
			out = append(out, s.named()+"the system let the simulated GPU lock only part of its pinned memory")
		}
	}
	return out
}

// counted is how many repeats enter the summaries.
func (r *Result) counted() (n int) {
	for i := range r.Sides {
		n += r.Sides[i].SamplesPerS.Count
	}
	return n
}

func (r *Result) runSentence(s *Side) string {
	if s.SamplesPerS.Median == nil {
		return "no repeat was finished: there is nothing to report."
	}
	text := fmt.Sprintf("%s runs at %s samples/s", s.Config.Summary(), units.SampleRate(*s.SamplesPerS.Median))
	if i := s.SamplesPerS.Interval; i != nil {
		text += fmt.Sprintf(" (95 %% interval %s..%s)", units.SampleRate(i.Lo), units.SampleRate(i.Hi))
	}
	return text + r.price(s) + "."
}

// price is what a side's pinning costs, and how much there is to spend.
func (r *Result) price(s *Side) string {
	if s.Setup.PinnedBytes == 0 {
		return ""
	}
	text := fmt.Sprintf("; it costs %s that nothing can reclaim", units.Bytes(s.Setup.PinnedBytes))
	if r.Limits == nil {
		return text
	}
	if most := r.Limits.PinnableBytes(); most != nil {
		text += fmt.Sprintf("; %s is the most you should pin here", units.Bytes(*most))
	}
	return text
}

func (r *Result) comparisonSentence() string {
	a, b := &r.Sides[0], &r.Sides[1]
	if len(r.NotValid) > 0 {
		return "no speed-up is claimed: " + strings.Join(r.NotValid, "; ") + "."
	}
	c := r.Comparison
	if c == nil || c.Ratio == nil {
		return "no speed-up is claimed: no pair of repeats was finished."
	}
	names := fmt.Sprintf("B (%s) against A (%s)", b.Config.Summary(), a.Config.Summary())
	switch c.Verdict {
	case stats.Faster:
		return fmt.Sprintf("%s is %s faster on this machine (%s)%s.", names, change(*c.Ratio), interval(c), r.price(b))
	case stats.Slower:
		return fmt.Sprintf("%s is %s slower on this machine: %s (%s)%s%s.", names, change(*c.Ratio), units.Ratio(*c.Ratio),
			interval(c), grown(a, b), r.price(b))
	case stats.NoDifference:
		return fmt.Sprintf("%s: no measurable difference on this machine (%s)%s.", names, interval(c), r.price(b))
	default:
		return fmt.Sprintf("%s: cannot tell: %s.", names, strings.Join(c.Warnings, "; "))
	}
}

// change is a ratio as a change without its sign.
func change(ratio float64) string {
	return strings.TrimLeft(units.SignedPercent(ratio-1), "+-")
}

// signed is a ratio as a change with its sign.
func signed(ratio float64) string { return units.SignedPercent(ratio - 1) }

func interval(c *stats.Comparison) string {
	return fmt.Sprintf("%.0f %% interval %s..%s", 100*min(c.Interval.Level, stats.Level), units.SignedPercent(c.Interval.Lo-1), units.SignedPercent(c.Interval.Hi-1))
}

// grown names the stage that takes longer with B, for a slow-down.
func grown(a, b *Side) string {
	pa, pb := a.perBatch(), b.perBatch()
	if pa == nil || pb == nil {
		return ""
	}
	most, stage := time.Duration(0), trace.Stage(0)
	for _, s := range []trace.Stage{trace.Load, trace.Collate, trace.PinCopy, trace.CopyCall, trace.HtoD, trace.Gather, trace.Step} {
		if more := pb.stage(s) - pa.stage(s); more > most {
			most, stage = more, s
		}
	}
	if most == 0 {
		return ""
	}
	name := stage.String()
	if stage == trace.PinCopy {
		name = "staging copy (pin copy)"
	}
	return fmt.Sprintf("; the stage that grew is the %s, by %s a batch", name, units.Duration(most))
}

// Summary names a configuration by what this program compares.
func (c Config) Summary() string {
	var parts []string
	switch c.Pin {
	case loader.PinOff:
		parts = append(parts, "pin off")
	case loader.PinThread:
		parts = append(parts, "pin thread")
	case loader.PinDirect:
		parts = append(parts, "pin direct")
	case loader.PageableThread:
		parts = append(parts, "pageable thread")
	default:
		parts = append(parts, "pinned data set")
	}
	if c.NonBlocking {
		parts = append(parts, "non_blocking")
	} else {
		parts = append(parts, "blocking")
	}
	if c.CopyStream == loader.Dedicated {
		parts = append(parts, "own copy stream")
	}
	return strings.Join(parts, ", ")
}
