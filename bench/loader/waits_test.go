package loader

import (
	"context"
	"errors"
	"io"
	"testing"

	"pinscope/bench/trace"
	"pinscope/cudamem"
)

// Waiting for a batch and waiting for a ring slot are told apart: one span of
// each a batch, so that their medians mean something.
func TestEachWaitOncePerBatch(t *testing.T) {
	for name, c := range map[string]struct {
		workers         int
		pins, ringSlots int64 // waits
	}{"workers": {2, 10, 10}, "no workers": {0, 0, 10}} {
		l, err := New(&memoryDevice{}, &numbers{samples: 20, words: 1}, cudamem.NewPlainClock(), options(20, 4, c.workers, PinThread))
		if err != nil {
			t.Fatal(err)
		}
		recorder := trace.NewRecorder(trace.Options{})
		pass := l.NewPass(recorder, recorder.Lane(trace.Trainer, 0, "test"))
		pass.Start(context.Background())
		for {
			slot, err := pass.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			slot.Release()
		}
		if err := errors.Join(pass.Close(), l.Close()); err != nil {
			t.Fatal(err)
		}
		recorded := recorder.Trace()
		if pins, rings := recorded.Stage(trace.PinWait).Count, recorded.Stage(trace.RingWait).Count; pins != c.pins || rings != c.ringSlots {
			t.Errorf("%s: %d waits for a batch and %d for a ring slot of 10 batches", name, pins, rings)
		}
	}
}
