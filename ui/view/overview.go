package view

import (
	"cmp"
	"fmt"
	"strings"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
	"pinscope/bench/units"
	"pinscope/ui/words"
)

// Mark says at a glance how a comparison came out; it has a shape, and is not
// told apart by colour alone.
type Mark int

// The marks.
const (
	Plain   Mark = iota // no comparison
	Faster              // B than A
	Slower              // B than A
	Same                // no measurable difference
	Unclear             // cannot tell, or not valid
)

// Sign is the mark's shape.
func (m Mark) Sign() string {
	return [...]string{"●", "▲", "▼", "≈", "?"}[m]
}

// Overview is the first page about a result.
type Overview struct {
	Mark     Mark
	Headline string // the figure alone: "+12.3 %"
	Sentence string
	Ended    string   // why the result is incomplete; empty if it is not
	Warnings []string // doubts
	Findings []string
	Rates    [][]string // rows of throughput; the first is the head
	Stages   [][]string // rows of stages; the first is the head
	Facts    [][]string // pairs: name, value
}

// OverviewOf is the overview of a result.
func OverviewOf(l words.Language, r *bench.Result) Overview {
	o := Overview{Mark: markOf(r), Headline: headline(l, r), Sentence: Sentence(l, r), Warnings: r.Warnings, Findings: r.Findings}
	if !r.Complete {
		why, _, _ := strings.Cut(r.Error, "\n")
		o.Ended = l.Say("Incomplete: %s. The repeats that were finished are kept.", cmp.Or(why, l.Say("unknown")))
	}
	o.Rates = rates(l, r)
	o.Stages = stages(l, r)
	o.Facts = facts(l, r)
	return o
}

func markOf(r *bench.Result) Mark {
	c := answer(r)
	switch {
	case r.Kind == bench.KindRun:
		return Plain
	case c == nil || c.Ratio == nil || len(r.NotValid) > 0:
		return Unclear
	case c.Verdict == stats.Faster:
		return Faster
	case c.Verdict == stats.Slower:
		return Slower
	case c.Verdict == stats.NoDifference:
		return Same
	default:
		return Unclear
	}
}

func headline(l words.Language, r *bench.Result) string {
	c := answer(r)
	switch {
	case r.Kind != bench.KindRun && c != nil && c.Ratio != nil && len(r.NotValid) == 0:
		return units.SignedPercent(*c.Ratio - 1)
	case r.Kind == bench.KindRun && len(r.Sides) > 0 && r.Sides[0].SamplesPerS.Median != nil:
		return l.Say("%s samples/s", units.SampleRate(*r.Sides[0].SamplesPerS.Median))
	}
	return l.Say("no figure")
}

// Sentence is the answer in words.
func Sentence(l words.Language, r *bench.Result) string {
	text := strings.TrimPrefix(r.Sentence, "SIMULATED: ")
	if translated := ownSentence(l, r); text == "" || l != words.English && translated != "" {
		text = translated
	}
	return text
}

// ownSentence says the answer out of the figures; empty where they do not allow it.
func ownSentence(l words.Language, r *bench.Result) string {
	c := r.Comparison
	switch {
	case r.Kind == bench.KindRun:
		return runSentence(l, r)
	case r.Kind != bench.KindCompare || len(r.Sides) != 2:
		return "" // a ladder's sentence is the result's own
	}
	if len(r.NotValid) > 0 {
		return l.Say("No speed-up is claimed: %s.", strings.Join(r.NotValid, "; "))
	}
	if c == nil || c.Ratio == nil {
		return l.Say("No speed-up is claimed: no pair of repeats was finished.")
	}
	a, b := Settings(l, r.Sides[0].Config), Settings(l, r.Sides[1].Config)
	change := strings.TrimLeft(units.SignedPercent(*c.Ratio-1), "+-")
	between := l.Say("no interval: at least %d pairs are needed", stats.LeastForInterval)
	if c.Interval != nil {
		between = l.Say("95 %% interval %s..%s", units.SignedPercent(c.Interval.Lo-1), units.SignedPercent(c.Interval.Hi-1))
	}
	price := price(l, r, r.Sides[1].Setup.PinnedBytes)
	switch c.Verdict {
	case stats.Faster:
		return l.Say("B (%s) is %s faster than A (%s) on this machine (%s)%s.", b, change, a, between, price)
	case stats.Slower:
		return l.Say("B (%s) is %s slower than A (%s) on this machine (%s)%s.", b, change, a, between, price)
	case stats.NoDifference:
		return l.Say("B (%s) and A (%s): no measurable difference on this machine (%s)%s.", b, a, between, price)
	}
	return l.Say("B (%s) and A (%s): cannot tell (%s).", b, a, between)
}

// price is what pinning costs, and how much there is to spend.
func price(l words.Language, r *bench.Result, bytes int64) string {
	if bytes == 0 {
		return ""
	}
	text := l.Say("; it costs %s that nothing can reclaim", units.Bytes(bytes))
	if r.Limits != nil && r.Limits.PinnableBytes() != nil {
		text += l.Say("; %s is the most you should pin here", units.Bytes(*r.Limits.PinnableBytes()))
	}
	return text
}

func runSentence(l words.Language, r *bench.Result) string {
	if len(r.Sides) == 0 || r.Sides[0].SamplesPerS.Median == nil {
		return l.Say("No repeat was finished: there is nothing to report.")
	}
	s := r.Sides[0]
	text := l.Say("%s runs at %s samples/s", Settings(l, s.Config), units.SampleRate(*s.SamplesPerS.Median))
	if i := s.SamplesPerS.Interval; i != nil {
		text += l.Say(" (95 %% interval %s..%s)", units.SampleRate(i.Lo), units.SampleRate(i.Hi))
	}
	return text + price(l, r, s.Setup.PinnedBytes) + l.Say(".")
}

// Settings names a configuration by what is compared here.
func Settings(l words.Language, c bench.Config) string {
	parts := []string{"pin " + c.Pin.String()}
	switch c.Pin {
	case loader.PinOff:
		parts[0] = l.Say("pin off")
	case loader.PinThread:
		parts[0] = l.Say("pin thread")
	case loader.PinDirect:
		parts[0] = l.Say("pin direct")
	case loader.PinDataset:
		parts[0] = l.Say("pinned data set")
	}
	if c.NonBlocking {
		parts = append(parts, "non_blocking")
	} else {
		parts = append(parts, l.Say("blocking"))
	}
	if c.CopyStream == loader.Dedicated {
		parts = append(parts, l.Say("own copy stream"))
	}
	return strings.Join(parts, ", ")
}

func rates(l words.Language, r *bench.Result) [][]string {
	rows := [][]string{{l.Say("Side"), l.Say("Settings"), l.Say("Median, samples/s"), l.Say("95 % interval"), l.Say("Repeats")}}
	for i := range r.Sides {
		s := &r.Sides[i]
		median, between := units.NotAvailable, units.NotAvailable
		if m := s.SamplesPerS.Median; m != nil {
			median = units.SampleRate(*m)
		}
		if in := s.SamplesPerS.Interval; in != nil {
			between = units.SampleRate(in.Lo) + " .. " + units.SampleRate(in.Hi)
		}
		rows = append(rows, []string{cmp.Or(s.Name, s.Label, "-"), Settings(l, s.Config), median, between, fmt.Sprint(s.SamplesPerS.Count)})
	}
	return rows
}

// stages is what a batch costs in each side's typical repeat.
func stages(l words.Language, r *bench.Result) [][]string {
	head := []string{l.Say("Stage, a batch")}
	for i := range r.Sides {
		label := cmp.Or(r.Sides[i].Name, r.Sides[i].Label)
		if label != "" {
			label += ": "
		}
		head = append(head, label+l.Say("median"), label+l.Say("95th percentile"), label+l.Say("rate"))
	}
	rows := [][]string{head}
	for stage := range trace.Stage(trace.Stages) {
		row, any := []string{Stage(l, stage.String())}, false
		for i := range r.Sides {
			cells := []string{"-", "-", "-"}
			if t := r.Sides[i].Trace; t != nil {
				if s := t.Stage(stage); s.Count > 0 && s.P50 != nil && s.P95 != nil {
					any = true
					cells[0], cells[1] = units.Duration(*s.P50), units.Duration(*s.P95)
					if s.Bytes > 0 && s.Total > 0 {
						cells[2] = units.GBps(float64(s.Bytes) / s.Total.Seconds() / 1e9)
					}
				}
			}
			row = append(row, cells...)
		}
		if any {
			rows = append(rows, row)
		}
	}
	if len(rows) == 1 {
		return nil
	}
	return rows
}

func facts(l words.Language, r *bench.Result) [][]string {
	rows := [][]string{
		{l.Say("Device"), strings.Join(device(l, r.Device), " · ")},
		{l.Say("Machine"), Status(l, r.Host, nil) + " · " + r.Host.OS + " " + r.Host.Kernel},
		{l.Say("Measured"), r.Started.Local().Format("2006-01-02 15:04:05")},
	}
	if len(r.Sides) > 0 {
		c, p := r.Sides[0].Config, r.Sides[0].Plan
		rows = append(rows,
			[]string{l.Say("Data set"), l.Say("%s samples of %s %s (%s)", units.Count(p.Samples), p.Shape, p.DType, c.Source)},
			[]string{l.Say("Loader"), l.Say("batch %s (%s), %d workers, prefetch %d", units.Count(c.Batch), units.Bytes(p.BatchBytes), c.Workers, c.Prefetch)})
	}
	for i := range r.Sides {
		s := &r.Sides[i]
		if s.Setup.PinRequested {
			rows = append(rows, []string{strings.TrimSpace(l.Say("Pinned") + " " + s.Label),
				l.Say("%s in %s, %d allocations, state: %s", units.Bytes(s.Setup.PinnedBytes), units.Duration(s.Setup.PinDuration),
					s.Setup.PinCalls, string(s.Setup.PinEffective))})
		}
		if s.Trace != nil && s.Trace.OverlapShare != nil {
			rows = append(rows, []string{strings.TrimSpace(l.Say("Hidden copies") + " " + s.Label),
				l.Say("%s of the copy time ran under steps", units.Percent(*s.Trace.OverlapShare))})
		}
	}
	return append(rows, []string{l.Say("Command line"), r.Command})
}
