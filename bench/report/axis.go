package report

import (
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"pinscope/bench/units"
)

// axis is one axis of a chart, in base units (nanoseconds, bytes, shares of 1).
// Its marks are chosen when it is drawn, as many as there is room for.
type axis struct {
	title    string
	unit     unit
	log      bool // min and max are above 0
	whole    bool // marks at whole numbers only
	binary   bool // of a log axis: marks at powers of 2, each with its unit
	names    []string
	min, max float64
	last     float64 // no marks above it; 0: up to max
}

// unit is what a value is divided by to be shown, for an axis that reaches so far.
type unit func(largest float64) (divisor float64, name string)

func inUnit(name string) unit             { return func(float64) (float64, string) { return 1, name } }
func inPercent(float64) (float64, string) { return 0.01, "%" }

func inNanos(largest float64) (float64, string) {
	switch {
	case largest < 2e3:
		return 1, "ns"
	case largest < 2e6:
		return float64(time.Microsecond), "us"
	case largest < 2e9:
		return float64(time.Millisecond), "ms"
	}
	return float64(time.Second), "s"
}

func inBytes(largest float64) (float64, string) {
	divisor := 1.0
	for _, name := range []string{"B", "KiB", "MiB", "GiB"} {
		if largest < 2*1024*divisor {
			return divisor, name
		}
		divisor *= 1024
	}
	return divisor, "TiB"
}

// span makes an axis cover values from lo to hi, with a margin on both sides,
// and 0 where it is near. It takes any finite values, equal ones too.
func (a *axis) span(lo, hi float64) {
	if lo > hi {
		lo, hi = 0, 1
	}
	if a.log {
		a.min, a.max = lo/1.3, hi*1.3
		if hi/lo < 4 {
			a.min, a.max = lo/2, hi*2
		}
		return
	}
	if lo > 0 && lo < 0.6*hi {
		lo = 0
	} else if hi < 0 && hi > 0.6*lo {
		hi = 0
	}
	// Halves, since the difference may be more than the greatest number.
	margin := (hi/2 - lo/2) * 0.16
	if margin == 0 {
		margin = max(math.Abs(hi)*0.1, 0.5)
	}
	a.min, a.max = lo, min(hi+margin, math.MaxFloat64/4)
	if lo != 0 {
		a.min = max(lo-margin, -math.MaxFloat64/4)
	}
	if a.whole {
		a.max = max(a.max, a.min+1)
	}
}

// spanExactly makes an axis cover lo to hi and no more.
func (a *axis) spanExactly(lo, hi float64) {
	if !(hi > lo) {
		hi = lo + 1
	}
	a.min, a.max = lo, hi
}

// label is the title with the unit.
func (a *axis) label() string {
	if a.names != nil || a.binary || a.unit == nil {
		return a.title
	}
	_, name := a.unit(a.largest())
	if name == "" {
		return a.title
	}
	return a.title + ", " + name
}

func (a *axis) largest() float64 { return max(math.Abs(a.min), math.Abs(a.max)) }

// marks are the axis's ticks, for a length of axis: as many as fit without one
// label touching another. Across means that labels lie along the axis.
func (a *axis) marks(length vg.Length, s text.Style, across bool, longest vg.Length) []plot.Tick {
	room := func(label string) vg.Length {
		if across {
			return s.Width(label) + 16
		}
		return s.Font.Size * lineHeight
	}
	if a.names != nil {
		return a.nameMarks(length, s, across, longest)
	}
	for n := max(int(length/24)+1, 4); n > 1; n-- {
		ticks := a.numberMarks(n)
		if a.fits(ticks, length, room) {
			return ticks
		}
	}
	return a.numberMarks(1)
}

func (a *axis) fits(ticks []plot.Tick, length vg.Length, room func(string) vg.Length) bool {
	last := math.Inf(-1)
	for _, t := range ticks {
		if t.Label == "" {
			continue
		}
		at, half := a.share(t.Value)*float64(length), float64(room(t.Label))/2
		if at-half < last {
			return false
		}
		last = at + half
	}
	return true
}

// share is how far along the axis a value lies.
func (a *axis) share(v float64) float64 {
	if a.log {
		return math.Log(v/a.min) / math.Log(a.max/a.min)
	}
	return (v - a.min) / (a.max - a.min)
}

// nameHeight is the least distance of names below each other, as a share of their
// size: from the top of a capital to the foot of a g it is 0.95.
const nameHeight = 1.15

// nameMarks are the names, thinned and shortened until they fit.
func (a *axis) nameMarks(length vg.Length, s text.Style, across bool, longest vg.Length) []plot.Tick {
	pitch := float64(length) / (a.max - a.min)
	widest := vg.Length(0)
	for _, name := range a.names {
		widest = max(widest, s.Width(name))
	}
	need, limit := float64(s.Font.Size*nameHeight), longest
	if across {
		need = float64(min(widest+6, 72))
	}
	every := max(1, int(math.Ceil(need/pitch)))
	if across {
		limit = vg.Length(pitch*float64(every)) - 6
	}
	var ticks []plot.Tick
	for i := 0; i < len(a.names); i += every {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: shorten(s, a.names[i], limit)})
	}
	return ticks
}

// numberMarks are about n marks at round numbers.
func (a *axis) numberMarks(n int) []plot.Tick {
	switch {
	case a.log && a.binary:
		return a.binaryMarks(n)
	case a.log:
		return a.decimalMarks(n)
	}
	divisor := 1.0
	if a.unit != nil {
		divisor, _ = a.unit(a.largest())
	}
	lo, hi := a.min/divisor, a.max/divisor
	step := roundStep(hi/float64(n)-lo/float64(n), a.whole)
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if d := step * math.Pow10(decimals); d != math.Trunc(d) {
		decimals++ // 2.5 and its like
	}
	var ticks []plot.Tick
	first := math.Ceil(lo/step - 1e-9)
	for i := 0; i < 200; i++ {
		v := (first + float64(i)) * step
		if a.last > 0 && v*divisor > a.last || v > hi+step*1e-9 || v*divisor > a.max*1.0000001 && a.max > 0 {
			break
		}
		ticks = append(ticks, plot.Tick{Value: min(max(v*divisor, a.min), a.max), Label: numberLabel(v, decimals)})
	}
	return ticks
}

// numberLabel writes very large and very small numbers with an exponent.
func numberLabel(v float64, decimals int) string {
	if math.Abs(v) >= 1e9 || decimals > 6 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return units.Number(v, decimals)
}

// roundStep is the next of 1, 2, 2.5 and 5 times a power of ten.
func roundStep(rough float64, whole bool) float64 {
	if !(rough > 0) || math.IsInf(rough, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	if power == 0 {
		return math.SmallestNonzeroFloat64
	}
	step := 10 * power
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= rough*0.999999 {
			step = m * power
			break
		}
	}
	if whole {
		step = max(1, math.Ceil(step))
	}
	return step
}

// binaryMarks are powers of two of bytes, every so many.
func (a *axis) binaryMarks(n int) []plot.Tick {
	lo, hi := int(math.Ceil(math.Log2(a.min)-1e-9)), int(math.Floor(math.Log2(a.max)+1e-9))
	every := max(1, (hi-lo+n)/n)
	var ticks []plot.Tick
	for e := (lo + every - 1) / every * every; e <= hi && e < 62; e += every {
		if e >= 0 {
			ticks = append(ticks, plot.Tick{Value: math.Ldexp(1, e), Label: units.Bytes(1 << e)})
		}
	}
	return ticks
}

// decimalMarks are 1, 2 and 5 times powers of ten, or the powers alone, or some.
func (a *axis) decimalMarks(n int) []plot.Tick {
	lo, hi := int(math.Floor(math.Log10(a.min))), int(math.Ceil(math.Log10(a.max)))
	every, parts := 1, []float64{1, 2, 5}
	if (hi-lo)*3 > n {
		parts = []float64{1}
		every = max(1, (hi-lo+n)/n)
	}
	var ticks []plot.Tick
	for e := lo; e <= hi; e += every {
		for _, m := range parts {
			if v := m * math.Pow10(e); v >= a.min*0.999999 && v <= a.max*1.000001 {
				ticks = append(ticks, plot.Tick{Value: min(max(v, a.min), a.max), Label: numberLabel(v, max(0, -e))})
			}
		}
	}
	return ticks
}
