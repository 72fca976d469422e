package pressure

import (
	"time"
)

// maxPoints bounds a series: at 20 a second every sample of the first 102 s is a
// point of its own; later each point stands for 2, 4, 8 ... of them. It is even.
const maxPoints = 2048

// Series is what a sampler saw. When it is long, a point stands for several
// samples in a row: the last of them, and the extremes of all.
type Series struct {
	Every           time.Duration       `json:"every_ns"`
	Samples         int64               `json:"samples"`           // taken
	SamplesPerPoint int64               `json:"samples_per_point"` // the last point may stand for fewer
	Group           string              `json:"group,omitempty"`   // control group of the group_ figures
	At              []time.Duration     `json:"at_ns"`             // of each point's last sample
	Columns         map[string]*Column  `json:"columns"`           // by Figure.String; null: never known
	Summary         map[string]*Summary `json:"summary"`           // of the same
	Cost            Cost                `json:"cost"`
}

// Column is one figure over time, a value a point; null where it was unknown.
// Counters count from the first sample.
type Column struct {
	Last []*float64 `json:"last"`
	Min  []*float64 `json:"min,omitempty"` // left out where each point is one sample
	Max  []*float64 `json:"max,omitempty"`
}

// Summary is one figure over the whole series, all samples counted.
type Summary struct {
	First float64 `json:"first"`
	Last  float64 `json:"last"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Delta float64 `json:"delta"` // last less first
}

// Cost is what the sampling itself took.
type Cost struct {
	Samples      int64         `json:"samples"`
	CPUPerSample time.Duration `json:"cpu_per_sample_ns"` // CPU time, kernel included; wall time outside Linux
	Longest      time.Duration `json:"longest_ns"`        // wall time of the slowest sample
	ShareOfCore  *float64      `json:"share_of_core"`     // CPU time a sample by Every; nil before the first
}

// point stands for some samples in a row.
type point struct {
	at                time.Duration
	known, lastKnown  uint64 // known in any of the samples; in the last
	last, least, most [figureCount]int64
}

// take adds a sample.
func (p *point) take(s *Sample) {
	p.at, p.lastKnown = s.At, s.known
	for f := range figureCount {
		bit := uint64(1) << f
		if s.known&bit == 0 {
			continue
		}
		v := s.values[f]
		p.last[f] = v
		if p.known&bit == 0 {
			p.least[f], p.most[f] = v, v
			continue
		}
		p.least[f], p.most[f] = min(p.least[f], v), max(p.most[f], v)
	}
	p.known |= s.known
}

// join adds the samples of the next point.
func (p *point) join(next *point) {
	p.at, p.lastKnown = next.at, next.lastKnown
	for f := range figureCount {
		bit := uint64(1) << f
		if next.known&bit == 0 {
			continue
		}
		p.last[f] = next.last[f]
		if p.known&bit == 0 {
			p.least[f], p.most[f] = next.least[f], next.most[f]
			continue
		}
		p.least[f], p.most[f] = min(p.least[f], next.least[f]), max(p.most[f], next.most[f])
	}
	p.known |= next.known
}

// store keeps samples in bounded memory, all of it (2.2 MB) taken at the start.
type store struct {
	points   []point
	used     int   // points begun
	inLast   int64 // samples in the last of them
	perPoint int64
	samples  int64
	all      point              // stands for all samples
	first    [figureCount]int64 // as first known
}

func newStore() *store { return &store{points: make([]point, maxPoints), perPoint: 1} }

func (t *store) add(s *Sample) {
	t.samples++
	for f := range figureCount {
		if s.known&^t.all.known&(1<<f) != 0 {
			t.first[f] = s.values[f]
		}
	}
	t.all.take(s)
	if t.used == 0 || t.inLast == t.perPoint {
		if t.used == len(t.points) {
			t.halve()
		}
		t.points[t.used] = point{}
		t.used++
		t.inLast = 0
	}
	t.points[t.used-1].take(s)
	t.inLast++
}

// halve joins each point with the next.
func (t *store) halve() {
	for i := range t.used / 2 {
		t.points[i] = t.points[2*i]
		t.points[i].join(&t.points[2*i+1])
	}
	t.used /= 2
	t.perPoint *= 2
}

// series lays the points out by figure.
func (t *store) series() Series {
	out := Series{
		Samples: t.samples, SamplesPerPoint: t.perPoint,
		At:      make([]time.Duration, t.used),
		Columns: make(map[string]*Column, figureCount), Summary: make(map[string]*Summary, figureCount),
	}
	for i := range out.At {
		out.At[i] = t.points[i].at
	}
	for _, f := range Figures() {
		out.Columns[f.String()], out.Summary[f.String()] = t.column(f), t.summary(f)
	}
	return out
}

func (t *store) column(f Figure) *Column {
	if t.all.known&(1<<f) == 0 {
		return nil
	}
	c := &Column{Last: t.values(f, func(p *point) (int64, uint64) { return p.last[f], p.lastKnown })}
	if t.perPoint > 1 {
		c.Min = t.values(f, func(p *point) (int64, uint64) { return p.least[f], p.known })
		c.Max = t.values(f, func(p *point) (int64, uint64) { return p.most[f], p.known })
	}
	return c
}

func (t *store) values(f Figure, get func(*point) (value int64, known uint64)) []*float64 {
	out, backing := make([]*float64, t.used), make([]float64, t.used)
	for i := range out {
		if v, known := get(&t.points[i]); known&(1<<f) != 0 {
			backing[i] = scale(f, v)
			out[i] = &backing[i]
		}
	}
	return out
}

func (t *store) summary(f Figure) *Summary {
	if t.all.known&(1<<f) == 0 {
		return nil
	}
	s := &Summary{
		First: scale(f, t.first[f]), Last: scale(f, t.all.last[f]),
		Min: scale(f, t.all.least[f]), Max: scale(f, t.all.most[f]),
	}
	s.Delta = s.Last - s.First
	return s
}

// Figure gives the column and summary of a figure; nil, nil if it was never known.
func (s *Series) Figure(f Figure) (*Column, *Summary) {
	return s.Columns[f.String()], s.Summary[f.String()]
}

// StallShare is the share (0 to 1) of the whole series in which tasks were
// stalled, by one of the figures of stalls; nil if it is unknown.
func (s *Series) StallShare(f Figure) *float64 {
	_, sum := s.Figure(f)
	n := len(s.At)
	if sum == nil || n < 2 || s.At[n-1] <= s.At[0] {
		return nil
	}
	return known(sum.Delta / float64(s.At[n-1]-s.At[0]))
}
