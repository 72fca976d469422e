package bench

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// textWidth is the width of a terminal that everything fits.
const textWidth = 80

// Text writes the summary for a terminal, 80 columns wide.
func (r *Result) Text(to io.Writer) error {
	w := &textWriter{Writer: bufio.NewWriter(to)}
	r.textHead(w)
	switch r.Kind {
	case KindLadder:
		r.textLadder(w)
		w.line("")
		r.textMemory(w)
		r.textGPU(w)
		r.textVerdict(w)
	case KindSweep:
		r.textSweep(w)
		w.line("")
		r.textMemory(w)
		r.textGPU(w)
		r.textVerdict(w)
	default:
		r.textRates(w)
		r.textStages(w)
		r.textSetup(w)
		r.textMemory(w)
		r.textGPU(w)
		r.textVerdict(w)
	}
	w.list("Findings", r.Findings)
	w.list("Warnings", r.Warnings)
	if r.Error != "" {
		w.list("Ended early", []string{firstLine(r.Error)})
	}
	if r.Sentence != "" {
		w.line("")
		w.wrap("", r.Sentence)
	}
	return w.Flush()
}

func (r *Result) textHead(w *textWriter) {
	if r.Simulated {
		w.line("SIMULATED GPU: link and compute times come from a model, host work is real")
	}
	w.pair("Device", strings.TrimSpace(r.Device.Name+" ("+r.Device.ID+")"))
	if r.Device.Why != "" {
		w.pair("", r.Device.Why)
	}
	host := []string{}
	if r.Host.CPU != "" {
		host = append(host, r.Host.CPU)
	}
	host = append(host, fmt.Sprintf("%d usable CPUs", r.Host.CPUs))
	if r.Host.MemoryBytes != nil {
		host = append(host, units.Bytes(*r.Host.MemoryBytes))
	}
	w.pair("Host", strings.Join(append(host, r.Host.OS+" "+r.Host.Kernel), ", "))
	r.pairOfAll(w, "Data", func(c Config, p Plan) string {
		return fmt.Sprintf("%s samples of %s %s (%s), %s", units.Count(p.Samples), p.Shape, p.DType, c.Source, plural(int64(c.Epochs), "epoch"))
	})
	r.pairOfAll(w, "Loader", func(c Config, p Plan) string {
		return fmt.Sprintf("batch %s (%s), %s", units.Count(c.Batch), units.Bytes(p.BatchBytes), plural(int64(c.Workers), "worker"))
	})
	if r.Kind == KindLadder || r.Kind == KindSweep {
		return // each row of the table has its own
	}
	for i := range r.Sides {
		side := &r.Sides[i]
		name := "Setting"
		if side.Label != "" {
			name = side.Label
		}
		w.pair(name, side.Config.Summary())
	}
}

// pairOfAll writes what the first side says, unless a sweep's others say otherwise.
func (r *Result) pairOfAll(w *textWriter, name string, say func(Config, Plan) string) {
	first := say(r.Sides[0].Config, r.Sides[0].Plan)
	if r.Kind == KindSweep && slices.ContainsFunc(r.Sides, func(s Side) bool { return say(s.Config, s.Plan) != first }) {
		return
	}
	w.pair(name, first)
}

// textRates is the throughput, and every repeat in the order it was run.
func (r *Result) textRates(w *textWriter) {
	w.line("")
	w.line("Throughput       median    95 %% interval       repeats, samples/s")
	for i := range r.Sides {
		side := &r.Sides[i]
		median, between := units.NotAvailable, units.NotAvailable
		if m := side.SamplesPerS.Median; m != nil {
			median = units.SampleRate(*m)
		}
		if in := side.SamplesPerS.Interval; in != nil {
			between = units.SampleRate(in.Lo) + ".." + units.SampleRate(in.Hi)
		}
		row := fmt.Sprintf("%-11s %11s    %-19s ", sideName(side), median, between)
		w.line("%s", row+side.repeatList(textWidth-len(row)))
	}
	if c := r.Comparison; c != nil && c.Ratio != nil {
		between := "n/a"
		if c.Interval != nil {
			between = fmt.Sprintf("%.3fx..%.3fx", c.Interval.Lo, c.Interval.Hi)
		}
		w.line("%-11s %10.3fx    %-19s %s", "B by A", *c.Ratio, between, c.Verdict)
	}
}

// share is a part of the whole, in which something is never nothing.
func share(part float64) string {
	if part > 0 && part < 0.0005 {
		return "under 0.1 %"
	}
	return units.Percent(part)
}

func sideName(s *Side) string {
	if s.Label == "" {
		return "samples/s"
	}
	return s.Label
}

// repeatList is the throughput of the repeats, warm-up in brackets, as many as
// there is room for.
func (s *Side) repeatList(width int) string {
	text := ""
	for i, repeat := range s.Repeats {
		item := units.NotAvailable
		if repeat.SamplesPerS != nil {
			item = units.SampleRate(*repeat.SamplesPerS)
		}
		if repeat.Warmup {
			item = "(" + item + ")"
		}
		room := width
		if i < len(s.Repeats)-1 {
			room -= len(" ...")
		}
		if len(text)+1+len(item) > room {
			return text + " ..."
		}
		text = strings.TrimSpace(text + " " + item)
	}
	return text
}

// textStages is what a batch costs on each lane, in the typical repeat.
func (r *Result) textStages(w *textWriter) {
	if !slices.ContainsFunc(r.Sides, func(s Side) bool { return s.Trace != nil }) {
		return
	}
	w.line("")
	head := fmt.Sprintf("%-26s", "Each batch, typical repeat")
	for i := range r.Sides {
		name := ""
		if r.Sides[i].Label != "" {
			name = r.Sides[i].Label + " "
		}
		head += fmt.Sprintf("  %13s %9s", name+"median", "of time")
	}
	w.line("%s", head)
	for stage := range trace.Stage(trace.Stages) {
		if row, any := r.stageRow(stage); any {
			w.line("%s", row)
		}
	}
	if !slices.ContainsFunc(r.Sides, func(s Side) bool { return s.Trace != nil && s.Trace.OverlapShare != nil }) {
		return
	}
	row := fmt.Sprintf("%-26s", "copy hidden under steps")
	for i := range r.Sides {
		hidden := units.NotAvailable
		if t := r.Sides[i].Trace; t != nil && t.OverlapShare != nil {
			hidden = units.Percent(*t.OverlapShare)
		}
		row += fmt.Sprintf("  %13s %9s", hidden, "")
	}
	w.line("%s", row)
}

// stageLanes says where each stage is spent.
var stageLanes = [trace.Stages]string{
	trace.WaitSlot: "worker", trace.Load: "worker", trace.Collate: "worker", trace.WaitBatch: "trainer",
	trace.PinWait: "pin thread", trace.RingWait: "pin thread", trace.PinCopy: "pin thread", trace.CopyCall: "trainer", trace.WaitCopy: "trainer", trace.WaitStep: "trainer",
	trace.Launch: "trainer", trace.HtoD: "copy engine", trace.Gather: "copy engine", trace.Step: "compute",
}

func (r *Result) stageRow(stage trace.Stage) (row string, any bool) {
	row = fmt.Sprintf("%-12s %-13s", r.laneTitle(stage), stageTitle(stage))
	for i := range r.Sides {
		side := &r.Sides[i]
		median, ofTime := "-", "-"
		if side.Trace != nil {
			summary := side.Trace.Stage(stage)
			if summary.Count > 0 {
				any = true
				median = units.Duration(*summary.P50)
				if p := side.perBatch(); p != nil && p.period > 0 {
					ofTime = units.Percent(float64(p.stage(stage)) / float64(p.period) / float64(side.lanes(stage)))
				}
			}
		}
		row += fmt.Sprintf("  %13s %9s", median, ofTime)
	}
	return row, any
}

// laneTitle is where a stage is spent; without workers the trainer does it all.
func (r *Result) laneTitle(stage trace.Stage) string {
	lane := stageLanes[stage]
	alone := !slices.ContainsFunc(r.Sides, func(s Side) bool { return s.Config.Workers > 0 })
	if alone && (lane == "worker" || lane == "pin thread") {
		return "trainer"
	}
	return lane
}

// lanes is how many lanes spend time on a stage.
func (s *Side) lanes(stage trace.Stage) int {
	if stageLanes[stage] == "worker" {
		return max(s.Config.Workers, 1)
	}
	return 1
}

func stageTitle(stage trace.Stage) string {
	if stage == trace.HtoD {
		return "HtoD copy"
	}
	return stage.String()
}

// textSetup is what was done and taken before the clock started.
func (r *Result) textSetup(w *textWriter) {
	w.line("")
	for i := range r.Sides {
		u := r.Sides[i].Setup
		state := "pinned " + string(u.PinEffective)
		if u.PinRequested {
			state = fmt.Sprintf("pinned %s (%s, %s in %s)", u.PinEffective, units.Bytes(u.PinnedBytes),
				plural(int64(u.PinCalls), "allocation"), units.Duration(u.PinDuration))
		}
		data := units.Duration(u.SourceDuration)
		if u.SourceShared {
			data = "shared with A"
		}
		w.pair("Set-up "+r.Sides[i].Label, fmt.Sprintf("%s; slots %s, data %s", state, units.Duration(u.SlotsDuration), data))
	}
}

// textVerdict is what limits each side and what to do about it.
func (r *Result) textVerdict(w *textWriter) {
	for _, i := range r.spoken() {
		v := r.Sides[i].Verdict
		if v == nil {
			continue
		}
		w.line("")
		w.pair(strings.TrimSpace("Limit "+r.Sides[i].Label), v.String())
		w.pair("", v.Bounds())
		if use := v.Use(); use != "" {
			w.pair("", use)
		}
		if try := v.Try(); try != "" {
			w.pair("Try", try)
		}
	}
}

func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return units.Count(n) + " " + thing + "s"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// textWriter writes lines; the first error is Flush's.
type textWriter struct{ *bufio.Writer }

func (w *textWriter) line(format string, args ...any) {
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

const pairIndent = 11

func (w *textWriter) pair(name, value string) {
	w.wrap(fmt.Sprintf("%-*s", pairIndent, name), value)
}

func (w *textWriter) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	w.line("")
	w.line("%s", title)
	for _, item := range items {
		w.wrap("- ", item)
	}
}

// wrap breaks a text into lines, all but the first indented as far as its lead.
func (w *textWriter) wrap(lead, text string) {
	line, indent := lead, strings.Repeat(" ", utf8.RuneCountInString(lead))
	for i, word := range strings.Fields(text) {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > textWidth {
			w.line("%s", line)
			line = indent
		}
		if strings.TrimSpace(line) != "" && !strings.HasSuffix(line, " ") {
			line += " "
		}
		line += word
	}
	w.line("%s", line)
}
