package bandwidth

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"pinscope/bench/stats"
	"pinscope/bench/units"
	"pinscope/cudamem"
)

// Marks after a figure of the table.
const (
	markAbove  = '!' // above the link's limit
	markSpread = '~' // the 95 % interval reaches further than spreadShare
	markAlone  = '+' // the other direction was not busy all the time

	spreadShare = 0.05
)

const textWidth = 80

// printer lays a result out in 80 columns.
type printer struct {
	r     *Result
	out   strings.Builder
	marks string // that were used
}

// Text writes the result for people, in 80 columns of plain ASCII.
func (r *Result) Text(w io.Writer) error {
	p := &printer{r: r}
	p.head()
	for _, d := range r.directions {
		p.direction(d)
	}
	p.legend()
	p.allocations()
	p.closeUp()
	p.notes()
	p.out.WriteString(r.Sentence() + "\n")
	_, err := io.WriteString(w, p.out.String())
	return err
}

// Sentence is the answer in short: what a known tool would show too, with buffer
// size, count and statistic.
func (r *Result) Sentence() string {
	text := "Pinned copies as nvbandwidth makes them (64 MiB buffer, 16 copies, median of 3):\n  "
	figures := []string{units.NotAvailable}
	for i, c := range r.Reference {
		figure := strings.TrimSuffix(c.Direction.title(), " alone") + " " + gbps(c.GBps)
		if c.AboveLimit {
			figure += " (above the link's limit)"
		}
		figures = append(figures[:i], figure)
	}
	text += strings.Join(figures, ", ")
	if r.Simulated {
		text += "; SIMULATED by " + r.Device.ID
	}
	return text
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

func (p *printer) head() {
	r := p.r
	if r.Simulated {
		p.wrap("SIMULATED: ", "copies take the times of a model. Staging, allocating and locking memory are this machine's work. "+
			"What a driver's call costs (2 to 3 us) is not modelled.")
	}
	device := r.Device.ID + ", " + r.Device.Name
	if r.Device.Driver != "" {
		device += ", driver " + r.Device.Driver
	}
	p.wrap("Device   ", device)
	p.wrap("Link     ", r.Link.text())
	p.wrap("Limit    ", r.Link.limitText())
	if alarm := r.Link.Alarm(); alarm != "" {
		p.wrap("ALARM    ", alarm)
	}
	p.wrap("Warm-up  ", r.WarmUp.text())
	p.line("")
}

// text is the states one after the other.
func (l Link) text() string {
	if l.Before == nil && l.During == nil {
		return "generation and width " + units.NotAvailable
	}
	var before, during LinkState
	if l.Before != nil {
		before = *l.Before
	}
	if l.During != nil {
		during = *l.During
	}
	return fmt.Sprintf("%s before, %s under load, %s at most", before, during, during.Max())
}

func (l Link) limitText() string {
	if l.LimitGBps == nil {
		return units.NotAvailable
	}
	return fmt.Sprintf("%s each way (%s)", units.GBps(*l.LimitGBps), l.LimitFrom)
}

func (w WarmUp) text() string {
	if len(w.GBps) == 0 {
		return "none: the copies took no time"
	}
	text := fmt.Sprintf("%s of %s, kept but not counted", count(len(w.GBps), "copy", "copies"), units.Bytes(w.Bytes))
	if w.Slow > 0 {
		text += fmt.Sprintf("; slow at first: %d, from %s on", w.Slow, units.GBps(w.GBps[0]))
	}
	return text
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return units.Count(int64(n)) + " " + many
}

// direction writes a direction's blocks: GB/s, and how long calls kept the caller.
func (p *printer) direction(d Direction) {
	measured := p.kinds(func(k cudamem.HostKind) bool {
		return slices.ContainsFunc(p.r.Cells, func(c Cell) bool { return c.Direction == d && c.Kind == k })
	})
	if len(measured) == 0 {
		return
	}
	p.block(d.title()+", GB/s of DMA time", measured, func(k cudamem.HostKind, bytes int64) string {
		c := p.r.Cell(d, k, bytes)
		if c == nil {
			return "- "
		}
		return strings.TrimSuffix(gbps(c.GBps), " GB/s") + p.mark(c)
	})
	if d.bothWays() {
		return // calls cost what they cost alone; JSON and CSV have it
	}
	p.block(d.title()+", time that a call blocks its caller", measured, func(k cudamem.HostKind, bytes int64) string {
		c := p.r.Cell(d, k, bytes)
		if c == nil {
			return "- "
		}
		return duration(c.BlockedNanos) + " "
	})
}

func (p *printer) kinds(with func(cudamem.HostKind) bool) []cudamem.HostKind {
	var out []cudamem.HostKind
	for _, k := range p.r.kinds {
		if with(k) {
			out = append(out, k)
		}
	}
	return out
}

func (p *printer) legend() {
	if len(p.r.Cells) == 0 {
		return
	}
	least, most := p.r.Cells[0], p.r.Cells[0]
	for _, c := range p.r.Cells {
		if c.GBps.Count < least.GBps.Count {
			least = c
		}
		if c.GBps.Count > most.GBps.Count {
			most = c
		}
	}
	p.wrap("", fmt.Sprintf("Figures are medians of %d to %d samples of up to %d copies end to end.", least.GBps.Count, most.GBps.Count, mostCopies))
	for _, m := range []struct {
		mark rune
		text string
	}{
		{markAbove, "above the link's limit: the figure cannot be right"},
		{markAlone, "the other direction was not busy all the time"},
		{markSpread, "the 95 % interval of the median reaches further than +-5 %"},
	} {
		if strings.ContainsRune(p.marks, m.mark) {
			p.line("%c %s", m.mark, m.text)
		}
	}
	p.line("")
}

// allocations writes what the memory cost.
func (p *printer) allocations() {
	for _, b := range []struct {
		title string
		of    func(*Allocation) stats.Summary
	}{
		{"Allocating host memory, until it is resident", func(a *Allocation) stats.Summary { return a.AllocNanos }},
		{"Freeing it", func(a *Allocation) stats.Summary { return a.FreeNanos }},
	} {
		kinds := p.kinds(func(k cudamem.HostKind) bool {
			return slices.ContainsFunc(p.r.Allocation, func(a Allocation) bool { return a.Kind == k })
		})
		if len(kinds) == 0 {
			return
		}
		p.block(b.title, kinds, func(k cudamem.HostKind, bytes int64) string {
			a := p.r.allocation(k, bytes)
			if a == nil {
				return "- "
			}
			return duration(b.of(a)) + " "
		})
	}
}

// closeUp writes one size in full: DMA time beside host-blocked time, with interval
// and count.
func (p *printer) closeUp() {
	bytes := p.closeUpSize()
	title := "All figures at " + units.Bytes(bytes)
	if p.r.Simulated {
		title += " (SIMULATED)"
	}
	p.line("%s", title)
	p.line("%-39s%5s%15s%11s%10s", "", "GB/s", "95 % interval", "DMA", "blocked")
	for _, d := range p.r.directions {
		for _, k := range p.r.kinds {
			if c := p.r.Cell(d, k, bytes); c != nil {
				p.line("%-39s%5s%15s%11s%10s", d.title()+", "+k.String(), strings.TrimSuffix(gbps(c.GBps), " GB/s"),
					interval(c.GBps), duration(c.DMANanos), duration(c.BlockedNanos))
			}
		}
	}
	p.twoWay(bytes)
	p.line("")
}

// closeUpSize is the reference's size, or the nearest below it, or the smallest.
func (p *printer) closeUpSize() int64 {
	best := slices.Min(p.r.sizes)
	for _, bytes := range p.r.sizes {
		if bytes <= referenceBytes {
			best = max(best, bytes)
		}
	}
	return best
}

// lessWhile is the share of the figure alone below which a drop is spoken of.
const lessWhile = 0.9

// twoWay says what the other direction takes away: it is no matter of pinning.
func (p *printer) twoWay(bytes int64) {
	for _, pair := range [][2]Direction{{HtoD, HtoDWhileDtoH}, {DtoH, DtoHWhileHtoD}} {
		var less []string
		for _, k := range p.r.kinds {
			alone, both := p.r.Cell(pair[0], k, bytes), p.r.Cell(pair[1], k, bytes)
			if alone == nil || both == nil || alone.GBps.Median == nil || both.GBps.Median == nil {
				continue
			}
			if share := *both.GBps.Median / *alone.GBps.Median; share < lessWhile {
				less = append(less, k.String()+" "+units.Percent(share))
			}
		}
		if less != nil {
			p.wrap("", fmt.Sprintf("%s: %s of what it is alone. This comes of two-way traffic, not of pinning.",
				pair[1].title(), strings.Join(less, ", ")))
		}
	}
}

func (p *printer) notes() {
	for _, note := range p.r.Notes {
		p.wrap("- ", note)
	}
	if len(p.r.Notes) > 0 {
		p.line("")
	}
}
