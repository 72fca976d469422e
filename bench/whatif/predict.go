package whatif

import (
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/trace"
	"pinscope/cudamem/sim"
)

// Outcome is one run over all epochs as predicted.
type Outcome struct {
	Wall       time.Duration // from before the first worker starts to the last step's end
	Batches    int64
	Samples    int64
	InputBytes int64
	Trace      *trace.Trace // starts at 0
}

// SamplesPerS is the throughput; infinite for a run that takes no time.
func (o Outcome) SamplesPerS() float64 { return float64(o.Samples) / o.Wall.Seconds() }

// Predict goes through the run in virtual time. Equal inputs give equal outcomes.
func Predict(in Input) (Outcome, error) {
	if err := in.check(); err != nil {
		return Outcome{}, err
	}
	timeline, err := sim.NewTimeline(in.Device)
	if err != nil {
		return Outcome{}, err
	}
	r := newRun(in, timeline)
	r.startWorkers(0)
	for b := range r.total {
		r.train(b, r.nextBatch(b))
	}
	asked := r.now
	r.now = max(r.now, r.last) // the trainer waits for all steps
	r.trainer.Add(trace.WaitStep, -1, asked, r.now, 0)
	full := r.total - int64(r.Epochs)
	samples := full*r.Batch + int64(r.Epochs)*r.lastRows
	return Outcome{Wall: r.now, Batches: r.total, Samples: samples, InputBytes: samples * r.Spec.SampleBytes,
		Trace: r.recorder.Trace()}, nil
}

// run is the state of one prediction.
type run struct {
	Input
	perEpoch, total int64
	lastRows        int64 // of each epoch's last batch
	inputOffset     int64 // of a slot
	fillStage       trace.Stage
	fillBytes       int64 // a sample
	copyStage       trace.Stage
	features        int

	loading
	pinning

	now     time.Duration // of the trainer
	device  *sim.Timeline
	copies  *sim.Queue
	compute *sim.Queue // the same one unless dedicated
	over    history    // when a batch's step was done
	last    time.Duration

	recorder                             *trace.Recorder
	workerLanes                          []*trace.Lane
	pinLane, trainer, copyLane, stepLane *trace.Lane
}

// virtual is the clock of all lanes.
const virtual = "predicted, in virtual time"

func newRun(in Input, device *sim.Timeline) *run {
	in.SyncSteps = in.SyncSteps || in.Workers == 0
	r := &run{
		Input: in, perEpoch: in.EpochBatches(), total: in.Batches(), lastRows: in.Batch,
		inputOffset: loader.InputOffset(in.Spec, in.Batch), fillStage: in.fillStage(), fillBytes: in.fillBytes(),
		copyStage: trace.HtoD, features: int(in.Spec.SampleBytes / in.Spec.DType.Size()),
		device: device, compute: device.NewQueue(), over: newHistory(in.flights()),
	}
	if short := in.Samples % in.Batch; short > 0 && !in.DropLast {
		r.lastRows = short
	}
	if in.Pin == loader.PinDataset {
		r.copyStage = trace.Gather
	}
	r.copies = r.compute
	if in.Dedicated {
		r.copies = device.NewQueue()
	}
	slots := int64(in.FillSlots)
	r.loading = loading{workers: make([]worker, in.Workers), freed: newHistory(slots), filled: newHistory(slots)}
	if in.Pin.HasThread() {
		ring := int64(in.RingSlots)
		r.pinning = pinning{freed: newHistory(ring), pinned: newHistory(ring)}
	}
	r.makeLanes()
	return r
}

func (r *run) makeLanes() {
	r.recorder = trace.NewRecorder(trace.Options{SpansPerLane: r.SpansPerLane, Off: r.Off})
	lane := func(kind trace.LaneKind, index int) *trace.Lane { return r.recorder.Lane(kind, index, virtual) }
	r.trainer, r.stepLane = lane(trace.Trainer, 0), lane(trace.ComputeEngine, 0)
	for i := range r.Workers {
		r.workerLanes = append(r.workerLanes, lane(trace.Worker, i))
	}
	if r.Pin.HasThread() && r.Workers > 0 {
		r.pinLane = lane(trace.PinThread, 0)
	}
	if !r.InPlace {
		r.copyLane = lane(trace.CopyEngine, 0)
	}
}

// rows is how many samples batch b holds.
func (r *run) rows(b int64) int64 {
	if r.lastRows != r.Batch && (b+1)%r.perEpoch == 0 {
		return r.lastRows
	}
	return r.Batch
}
