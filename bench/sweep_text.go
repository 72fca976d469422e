package bench

import (
	"fmt"
	"slices"
	"strings"

	"pinscope/bench/stats"
	"pinscope/bench/units"
)

// textSweep is a row for each cell.
func (r *Result) textSweep(w *textWriter) {
	s := r.Sweep
	if s == nil {
		return
	}
	var axes []string
	for _, axis := range s.Axes {
		axes = append(axes, fmt.Sprintf("%d of %s", len(axis.Values), axis.Setting))
	}
	w.pair("Sweep", fmt.Sprintf("%s: %s, %s", strings.Join(axes, " x "), plural(int64(len(r.Sides)), "cell"),
		plural(int64(r.Sides[0].SamplesPerS.Count), "round")))
	w.line("")
	widths, lead := s.columns()
	head := ""
	for i, axis := range s.Axes {
		head += fmt.Sprintf("%-*s ", widths[i], axis.Setting)
	}
	figures := fmt.Sprintf("%11s  %-19s %8s %10s", "samples/s", "95 % interval", "by best", "pinned")
	if lead == 0 {
		w.line("%s", head)
		head = "    "
	}
	w.line("%s", head+figures)
	for i := range r.Sides {
		values := ""
		for j, value := range r.Sides[i].cellValues(len(s.Axes)) {
			values += fmt.Sprintf("%-*s ", widths[j], value)
		}
		if lead == 0 {
			w.line("%s", values)
			values = "    "
		}
		w.line("%s", values+r.sweepRow(i))
	}
	w.line("")
	w.wrap("", "= not told apart from the best; * on the Pareto front: nothing is faster with as little pinned memory")
	for _, cell := range s.LeftOut {
		w.wrap("- ", cell.name()+" is left out: "+cell.Why)
	}
}

// cellValues are the values of a cell's axes.
func (s *Side) cellValues(axes int) []string {
	values := make([]string, axes)
	for i, setting := range strings.Fields(s.Name) {
		if i < axes {
			_, values[i], _ = strings.Cut(setting, "=")
		}
	}
	return values
}

// columns are the widths of the axes' columns, and of all of them together; 0
// where they leave no room for the figures.
func (s *Sweep) columns() (widths []int, lead int) {
	const figures = 53 // and two marks
	for _, axis := range s.Axes {
		width := len(axis.Setting)
		for _, value := range axis.Values {
			width = max(width, len(value))
		}
		widths = append(widths, width)
		lead += width + 1
	}
	if lead > textWidth-figures {
		return widths, 0
	}
	return widths, lead
}

func (r *Result) sweepRow(i int) string {
	side, s := &r.Sides[i], r.Sweep
	if side.SamplesPerS.Median == nil {
		return fmt.Sprintf("%11s", units.NotAvailable)
	}
	between, by, marks := "", "", ""
	if in := side.SamplesPerS.Interval; in != nil {
		between = units.SampleRate(in.Lo) + ".." + units.SampleRate(in.Hi)
	}
	if c := s.ByBest[i]; c.Ratio != nil {
		by = fmt.Sprintf("%.3fx", *c.Ratio)
		if c.Verdict != stats.Slower {
			marks += "="
		}
	}
	if slices.Contains(s.Pareto, i) {
		marks += "*"
	}
	return fmt.Sprintf("%11s  %-19s %8s %10s %s", units.SampleRate(*side.SamplesPerS.Median), between, by, units.Bytes(side.Setup.PinnedBytes), marks)
}
