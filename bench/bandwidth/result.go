package bandwidth

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"pinscope/bench/stats"
	"pinscope/cudamem"
)

// SchemaVersion is that of the JSON file.
const SchemaVersion = 1

// Result is what one Run found. Its JSON is the file format; what is not defined is
// nil, null there.
type Result struct {
	Schema    int    `json:"bandwidth_schema"`
	Simulated bool   `json:"simulated"` // times come from a model, not from hardware
	Device    Device `json:"device"`

	Link       Link         `json:"link"`
	WarmUp     WarmUp       `json:"warm_up"`
	Reference  []Cell       `json:"reference"` // HtoD, DtoH; as nvbandwidth measures: 64 MiB, pinned, 16 copies, 3 samples
	Cells      []Cell       `json:"cells"`
	Allocation []Allocation `json:"allocation"`
	Notes      []string     `json:"notes"` // what was left out, and why

	kinds      []cudamem.HostKind
	sizes      []int64
	directions []Direction
}

// Device is where the copies went.
type Device struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	UUID        string            `json:"uuid,omitempty"`
	PCIAddress  string            `json:"pci_address,omitempty"`
	Driver      string            `json:"driver,omitempty"`
	CopyEngines int               `json:"copy_engines,omitempty"`
	EventClock  string            `json:"event_clock"`
	Model       map[string]string `json:"model,omitempty"` // of the simulated GPU
}

// WarmUp is the copies that woke the link before the first cell. None counts.
type WarmUp struct {
	Bytes int64     `json:"bytes"` // of a copy
	GBps  []float64 `json:"gbps"`  // of each
	Slow  int       `json:"slow"`  // how many of the first were more than 5 % slower than the last
}

// Allocation is what the memory of one kind and size cost, over 7 tries, or as
// many as fit 20 ms.
type Allocation struct {
	Kind       cudamem.HostKind `json:"host_memory"`
	Bytes      int64            `json:"bytes"`
	Locked     bool             `json:"locked"`   // in fact
	AllocNanos stats.Summary    `json:"alloc_ns"` // until the memory is resident
	FreeNanos  stats.Summary    `json:"free_ns"`
}

func newResult(info cudamem.Info, o Options) *Result {
	return &Result{
		Schema: SchemaVersion, Simulated: info.Simulated,
		Device: Device{ID: info.ID, Name: info.Name, UUID: info.UUID, PCIAddress: info.PCIAddress, Driver: info.Driver,
			CopyEngines: info.CopyEngines, EventClock: info.EventClock, Model: info.Model},
		Reference: []Cell{}, Cells: []Cell{}, Allocation: []Allocation{}, Notes: []string{},
		kinds: o.Kinds, sizes: o.Sizes, directions: o.Directions,
	}
}

// note adds a note, once.
func (r *Result) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

func (r *Result) allocated(k cudamem.HostKind, bytes int64, locked bool, alloc, free []float64) {
	if k.PageLocked() && !locked {
		r.note("%v memory could not be locked (the limit on locked memory, ulimit -l): its allocation was cheaper than it would be", k)
	}
	r.Allocation = append(r.Allocation, Allocation{Kind: k, Bytes: bytes, Locked: locked,
		AllocNanos: stats.Summarize(alloc), FreeNanos: stats.Summarize(free)})
}

// limitGBps is 0 if it is unknown.
func (r *Result) limitGBps() float64 {
	if r.Link.LimitGBps == nil {
		return 0
	}
	return *r.Link.LimitGBps
}

// Cell finds a cell, nil if it was not measured.
func (r *Result) Cell(d Direction, k cudamem.HostKind, bytes int64) *Cell {
	i := slices.IndexFunc(r.Cells, func(c Cell) bool { return c.Direction == d && c.Kind == k && c.Bytes == bytes })
	if i < 0 {
		return nil
	}
	return &r.Cells[i]
}

// Point is a point of a curve: a median.
type Point struct {
	Bytes int64
	GBps  float64 // > 0
}

// Curve is the medians of a direction and kind by size, rising. Every point can
// stand on logarithmic axes: a cell without a figure gives none, and is counted.
func (r *Result) Curve(d Direction, k cudamem.HostKind) (points []Point, without int) {
	for _, c := range r.Cells {
		switch {
		case c.Direction != d || c.Kind != k:
		case c.GBps.Median == nil:
			without++
		default:
			points = append(points, Point{c.Bytes, *c.GBps.Median})
		}
	}
	slices.SortFunc(points, func(a, b Point) int { return int(min(1, max(-1, a.Bytes-b.Bytes))) })
	return points, without
}

func (r *Result) allocation(k cudamem.HostKind, bytes int64) *Allocation {
	i := slices.IndexFunc(r.Allocation, func(a Allocation) bool { return a.Kind == k && a.Bytes == bytes })
	if i < 0 {
		return nil
	}
	return &r.Allocation[i]
}

var csvHeader = []string{"device", "simulated", "recipe", "direction", "host_memory", "bytes", "copies", "samples",
	"gbps_median", "gbps_low", "gbps_high", "dma_ns_median", "dma_ns_low", "dma_ns_high",
	"host_blocked_ns_median", "host_blocked_ns_low", "host_blocked_ns_high",
	"link_limit_gbps", "above_limit", "alloc_ns_median", "free_ns_median", "locked"}

// WriteCSV writes a row for each cell (RFC 4180, points for decimals whatever the
// locale), low and high being the ends of the 95 % interval. What is not known is
// an empty cell. The recipe is "cell", or "nvbandwidth" for the reference.
func (r *Result) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	rows := [][]string{csvHeader}
	for _, c := range r.Cells {
		rows = append(rows, r.csvRow("cell", c))
	}
	for _, c := range r.Reference {
		rows = append(rows, r.csvRow("nvbandwidth", c))
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	return out.Error()
}

func (r *Result) csvRow(recipe string, c Cell) []string {
	row := []string{r.Device.ID, strconv.FormatBool(r.Simulated), recipe, c.Direction.String(), c.Kind.String(),
		strconv.FormatInt(c.Bytes, 10), strconv.Itoa(c.copies()), strconv.Itoa(c.GBps.Count)}
	for _, s := range []stats.Summary{c.GBps, c.DMANanos, c.BlockedNanos} {
		var low, high *float64
		if s.Interval != nil {
			low, high = &s.Interval.Lo, &s.Interval.Hi
		}
		row = append(row, decimal(s.Median), decimal(low), decimal(high))
	}
	row = append(row, decimal(r.Link.LimitGBps), strconv.FormatBool(c.AboveLimit))
	a := r.allocation(c.Kind, c.Bytes)
	if a == nil || recipe != "cell" {
		return append(row, "", "", "")
	}
	return append(row, decimal(a.AllocNanos.Median), decimal(a.FreeNanos.Median), strconv.FormatBool(a.Locked))
}

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 9, 64)
}
