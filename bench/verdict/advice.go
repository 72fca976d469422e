package verdict

import (
	"fmt"
	"math"
	"strings"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/units"
)

// Advice is the change most likely to help.
type Advice struct {
	Settings []string `json:"settings"` // as flags spell them: "workers=7"
	Gain     float64  `json:"gain"`     // expected throughput, as a change of 1: 0.5 is half as much again
}

// String is the advice in words.
func (a Advice) String() string {
	return fmt.Sprintf("%s: %s throughput expected", strings.Join(a.Settings, " "), units.SignedPercent(a.Gain))
}

const (
	// gatherShare is how much of the link's rate a gather of samples reaches: on an
	// NVIDIA H200 (2026-12) 50.9 of 55.0 GB/s with samples of 602,112 bytes.
	gatherShare = 0.92

	// simpler is the gain, as a part of the greatest, for which fewer changes are taken.
	simpler = 0.9

	// mostlyWaiting is the share of loading on a CPU below which workers wait for
	// disks or timers, and may outnumber the CPUs.
	mostlyWaiting = 0.1

	moreBatch = 4 // times the batch, where the cost of calls rules
)

// change is a way to run otherwise, and what a batch would then cost.
type change struct {
	settings []string
	after    Figures
	rows     float64 // of a batch, times those before
}

// advise gives the change with the greatest expected gain, or one of fewer
// settings that comes near to it; nil if none gains enough.
func (f *Figures) advise(limit Limit) *Advice {
	now := f.period()
	if now <= 0 {
		return nil
	}
	all := f.changes(limit)
	gains := make([]float64, len(all))
	most := 0.0
	for i, c := range all {
		if after := c.after.period(); after > 0 {
			gains[i] = now*c.rows/after - 1
		}
		most = max(most, gains[i])
	}
	if most < leastAdvice {
		return nil
	}
	best := -1
	for i, c := range all {
		if gains[i] >= simpler*most && (best < 0 || len(c.settings) < len(all[best].settings)) {
			best = i
		}
	}
	return &Advice{all[best].settings, gains[best]}
}

// changes lists what could be done, simple things first.
func (f *Figures) changes(limit Limit) []change {
	var out []change
	add := func(settings string, apply func(*Figures)) {
		after := *f
		apply(&after)
		out = append(out, change{strings.Fields(settings), after, 1})
	}
	idle := func(a *Figures) { a.IdleWorkers = int(max(0, int64(a.Workers)-a.StartBatches)) }
	keep := func(a *Figures) { a.KeepWorkers, a.StartBatches = true, a.Batches; idle(a) }
	more, n := "", f.moreWorkers()
	grow := func(a *Figures) {
		a.QueueSlots += (n - a.Workers) * a.Prefetch
		if !a.Pin.HasThread() {
			a.RingSlots += (n - a.Workers) * a.Prefetch
		}
		a.Workers = n
		idle(a)
	}
	if n > f.Workers {
		more = fmt.Sprintf("workers=%d", n)
		add(more, grow)
	}
	if !f.KeepWorkers && f.Workers > 0 && f.StartBatches < f.Batches {
		add("keep-workers=true", keep)
		if more != "" {
			add(more+" keep-workers=true", func(a *Figures) { grow(a); keep(a) })
		}
	}
	f.pinChanges(add)
	if f.SyncSteps && f.Workers > 0 && !f.NoDevice {
		add("sync-steps=false", func(a *Figures) { a.SyncSteps = false })
	}
	if limit == Launch {
		after := *f
		after.Load, after.LoadCPU, after.PinCopy = moreBatch*f.Load, moreBatch*f.LoadCPU, moreBatch*f.PinCopy
		after.Copy = moreBatch*(f.Copy-f.Latency) + f.Latency
		after.Step = moreBatch*(f.Step-f.StepLaunch) + f.StepLaunch
		out = append(out, change{[]string{fmt.Sprintf("batch=%.0f", math.Round(f.Rows)*moreBatch)}, after, moreBatch})
	}
	return out
}

// pinChanges are the ways to pin, alone and together with what only pinning makes
// possible.
func (f *Figures) pinChanges(add func(string, func(*Figures))) {
	if f.NoDevice || f.InPlace || f.Pin == loader.PinDataset {
		return
	}
	direct := func(a *Figures) {
		if !a.Pin.Pins() {
			a.Copy = min(a.Copy, a.onLink(1)+a.Latency)
			a.RingSlots = a.QueueSlots + 1
		} else {
			a.RingSlots = max(a.RingSlots, a.QueueSlots)
		}
		a.Pin, a.PinCopy = loader.PinDirect, 0
	}
	goOn := func(a *Figures) { a.NonBlocking = true }
	own := func(a *Figures) { a.Dedicated = true }
	pin, flag, stream := "", "", ""
	if f.Pin != loader.PinDirect {
		pin = "pin=direct"
		add(pin, direct)
	}
	if f.Pin.Pins() && !f.NonBlocking {
		add("non-blocking=true", goOn)
	}
	if !f.NonBlocking {
		flag = " non-blocking=true"
	}
	if !f.Dedicated {
		stream = " copy-stream=dedicated"
		add(stream, own)
	}
	all := func(a *Figures) {
		if pin != "" {
			direct(a)
		}
		goOn(a)
	}
	if pin != "" && flag != "" {
		add(pin+flag, all)
	}
	if stream != "" && pin+flag != "" {
		add(pin+flag+stream, func(a *Figures) { all(a); own(a) })
	}
	if f.InMemory && f.LinkGBps > 0 {
		add("pin=dataset"+flag+stream, func(a *Figures) {
			all(a)
			own(a)
			a.Pin, a.Load, a.LoadCPU, a.PinCopy, a.Copy = loader.PinDataset, 0, 0, 0, a.onLink(gatherShare)+a.Latency
		})
	}
}

// onLink is the time of a batch at a share of the link's rate; where that is not
// known, the time the copy takes now.
func (f *Figures) onLink(share float64) time.Duration {
	if f.LinkGBps <= 0 {
		return f.Copy
	}
	return time.Duration(float64(f.BatchBytes) / (f.LinkGBps * share)) // GB/s are bytes a nanosecond
}

// moreWorkers is how many workers would let loading keep up with the rest, as far
// as the CPUs allow it; no more than there are if that would not help.
func (f *Figures) moreWorkers() int {
	rest := f.without(Loading)
	need := max(WorkersNeeded(f.Load, time.Duration(rest.period())), min(f.Workers+1, 1))
	switch onCPU := float64(f.LoadCPU) / float64(max(f.Load, 1)); {
	case onCPU >= mostlyWaiting: // that they wait for a CPU makes them look idler than they are
		need = min(need, f.UsableCPUs)
	case onCPU > 0:
		need = min(need, int(float64(f.UsableCPUs)/onCPU))
	}
	return need
}
