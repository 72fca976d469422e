package whatif

import (
	"testing"
	"time"
)

// BenchmarkMillionBatches is how long a million batches take to predict, spans
// included: at most a second is asked for.
func BenchmarkMillionBatches(b *testing.B) {
	for _, c := range []struct {
		name     string
		settings []string
	}{
		{"pin thread", []string{"pin=thread", "workers=8"}},
		{"direct", []string{"pin=direct", "workers=8"}},
		{"pageable", []string{"pin=off", "workers=8", "non-blocking=false"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			in := modelInput(b, settings(b, append(c.settings, "samples=64000000", "batch=64", "shape=3x32x32", "copy-stream=dedicated")...))
			random := make([]time.Duration, 1000)
			for i := range random {
				random[i] = time.Duration(900+i) * time.Microsecond
			}
			in.Fill = Drawn(random, 1)
			in.PinCopy = Always(100 * time.Microsecond)
			b.ReportAllocs()
			for b.Loop() {
				if o, err := Predict(in); err != nil || o.Batches != 1e6 {
					b.Fatal(o.Batches, err)
				}
			}
		})
	}
}
