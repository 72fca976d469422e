package train

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/source"
	"pinscope/bench/trace"
	"pinscope/cudamem"
	"pinscope/cudamem/cpu"
	"pinscope/cudamem/sim"
)

// stamps is a data set of samples made of their index. In memory it can be gathered.
type stamps struct {
	spec            source.Spec
	samples, labels *cudamem.HostBuffer // nil unless held in memory
}

func newStamps(samples int64, floats int) *stamps {
	return &stamps{spec: source.Spec{Samples: samples, Shape: []int{floats}, DType: cudamem.Uint8, SampleBytes: int64(floats), LabelBytes: 8}}
}

// hold puts all samples into memory of a kind.
func (s *stamps) hold(t *testing.T, dev cudamem.Device, kind cudamem.HostKind) {
	t.Helper()
	var err1, err2 error
	s.samples, err1 = dev.AllocHost(kind, s.spec.Samples*s.spec.SampleBytes)
	s.labels, err2 = dev.AllocHost(kind, s.spec.Samples*s.spec.LabelBytes)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for i := range s.spec.Samples {
		_ = s.Fill(s.samples.Bytes()[i*s.spec.SampleBytes:][:s.spec.SampleBytes], s.labels.Bytes()[i*8:][:8], i)
	}
}

func (s *stamps) Samples() *cudamem.HostBuffer { return s.samples }
func (s *stamps) Labels() *cudamem.HostBuffer  { return s.labels }

func (s *stamps) Spec() source.Spec            { return s.spec }
func (s *stamps) NewFiller(bool) source.Filler { return s }
func (s *stamps) Close() error                 { return errors.Join(s.samples.Free(), s.labels.Free()) }
func (s *stamps) Fill(dst, label []byte, index int64) error {
	for i := range dst {
		dst[i] = byte(index*7 + int64(i))
	}
	binary.LittleEndian.PutUint64(label, uint64(index%10))
	return nil
}

// setting is what a test varies.
type setting struct {
	pin         loader.PinMode
	kind        cudamem.HostKind
	nonBlocking bool
	dedicated   bool
	workers     int
	ring        int
	check       loader.Check
	early       bool
	sync        bool
	sampleBytes int // 0: 3,000
	steps       int // on each batch, 0: 1
}

// train runs samples in batches of 4 on a device.
func train(t *testing.T, dev cudamem.Device, clock cudamem.Clock, batches int64, s setting) (Outcome, error) {
	t.Helper()
	src := newStamps(batches*4, cmp.Or(s.sampleBytes, 3000))
	if s.kind == cudamem.Pageable && s.pin != loader.PinOff {
		s.kind = cudamem.Pinned
		if s.pin == loader.PinDataset {
			s.kind = cudamem.Mapped
		}
	}
	if s.ring == 0 {
		s.ring = 3
	}
	release, err := dev.Bind()
	if err != nil {
		t.Fatal(err)
	}
	var dataset source.InMemory
	if s.pin == loader.PinDataset {
		src.hold(t, dev, s.kind)
		dataset = src
	}
	l, err := loader.New(dev, src, clock, loader.Options{
		Sampler: loader.Sampler{Samples: batches * 4, Batch: 4, Epochs: 1, Shuffle: true}, Workers: s.workers, Pin: s.pin,
		HostMemory: s.kind, QueueSlots: max(2*s.workers, 1), RingSlots: s.ring, Check: s.check, Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := New(dev, clock, dataset, Options{
		Spec: src.Spec(), Batch: 4, Classes: 10, LearningRate: 0.01, StepsPerBatch: max(s.steps, 1), NonBlocking: s.nonBlocking,
		Dedicated: s.dedicated, SyncSteps: s.sync, DeviceSlots: 2, Pin: s.pin, HostMemory: s.kind, Check: s.check,
	})
	if err != nil {
		t.Fatal(err)
	}
	trainer.releaseEarly = s.early
	release()
	recorder := trace.NewRecorder(trace.Options{})
	lane := recorder.Lane(trace.Trainer, 0, "test")
	pass := l.NewPass(recorder, lane)
	outcome, err := trainer.Run(pass, func() { pass.Start(context.Background()) }, recorder, lane)
	closed := pass.Close()
	if release, bindErr := dev.Bind(); bindErr != nil {
		t.Error(bindErr)
	} else {
		closed = errors.Join(closed, trainer.Close(), trainer.Close(), l.Close(), src.Close())
		release()
	}
	if closed != nil {
		t.Errorf("closing: %v", closed)
	}
	return outcome, err
}

// onSim runs in a bubble on a simulated GPU with the given model values.
func onSim(t *testing.T, values map[string]string, batches int64, s setting) (outcome Outcome, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		model, lookupErr := sim.Lookup("laptop")
		if lookupErr != nil {
			t.Fatal(lookupErr)
		}
		for key, value := range values {
			if err := model.Set(key, value); err != nil {
				t.Fatal(err)
			}
		}
		clock := cudamem.NewPlainClock()
		dev, openErr := sim.Open(model, clock)
		if openErr != nil {
			t.Fatal(openErr)
		}
		outcome, err = train(t, dev, clock, batches, s)
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	if got := cudamem.ReadLedger().PinnedBytes; got != 0 {
		t.Errorf("%d bytes are still pinned", got)
	}
	return outcome, err
}

// slow makes copies and steps take about as long as each other, and much longer
// than filling a slot.
var slow = map[string]string{"link-gbps": "0.1", "compute": "130us", "latency": "1us", "launch": "1us", "jitter": "0.2", "copy-engines": "2"}

// everySetting calls f with all ways of pinning, waiting and queueing.
func everySetting(f func(setting)) {
	for _, pin := range []loader.PinMode{loader.PinOff, loader.PinThread, loader.PinDirect, loader.PageableThread} {
		for _, nonBlocking := range []bool{false, true} {
			for _, dedicated := range []bool{false, true} {
				for _, workers := range []int{0, 1, 3} {
					f(setting{pin: pin, nonBlocking: nonBlocking, dedicated: dedicated, workers: workers, check: loader.CheckAll})
				}
			}
		}
	}
}

// TestEveryBatchArrivesAsWritten in all settings, byte for byte, and C19: what
// the device read is the same in all of them.
func TestEveryBatchArrivesAsWritten(t *testing.T) {
	const batches = 200
	var series uint64
	check := func(s setting) {
		o, err := onSim(t, slow, batches, s)
		if err != nil || o.Checked != batches || o.Mismatches != 0 || o.Samples != 4*batches || !o.Complete {
			t.Errorf("%+v: %v, %+v", s, err, o)
		}
		if series == 0 {
			series = o.SeriesDigest
		}
		if o.SeriesDigest != series {
			t.Errorf("%+v: the device read something else than in the first setting", s)
		}
	}
	everySetting(check)
	check(setting{pin: loader.PinDataset, nonBlocking: true, dedicated: true, workers: 2, check: loader.CheckAll})
	check(setting{pin: loader.PinDataset, workers: 0, check: loader.CheckAll})
}

// TestC16SkippingTheEventWaitIsNoticed shows that the check has teeth: slots given
// back before the copy is done are refilled under it.
func TestC16SkippingTheEventWaitIsNoticed(t *testing.T) {
	for _, check := range []loader.Check{loader.CheckLines, loader.CheckAll} {
		s := setting{pin: loader.PinDirect, nonBlocking: true, dedicated: true, workers: 1, ring: 1, check: check}
		if o, err := onSim(t, slow, 500, s); err != nil || o.Mismatches != 0 {
			t.Fatalf("waiting: %v, %+v", err, o)
		}
		s.early = true
		o, err := onSim(t, slow, 500, s)
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) || o.Mismatches == 0 || mismatch.FirstBatch != o.FirstMismatch {
			t.Errorf("not waiting: %v, %d of %d batches differ", err, o.Mismatches, o.Checked)
		}
	}
}

// TestFaultsLeaveNothingBehind: a launch that fails ends the run with its error,
// with all slots back and nothing pinned (onSim looks).
func TestFaultsLeaveNothingBehind(t *testing.T) {
	everySetting(func(s setting) {
		synctest.Test(t, func(t *testing.T) {
			model, _ := sim.Lookup("laptop")
			clock := cudamem.NewPlainClock()
			dev, err := sim.OpenFaulty(model, clock, sim.Faults{FailLaunchAt: 17})
			if err != nil {
				t.Fatal(err)
			}
			o, err := train(t, dev, clock, 100, s)
			if err == nil || !strings.Contains(err.Error(), "batch ") || o.Complete || o.Batches > 17 {
				t.Errorf("%+v: %v, %+v", s, err, o)
			}
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		})
		if got := cudamem.ReadLedger().PinnedBytes; got != 0 {
			t.Errorf("%+v: %d bytes are still pinned", s, got)
		}
	})
}

// TestOnTheCPU: nothing is copied, and the loss, which is really computed, is the
// same in every setting (C19). That it falls is shown in cudamem/cpu.
func TestOnTheCPU(t *testing.T) {
	var first []float64
	everySetting(func(s setting) {
		clock := cudamem.NewClock()
		dev, err := cpu.Open(clock)
		if err != nil {
			t.Fatal(err)
		}
		o, err := train(t, dev, clock, 50, s)
		if err != nil || len(o.Losses) != 50 || o.LastLoss == nil || o.Mismatches != 0 || o.Checked != 50 {
			t.Fatalf("%+v: %v, %+v", s, err, o)
		}
		if first == nil {
			first = o.Losses
		}
		for i, loss := range o.Losses {
			if loss != first[i] {
				t.Fatalf("%+v: loss of step %d is %g, was %g", s, i, loss, first[i])
			}
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	if !(first[0] > 0) || first[0] == first[49] {
		t.Errorf("losses from %g to %g", first[0], first[49])
	}
}
