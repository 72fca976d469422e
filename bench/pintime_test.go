package bench

import (
	"context"
	"testing"
)

// Pinning the data set is charged to the side that reads it from pinned memory,
// and there to each turn by itself.
func TestPinTimeOfTheDataSet(t *testing.T) {
	off := settings(t, "source=cached", "samples=512", "shape=3x32x32", "batch=64", "workers=1", "pin=off", "non-blocking=false")
	dataset := settings(t, "source=cached", "samples=512", "shape=3x32x32", "batch=64", "workers=1", "pin=dataset")
	r, err := Compare(context.Background(), off, dataset, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := r.Sides[0].Setup, r.Sides[1].Setup; a.PinDuration != 0 || b.PinDuration <= 0 || b.PinCalls != 2+r.Sides[1].Plan.RingSlots {
		t.Errorf("pin off took %v, the data set %v in %d calls", a.PinDuration, b.PinDuration, b.PinCalls)
	}
}
