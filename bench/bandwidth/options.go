package bandwidth

import (
	"fmt"
	"math"
	"slices"
	"time"

	"pinscope/cudamem"
)

// Direction is which way bytes go, and what goes the other way meanwhile.
type Direction uint8

// The directions. The copies measured are the first named; the others, of pinned
// memory, keep the link busy from before the first of those to after the last.
const (
	HtoD          Direction = iota // host to device, alone
	DtoH                           // device to host, alone
	HtoDWhileDtoH                  // host to device while downloading
	DtoHWhileHtoD                  // device to host while uploading
)

var directions = [...]struct{ name, title string }{
	HtoD: {"htod", "HtoD alone"}, DtoH: {"dtoh", "DtoH alone"},
	HtoDWhileDtoH: {"htod-while-dtoh", "HtoD while downloading"},
	DtoHWhileHtoD: {"dtoh-while-htod", "DtoH while uploading"},
}

// String is the name in files.
func (d Direction) String() string {
	if int(d) >= len(directions) {
		return fmt.Sprintf("Direction(%d)", uint8(d))
	}
	return directions[d].name
}

// MarshalText gives the name.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes a name.
func (d *Direction) UnmarshalText(text []byte) error {
	for i, direction := range directions {
		if string(text) == direction.name {
			*d = Direction(i)
			return nil
		}
	}
	return fmt.Errorf("bandwidth: %q is not a direction", text)
}

// title is the direction for people.
func (d Direction) title() string { return directions[d].title }

// bothWays says that the other direction is kept busy meanwhile.
func (d Direction) bothWays() bool { return d >= HtoDWhileDtoH }

// up says that the copies measured go to the device.
func (d Direction) up() bool { return d == HtoD || d == HtoDWhileDtoH }

// ParseDirections takes the names of a setting: htod, dtoh and both, which
// stands for the two directions measured while the other is busy.
func ParseDirections(names []string) ([]Direction, error) {
	var out []Direction
	for _, name := range names {
		switch name {
		case "htod":
			out = append(out, HtoD)
		case "dtoh":
			out = append(out, DtoH)
		case "both":
			out = append(out, HtoDWhileDtoH, DtoHWhileHtoD)
		default:
			return nil, fmt.Errorf("%q is not one of htod, dtoh, both", name)
		}
	}
	return unique(out), nil
}

// Options say what is measured. Lists must not be empty.
type Options struct {
	Kinds      []cudamem.HostKind
	Sizes      []int64 // bytes of one copy, > 0
	Directions []Direction

	// PerCell is how long a cell is measured: at least 3 samples, at most 25.
	PerCell time.Duration

	// ReadLink reads the link's state, nil where nobody can tell. It is called
	// from a goroutine of its own while copies keep the link busy.
	ReadLink func() (LinkState, error)

	// Progress is called, if not nil, before each cell, on the goroutine of Run.
	Progress func(done, total int)
}

// Kinds lists all kinds of host memory in the order of a table's columns.
func Kinds() []cudamem.HostKind {
	return []cudamem.HostKind{cudamem.Pageable, cudamem.Pinned, cudamem.Registered,
		cudamem.WriteCombined, cudamem.Mapped, cudamem.Managed}
}

// Sizes of copies by default, from 4 KiB to 1 GiB in powers of 4.
const (
	leastSize = 4 << 10
	mostSize  = 1 << 30
)

// Sizes lists the default sizes up to most bytes, rising.
func Sizes(most int64) []int64 {
	var out []int64
	for size := int64(leastSize); size <= min(most, mostSize); size *= 4 {
		out = append(out, size)
	}
	return out
}

// Needs is the host memory, of it what may be page-locked, and the device memory
// in bytes that Run holds at most at once, math.MaxInt64 where that does not fit.
func (o Options) Needs() (host, pinned, device int64) {
	host, pinned, device = saturate(slices.Max(o.Sizes), referenceBytes), referenceBytes, o.deviceBytes()
	if slices.ContainsFunc(o.Kinds, cudamem.HostKind.PageLocked) {
		pinned = host
	}
	if o.bothWays() {
		device = saturate(device, referenceBytes)
	}
	return host, pinned, device
}

// deviceBytes is the length of the device buffer of what is measured.
func (o Options) deviceBytes() int64 { return max(slices.Max(o.Sizes), referenceBytes) }

func (o Options) bothWays() bool { return slices.ContainsFunc(o.Directions, Direction.bothWays) }

// saturate is a + b, both >= 0.
func saturate(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// unique leaves out what came before.
func unique[T comparable](list []T) []T {
	var out []T
	for _, v := range list {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
