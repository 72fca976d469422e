package whatif

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"

	"pinscope/bench"
)

// tries is how often a measurement in real time may be disturbed by whatever else
// the machine does before it counts as wrong.
const tries = 4

// TestSimulatedGPUInRealTime: the real pipeline on the real clock takes what the
// model says, to 3 %, with stage times from a calibration.
func TestSimulatedGPUInRealTime(t *testing.T) {
	if os.Getenv("PINSCOPE_REALTIME") != "1" {
		t.Skip("measures in real time, alone on the machine: set PINSCOPE_REALTIME=1")
	}
	for name, set := range map[string][]string{
		"loading is the limit":    {"source=delay:20ms±5ms", "workers=2", "pin=off", "non-blocking=false"},
		"copying is the limit":    {"source=delay:2ms", "workers=2", "pin=direct", "copy-stream=dedicated"},
		"steps are the limit":     {"source=delay:2ms", "workers=2", "pin=thread", "steps-per-batch=3"},
		"one after the other":     {"source=delay:4ms", "workers=0", "pin=thread"},
		"a real source, one step": {"source=cached", "workers=1", "pin=thread", "copy-stream=dedicated"},
	} {
		t.Run(name, func(t *testing.T) {
			c := settings(t, append([]string{"samples=400", "shape=20000", "batch=8"}, set...)...)
			c.Sim = map[string]string{"latency": "6us", "link-gbps": "0.1", "pageable-gbps": "0.1", "compute": "4ms", "jitter": "0.1"}
			var seen []float64
			for range tries {
				off := offBy(t, c)
				if math.Abs(off) <= 0.03 {
					return
				}
				seen = append(seen, off)
			}
			t.Errorf("off by %v", seen)
		})
	}
}

// offBy is by how much a prediction is off from what is then measured.
func offBy(t *testing.T, c bench.Config) float64 {
	t.Helper()
	ctx := context.Background()
	base, err := FromSettings(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := base.Predict()
	if errors.As(err, new(*MissingError)) {
		if base, err = Calibrate(ctx, c, nil, bench.RunOptions{}); err == nil {
			p, err = base.Predict()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	real, err := bench.Run(ctx, c, bench.RunOptions{})
	if err == nil {
		err = p.CheckAgainst(real)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("predicted %v, measured %v: %+.2f %%", p.Wall, wallOf(real), 100*p.Check.Error)
	return p.Check.Error
}
