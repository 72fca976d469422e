package pressure

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"pinscope/bench/units"
)

// Sample is what was read at one time. It is a plain value; the zero Sample
// knows nothing.
type Sample struct {
	At time.Duration // on the run's clock, when the reading began

	known  uint64 // a bit a figure
	values [figureCount]int64
}

var _ [64 - figureCount]struct{} // known has a bit for each figure

// hundredths of a per cent: the kernel writes averages with two decimals.
const percentScale = 100

// Int is a figure in its unit, per cent in hundredths; ok is false if it is unknown.
func (s *Sample) Int(f Figure) (value int64, ok bool) {
	return s.values[f], s.known&(1<<f) != 0
}

// Value is a figure in its unit, nil if it is unknown.
func (s *Sample) Value(f Figure) *float64 {
	v, ok := s.Int(f)
	if !ok {
		return nil
	}
	scaled := scale(f, v)
	return &scaled
}

func scale(f Figure, v int64) float64 {
	if f.Unit() == InPercent {
		return float64(v) / percentScale
	}
	return float64(v)
}

// Text is a figure for people: "36.75 MiB", "12.5 %", "n/a".
func (s *Sample) Text(f Figure) string {
	v, ok := s.Int(f)
	if !ok {
		return units.NotAvailable
	}
	switch f.Unit() {
	case InBytes:
		return units.Bytes(v)
	case InNanos:
		return units.Duration(time.Duration(v))
	case InPercent:
		return units.Number(scale(f, v), 2) + " %"
	default:
		return units.Count(v)
	}
}

// set keeps a figure; negative ones are nonsense and leave it unknown.
func (s *Sample) set(f Figure, v int64, ok bool) {
	if ok && v >= 0 {
		s.values[f], s.known = v, s.known|1<<f
	}
}

// add sums figures that the system gives in parts.
func (s *Sample) add(f Figure, v int64, ok bool) {
	if before, known := s.Int(f); known && ok {
		if v > math.MaxInt64-before {
			s.forget(f)
			return
		}
		v += before
	}
	s.set(f, v, ok)
}

func (s *Sample) forget(f Figure) { s.known &^= 1 << f }

// MarshalJSON gives an object of all figures by name; unknown ones are null.
func (s Sample) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, figureCount+1)
	out["at_ns"] = int64(s.At)
	for _, f := range Figures() {
		out[f.String()] = s.Value(f)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote. Names it does not know, as a newer
// version may write, are skipped.
func (s *Sample) UnmarshalJSON(text []byte) error {
	var in map[string]*float64
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("pressure: read sample: %w", err)
	}
	*s = Sample{}
	if at := in["at_ns"]; at != nil {
		s.At = time.Duration(*at)
	}
	for _, f := range Figures() {
		if v := in[f.String()]; v != nil && math.Abs(*v) < 1<<62 {
			if f.Unit() == InPercent {
				*v = math.Round(*v * percentScale)
			}
			s.set(f, int64(*v), true)
		}
	}
	return nil
}

// CSVHeader names the cells of [Sample.CSV].
func CSVHeader() []string {
	cells := []string{"at_ns"}
	for _, f := range Figures() {
		cells = append(cells, f.String())
	}
	return cells
}

// CSV is the sample as cells; what is unknown is an empty one.
func (s *Sample) CSV() []string {
	cells := []string{fmt.Sprint(int64(s.At))}
	for _, f := range Figures() {
		cell := ""
		if v := s.Value(f); v != nil {
			cell = strconv.FormatFloat(*v, 'f', -1, 64)
		}
		cells = append(cells, cell)
	}
	return cells
}
