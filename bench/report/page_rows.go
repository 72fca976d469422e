package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pinscope/bench"
	"pinscope/bench/gpuwatch"
	"pinscope/bench/units"
)

// verdicts are what limits each side and what to try, what makes the comparison
// not count, and what else was found.
func (p page) verdicts() []string {
	var out []string
	for i := range p.r.Sides {
		s := &p.r.Sides[i]
		if s.Verdict == nil {
			continue
		}
		lead := ""
		if s.Label != "" {
			lead = s.Label + ": "
		}
		out = append(out, lead+s.Verdict.String())
		if try := s.Verdict.Try(); try != "" {
			out = append(out, lead+p.look.say(tryThis, try))
		}
	}
	return slices.Concat(p.r.NotValid, out, p.r.Findings)
}

// settings are what each side was run with, and what came of it.
func (p page) settings() []row {
	sides := p.shownSides()
	var rows []row
	add := func(name phrase, value func(s *bench.Side) string) {
		r := row{name: p.look.say(name)}
		for _, s := range sides {
			r.values = append(r.values, value(s))
		}
		if len(sides) > 0 {
			rows = append(rows, r)
		}
	}
	add(rowThroughput, func(s *bench.Side) string {
		if s.SamplesPerS.Median == nil {
			return units.NotAvailable
		}
		return units.SampleRate(*s.SamplesPerS.Median)
	})
	add(rowHidden, func(s *bench.Side) string {
		if s.Trace == nil || s.Trace.OverlapShare == nil {
			return units.NotAvailable
		}
		return units.Percent(*s.Trace.OverlapShare)
	})
	add(rowPinned, func(s *bench.Side) string {
		return fmt.Sprintf("%s (%s)", s.Setup.PinEffective, units.Bytes(s.Setup.PinnedBytes))
	})
	add(rowPinTime, func(s *bench.Side) string { return units.Duration(s.Setup.PinDuration) })
	add(rowPin, func(s *bench.Side) string { return s.Config.Pin.String() })
	add(rowBlocking, func(s *bench.Side) string { return fmt.Sprint(s.Config.NonBlocking) })
	add(rowStream, func(s *bench.Side) string { return s.Config.CopyStream.String() })
	add(rowMemory, func(s *bench.Side) string { return s.Config.HostKind().String() })
	add(rowRing, func(s *bench.Side) string { return units.Count(int64(s.Plan.RingSlots)) })
	add(rowSource, func(s *bench.Side) string {
		return fmt.Sprintf("%s, %s x %s %s", s.Config.Source, units.Count(s.Plan.Samples), s.Plan.Shape, s.Plan.DType)
	})
	add(rowBatch, func(s *bench.Side) string {
		return fmt.Sprintf("%s (%s)", units.Count(s.Config.Batch), units.Bytes(s.Plan.BatchBytes))
	})
	add(rowWorkers, func(s *bench.Side) string { return fmt.Sprintf("%d x %d", s.Config.Workers, s.Config.Prefetch) })
	add(rowRepeats, func(s *bench.Side) string {
		return fmt.Sprintf("%d / %d + %d", s.Config.Epochs, s.Config.Repeats, s.Config.Warmup)
	})
	return rows
}

// machine is what it was measured on.
func (p page) machine() []row {
	r, d := p.r, &p.r.Device
	one := func(name phrase, value string) row { return row{p.look.say(name), []string{value}} }
	rows := []row{one(rowDevice, strings.TrimSpace(d.Name+" ("+d.ID+")"))}
	if d.LinkGBps != nil {
		rows = append(rows, one(rowLink, units.GBps(*d.LinkGBps)))
	}
	if link := linkUnderLoad(r.GPU); link != "" {
		rows = append(rows, one(rowLinkLoad, link))
	}
	if d.Driver != "" {
		rows = append(rows, one(rowDriver, d.Driver))
	}
	if d.EventClock != "" {
		rows = append(rows, one(rowClock, d.EventClock))
	}
	host := fmt.Sprintf("%s, %d usable CPUs, %s %s", r.Host.CPU, r.Host.CPUs, r.Host.OS, r.Host.Kernel)
	rows = append(rows, one(rowHost, strings.TrimPrefix(host, ", ")))
	if r.Host.MemoryBytes != nil {
		rows = append(rows, one(rowMemoryTotal, units.Bytes(*r.Host.MemoryBytes)))
	}
	rows = append(rows, p.limits()...)
	rows = append(rows, one(rowDate, r.Started.Format(time.RFC3339)))
	return append(rows, one(rowTool, r.Tool.Version+", "+r.Tool.Build))
}

// limits are those found on the machine before anything was allocated.
func (p page) limits() []row {
	l := p.r.Limits
	if l == nil {
		return nil
	}
	var rows []row
	add := func(name phrase, value string) {
		if value != "" {
			rows = append(rows, row{p.look.say(name), []string{value}})
		}
	}
	if l.AvailableBytes != nil {
		text := units.Bytes(*l.AvailableBytes)
		if l.LimitedBy != "" {
			text += " (" + l.LimitedBy + ")"
		}
		add(rowAvailable, text)
	}
	if l.MemlockSoft != nil {
		add(rowMemlock, l.MemlockSoft.String())
	}
	add(rowInside, strings.Join(slices.DeleteFunc([]string{l.Container, l.VirtualMachine}, func(s string) bool { return s == "" }), ", "))
	return rows
}

// linkUnderLoad is the fastest state of the link that the driver told of: an idle
// link is slower, and that says nothing.
func linkUnderLoad(g *gpuwatch.Series) string {
	if g == nil {
		return ""
	}
	generation, width := int64(0), int64(0)
	for i := range g.Samples {
		s := &g.Samples[i]
		if s.LinkGeneration != nil && s.LinkWidth != nil && *s.LinkGeneration >= generation {
			generation, width = *s.LinkGeneration, *s.LinkWidth
		}
	}
	if generation == 0 {
		return ""
	}
	return fmt.Sprintf("PCIe %d x%d", generation, width)
}
