package report

import (
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"pinscope/bench"
	"pinscope/bench/pressure"
	"pinscope/bench/units"
)

// Memory is what the memory system showed over time. All slices that are not nil
// have a value for each time of At; NaN is an unknown one. Memory is in bytes.
type Memory struct {
	At []time.Duration // on the run's clock, rising

	Pinned    []float64 // our own ledger of page-locked bytes
	RSSAnon   []float64 // of the process; registered memory too
	RSSShmem  []float64 // of the process; the driver's pinned memory shows here
	Available []float64 // what can be had without swapping
	Limit     *float64  // the most this process may have; nil: unknown

	SomeStall []float64 // time in which some task waited for memory, nanoseconds since some start
	FullStall []float64 // in which all did
	Reclaimed []float64 // pages taken back since some start
	Refaulted []float64 // pages dropped and needed again
}

// MemoryOf takes from a sampler's series what the charts of memory show.
func MemoryOf(s *pressure.Series, limits *pressure.Limits) Memory {
	column := func(f pressure.Figure) []float64 {
		c, _ := s.Figure(f)
		if c == nil || len(c.Last) != len(s.At) {
			return nil
		}
		values := make([]float64, len(c.Last))
		for i, v := range c.Last {
			values[i] = math.NaN()
			if v != nil {
				values[i] = *v
			}
		}
		return values
	}
	m := Memory{At: s.At, Pinned: column(pressure.Pinned), RSSAnon: column(pressure.RSSAnon), RSSShmem: column(pressure.RSSShmem),
		Available: column(pressure.Available), SomeStall: column(pressure.MemorySomeStall), FullStall: column(pressure.MemoryFullStall),
		Reclaimed: column(pressure.StolenPages), Refaulted: column(pressure.RefaultPages)}
	if limits != nil && limits.TotalBytes != nil {
		limit := float64(*limits.TotalBytes)
		m.Limit = &limit
	}
	return m
}

// curveOf is a figure to draw.
type curveOf struct {
	name   phrase
	values []float64
	ink    int // of look.line
	dashed bool
}

func (m Memory) window(w Window) Window {
	if !w.set() && len(m.At) > 0 {
		w = Window{m.At[0], m.At[len(m.At)-1]}
	}
	if !w.set() && len(m.At) > 0 {
		w.To = w.From + time.Millisecond // a single sample
	}
	return w
}

// MemoryUse shows the ledger of pinned bytes beside what the system reports, and
// the limit. Its axis is logarithmic where a curve could not be seen otherwise.
func MemoryUse(look Look, m Memory, w Window) *Chart {
	c := &Chart{look: look, title: look.say(memoryTitle), y: axis{title: look.say(memoryAxis), unit: inBytes}}
	w = m.window(w)
	hi := c.addCurves(m.At, w, []curveOf{
		{pinnedKey, m.Pinned, 4, false}, {rssAnonKey, m.RSSAnon, 0, false}, {rssShmemKey, m.RSSShmem, 1, true},
		{availableKey, m.Available, 2, true},
	})
	if c.empty {
		return c
	}
	if m.Limit != nil && drawable(*m.Limit) {
		hi = max(hi, *m.Limit)
		ink := look.theme().ink
		c.plotters = append(c.plotters, level{at: *m.Limit, ink: ink, dashed: true})
		c.legend = append(c.legend, key{text: look.say(limitKey, units.Bytes(int64(*m.Limit))), ink: ink, line: true, dashed: true})
	}
	c.y.spanExactly(0, hi*1.06)
	c.showSmall(hi)
	return c
}

// smallPart is the part of the axis under which a curve would lie on its foot.
const smallPart = 1.0 / 20

// showSmall makes the axis logarithmic if a curve is too small beside the others
// to be seen; what is nothing at all then lies on the foot.
func (c *Chart) showSmall(hi float64) {
	least := hi
	for _, p := range c.plotters {
		if one, ok := p.(curve); ok {
			if _, most := bounds(one.ys); most > 0 {
				least = min(least, most)
			}
		}
	}
	if least > hi*smallPart || least < 1 { // byte
		return
	}
	c.y.log, c.y.binary, c.y.title = true, true, c.look.say(memoryLogAxis)
	c.y.min, c.y.max = least/4, hi*1.6
	for i, p := range c.plotters {
		if one, ok := p.(curve); ok {
			ys := make([]float64, len(one.ys))
			for j, v := range one.ys {
				ys[j] = v
				if v < c.y.min {
					ys[j] = c.y.min
				}
			}
			one.ys = ys
			c.plotters[i] = one
		}
	}
}

// MemoryStall shows which share of the time tasks waited for memory.
func MemoryStall(look Look, m Memory, w Window) *Chart {
	c := &Chart{look: look, title: look.say(stallTitle), y: axis{title: look.say(stallAxis), unit: inPercent}}
	w = m.window(w)
	hi := c.addCurves(m.At, w, []curveOf{{someKey, rates(m.At, m.SomeStall, 1), 1, false}, {fullKey, rates(m.At, m.FullStall, 1), 4, false}})
	c.y.spanExactly(0, max(hi, 0.01)*1.08)
	return c
}

// Reclaim shows how many pages a second were taken back, and needed again.
func Reclaim(look Look, m Memory, w Window) *Chart {
	c := &Chart{look: look, title: look.say(reclaimTitle), y: axis{title: look.say(reclaimAxis)}}
	w = m.window(w)
	hi := c.addCurves(m.At, w, []curveOf{{reclaimKey, rates(m.At, m.Reclaimed, 1e9), 0, false}, {refaultKey, rates(m.At, m.Refaulted, 1e9), 1, true}})
	c.y.spanExactly(0, max(hi, 1)*1.08)
	return c
}

// addCurves adds what is known and gives the greatest value.
func (c *Chart) addCurves(at []time.Duration, w Window, all []curveOf) (most float64) {
	c.x = w.axis(c.look)
	c.empty = true
	leftOut := 0
	for _, one := range all {
		p := points{}
		for i := range min(len(at), len(one.values)) {
			if at[i] < w.From || at[i] > w.To {
				continue
			}
			if math.IsInf(one.values[i], 0) {
				leftOut++
			}
			p.xs, p.ys = append(p.xs, float64(at[i]-w.From)), append(p.ys, one.values[i])
		}
		lo, hi := bounds(p.ys)
		if lo > hi {
			continue
		}
		most = max(most, hi)
		c.empty = false
		ink := c.look.line(one.ink)
		width := vg.Length(1.2)
		if one.name == pinnedKey {
			width = 2 // the driver's pinned memory lies on it as RSS
		}
		c.plotters = append(c.plotters, curve{points: p, ink: ink, width: width, dashed: one.dashed})
		c.legend = append(c.legend, key{text: c.look.say(one.name), ink: ink, line: true, dashed: one.dashed})
	}
	c.noteLeftOut(leftOut)
	return most
}

// shadeRepeats lays a pale strip behind the data while each side ran.
func (c *Chart) shadeRepeats(sides []bench.Side, w Window) {
	if c.empty {
		return
	}
	var behind []plot.Plotter
	var keys []key
	for i := range sides {
		s := strips{ink: c.look.side(i)}
		for _, r := range sides[i].Repeats {
			if r.Wall > 0 {
				s.from = append(s.from, float64(r.Start-w.From))
				s.to = append(s.to, float64(r.Start+r.Wall-w.From))
			}
		}
		if len(s.from) == 0 || sides[i].Label == "" {
			continue
		}
		behind = append(behind, s)
		keys = append(keys, key{text: c.look.say(duringSide, sides[i].Label), ink: mix(c.look.theme().ground, s.ink, stripShare)})
	}
	c.plotters = append(behind, c.plotters...)
	c.legend = append(c.legend, keys...)
}

// rates are the changes of a counter by the time they took, times scale; a
// counter that falls was reset, and gives NaN.
func rates(at []time.Duration, counter []float64, scale float64) []float64 {
	if len(counter) == 0 {
		return nil
	}
	out := make([]float64, min(len(at), len(counter)))
	for i := range out {
		out[i] = math.NaN()
		if i > 0 && at[i] > at[i-1] && counter[i] >= counter[i-1] {
			out[i] = (counter[i] - counter[i-1]) / float64(at[i]-at[i-1]) * scale
		}
	}
	return out
}

// MemoryPlan shows what each side's settings take of host memory, worked out
// before the run: what a result holds without a sampler's series.
func MemoryPlan(look Look, sides []bench.Side) *Chart {
	c := &Chart{look: look, title: look.say(planTitle)}
	var names []string
	var all []bar
	longest := 0.0
	parts := []phrase{pinnedPart, queuePart, dataPart, otherPart}
	inks := []int{4, 0, 2, 6}
	met := make([]bool, len(parts))
	for i := len(sides) - 1; i >= 0; i-- {
		at, from := float64(len(names)), 0.0
		for part, bytes := range planParts(&sides[i]) {
			if bytes <= 0 {
				continue
			}
			met[part] = true
			to := from + float64(bytes)
			all = append(all, bar{from: from, to: to, at: at, ink: look.line(inks[part]), text: units.Bytes(bytes)})
			from = to
		}
		longest = max(longest, from)
		names = append(names, sideTitle(&sides[i]))
	}
	if longest == 0 {
		c.empty = true
		return c
	}
	for part, any := range met {
		if any {
			c.legend = append(c.legend, key{text: look.say(parts[part]), ink: look.line(inks[part])})
		}
	}
	c.x = axis{title: look.say(memoryAxis), unit: inBytes}
	c.x.spanExactly(0, longest*1.03)
	c.y = axis{names: names, min: -0.5, max: float64(len(names)) - 0.5}
	c.notes = []string{look.say(planNote)}
	c.plotters = append(c.plotters, bars{look: look, all: all, thick: 0.62})
	return c
}

// planParts are pinned bytes, pageable slots, the data set and the rest.
func planParts(s *bench.Side) [4]int64 {
	p := &s.Plan
	pinned, data := s.Setup.PinnedBytes, p.DatasetBytes
	ring := max(0, p.RingBytes-pinned) // a ring that was not locked takes memory all the same
	if pinned >= p.RingBytes+data && data > 0 {
		data = 0 // the data set is what is pinned
	}
	known := pinned + p.QueueBytes + ring + data
	return [4]int64{pinned, p.QueueBytes + ring, data, max(0, p.HostBytes-known)}
}

// orNaN is a value that may be unknown.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
