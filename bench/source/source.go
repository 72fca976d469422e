// Package source gives the loader its samples: each kind of source writes one
// sample's bytes, and its label, into memory that the loader owns.
//
// A [Source] is opened once, before any clock starts; each worker then makes
// its own [Filler], which holds whatever scratch memory filling needs, so that
// [Filler.Fill] allocates nothing.
package source

import (
	"time"

	"pinscope/cudamem"
)

// Source is a data set. Its methods may be called from any goroutine.
type Source interface {
	// Spec is what the data set holds.
	Spec() Spec

	// NewFiller makes a filler for one goroutine. With streaming, what Fill
	// writes will not be read by the CPU again soon (a pinned slot that a DMA
	// engine reads), and it may write past the cache.
	NewFiller(streaming bool) Filler

	// Close gives back memory and files, after the last Fill. It may be called twice.
	Close() error
}

// Spec is the shape of a data set. Sizes are bytes.
type Spec struct {
	Samples     int64         // how many, >= 1
	Shape       []int         // of one sample, e.g. 3, 224, 224
	DType       cudamem.DType // of one value
	SampleBytes int64         // product of Shape times the size of DType, >= 1
	LabelBytes  int64         // of one label: 8 for a class, SampleBytes for tokens (the targets); a multiple of 8
	Fills       FillKind      // what a worker does when it fills a slot
	HostBytes   int64         // memory the source itself holds (cached samples), 0 if none
	Files       int64         // files behind it, 0 if none
}

// FillKind is the stage that filling a slot counts as.
type FillKind uint8

const (
	// Loads: samples are made or decoded as they are asked for.
	Loads FillKind = iota
	// Collates: samples lie in memory and are only copied together.
	Collates
)

// Filler writes samples. It belongs to one goroutine.
type Filler interface {
	// Fill writes sample index (0..Samples-1) into dst (SampleBytes long) and
	// its label into label (LabelBytes long), both off the Go heap, and
	// allocates nothing. The same index gives the same bytes on every call.
	Fill(dst, label []byte, index int64) error

	// Close frees the filler's scratch.
	Close() error
}

// Pacer is a Filler whose load time is given rather than spent: the worker that
// fills a batch waits, burning no CPU, until LoadTime after it began. batch
// counts over all epochs of a run.
type Pacer interface {
	LoadTime(batch int64) time.Duration
}

// InMemory is a Source whose samples lie one after the other in host memory, so
// that the GPU can gather a batch from them by itself (pin dataset).
type InMemory interface {
	// Samples is all samples, sample after sample, Labels all labels.
	Samples() *cudamem.HostBuffer
	Labels() *cudamem.HostBuffer
}

// BadSampler is a Source that skips samples it cannot read (--on-bad skip) and
// counts them: a skipped sample is delivered as the nearest readable one.
type BadSampler interface {
	// BadSamples is how many distinct samples have been skipped so far.
	BadSamples() int64
}
