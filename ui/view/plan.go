package view

import (
	"strings"

	"pinscope/bench"
	"pinscope/bench/units"
	"pinscope/ui/words"
)

// PlanLines say what the settings come to before anything is run: a line for each
// side. Limits are the system's.
func PlanLines(l words.Language, plans []bench.PlanInfo, limits bench.Limits) []string {
	var lines []string
	for _, info := range plans {
		p := info.Plan
		parts := []string{
			l.Say("%s batches of %s", units.Count(p.TotalBatches), units.Bytes(p.BatchBytes)),
			l.Say("%d slots", p.QueueSlots+p.RingSlots),
			l.Say("host memory %s", units.Bytes(p.HostBytes)),
			pinned(l, p, limits),
		}
		line := strings.Join(parts, " · ")
		if info.Side != "" {
			line = info.Side + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// pinned is how much is pinned of what may be.
func pinned(l words.Language, p bench.Plan, limits bench.Limits) string {
	if p.PinnedBytes == 0 {
		return l.Say("nothing pinned")
	}
	if most := limits.PinnableBytes(); most != nil {
		return l.Say("pinned %s of %s at most", units.Bytes(p.PinnedBytes), units.Bytes(*most))
	}
	return l.Say("pinned %s", units.Bytes(p.PinnedBytes))
}

// Status is the line that is always in view: the machine, the device, whether it
// is simulated. Until a device was chosen start is nil.
func Status(l words.Language, host bench.Host, start *bench.StartInfo) string {
	parts := []string{}
	if host.CPU != "" {
		parts = append(parts, host.CPU)
	}
	parts = append(parts, l.Say("%d CPUs", host.CPUs))
	if host.MemoryBytes != nil {
		parts = append(parts, l.Say("RAM %s", units.Bytes(*host.MemoryBytes)))
	}
	if start != nil {
		parts = append(parts, device(l, start.Device)...)
	}
	return strings.Join(parts, " · ")
}

func device(l words.Language, d bench.Device) []string {
	parts := []string{d.ID + " (" + d.Name + ")"}
	if d.LinkGBps != nil {
		parts = append(parts, l.Say("link %s", units.GBps(*d.LinkGBps)))
	}
	switch {
	case d.Simulated:
	case d.Driver != "":
		parts = append(parts, l.Say("driver %s", d.Driver))
	default:
		parts = append(parts, l.Say("no driver"))
	}
	return parts
}
