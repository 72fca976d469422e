package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"pinscope/bench"
	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// WriteMarkdown writes a result's summary as GitHub-flavoured Markdown, to be
// pasted into a ticket: the sentence, throughput, where the time went, settings,
// machine, and the command that repeats it. Only the language of o is used.
func WriteMarkdown(w io.Writer, r *bench.Result, o Options) error {
	m := &markdown{Writer: bufio.NewWriter(w)}
	p := newPage(r, o)
	look := p.look
	m.line("# %s", look.say(reportTitle))
	m.line("")
	if r.Simulated {
		m.line("> **%s**: %s", look.say(simulatedBand), look.say(simulatedNote))
		m.line("")
	}
	for _, text := range []string{r.Sentence, r.Error} {
		if text != "" {
			m.line("%s", escape(text))
			m.line("")
		}
	}
	m.throughput(p)
	m.stages(p)
	m.list(look.say(verdictHead), p.verdicts())
	m.list(look.say(warningsHead), r.Warnings)
	var labels []string
	for _, s := range p.shownSides() {
		labels = append(labels, s.Label)
	}
	m.table(look.say(settingsHead), labels, p.settings())
	m.table(look.say(machineHead), nil, p.machine())
	if r.Command != "" {
		m.line("## %s", look.say(commandHead))
		m.line("")
		// Indented, since a command may hold any fence.
		m.line("    %s", strings.Join(strings.Fields(r.Command), " "))
	}
	if err := m.Flush(); err != nil {
		return fmt.Errorf("report: write Markdown: %w", err)
	}
	return nil
}

// markdown keeps the first error for Flush.
type markdown struct{ *bufio.Writer }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *markdown) list(head string, items []string) {
	if len(items) == 0 {
		return
	}
	m.line("## %s", head)
	m.line("")
	for _, item := range items {
		m.line("- %s", escape(item))
	}
	m.line("")
}

func (m *markdown) table(head string, columns []string, rows []row) {
	if len(rows) == 0 {
		return
	}
	if len(columns) < 2 {
		columns = []string{""}
	}
	m.line("## %s", head)
	m.line("")
	m.cells(append([]string{""}, columns...))
	m.line("|%s", strings.Repeat("---|", len(columns)+1))
	for _, r := range rows {
		m.cells(append([]string{r.name}, r.values...))
	}
	m.line("")
}

func (m *markdown) cells(cells []string) {
	for i := range cells {
		cells[i] = escape(cells[i])
	}
	m.line("| %s |", strings.Join(cells, " | "))
}

func (m *markdown) throughput(p page) {
	var rows []row
	for i := range p.r.Sides {
		s := &p.r.Sides[i]
		median, between := units.NotAvailable, units.NotAvailable
		if v := s.SamplesPerS.Median; v != nil {
			median = units.SampleRate(*v)
		}
		if in := s.SamplesPerS.Interval; in != nil {
			between = units.SampleRate(in.Lo) + ".." + units.SampleRate(in.Hi)
		}
		rows = append(rows, row{sideTitle(s), []string{median, between, units.Count(int64(s.SamplesPerS.Count))}})
	}
	if c := p.r.Comparison; c != nil && c.Ratio != nil {
		between := units.NotAvailable
		if c.Interval != nil {
			between = units.SignedPercent(c.Interval.Lo-1) + ".." + units.SignedPercent(c.Interval.Hi-1)
		}
		rows = append(rows, row{p.look.say(speedUpTitle), []string{units.Ratio(*c.Ratio), between, units.Count(int64(len(c.Ratios)))}})
	}
	m.table(p.look.say(throughputTitle), []string{p.look.say(rowThroughput), "95 %", "n"}, rows)
}

// stages is what a batch cost on each stage in the typical repeats, as means.
func (m *markdown) stages(p page) {
	sides := p.shownSides()
	var labels []string
	for _, s := range sides {
		labels = append(labels, s.Label)
	}
	var rows []row
	for stage := range trace.Stage(trace.Stages) {
		r, any := row{name: p.look.stage(stage)}, false
		for _, s := range sides {
			text := "-"
			if s.Typical != nil && *s.Typical >= 0 && *s.Typical < len(s.Repeats) {
				repeat := &s.Repeats[*s.Typical]
				for _, sum := range repeat.Stages {
					if sum.Stage == stage && repeat.Batches > 0 {
						text, any = units.Duration(perBatch(sum.Total, repeat.Batches)), true
					}
				}
			}
			r.values = append(r.values, text)
		}
		if any {
			rows = append(rows, r)
		}
	}
	m.table(p.look.say(barsAxis), labels, rows)
}

// escape keeps a text from being taken for Markdown or HTML.
func escape(s string) string {
	return markdownEscaper.Replace(strings.Join(strings.Fields(s), " "))
}

var markdownEscaper = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "#", `\#`)
