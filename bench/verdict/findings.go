package verdict

import (
	"fmt"
	"math"
	"time"

	"pinscope/bench/units"
)

// Shares and sizes from which a finding speaks.
const (
	starvedShare = 0.20    // of a step's period waited for data: loading is the limit
	limitShare   = 0.40    // of the period that a lane works if it is the limit: 9 batches keep 8 workers busy for 9/16
	busyEnough   = 0.95    // of the period the device works: nothing to gain from more workers
	matterShare  = 0.01    // of the period spent on all copying: under the spread of most machines
	latencyShare = 0.5     // of a copy's time explained by its bytes on the link: less is latency
	latencyBytes = 1 << 20 // a larger copy is never called latency-bound
)

// Findings says in sentences what the figures of a run show.
func Findings(f Figures) []string {
	var out []string
	for _, text := range []string{f.starved(), f.latencyBound(), f.flagWithoutPinning()} {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// device is the longer of the device's two jobs.
func (f *Figures) device() time.Duration { return max(f.Copy, f.Step) }

// working is how many workers have batches to fill.
func (f *Figures) working() int { return max(f.Workers-f.IdleWorkers, 1) }

// starved: the trainer waits for data while the device idles. Who keeps it
// waiting is told from how busy workers and pin thread are.
func (f *Figures) starved() string {
	device := f.device()
	if l := Judge(*f).Limit; l == Transfer || l == Compute {
		return "" // slots come back late, and the workers wait for them
	}
	if f.Workers == 0 || float64(f.WaitBatch) < starvedShare*float64(f.Period) || float64(device) > busyEnough*float64(f.Period) {
		return ""
	}
	works := "the device computes"
	if f.Copy > f.Step {
		works = "the link is busy"
	}
	waits := fmt.Sprintf("the trainer waits %s of %s a batch for data and %s %s of it",
		units.Duration(f.WaitBatch), units.Duration(f.Period), works, units.Duration(device))
	filling := f.Load / time.Duration(f.working())
	switch {
	case float64(max(filling, f.PinCopy)) < limitShare*float64(f.Period):
		return fmt.Sprintf("handing batches over is the limit, neither loading nor pinning: %s, while each worker works %s of it; larger batches are handed over less often",
			waits, units.Duration(filling))
	case f.PinCopy > filling:
		return fmt.Sprintf("the staging copy is the limit: %s, while the pin thread copies %s of it; pin direct does without that copy",
			waits, units.Duration(f.PinCopy))
	}
	return "loading is the limit, not pinning: " + waits + f.tooFewWorkers()
}

// tooFewWorkers is the advice to take more workers, where they would help.
func (f *Figures) tooFewWorkers() (text string) {
	device := f.device()
	if need := WorkersNeeded(f.Load, device); need > f.Workers {
		text = fmt.Sprintf("; at least %d workers would keep it busy (%s to fill a batch / %s)",
			need, units.Duration(f.Load), units.Duration(device))
		if cpus := WorkersNeeded(f.LoadCPU, device); cpus > f.UsableCPUs {
			text += fmt.Sprintf(", but filling a batch takes %s of CPU time, which needs %d CPUs, and %d are usable: loading itself has to become cheaper",
				units.Duration(f.LoadCPU), cpus, f.UsableCPUs)
		}
	}
	return text
}

// WorkersNeeded is how many workers, or CPUs, fill batches as fast as the device
// takes them; 0 where that is no sensible number. A hundredth of a worker is noise.
func WorkersNeeded(filling, device time.Duration) int {
	if device <= 0 || filling <= 0 {
		return 0
	}
	need := math.Ceil(float64(filling)/float64(device) - 0.01)
	if need > 1024 {
		return 0
	}
	return int(need)
}

// latencyBound: a copy is ruled by the cost of the call.
func (f *Figures) latencyBound() string {
	if f.CopyMedian <= 0 || f.LinkGBps <= 0 || f.BatchBytes > latencyBytes {
		return ""
	}
	if float64(f.BatchBytes)/f.LinkGBps > latencyShare*float64(f.CopyMedian) {
		return ""
	}
	return fmt.Sprintf("copies of %s are latency-bound: %s each, %s; the cost of a copy rules, not the bandwidth of pinned memory",
		units.Bytes(f.BatchBytes), units.Duration(f.CopyMedian), units.Throughput(f.BatchBytes, f.CopyMedian))
}

// flagWithoutPinning: non_blocking on pageable memory.
func (f *Figures) flagWithoutPinning() string {
	if !f.NonBlocking || f.Pin.Pins() || f.NoDevice {
		return ""
	}
	return "non_blocking cannot free the host without pinned memory: the copy call itself stages the bytes before it returns"
}

// moving is the time that getting a batch to the device takes, wherever it is
// spent: the call of a pageable copy lasts as long as the copy.
func (f *Figures) moving() time.Duration { return f.PinCopy + f.Copy }

// CannotMatter gives the sentence that pinning cannot matter, if all copying is
// under a hundredth of a batch's period in each of these runs; "" otherwise.
func CannotMatter(runs []Figures) string {
	worst, moving := 0.0, time.Duration(0)
	for i := range runs {
		f := &runs[i]
		if f.Period <= 0 || f.NoDevice {
			return ""
		}
		if share := float64(f.moving()) / float64(f.Period); share >= worst {
			worst, moving = share, f.moving()
		}
	}
	if len(runs) == 0 || worst >= matterShare {
		return ""
	}
	text := units.Percent(worst)
	if worst > 0 && worst < 0.0005 {
		text = "under 0.1 %" // something is never nothing
	}
	return fmt.Sprintf("pinning cannot matter here: all copying of a batch takes %s, %s of its period", units.Duration(moving), text)
}

func (f *Figures) cannotMatter() bool { return CannotMatter([]Figures{*f}) != "" }
