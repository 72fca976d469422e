package whatif

import (
	"errors"
	"fmt"

	"pinscope/bench/loader"
	"pinscope/bench/source"
	"pinscope/bench/trace"
	"pinscope/cudamem/sim"
)

// Pipeline is what batches go through, as packages loader and train build it.
type Pipeline struct {
	loader.Sampler
	Spec source.Spec

	Workers     int
	KeepWorkers bool
	Pin         loader.PinMode
	FillSlots   int // slots that workers fill, >= 1
	RingSlots   int // slots that the pin thread fills, >= 1 where there is one, else unused

	NonBlocking   bool
	Dedicated     bool // copies have a stream of their own
	SyncSteps     bool // always so without workers
	InPlace       bool // steps read the slot where it lies: nothing is copied
	HostSteps     bool // the trainer computes the steps itself: the CPU device
	DeviceSlots   int  // >= 1; unused in place
	StepsPerBatch int  // >= 1
	Classes       int
}

// check says what is missing.
func (p *Pipeline) check() error {
	for name, n := range map[string]int{"fill slots": p.FillSlots, "steps per batch": p.StepsPerBatch, "classes": p.Classes} {
		if n < 1 {
			return fmt.Errorf("whatif: %s %d: want at least 1", name, n)
		}
	}
	switch {
	case p.Batch < 1 || p.EpochBatches() < 1:
		return errors.New("whatif: there is no batch to go through")
	case p.Pin.HasThread() && p.RingSlots < 1, !p.InPlace && p.DeviceSlots < 1:
		return errors.New("whatif: a pin thread needs a ring slot, and copies a device slot")
	case p.Workers < 0:
		return fmt.Errorf("whatif: workers %d: want 0 or more", p.Workers)
	}
	return nil
}

// extraFlights is package train's: how many batches beyond one in each device slot
// can be queued before the trainer waits.
const extraFlights = 2

// flights is how many batches can be queued on the device.
func (p *Pipeline) flights() int64 {
	if p.InPlace {
		return 1 + extraFlights
	}
	return int64(p.DeviceSlots) + extraFlights
}

// fillStage is what filling a slot counts as.
func (p *Pipeline) fillStage() trace.Stage {
	if p.Pin == loader.PinDataset || p.Spec.Fills == source.Collates {
		return trace.Collate
	}
	return trace.Load
}

// fillBytes is what a worker writes for a sample.
func (p *Pipeline) fillBytes() int64 {
	if p.Pin == loader.PinDataset {
		return indexBytes
	}
	return p.Spec.SampleBytes
}

const indexBytes = 8 // of a sample's number in a slot of PinDataset

// Times is how long each stage takes, of a full batch. The zero value of a stage
// takes no time; Copy and Step left nil are the device model's.
type Times struct {
	Fill     Stage // a worker fills a slot: load or collate
	PinCopy  Stage // the pin thread copies a batch
	CopyCall Stage // the trainer queues the copies, where that does not block it
	Launch   Stage // the trainer queues the steps
	Wake     Stage // the trainer goes on after a copy or step that it had to wait for
	Poll     Stage // the trainer finds that one is done
	WakeNext Stage // the trainer goes on after a batch that it had to wait for
	WakePin  Stage // the pin thread does
	Copy     *Stage
	Step     *Stage // all steps on a batch together

	// Staging is the host's copying of the inputs out of pageable memory, chunk by
	// chunk into staging memory, where the device model has no rate for that.
	Staging Stage
}

// Input is everything a prediction depends on.
type Input struct {
	Pipeline
	Times
	Device       sim.Model
	SpansPerLane int  // kept at most; 0: the recorder's default
	Off          bool // record nothing, so that Outcome.Trace is empty: for who wants the time alone
}
