package whatif

import (
	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/source"
)

// NewPipeline is the pipeline that package bench builds for a configuration and
// its plan. What a plan leaves at 0 on purpose is filled in as bench does.
func NewPipeline(c bench.Config, plan bench.Plan, spec source.Spec, hostSteps bool) Pipeline {
	p := Pipeline{
		Sampler: loader.Sampler{Samples: plan.Samples, Batch: c.Batch, Epochs: int64(c.Epochs), Seed: c.Seed,
			Shuffle: c.Shuffle, DropLast: c.DropLast},
		Spec: spec, Workers: c.Workers, KeepWorkers: c.KeepWorkers, Pin: c.Pin,
		FillSlots: plan.RingSlots, NonBlocking: c.NonBlocking, Dedicated: c.CopyStream == loader.Dedicated,
		SyncSteps: c.SyncSteps || c.Workers == 0, InPlace: plan.DeviceSlots == 0, HostSteps: hostSteps,
		DeviceSlots: plan.DeviceSlots, StepsPerBatch: c.StepsPerBatch, Classes: c.OutFeatures,
	}
	if c.Pin == loader.PinOff || c.Pin.HasThread() {
		p.FillSlots, p.RingSlots = plan.QueueSlots, plan.RingSlots
	}
	return p
}

// sourceOptions is the data set of a configuration, as package bench opens it.
func sourceOptions(c bench.Config) source.Options {
	return source.Options{Name: c.Source, Samples: c.Samples, Shape: c.Shape, DType: c.DType, Classes: c.OutFeatures,
		Seed: c.Seed, OnBad: c.OnBad, InMemory: c.Pin == loader.PinDataset}
}
