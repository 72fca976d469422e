package whatif

import (
	"math"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/trace"
	"pinscope/cudamem/sim"
)

// nextBatch is when the trainer has batch b.
func (r *run) nextBatch(b int64) time.Duration {
	asked := r.now
	var got time.Duration
	switch {
	case r.Workers == 0:
		r.recorder.QueueDepth(asked, 0)
		return r.loadInline(b, asked)
	case r.Pin.HasThread():
		r.recorder.QueueDepth(asked, int(r.pinnedAt(b, asked)))
		got = max(asked, r.pinned.at(b))
	default:
		r.recorder.QueueDepth(asked, int(r.readyAt(b, asked)))
		got = r.take(b, asked)
	}
	if got > asked {
		got += r.WakeNext.at(b, r.Batch, r.Batch)
	}
	r.trainer.Add(trace.WaitBatch, b, asked, got, 0)
	return got
}

// loadInline has the trainer fill a batch itself, and pin it where a pin thread would.
func (r *run) loadInline(b int64, asked time.Duration) time.Duration {
	begun := asked
	if before := b - int64(r.FillSlots); before >= 0 {
		begun = max(begun, r.loading.freed.at(before))
	}
	end := r.fill(r.trainer, b, asked, begun)
	if r.Pin.HasThread() {
		end = r.pin(r.trainer, b, end)
	}
	return end
}

// train takes batch b, which the trainer has from a time on, to the device, and
// moves the trainer on to when it asks for the next.
func (r *run) train(b int64, got time.Duration) {
	r.now = got
	// Where steps are waited for one by one, no flight is ever taken.
	if before := b - r.flights(); before >= 0 && !r.SyncSteps {
		r.waitForStep(b, before)
	}
	if r.InPlace {
		r.step(b, r.now)
		r.release(b, max(r.now, r.last))
	} else {
		r.step(b, r.copy(b))
	}
	if r.SyncSteps {
		r.waitForStep(b, b)
	}
}

// waitForStep has the trainer wait, on behalf of batch b, for a step to be done.
func (r *run) waitForStep(b, step int64) {
	asked := r.now
	r.waitFor(b, r.over.at(step))
	r.trainer.Add(trace.WaitStep, b, asked, r.now, 0)
}

// waitFor has the trainer wait, on behalf of batch b, for an event.
func (r *run) waitFor(b int64, event time.Duration) {
	if event > r.now {
		r.now = event + r.Wake.at(b, r.Batch, r.Batch)
		return
	}
	r.now += r.Poll.at(b, r.Batch, r.Batch)
}

// copy queues the copies of batch b, the labels' before the inputs', or the one
// gathering of both, and gives the time at which it is done.
func (r *run) copy(b int64) (done time.Duration) {
	if before := b - int64(r.DeviceSlots); before >= 0 && r.Dedicated {
		r.copies.WaitFor(r.over.at(before))
	}
	rows, called := r.rows(b), r.now
	bytes := rows * r.Spec.SampleBytes
	labels := rows * r.Spec.LabelBytes
	moved := bytes
	if r.Pin == loader.PinDataset {
		moved += labels
	} else {
		r.move(b, labels, sim.ByModel)
	}
	start := r.copies.Record(r.now)
	nanos := sim.ByModel
	if r.Times.Copy != nil {
		nanos = float64(r.Times.Copy.at(b, rows, r.Batch))
	}
	r.move(b, moved, nanos)
	r.now += r.CopyCall.at(b, rows, r.Batch)
	done = r.copies.Record(r.now)
	r.copyLane.Add(r.copyStage, b, start, done, bytes)
	r.trainer.Add(trace.CopyCall, b, called, r.now, bytes)
	if !r.NonBlocking {
		asked := r.now
		r.waitFor(b, done)
		r.trainer.Add(trace.WaitCopy, b, asked, r.now, 0)
	}
	r.release(b, max(r.now, done))
	return done
}

// move queues one copy for batch b; out of pageable memory it may hold the trainer up.
func (r *run) move(b, bytes int64, nanos float64) {
	if r.Pin.Pins() {
		r.copies.Copy(r.now, bytes, nanos)
		return
	}
	gbps := math.Inf(1)
	if d := r.Staging.at(b, r.Batch, r.Batch); d > 0 {
		gbps = float64(r.Batch*r.Spec.SampleBytes) / float64(d) // bytes a nanosecond
	}
	r.now = r.copies.CopyPageable(r.now, bytes, nanos, gbps)
}

// step queues the steps on batch b, behind its copy.
func (r *run) step(b int64, copied time.Duration) {
	rows, called := r.rows(b), r.now
	bytes := rows * r.Spec.SampleBytes
	if r.Dedicated && !r.InPlace {
		r.compute.WaitFor(copied)
	}
	start := r.compute.Record(called)
	if r.Times.Step != nil {
		r.compute.Step(called, float64(r.Times.Step.at(b, rows, r.Batch)))
	} else {
		nanos := r.device.StepNanos(int(rows), r.features, r.Classes, bytes, r.InPlace)
		for range r.StepsPerBatch {
			r.compute.Step(called, nanos)
		}
	}
	r.now += r.Launch.at(b, rows, r.Batch)
	if r.HostSteps {
		r.now = max(r.now, r.compute.Record(called))
	}
	r.last = r.compute.Record(r.now)
	r.over.set(b, r.last)
	r.stepLane.Add(trace.Step, b, start, r.last, bytes)
	r.trainer.Add(trace.Launch, b, called, r.now, 0)
}

// release gives the host slot of batch b back.
func (r *run) release(b int64, at time.Duration) {
	if r.Pin.HasThread() {
		r.pinning.freed.set(b, at)
		return
	}
	r.loading.freed.set(b, at)
}
