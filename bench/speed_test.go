package bench

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"pinscope/bench/stats"
	"pinscope/cudamem"
	"pinscope/cudamem/hostcopy"
)

// Run these with: go test -run '^$' -bench . ./bench
//
// Ratios come from rounds in which both sides are measured in turn; absolute
// times from a shared machine say little.

// endless is a simulated GPU that takes no time: what is left is the loader.
func endless(c Config) Config {
	return withSim(c, "latency=0", "launch=0", "jitter=0", "link-gbps=inf", "compute=0s")
}

// readied is a session set up to repeat, and closed at the end of the benchmark.
func readied(b *testing.B, c Config, o RunOptions) *session {
	b.Helper()
	o.Clock, o.Events = cudamem.NewClock(), func(Event) {}
	s := &session{ctx: context.Background(), o: o, clock: o.Clock, result: &Result{}}
	if err := s.prepare([]Config{c}); err != nil {
		b.Fatal(err)
	}
	if err := s.setup(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

func repeatOnce(b *testing.B, s *session) time.Duration {
	b.Helper()
	side := s.sides[0]
	if err := side.repeat(0, false); err != nil {
		b.Fatal(err)
	}
	return side.repeats[len(side.repeats)-1].Wall
}

func benchConfig(b *testing.B, given ...string) Config {
	b.Helper()
	base := DefaultConfig()
	base.Device, base.Source, base.Repeats, base.Warmup, base.Epochs = "sim", "delay:0s", 1, 0, 1
	base.KeepWorkers = true
	c, err := ParseSettings(base, given...)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkBatch is what a batch of one 4,000-byte sample costs through the whole
// pipeline: at most 25 us, and no allocation.
func BenchmarkBatch(b *testing.B) {
	for _, setting := range []struct{ name, pin string }{{"pin=off", "off"}, {"pin=thread", "thread"}, {"pin=direct", "direct"}} {
		b.Run(setting.name, func(b *testing.B) {
			c := endless(benchConfig(b, "shape=1000", "batch=1", "workers=1", "prefetch=8", "non-blocking=true", "pin="+setting.pin))
			c.Samples = int64(b.N)
			s := readied(b, c, RunOptions{})
			b.ReportAllocs()
			b.ResetTimer()
			repeatOnce(b, s)
			b.StopTimer()
		})
	}
}

// BenchmarkLength is the cost of a batch in runs of a thousand to a million
// batches: it does not rise.
func BenchmarkLength(b *testing.B) {
	for _, batches := range []int64{1e3, 1e4, 1e5, 1e6} {
		b.Run(strconv.FormatInt(batches, 10), func(b *testing.B) {
			c := endless(benchConfig(b, "shape=1000", "batch=1", "workers=1", "prefetch=8", "pin=direct"))
			c.Samples = batches
			s := readied(b, c, RunOptions{})
			for b.Loop() {
				repeatOnce(b, s)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batches), "ns/batch")
		})
	}
}

// BenchmarkRecording is the cost of recording: a run with it takes at most 1 %
// longer than one without. on/off is the median ratio of paired runs.
func BenchmarkRecording(b *testing.B) {
	base := []string{"source=cached", "samples=640", "epochs=8", "batch=64", "workers=2", "pin=direct", "non-blocking=true"}
	on := readied(b, endless(benchConfig(b, base...)), RunOptions{})
	off := readied(b, endless(benchConfig(b, base...)), RunOptions{NoRecording: true})
	reportRatio(b, "on/off", func() time.Duration { return repeatOnce(b, on) }, func() time.Duration { return repeatOnce(b, off) })
}

// BenchmarkCachedDirect is the loader against bare copies of the same bytes, in
// the same order, by the same number of goroutines: loader/bare is at least 0.9 in
// speed, so at most 1.11 in time.
func BenchmarkCachedDirect(b *testing.B) {
	c := endless(benchConfig(b, "source=cached", "samples=1280", "batch=64", "workers=2", "pin=direct", "non-blocking=true", "ring-slots=6"))
	s := readied(b, c, RunOptions{})
	bare := bareCopies(b, s)
	reportRatio(b, "loader/bare", func() time.Duration { return repeatOnce(b, s) }, bare)
}

// bareCopies copies what the loader copies, without anything around it.
func bareCopies(b *testing.B, s *session) func() time.Duration {
	side := s.sides[0]
	memory := side.memory().Samples().Bytes()
	sample := side.source.Spec().SampleBytes
	order := side.loaderOptions().Sampler
	slots := make([][]byte, side.config.Workers*3)
	for i := range slots {
		buffer, err := s.device.AllocHost(cudamem.Pinned, order.Batch*sample)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = buffer.Free() })
		slots[i] = buffer.Bytes()
	}
	return func() time.Duration {
		start := time.Now()
		var all sync.WaitGroup
		for w := range side.config.Workers {
			all.Go(func() {
				for batch := int64(w); batch < order.Batches(); batch += int64(side.config.Workers) {
					at, slot := order.At(batch), slots[(batch/int64(side.config.Workers)%3)*int64(side.config.Workers)+int64(w)]
					for row := range at.Rows {
						hostcopy.Stream(slot[row*sample:][:sample], memory[at.Index(row)*sample:][:sample])
					}
				}
			})
		}
		all.Wait()
		return time.Since(start)
	}
}

// reportRatio runs both in turn and reports the median of their ratios with its
// 95 % interval.
func reportRatio(b *testing.B, name string, one, other func() time.Duration) {
	one()
	other()
	var ratios []float64
	for i := 0; b.Loop(); i++ {
		var x, y time.Duration
		if i%2 == 0 {
			x, y = one(), other()
		} else {
			y, x = other(), one()
		}
		ratios = append(ratios, float64(x)/float64(y))
	}
	s := stats.Summarize(ratios)
	b.ReportMetric(*s.Median, name)
	if s.Interval != nil { // with at least six rounds: -benchtime 6x
		b.ReportMetric(s.Interval.Lo, name+"-from")
		b.ReportMetric(s.Interval.Hi, name+"-to")
	}
}
