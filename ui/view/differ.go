package view

import (
	"cmp"
	"fmt"

	"pinscope/bench"
	"pinscope/bench/units"
	"pinscope/ui/words"
)

// Doubts says why two results should not be held against each other: what of the
// machine, the device or the program differs.
func Doubts(l words.Language, a, b *bench.Result) []string {
	var out []string
	differs := func(what, x, y string) {
		if x != y {
			out = append(out, l.Say("%s differs: %s and %s", what, cmp.Or(x, l.Say("unknown")), cmp.Or(y, l.Say("unknown"))))
		}
	}
	if a.Simulated != b.Simulated {
		out = append(out, l.Say("One result is simulated, the other is not: their times have nothing to do with each other"))
	}
	differs(l.Say("The machine"), a.Host.Name, b.Host.Name)
	differs(l.Say("The CPU"), a.Host.CPU, b.Host.CPU)
	differs(l.Say("The number of CPUs"), fmt.Sprint(a.Host.CPUs), fmt.Sprint(b.Host.CPUs))
	differs(l.Say("The kernel"), a.Host.Kernel, b.Host.Kernel)
	differs(l.Say("The device"), a.Device.ID+" "+a.Device.Name, b.Device.ID+" "+b.Device.Name)
	differs(l.Say("The device's model"), fmt.Sprint(a.Device.Model), fmt.Sprint(b.Device.Model))
	differs(l.Say("The driver"), a.Device.Driver, b.Device.Driver)
	differs(l.Say("The version of Pinscope"), a.Tool.Version, b.Tool.Version)
	if !a.Complete || !b.Complete {
		out = append(out, l.Say("One of the results is incomplete"))
	}
	return out
}

// Against compares results side by side with the first: rows whose first is the
// head. Repeats of different runs are not paired, so that the change has no
// interval of its own: it says whether the intervals of the medians overlap.
func Against(l words.Language, names []string, results []*bench.Result) [][]string {
	rows := [][]string{{l.Say("Result"), l.Say("Side"), l.Say("Settings"), l.Say("Median, samples/s"), l.Say("95 % interval"), l.Say("Against the first")}}
	var first *bench.Side
	for i, r := range results {
		for j := range r.Sides {
			s := &r.Sides[j]
			if first == nil {
				first = s
			}
			cells := rates(l, &bench.Result{Sides: []bench.Side{*s}})[1]
			rows = append(rows, []string{names[i], cells[0], cells[1], cells[2], cells[3], change(l, first, s)})
		}
	}
	return rows
}

func change(l words.Language, first, s *bench.Side) string {
	if s == first {
		return "-"
	}
	a, b := first.SamplesPerS, s.SamplesPerS
	if a.Median == nil || b.Median == nil || *a.Median <= 0 {
		return units.NotAvailable
	}
	text := units.SignedPercent(*b.Median / *a.Median - 1)
	switch {
	case a.Interval == nil || b.Interval == nil:
		return text + " " + l.Say("(no intervals)")
	case a.Interval.Lo <= b.Interval.Hi && b.Interval.Lo <= a.Interval.Hi:
		return text + " " + l.Say("(intervals overlap)")
	}
	return text + " " + l.Say("(intervals apart)")
}
