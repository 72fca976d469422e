package bandwidth

import (
	"fmt"
	"strings"
	"time"

	"pinscope/bench/stats"
	"pinscope/bench/units"
	"pinscope/cudamem"
)

// columnName shortens what does not fit a column.
func columnName(k cudamem.HostKind) string {
	if k == cudamem.WriteCombined {
		return "write-comb"
	}
	return k.String()
}

// block writes a table: a row for each size, a column for each kind. A figure ends
// in a mark or a space.
func (p *printer) block(title string, kinds []cudamem.HostKind, figure func(cudamem.HostKind, int64) string) {
	if p.r.Simulated {
		title += " (SIMULATED)"
	}
	p.line("%s", title)
	row := func(first string, cell func(cudamem.HostKind) string) {
		text := fmt.Sprintf("%8s", first)
		for _, k := range kinds {
			text += fmt.Sprintf("%12s", cell(k))
		}
		p.line("%s", strings.TrimRight(text, " "))
	}
	row("size", func(k cudamem.HostKind) string { return columnName(k) + " " })
	for _, bytes := range p.r.sizes {
		row(units.Bytes(bytes), func(k cudamem.HostKind) string { return figure(k, bytes) })
	}
	p.line("")
}

// mark says what is to be known about a cell, in one character.
func (p *printer) mark(c *Cell) string {
	mark := ' '
	switch {
	case c.AboveLimit:
		mark = markAbove
	case c.Alone:
		mark = markAlone
	case spread(c.GBps) > spreadShare:
		mark = markSpread
	default:
		return " "
	}
	if !strings.ContainsRune(p.marks, mark) {
		p.marks += string(mark)
	}
	return string(mark)
}

// spread is how far the interval of the median reaches, as a share of it; 0
// without an interval.
func spread(s stats.Summary) float64 {
	if s.Interval == nil || s.Median == nil || *s.Median == 0 {
		return 0
	}
	return max(s.Interval.Hi-*s.Median, *s.Median-s.Interval.Lo) / *s.Median
}

// wrap writes text after a label, further lines indented as far.
func (p *printer) wrap(label, text string) {
	line := label
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > textWidth && len(line) > len(label) {
			p.line("%s", line)
			line = strings.Repeat(" ", len(label))
		}
		if len(line) > len(label) {
			line += " "
		}
		line += word
	}
	p.line("%s", line)
}

func gbps(s stats.Summary) string {
	if s.Median == nil {
		return units.NotAvailable
	}
	return units.GBps(*s.Median)
}

func interval(s stats.Summary) string {
	if s.Interval == nil {
		return units.NotAvailable
	}
	trim := func(v float64) string { return strings.TrimSuffix(units.GBps(v), " GB/s") }
	return trim(s.Interval.Lo) + ".." + trim(s.Interval.Hi)
}

// duration is the median of nanoseconds.
func duration(s stats.Summary) string {
	if s.Median == nil {
		return units.NotAvailable
	}
	return units.Duration(time.Duration(*s.Median + 0.5))
}
