package pressure

import (
	"testing"
	"time"

	"pinscope/cudamem"
)

// One core for a second is 1e9 ns: at 20 samples a second 0.5 % are 250,000 ns a sample.
func BenchmarkSample(b *testing.B) {
	s := newSampler(cudamem.NewPlainClock(), Options{Every: DefaultEvery})
	defer s.Stop()
	b.ReportAllocs()
	for b.Loop() {
		s.take()
	}
	b.ReportMetric(100*float64(b.Elapsed())/float64(b.N)/float64(DefaultEvery), "%core")
	cost := s.Cost()
	b.ReportMetric(float64(cost.CPUPerSample), "cpu-ns/op")
	_ = time.Now
}
