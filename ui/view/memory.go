package view

import (
	"cmp"
	"pinscope/bench"
	"pinscope/bench/units"
	"pinscope/ui/words"
)

// MemoryRows is what each side took of host memory: rows whose first is the head.
func MemoryRows(l words.Language, r *bench.Result) [][]string {
	rows := [][]string{{l.Say("Memory")}}
	add := func(name string, of func(*bench.Side) string) {
		row := []string{name}
		for i := range r.Sides {
			row = append(row, of(&r.Sides[i]))
		}
		rows = append(rows, row)
	}
	for i := range r.Sides {
		rows[0] = append(rows[0], cmp.Or(r.Sides[i].Name, r.Sides[i].Label, l.Say("This run")))
	}
	add(l.Say("Pinned, as planned"), func(s *bench.Side) string { return units.Bytes(s.Plan.PinnedBytes) })
	add(l.Say("Pinned, in fact"), func(s *bench.Side) string { return units.Bytes(s.Setup.PinnedBytes) })
	add(l.Say("State"), func(s *bench.Side) string { return string(s.Setup.PinEffective) })
	add(l.Say("Time to pin"), func(s *bench.Side) string { return units.Duration(s.Setup.PinDuration) })
	add(l.Say("Pageable slots"), func(s *bench.Side) string { return slots(l, s.Plan.QueueSlots, s.Plan.QueueBytes) })
	add(l.Say("Ring slots"), func(s *bench.Side) string { return slots(l, s.Plan.RingSlots, s.Plan.RingBytes) })
	add(l.Say("PyTorch would reserve"), func(s *bench.Side) string {
		if s.Plan.PyTorchInputBytes == 0 {
			return "-"
		}
		return units.Bytes(s.Plan.PyTorchInputBytes)
	})
	add(l.Say("Data set"), func(s *bench.Side) string { return units.Bytes(s.Plan.DatasetBytes) })
	add(l.Say("Host memory in all"), func(s *bench.Side) string { return units.Bytes(s.Plan.HostBytes) })
	add(l.Say("Device memory"), func(s *bench.Side) string { return units.Bytes(s.Plan.DeviceBytes) })
	return rows
}

func slots(l words.Language, count int, bytes int64) string {
	if count == 0 {
		return "-"
	}
	return l.Say("%d slots, %s", count, units.Bytes(bytes))
}
