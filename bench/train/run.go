package train

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/trace"
	"pinscope/cudamem"
)

// Outcome is what one run over all epochs gave.
type Outcome struct {
	Start, End time.Duration // on the clock: from before the first worker starts to the last step's end
	Batches    int64         // whose step is done
	Samples    int64         // in those
	InputBytes int64         // of those
	Complete   bool          // all epochs were run

	Losses   []float64 // of the first steps, in order; empty where the device computes none
	LastLoss *float64  // nil there

	SeriesDigest  uint64 // over all batches in order: what the device read; 0 unless checked
	Checked       int64  // batches whose digest was compared
	Mismatches    int64
	FirstMismatch int64 // batch, -1 if none
}

// Wall is how long the run took.
func (o Outcome) Wall() time.Duration { return o.End - o.Start }

// mostLosses is how many losses of a run are kept, from its start.
const mostLosses = 4096

// MismatchError says that the device read something else than a worker wrote.
type MismatchError struct{ Mismatches, Checked, FirstBatch int64 }

func (e *MismatchError) Error() string {
	return fmt.Sprintf("train: %d of %d batches reached the device changed, the first of them batch %d",
		e.Mismatches, e.Checked, e.FirstBatch)
}

// Run trains over a pass that is ready to start. Once everything is prepared the
// clock starts and start is called, which starts the pass. The caller must not
// be bound. On an error, cancelling included, the outcome holds what was done
// until then; the device is idle and all slots are back with the pass in any case.
func (t *Trainer) Run(pass *loader.Pass, start func(), recorder *trace.Recorder, lane *trace.Lane) (Outcome, error) {
	release, err := t.device.Bind()
	if err != nil {
		return Outcome{FirstMismatch: -1}, fmt.Errorf("train: bind: %w", err)
	}
	defer release()
	r := newRun(t, recorder, lane)
	defer r.stopReturner()
	if err := t.device.Anchor(); err != nil {
		return r.outcome, fmt.Errorf("train: anchor the device's clock: %w", err)
	}

	// The timed region begins. Until it ends nothing is allocated or logged, and
	// nobody who is only watching is waited for.
	r.outcome.Start = t.clock.Now()
	start()
	err = r.loop(pass)
	r.outcome.End = t.clock.Now()
	// The timed region is over.

	if last := r.lastLoss; r.lossKnown {
		r.outcome.LastLoss = &last
	}
	r.outcome.Complete = err == nil
	if o := r.outcome; err == nil && o.Mismatches > 0 {
		err = &MismatchError{o.Mismatches, o.Checked, o.FirstMismatch}
	}
	return r.outcome, err
}

// run is the state of one Run. All of it but the returner's goroutine belongs to
// the caller of Run.
type run struct {
	t         *Trainer
	trainer   *trace.Lane
	engine    *trace.Lane // of the copies
	steps     *trace.Lane
	copyStage trace.Stage
	begun     int64 // flights
	retired   int64
	returns   chan *flight // to the returner
	returner  chan struct{}
	failure   atomic.Pointer[error] // of the returner
	lastLoss  float64
	lossKnown bool // of one batch at least
	outcome   Outcome
}

func newRun(t *Trainer, recorder *trace.Recorder, lane *trace.Lane) *run {
	clock := t.device.Info().EventClock
	r := &run{
		t: t, trainer: lane, copyStage: trace.HtoD, steps: recorder.Lane(trace.ComputeEngine, 0, clock),
		returns: make(chan *flight, len(t.flights)), returner: make(chan struct{}),
		outcome: Outcome{FirstMismatch: -1, Losses: make([]float64, 0, mostLosses)},
	}
	if t.gatherer != nil {
		r.copyStage = trace.Gather
	}
	if !t.inPlace {
		r.engine = recorder.Lane(trace.CopyEngine, 0, clock)
	}
	t.done.Store(0)
	t.rows.Store(0)
	go r.returnSlots()
	return r
}

// loop is the training loop. Whatever happens, it leaves no work on the device
// and no slot outstanding.
func (r *run) loop(pass *loader.Pass) error {
	err := r.train(pass)
	return errors.Join(err, r.awaitAll(noBatch))
}

func (r *run) train(pass *loader.Pass) error {
	for {
		slot, err := pass.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		batch := slot.Batch // what begin gives back is refilled at once
		if err := r.begin(slot); err != nil {
			return fmt.Errorf("train: batch %d: %w", batch, err)
		}
	}
}

// begin queues a batch, once there is a flight for it.
func (r *run) begin(slot *loader.Slot) error {
	f := r.t.flights[r.begun%int64(len(r.t.flights))]
	if f.busy {
		asked := r.t.clock.Now()
		if err := r.land(); err != nil {
			slot.Release()
			return err
		}
		r.trainer.Add(trace.WaitStep, slot.Batch, asked, r.t.clock.Now(), 0)
	}
	f.board(slot)
	if err := r.fly(f); err != nil {
		return errors.Join(err, r.abandon(f))
	}
	r.begun++
	if !r.t.o.SyncSteps {
		return nil
	}
	return r.awaitAll(f.batch)
}

// noBatch is the batch of a span that stands for none: the wait at the end.
const noBatch = -1

// awaitAll waits for all flights, on behalf of a batch.
func (r *run) awaitAll(batch int64) error {
	asked := r.t.clock.Now()
	err := r.landAll()
	r.trainer.Add(trace.WaitStep, batch, asked, r.t.clock.Now(), 0)
	return err
}

// fly queues everything that a batch goes through on the device.
func (r *run) fly(f *flight) error {
	if r.t.inPlace {
		if err := r.step(f, f.slot.Buffer); err != nil {
			return err
		}
		return r.returnWhen(f, f.over)
	}
	target := r.t.slots[r.begun%int64(len(r.t.slots))]
	if err := r.copy(f, target); err != nil {
		return err
	}
	return r.step(f, target)
}

// copy brings the batch to its device slot and sees to it that the host slot
// goes back when it is no longer read.
func (r *run) copy(f *flight, target cudamem.DeviceBuffer) error {
	if err := r.awaitDeviceSlot(); err != nil {
		return err
	}
	called := r.t.clock.Now()
	if err := r.queueCopies(f, target); err != nil {
		return err
	}
	returned := r.t.clock.Now()
	r.trainer.Add(trace.CopyCall, f.batch, called, returned, f.rows*r.t.o.Spec.SampleBytes)
	if r.t.o.NonBlocking {
		return r.returnWhen(f, f.copyDone)
	}
	if err := f.copyDone.Wait(); err != nil {
		return err
	}
	r.trainer.Add(trace.WaitCopy, f.batch, returned, r.t.clock.Now(), 0)
	f.release()
	return nil
}

// awaitDeviceSlot makes the copy stream wait until the step that last read this
// device slot is done. On a shared stream the order of the queue does that.
func (r *run) awaitDeviceSlot() error {
	before := r.begun - int64(len(r.t.slots))
	if !r.t.o.Dedicated || before < 0 {
		return nil
	}
	return r.t.copies.WaitFor(r.t.flights[before%int64(len(r.t.flights))].over)
}

// queueCopies queues the labels, then the inputs between two events: two copies
// a batch, as data.to(device) and target.to(device) make. A gather takes both at once.
func (r *run) queueCopies(f *flight, target cudamem.DeviceBuffer) error {
	t, host := r.t, f.slot.Buffer
	if t.gatherer == nil {
		if err := t.copies.CopyHtoD(target, 0, host, 0, f.rows*t.o.Spec.LabelBytes); err != nil {
			return err
		}
	}
	if err := t.copies.Record(f.copyStart); err != nil {
		return err
	}
	var err error
	if t.gatherer == nil {
		err = t.copies.CopyHtoD(target, t.inputs, host, t.inputs, f.rows*t.o.Spec.SampleBytes)
	} else {
		err = t.gatherer.Gather(t.copies, target, host, 0, int(f.rows), t.gathered...)
	}
	if err != nil {
		return err
	}
	return t.copies.Record(f.copyDone)
}

// step queues the training steps on a batch, behind its copy, and the digest of
// what they read behind them: so the digest also sees a device slot that was
// overwritten before the step was done.
func (r *run) step(f *flight, memory cudamem.Memory) error {
	t := r.t
	called := t.clock.Now()
	if t.o.Dedicated && !t.inPlace {
		if err := t.compute.WaitFor(f.copyDone); err != nil {
			return err
		}
	}
	if err := t.compute.Record(f.stepStart); err != nil {
		return err
	}
	for range t.o.StepsPerBatch {
		if err := t.linear.Step(t.compute, memory, t.inputs, 0, t.o.Spec.LabelBytes, int(f.rows), f.cell); err != nil {
			return err
		}
	}
	if err := t.compute.Record(f.stepDone); err != nil {
		return err
	}
	err := r.queueDigest(f, memory)
	r.trainer.Add(trace.Launch, f.batch, called, t.clock.Now(), 0)
	return err
}

func (r *run) queueDigest(f *flight, memory cudamem.Memory) error {
	t := r.t
	if t.digests == nil {
		return nil
	}
	if err := t.digests.Digest(t.compute, memory, 0, f.rows*t.o.Spec.LabelBytes, f.cell, false); err != nil {
		return err
	}
	if err := t.digests.Digest(t.compute, memory, t.inputs, f.rows*t.o.Spec.SampleBytes, f.cell, true); err != nil {
		return err
	}
	return t.compute.Record(f.over)
}

// land waits for the oldest flight, records its times and checks its digest.
func (r *run) land() error {
	f := r.t.flights[r.retired%int64(len(r.t.flights))]
	err := f.over.Wait()
	if f.handed {
		<-f.returned
	}
	f.busy = false
	r.retired++
	if err == nil {
		err = r.failed()
	}
	if err != nil {
		return err
	}
	r.check(f)
	r.keepLoss(f)
	r.outcome.Batches++
	r.outcome.Samples += f.rows
	r.outcome.InputBytes += f.rows * r.t.o.Spec.SampleBytes
	r.t.done.Add(1)
	r.t.rows.Add(f.rows)
	return r.record(f)
}

// landAll waits for all flights.
func (r *run) landAll() (err error) {
	for r.retired < r.begun {
		if e := r.land(); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// record puts the device's spans of a flight on their lanes.
func (r *run) record(f *flight) error {
	bytes := f.rows * r.t.o.Spec.SampleBytes
	if !r.t.inPlace {
		if err := addDeviceSpan(r.engine, r.copyStage, f.batch, f.copyStart, f.copyDone, bytes); err != nil {
			return err
		}
	}
	return addDeviceSpan(r.steps, trace.Step, f.batch, f.stepStart, f.stepDone, bytes)
}

func addDeviceSpan(lane *trace.Lane, stage trace.Stage, batch int64, from, to cudamem.Event, bytes int64) error {
	start, err := from.Time()
	if err != nil {
		return err
	}
	end, err := to.Time()
	if err != nil {
		return err
	}
	lane.Add(stage, batch, start, max(start, end), bytes)
	return nil
}

func (r *run) check(f *flight) {
	if r.t.digests == nil {
		return
	}
	got := r.t.digests.Value(f.cell)
	r.outcome.Checked++
	// An order-dependent running hash (FNV-1a's shape on 64-bit words).
	r.outcome.SeriesDigest = (r.outcome.SeriesDigest ^ got) * 0x100000001b3
	if got != f.digest {
		r.outcome.Mismatches++
		if r.outcome.FirstMismatch < 0 {
			r.outcome.FirstMismatch = f.batch
		}
	}
}

func (r *run) keepLoss(f *flight) {
	loss, known := r.t.linear.Loss(f.cell)
	if !known {
		return
	}
	r.lastLoss, r.lossKnown = loss, true
	if len(r.outcome.Losses) < cap(r.outcome.Losses) {
		r.outcome.Losses = append(r.outcome.Losses, loss)
	}
}

// abandon clears the device after a flight that could not be queued whole.
func (r *run) abandon(f *flight) error {
	err := errors.Join(r.t.copies.Synchronize(), r.t.compute.Synchronize())
	if f.handed {
		<-f.returned
	} else if f.slot != nil {
		f.release()
	}
	f.busy = false
	return err
}
