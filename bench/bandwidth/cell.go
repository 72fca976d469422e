package bandwidth

import (
	"time"

	"pinscope/bench/stats"
	"pinscope/cudamem"
)

// Sample is what a few copies in a row took.
type Sample struct {
	Copies  int           `json:"copies"`
	DMA     time.Duration `json:"dma_ns"`          // of all, between the events around them
	Blocked time.Duration `json:"host_blocked_ns"` // of all: their calls kept the caller so long
}

// gbps is the rate of copies of so many bytes each; false without copies or time.
func (s Sample) gbps(bytes int64) (float64, bool) {
	return stats.GBps(int64(s.Copies)*bytes, s.DMA)
}

// Cell is one direction, kind of memory and size.
type Cell struct {
	Direction Direction        `json:"direction"`
	Kind      cudamem.HostKind `json:"host_memory"`
	Bytes     int64            `json:"bytes"` // of a copy

	GBps         stats.Summary `json:"gbps"`            // 1e9 bytes a second of DMA time, over the samples
	DMANanos     stats.Summary `json:"dma_ns"`          // of one copy
	BlockedNanos stats.Summary `json:"host_blocked_ns"` // of one call

	// AboveLimit says that the median is above what the link can carry.
	AboveLimit bool `json:"above_limit"`

	// Alone says that in most samples the other direction was not busy all the time
	// that it should have been: the figure may then be too good.
	Alone bool `json:"alone,omitempty"`

	Samples []Sample  `json:"samples"`
	WarmUp  []float64 `json:"warm_up_gbps"` // of the copies made before, not counted
}

// tolerance lets a figure be so much above the limit: that is the error of the
// clocks, and rounding.
const tolerance = 0.01

// NewCell sums up the samples of copies of so many bytes each. limitGBps is what
// the link can carry, 0 if unknown.
func NewCell(d Direction, k cudamem.HostKind, bytes int64, samples []Sample, limitGBps float64) Cell {
	var gbps, dma, blocked []float64
	for _, s := range samples {
		if s.Copies <= 0 {
			continue
		}
		if rate, ok := s.gbps(bytes); ok {
			gbps = append(gbps, rate)
			dma = append(dma, float64(s.DMA)/float64(s.Copies))
		}
		blocked = append(blocked, float64(s.Blocked)/float64(s.Copies))
	}
	c := Cell{Direction: d, Kind: k, Bytes: bytes, Samples: samples, WarmUp: []float64{},
		GBps: stats.Summarize(gbps), DMANanos: stats.Summarize(dma), BlockedNanos: stats.Summarize(blocked)}
	c.AboveLimit = limitGBps > 0 && c.GBps.Median != nil && *c.GBps.Median > limitGBps*(1+tolerance)
	return c
}

// copies is how many there are in a sample, 0 without samples.
func (c Cell) copies() int {
	if len(c.Samples) == 0 {
		return 0
	}
	return c.Samples[0].Copies
}
