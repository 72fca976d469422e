package bench

import (
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/pressure"
	"pinscope/bench/trace"
	"pinscope/bench/verdict"
)

// judge gives each side its verdict.
func (r *Result) judge() {
	for i := range r.Sides {
		if f := r.figures(&r.Sides[i]); f != nil {
			v := verdict.Judge(*f)
			r.Sides[i].Verdict = &v
		}
	}
}

// figures are those of a side's typical repeat, nil when no repeat counts.
func (r *Result) figures(s *Side) *verdict.Figures {
	p := s.perBatch()
	if p == nil {
		return nil
	}
	c, repeat := s.Config, s.Repeats[*s.Typical]
	f := &verdict.Figures{
		Workers: c.Workers, IdleWorkers: s.Plan.IdleWorkers, Prefetch: c.Prefetch, UsableCPUs: s.Plan.UsableCPUs, QueueSlots: s.Plan.QueueSlots,
		RingSlots: s.Plan.RingSlots, Batches: repeat.Batches, StartBatches: repeat.Batches, KeepWorkers: c.KeepWorkers, Pin: c.Pin,
		NonBlocking: c.NonBlocking, Dedicated: c.CopyStream == loader.Dedicated, SyncSteps: c.SyncSteps,
		InMemory: c.InMemory(), InPlace: s.Plan.DeviceSlots == 0, NoDevice: r.Device.ID == "cpu",
		Rows: float64(repeat.Samples) / float64(repeat.Batches), BatchBytes: repeat.InputBytes / repeat.Batches,
		Period: p.period, Load: p.loading(), LoadCPU: s.loadingCPU(), PinCopy: p.stage(trace.PinCopy),
		Copy: p.stage(trace.HtoD) + p.stage(trace.Gather), Step: p.stage(trace.Step),
		WaitBatch: p.stage(trace.WaitBatch), BusyShare: s.busyShare(),
	}
	if c.Workers > 0 && !c.KeepWorkers && s.Plan.EpochBatches > 0 {
		f.StartBatches = min(f.StartBatches, s.Plan.EpochBatches)
	}
	if r.Device.LinkGBps != nil {
		f.LinkGBps = *r.Device.LinkGBps
	}
	if copies := s.Trace.Stage(trace.HtoD); copies.Count > 0 {
		f.CopyMedian = *copies.P50
	}
	if r.Pressure != nil { // of the whole session: a share of all repeats alike
		if stalled := r.Pressure.StallShare(pressure.MemorySomeStall); stalled != nil {
			f.Stall = time.Duration(*stalled * float64(f.Period))
		}
	}
	r.splitCosts(s, p, f)
	return f
}

const (
	latencyBytes = 1 << 20  // the link's rate says little about larger copies: staging, other traffic
	inlineBytes  = 64 << 10 // a pageable copy of no more is taken along with its call (CUDA programming guide)
)

// splitCosts takes apart what depends on a batch's size and what does not.
func (r *Result) splitCosts(s *Side, p *perBatch, f *verdict.Figures) {
	f.Calls = p.stage(trace.Launch)
	most := int64(inlineBytes)
	if f.Pin.Pins() { // else the call lasts as long as the copy, and as what is queued before it
		f.Calls += p.stage(trace.CopyCall)
		most = latencyBytes
	}
	if f.NoDevice { // the call is the step
		f.Calls = max(0, f.Calls-f.Step)
	}
	if f.LinkGBps > 0 && f.BatchBytes <= most && f.Pin != loader.PinDataset {
		f.Latency = max(0, f.Copy-time.Duration(float64(f.BatchBytes)/f.LinkGBps))
	}
	if launch, err := time.ParseDuration(r.Device.Model["launch"]); err == nil {
		f.StepLaunch = min(f.Step, launch*time.Duration(s.Config.StepsPerBatch))
	}
	// Steps that read the batch over the link are as long as that takes.
	onLink := float64(f.BatchBytes) / max(f.LinkGBps, 1e-9)
	if f.InPlace && !f.NoDevice && f.LinkGBps > 0 && onLink >= 0.9*float64(f.Step-f.StepLaunch) {
		f.Copy, f.Step = f.Step-f.StepLaunch, f.StepLaunch
	}
}

// busyShare is the share of time in which the device ran steps, from the end of
// the first step to the end of the repeat; negative if that is not known.
func (s *Side) busyShare() float64 {
	repeat := s.Repeats[*s.Typical]
	for _, lane := range s.Trace.Lanes {
		if lane.Kind != trace.ComputeEngine || lane.Busy == nil {
			continue
		}
		for _, span := range lane.Spans {
			if rest := repeat.Start + repeat.Wall - span.End(); span.Stage == trace.Step && span.Batch == 0 && rest > 0 {
				return float64(*lane.Busy-span.Dur) / float64(rest)
			}
		}
	}
	return -1
}
