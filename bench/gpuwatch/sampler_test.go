package gpuwatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/cudamem"
)

func TestSamplerPace(t *testing.T) {
	for _, c := range []struct {
		name             string
		every            time.Duration
		device           int
		samples, traffic int
	}{
		// In 9.95 s, the first at 0. Utilisation: each 166.67 ms is 60; traffic each 200 ms is 50.
		{"as fast as it may", 0, 1, 60, 50},
		{"each second", time.Second, 1, 10, 10},
		{"a slice has no traffic", time.Second, 2, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWatch(&fakeBackend{
					list:   testDevices,
					onRead: func(card int, s *Sample) { s.GPUPercent = ptr(int64(card)) },
					onTraffic: func(int) (rx, tx *float64) {
						time.Sleep(40 * time.Millisecond)
						return ptr(1.0), nil
					},
				})
				clock := cudamem.NewPlainClock()
				s, err := w.Start(t.Context(), testDevices[c.device], c.every, clock)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(9950 * time.Millisecond)
				series := s.Stop()
				if len(series.Samples) != c.samples || len(series.Traffic) != c.traffic {
					t.Errorf("%d samples and %d of traffic, want %d and %d",
						len(series.Samples), len(series.Traffic), c.samples, c.traffic)
				}
				for i, sample := range series.Samples {
					if want := time.Duration(i) * max(c.every, time.Second/6); sample.At != want {
						t.Errorf("sample %d at %v, want %v", i, sample.At, want)
					}
					if *sample.GPUPercent != int64(c.device) {
						t.Errorf("sample %d is of card %d", i, *sample.GPUPercent)
					}
				}
				latest, _, known := s.Latest()
				if last := series.Samples[len(series.Samples)-1]; !known || latest.At != last.At {
					t.Errorf("latest at %v (known %v), last at %v", latest.At, known, last.At)
				}
				time.Sleep(time.Minute)
				if again := s.Stop(); len(again.Samples) != c.samples {
					t.Errorf("%d samples after a minute more", len(again.Samples))
				}
			})
		})
	}
}

func TestSamplerEndsWith(t *testing.T) {
	for name, end := range map[string]func(context.CancelFunc, *Watch){
		"the context": func(cancel context.CancelFunc, _ *Watch) { cancel() },
		"the watch":   func(_ context.CancelFunc, w *Watch) { _ = w.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeBackend{list: testDevices}
				w := newWatch(f)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s, err := w.Start(ctx, testDevices[0], time.Second, cudamem.NewPlainClock())
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(1500 * time.Millisecond)
				end(cancel, w)
				time.Sleep(10 * time.Second)
				series := s.Stop()
				if len(series.Samples) != 2 || f.readAfterward.Load() { // at 0 and at 1 s
					t.Errorf("%d samples, read after close: %v", len(series.Samples), f.readAfterward.Load())
				}
			})
		})
	}
}

func TestThinned(t *testing.T) {
	for _, c := range []struct{ added, kept, stride int64 }{
		{0, 0, 1},
		{maxKept, maxKept, 1},
		{maxKept + 1, maxKept/2 + 1, 2},
		{2 * maxKept, maxKept, 2},
		{2*maxKept + 1, maxKept/2 + 1, 4},
		{100 * maxKept, maxKept * 100 / 128, 128},
	} {
		var series thinned[int64]
		for i := range c.added {
			series.add(i)
		}
		if got := int64(len(series.kept)); got != c.kept || series.stride() != c.stride || cap(series.kept) > 2*maxKept {
			t.Errorf("%d added: kept %d, stride %d, room for %d; want %d and %d",
				c.added, got, series.stride(), cap(series.kept), c.kept, c.stride)
		}
		for i, v := range series.kept {
			if v != int64(i)*c.stride {
				t.Fatalf("%d added: number %d is %d, want %d", c.added, i, v, int64(i)*c.stride)
			}
		}
	}
}
