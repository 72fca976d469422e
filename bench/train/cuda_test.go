//go:build cuda

package train

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"pinscope/bench/loader"
	"pinscope/cudamem"
	"pinscope/cudamem/cuda"
)

// These run on whatever driver the build finds: the stand-in of cudamem/cuda where
// there is no GPU, a real one where there is. PINSCOPE_BATCHES sets how many batches
// each setting takes (default 8), PINSCOPE_REAL=1 says that the GPU is real.

func batchesEach(t *testing.T) int64 {
	text := os.Getenv("PINSCOPE_BATCHES")
	if text == "" {
		return 8
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func openCUDA(t *testing.T) (cudamem.Device, cudamem.Clock) {
	t.Helper()
	clock := cudamem.NewClock()
	dev, err := cuda.Open("cuda:0", clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if got := cudamem.ReadLedger().PinnedBytes; got != 0 {
			t.Errorf("%d bytes are still pinned", got)
		}
	})
	return dev, clock
}

// TestVerifiedOnCUDA: every byte of every batch in all ways of pinning, waiting and
// queueing and all kinds of host memory (C18, C22); and C19: the losses agree to 1e-5.
func TestVerifiedOnCUDA(t *testing.T) {
	dev, clock := openCUDA(t)
	batches := batchesEach(t)
	kinds := map[loader.PinMode][]cudamem.HostKind{
		loader.PinOff:     {cudamem.Pageable},
		loader.PinThread:  {cudamem.Pinned, cudamem.Registered, cudamem.WriteCombined},
		loader.PinDirect:  {cudamem.Pinned, cudamem.Registered, cudamem.WriteCombined, cudamem.Mapped, cudamem.Managed},
		loader.PinDataset: {cudamem.Mapped, cudamem.Registered},
	}
	var first []float64
	checked := int64(0)
	for _, pin := range []loader.PinMode{loader.PinOff, loader.PinThread, loader.PinDirect, loader.PinDataset} {
		for _, kind := range kinds[pin] {
			everyWay(func(s setting) {
				s.pin, s.kind = pin, kind
				o, err := train(t, dev, clock, batches, s)
				if err != nil || o.Checked != batches || o.Mismatches != 0 {
					t.Fatalf("%+v: %v, %d of %d differ", s, err, o.Mismatches, o.Checked)
				}
				checked += o.Checked
				if first == nil {
					first = o.Losses
				}
				for i, loss := range o.Losses {
					if diff := loss - first[i]; diff > 1e-5*first[i] || diff < -1e-5*first[i] {
						t.Fatalf("%+v: loss of step %d is %g, was %g", s, i, loss, first[i])
					}
				}
			})
		}
	}
	t.Logf("%d batches verified, 0 mismatches", checked)
}

// everyWay calls f with all ways of waiting, queueing and loading.
func everyWay(f func(setting)) {
	for _, nonBlocking := range []bool{false, true} {
		for _, dedicated := range []bool{false, true} {
			for _, workers := range []int{0, 3} {
				f(setting{nonBlocking: nonBlocking, dedicated: dedicated, workers: workers, check: loader.CheckAll})
			}
		}
	}
}

// TestC16SkippingTheEventWaitIsNoticedOnCUDA: without the wait for the copy's event
// slots are refilled before the copy. On a shared stream a copy waits for 200 steps
// before it, which gives the worker the time; the stand-in driver copies at once.
func TestC16SkippingTheEventWaitIsNoticedOnCUDA(t *testing.T) {
	if os.Getenv("PINSCOPE_REAL") != "1" {
		t.Skip("the stand-in driver copies at once; set PINSCOPE_REAL=1 on a real GPU")
	}
	dev, clock := openCUDA(t)
	s := setting{pin: loader.PinDirect, kind: cudamem.Pinned, nonBlocking: true, workers: 2, ring: 1, check: loader.CheckAll, steps: 200}
	if o, err := train(t, dev, clock, 200, s); err != nil || o.Mismatches != 0 {
		t.Fatalf("waiting: %v, %d of %d batches differ", err, o.Mismatches, o.Checked)
	}
	s.early = true
	o, err := train(t, dev, clock, 200, s)
	var mismatch *MismatchError
	if !errors.As(err, &mismatch) {
		t.Errorf("not waiting: %v, %d of %d batches differ", err, o.Mismatches, o.Checked)
	}
	t.Logf("without the wait %d of %d batches differ", o.Mismatches, o.Checked)
}
