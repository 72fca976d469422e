package gpuwatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"pinscope/cudamem"
)

const (
	// minEvery is the shortest sample window of nvmlDeviceGetUtilizationRates
	// (nvml.h: "between 1 second and 1/6 second"): faster polling reads the same again.
	minEvery = time.Second / 6

	// minTrafficEvery leaves most of the time free: nvmlDeviceGetPcieThroughput
	// takes 20 ms a call (nvml.h), and there are two.
	minTrafficEvery = 200 * time.Millisecond

	// maxKept bounds a series: 2048 samples at the fastest are 5.7 minutes.
	maxKept = 2048
)

// Series is what a Sampler saw. A long one is thinned: only one sample in
// SamplesStride (Traffic: TrafficStride) was kept, evenly spread.
type Series struct {
	Device        Device    `json:"device"`
	Library       Library   `json:"library"`
	Samples       []Sample  `json:"samples"`
	SamplesStride int64     `json:"samples_stride"`
	Traffic       []Traffic `json:"traffic"` // none on a slice: the link is shared
	TrafficStride int64     `json:"traffic_stride"`
}

// Sampler polls one GPU in the background.
type Sampler struct {
	device Device
	watch  *Watch
	cancel context.CancelFunc
	polls  sync.WaitGroup

	mu      sync.Mutex
	samples thinned[Sample]
	traffic thinned[Traffic]
}

// Start polls a GPU, as given by Match, until Stop, or until ctx is done or the
// Watch closed: figures each every (at least 1/6 s), PCIe traffic in a goroutine
// of its own at most five times a second. Times are those of clock. Only Stop
// gives the series, and it must be called.
func (w *Watch) Start(ctx context.Context, d Device, every time.Duration, clock cudamem.Clock) (*Sampler, error) {
	card, err := match(w.devices, d.UUID, d.PCIAddress)
	if err != nil {
		return nil, err
	}
	if !w.ask(func(backend) {}) {
		return nil, fmt.Errorf("gpuwatch: start %s: closed", d)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Sampler{device: w.devices[card], watch: w, cancel: cancel}
	s.poll(ctx, max(every, minEvery), func(b backend) {
		sample := Sample{At: clock.Now()}
		b.read(card, &sample)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.samples.add(sample)
	})
	if !s.device.MIG {
		s.poll(ctx, max(every, minTrafficEvery), func(b backend) {
			t := Traffic{At: clock.Now()}
			t.RXBytesPerSecond, t.TXBytesPerSecond = b.traffic(card)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.traffic.add(t)
		})
	}
	return s, nil
}

// poll starts a goroutine that takes a reading at once and then each every.
func (s *Sampler) poll(ctx context.Context, every time.Duration, take func(backend)) {
	s.polls.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for ctx.Err() == nil && s.watch.ask(take) {
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	})
}

// Latest is the newest sample and traffic; known is false before the first.
// Any goroutine may call it.
func (s *Sampler) Latest() (sample Sample, traffic Traffic, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.samples.last, s.traffic.last, s.samples.seen > 0
}

// Stop ends the polling, waits for a call under way (20 ms, unless the driver
// hangs) and gives what was seen. It may be called twice.
func (s *Sampler) Stop() Series {
	s.cancel()
	s.polls.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return Series{
		Device: s.device, Library: s.watch.lib,
		Samples: s.samples.kept, SamplesStride: s.samples.stride(),
		Traffic: s.traffic.kept, TrafficStride: s.traffic.stride(),
	}
}

// thinned keeps an evenly spread part of what is added, at most maxKept.
type thinned[T any] struct {
	kept     []T
	last     T
	seen     int64
	halvings int // how often every second one was dropped
}

func (t *thinned[T]) stride() int64 { return 1 << t.halvings }

func (t *thinned[T]) add(v T) {
	t.last = v
	n := t.seen
	t.seen++
	if n%t.stride() != 0 {
		return
	}
	if len(t.kept) == maxKept {
		for i := range maxKept / 2 {
			t.kept[i] = t.kept[2*i]
		}
		clear(t.kept[maxKept/2:])
		t.kept = t.kept[:maxKept/2]
		t.halvings++
		// maxKept is even, so n is a multiple of the new stride and is kept.
	}
	t.kept = append(t.kept, v)
}
