package loader

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/bench/source"
	"pinscope/bench/trace"
	"pinscope/cudamem"
)

// memoryDevice allocates ordinary memory and counts what is held; locking is
// refused from allocation refuseAt on.
type memoryDevice struct {
	cudamem.Device
	held     atomic.Int64
	refuseAt int
	locked   int
}

func (d *memoryDevice) AllocHost(kind cudamem.HostKind, bytes int64) (*cudamem.HostBuffer, error) {
	if kind.PageLocked() {
		d.locked++
		if d.refuseAt > 0 && d.locked >= d.refuseAt {
			return nil, &cudamem.Error{Op: "pin", PinRefused: true, Bytes: bytes, Device: "test", Reason: "no more host memory can be locked"}
		}
	}
	d.held.Add(bytes)
	return cudamem.NewHostBuffer(kind, kind.PageLocked(), make([]byte, bytes), func() error {
		d.held.Add(-bytes)
		return nil
	}), nil
}

// numbers is a data set whose samples are their own index, repeated.
type numbers struct {
	samples int64
	words   int64
	load    time.Duration           // of a batch
	hook    func(index int64) error // before each sample
	made    atomic.Int64            // fillers
	closed  atomic.Int64            //
}

func (n *numbers) Spec() source.Spec {
	return source.Spec{Samples: n.samples, Shape: []int{int(n.words)}, DType: cudamem.Int64, SampleBytes: n.words * 8, LabelBytes: 8}
}

func (n *numbers) NewFiller(bool) source.Filler {
	n.made.Add(1)
	return &numberFiller{n}
}
func (n *numbers) Close() error { return nil }

type numberFiller struct{ *numbers }

func (f *numberFiller) Fill(dst, label []byte, index int64) error {
	if f.hook != nil {
		if err := f.hook(index); err != nil {
			return err
		}
	}
	for i := 0; i < len(dst); i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], uint64(index))
	}
	binary.LittleEndian.PutUint64(label, uint64(index)%10)
	return nil
}
func (f *numberFiller) LoadTime(int64) time.Duration { return f.load }
func (f *numberFiller) Close() error                 { f.closed.Add(1); return nil }

func options(samples, batch int64, workers int, pin PinMode) Options {
	return Options{
		Sampler: Sampler{Samples: samples, Batch: batch, Epochs: 2, Shuffle: true},
		Workers: workers, Pin: pin, HostMemory: cudamem.Pinned,
		QueueSlots: max(2*workers, 1), RingSlots: 3, Check: CheckAll, Timeout: 5 * time.Second,
	}
}

// consume runs a pass to its end and gives what came: the samples in order, and
// the digests.
func consume(t *testing.T, l *Loader) (indices []int64, digests []uint64) {
	t.Helper()
	recorder := trace.NewRecorder(trace.Options{})
	pass := l.NewPass(recorder, recorder.Lane(trace.Trainer, 0, "test"))
	pass.Start(context.Background())
	for want := int64(0); ; want++ {
		slot, err := pass.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if slot.Batch != want {
			t.Fatalf("batch %d came when %d was due", slot.Batch, want)
		}
		inputs := slot.Buffer.Bytes()[InputOffset(l.spec, l.o.Batch):]
		for row := range slot.Rows {
			indices = append(indices, int64(binary.LittleEndian.Uint64(inputs[row*l.spec.SampleBytes:])))
		}
		digests = append(digests, slot.Digest)
		slot.Release()
	}
	if err := pass.Close(); err != nil {
		t.Fatal(err)
	}
	return indices, digests
}

// TestC27SameOrderForAnyNumberOfWorkers also covers C24's counts, invariant 2,
// and that passes can follow one another.
func TestC27SameOrderForAnyNumberOfWorkers(t *testing.T) {
	for _, set := range []struct{ samples, batch int64 }{{11, 1}, {1000, 64}, {1025, 64}} {
		for _, shuffle := range []bool{false, true} {
			var wantIndices []int64
			var wantDigests []uint64
			for _, pin := range []PinMode{PinOff, PinThread, PinDirect, PageableThread} {
				for _, workers := range []int{0, 1, 2, 3, 4, 8} {
					for _, keep := range []bool{false, true} {
						name := fmt.Sprintf("%d samples, shuffle %v, pin %v, %d workers, kept %v", set.samples, shuffle, pin, workers, keep)
						dev := &memoryDevice{}
						src := &numbers{samples: set.samples, words: 3}
						o := options(set.samples, set.batch, workers, pin)
						o.Shuffle, o.KeepWorkers = shuffle, keep
						l, err := New(dev, src, cudamem.NewPlainClock(), o)
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						indices, digests := consume(t, l)
						again, _ := consume(t, l)
						if wantIndices == nil {
							wantIndices, wantDigests = indices, digests
						}
						if !slices.Equal(indices, wantIndices) || !slices.Equal(digests, wantDigests) || !slices.Equal(again, indices) {
							t.Errorf("%s: another order than the first setting's", name)
						}
						if err := l.Close(); err != nil {
							t.Errorf("%s: close: %v", name, err)
						}
						if dev.held.Load() != 0 || src.made.Load() != src.closed.Load() {
							t.Errorf("%s: %d bytes and %d fillers left", name, dev.held.Load(), src.made.Load()-src.closed.Load())
						}
					}
				}
			}
			epoch := slices.Clone(wantIndices[:set.samples])
			slices.Sort(epoch)
			for i, index := range epoch {
				if index != int64(i) {
					t.Fatalf("%d samples, shuffle %v: epoch 1 misses sample %d", set.samples, shuffle, i)
				}
			}
		}
	}
	if got := cudamem.ReadLedger().PinnedBytes; got != 0 {
		t.Errorf("%d bytes are still pinned", got)
	}
}

// TestOneSlotIsEnough: with the least number of slots everything is serial and
// nothing stands still for ever.
func TestOneSlotIsEnough(t *testing.T) {
	for _, pin := range []PinMode{PinOff, PinThread, PinDirect, PageableThread} {
		o := options(100, 7, 4, pin)
		o.QueueSlots, o.RingSlots = 1, 1
		l, err := New(&memoryDevice{}, &numbers{samples: 100, words: 1}, cudamem.NewPlainClock(), o)
		if err != nil {
			t.Fatal(err)
		}
		if indices, _ := consume(t, l); len(indices) != 200 {
			t.Errorf("pin %v: %d samples came, want 200", pin, len(indices))
		}
		_ = l.Close()
	}
}

// TestC31StuckWorkerIsNamed: worker and sample are named at the timeout, on the
// clock, and the loader can be closed.
func TestC31StuckWorkerIsNamed(t *testing.T) {
	for _, pin := range []PinMode{PinOff, PinThread, PageableThread} {
		synctest.Test(t, func(t *testing.T) {
			never := make(chan struct{})
			src := &numbers{samples: 1000, words: 1, hook: func(index int64) error {
				if index == 100 {
					<-never
				}
				return nil
			}}
			o := options(1000, 10, 4, pin)
			o.Shuffle = false
			clock := cudamem.NewPlainClock()
			l, err := New(&memoryDevice{}, src, clock, o)
			if err != nil {
				t.Fatal(err)
			}
			pass := l.NewPass(nil, nil)
			pass.Start(context.Background())
			for err == nil {
				var slot *Slot
				if slot, err = pass.Next(); err == nil {
					slot.Release()
				}
			}
			if got := err.Error(); !strings.Contains(got, "has given no batch for 5 s (sample 100)") || !strings.Contains(got, "worker ") {
				t.Errorf("message: %s", got)
			}
			if clock.Now() != 5*time.Second {
				t.Errorf("given up after %v, want 5 s", clock.Now())
			}
			if err := pass.Close(); err == nil || !strings.Contains(err.Error(), "did not stop") {
				t.Errorf("close of a pass with a stuck worker: %v", err)
			}
			if !l.Stuck() {
				t.Error("the loader does not say that a worker is stuck")
			}
			close(never)
			synctest.Wait()
			if l.Stuck() {
				t.Error("a worker that has ended is called stuck")
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestC30ConsumerFails: 300 workers, the consumer gives up at batch 3.
func TestC30ConsumerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := &memoryDevice{}
		src := &numbers{samples: 23425, words: 2, load: 3 * time.Second}
		o := options(23425, 64, 300, PinThread)
		o.Epochs, o.QueueSlots = 1, 600
		clock := cudamem.NewPlainClock()
		l, err := New(dev, src, clock, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.o.EpochBatches(); got != 367 {
			t.Errorf("%d batches, want 367", got)
		}
		before := runtime.NumGoroutine()
		pass := l.NewPass(nil, nil)
		pass.Start(context.Background())
		for range 3 {
			slot, err := pass.Next()
			if err != nil {
				t.Fatal(err)
			}
			slot.Release()
		}
		failed := clock.Now()
		if err := pass.Close(); err != nil {
			t.Error(err)
		}
		if took := clock.Now() - failed; took > 2*time.Second {
			t.Errorf("ending took %v", took)
		}
		synctest.Wait()
		if left := runtime.NumGoroutine() - before; left > 0 {
			t.Errorf("%d goroutines left", left)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if dev.held.Load() != 0 || cudamem.ReadLedger().PinnedBytes != 0 {
			t.Errorf("%d bytes left, %d pinned", dev.held.Load(), cudamem.ReadLedger().PinnedBytes)
		}
	})
}

// TestCancelAtAnyMoment cancels passes after a random time and number of
// batches, holding some slots or none.
func TestCancelAtAnyMoment(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		synctest.Test(t, func(t *testing.T) {
			pin := []PinMode{PinOff, PinThread, PinDirect, PageableThread}[i%4]
			workers := random.IntN(5)
			src := &numbers{samples: 500, words: 1, load: time.Duration(random.IntN(3)) * time.Millisecond}
			l, err := New(&memoryDevice{}, src, cudamem.NewPlainClock(), options(500, 8, workers, pin))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			because := errors.New("enough")
			time.AfterFunc(time.Duration(random.IntN(40))*time.Millisecond, func() { cancel(because) })
			pass := l.NewPass(nil, nil)
			pass.Start(ctx)
			var err2 error
			for err2 == nil {
				var slot *Slot
				if slot, err2 = pass.Next(); err2 == nil {
					slot.Release()
					time.Sleep(time.Duration(random.IntN(300)) * time.Microsecond)
				}
			}
			if !errors.Is(err2, because) && !errors.Is(err2, io.EOF) {
				t.Errorf("ended with %v", err2)
			}
			if err := errors.Join(pass.Close(), l.Close()); err != nil {
				t.Error(err)
			}
			cancel(nil)
		})
	}
}

func TestWorkerFaultsEndThePass(t *testing.T) {
	bad := errors.New("cannot read it")
	cases := []struct {
		name string
		hook func(int64) error
		want string
	}{
		{"error", func(i int64) error {
			if i == 37 {
				return bad
			}
			return nil
		}, "sample 37 (batch 3, row 7): cannot read it"},
		{"panic", func(i int64) error {
			if i == 37 {
				panic("out of range")
			}
			return nil
		}, "panicked at sample 37: out of range"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := options(100, 10, 3, PinThread)
			o.Shuffle = false
			l, err := New(&memoryDevice{}, &numbers{samples: 100, words: 1, hook: c.hook}, cudamem.NewPlainClock(), o)
			if err != nil {
				t.Fatal(err)
			}
			pass := l.NewPass(nil, nil)
			pass.Start(context.Background())
			for err == nil {
				var slot *Slot
				if slot, err = pass.Next(); err == nil {
					slot.Release()
				}
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
			if err := errors.Join(pass.Close(), l.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestC23C43PinRefused: a refusal is reported at the call that failed and leaves
// nothing behind, or the ring is shorter and says so.
func TestC23C43PinRefused(t *testing.T) {
	for _, pin := range []PinMode{PinThread, PinDirect} {
		o := options(100, 10, 2, pin)
		o.RingSlots = 4
		dev := &memoryDevice{refuseAt: 3}
		if _, err := New(dev, &numbers{samples: 100, words: 1}, cudamem.NewPlainClock(), o); err == nil ||
			!strings.Contains(err.Error(), "pin slot 3 of 4") || !cudamem.IsPinRefused(err) {
			t.Errorf("pin %v: error %v", pin, err)
		}
		if dev.held.Load() != 0 || cudamem.ReadLedger().PinnedBytes != 0 {
			t.Errorf("pin %v: %d bytes left, %d pinned", pin, dev.held.Load(), cudamem.ReadLedger().PinnedBytes)
		}
		o.AllowPartialRing = true
		l, err := New(&memoryDevice{refuseAt: 3}, &numbers{samples: 100, words: 1}, cudamem.NewPlainClock(), o)
		if err != nil {
			t.Fatal(err)
		}
		if s := l.Setup(); s.RingAsked != 4 || s.RingGot != 2 || s.RingLocked != 2 || s.PinCalls != 2 || !cudamem.IsPinRefused(s.Refused) {
			t.Errorf("pin %v: %+v", pin, s)
		}
		if indices, _ := consume(t, l); len(indices) != 200 {
			t.Errorf("pin %v: %d samples came", pin, len(indices))
		}
		_ = l.Close()
	}
}

// TestWorkersOverlapTheirLoads: four workers of 100 ms fill four batches in
// 100 ms; one needs 400.
func TestWorkersOverlapTheirLoads(t *testing.T) {
	for workers, want := range map[int]time.Duration{1: 400 * time.Millisecond, 2: 200 * time.Millisecond, 4: 100 * time.Millisecond, 0: 400 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			o := options(40, 10, workers, PinOff)
			o.Epochs = 1
			o.QueueSlots = max(workers, 1)
			clock := cudamem.NewPlainClock()
			l, err := New(&memoryDevice{}, &numbers{samples: 40, words: 1, load: 100 * time.Millisecond}, clock, o)
			if err != nil {
				t.Fatal(err)
			}
			consume(t, l)
			if clock.Now() != want {
				t.Errorf("%d workers took %v, want %v", workers, clock.Now(), want)
			}
			_ = l.Close()
		})
	}
}

// TestGatheredDigest: what the device will gather has the digest of the same
// batch collated on the host.
func TestGatheredDigest(t *testing.T) {
	for _, length := range []int64{1, 3, 8, 63, 64, 65, 1000} {
		data := make([]byte, 50*length)
		for i := range data {
			data[i] = byte(i * 7)
		}
		order := Sampler{Samples: 50, Batch: 9, Epochs: 1, Shuffle: true, Seed: 5}.At(2)
		var collated []byte
		for row := range order.Rows {
			collated = append(collated, data[order.Index(row)*length:][:length]...)
		}
		g := gathered{data, length, order}
		if got, want := g.digest(128, true), cudamem.Digest(collated, 128); got != want {
			t.Errorf("length %d: all bytes: %x, want %x", length, got, want)
		}
		if got, want := g.digest(128, false), cudamem.DigestLines(collated, 128); got != want {
			t.Errorf("length %d: lines: %x, want %x", length, got, want)
		}
	}
}
