// Package verdict says what limits a training loop, by how much, and which one
// change is most likely to help. It knows nothing of devices and files: its
// functions are pure, take the [Figures] of a run, and may be called from any
// goroutine.
//
// [Judge] works out, from what each stage of a batch takes, the time between
// batches that these stages allow, once as it is and once without each stage.
// What shortens a batch most when it is taken away is the limit.
package verdict

import (
	"math"
	"time"

	"pinscope/bench/loader"
)

// Figures are the settings of a run and what one batch of it cost, as means over
// a repeat. Times that are not known are 0.
type Figures struct {
	Workers      int // 0: the training loop loads by itself
	IdleWorkers  int // of them, without a batch to fill
	Prefetch     int // batches each worker is ahead
	UsableCPUs   int
	QueueSlots   int   // pageable slots that workers fill
	RingSlots    int   // slots of the ring
	Batches      int64 // in the repeat
	StartBatches int64 // from one start of the workers to the next: an epoch, or all of them if they are kept
	KeepWorkers  bool
	Pin          loader.PinMode
	NonBlocking  bool
	Dedicated    bool // the copies have a stream of their own
	SyncSteps    bool // the loop waits for each step; without workers and without a device it does so anyway
	InPlace      bool // steps read host memory, nothing is copied
	NoDevice     bool // the CPU trains: there is no link at all

	InMemory bool // the source's samples lie in memory, so that all of them can be pinned

	Rows       float64 // samples in a batch, >= 1
	BatchBytes int64   // of inputs
	LinkGBps   float64 // 0: unknown

	Period     time.Duration // wall time of a batch
	Load       time.Duration // a worker fills a batch
	LoadCPU    time.Duration // of it, CPU time
	PinCopy    time.Duration // a thread copies the batch into the ring
	Copy       time.Duration // the inputs go over the link, with Latency
	Latency    time.Duration // the part of Copy that does not depend on its bytes
	Step       time.Duration // on the device, with StepLaunch
	StepLaunch time.Duration // the part of Step that starts its kernels
	Calls      time.Duration // the training loop queues copy and step, without waiting
	WaitBatch  time.Duration // the training loop waits for data
	Stall      time.Duration // something waited for memory to be freed or paged in

	CopyMedian time.Duration // of the copies; 0 without any
	HiddenCopy float64       // share of Copy that ran under a step

	// BusyShare is the share of time the device ran steps from the end of the
	// first one on: the first is not the steady state. Negative: unknown.
	BusyShare float64
}

// move is the time of both copies of a batch: the labels are so short that theirs
// takes the latency alone.
func (f *Figures) move() float64 { return float64(f.Copy + f.Latency) }

// period is how long a batch takes by its stages: the longest of the loops that
// have to come round once a batch, and a batch's share of filling and emptying the
// pipeline.
func (f *Figures) period() float64 {
	load, move, step := float64(f.Load), f.move(), float64(f.Step)
	rest := float64(f.PinCopy+f.Calls) + move + step // of the last batch
	all, starts := max(float64(f.Batches), 1), max(float64(f.StartBatches), 1)
	device := max(move, step)
	if !f.Dedicated || f.InPlace {
		device = move + step // one queue
	}
	if f.Workers == 0 {
		loop := max(f.trainer(), device)
		return loop + max(0, load+rest-loop)/all
	}
	// Whoever takes batches from the workers starts them anew, and then waits for
	// the first batch; the device still has work meanwhile.
	taker, other := f.trainer(), device
	if f.Pin.HasThread() {
		taker, other = float64(f.PinCopy), max(device, f.trainer())
	}
	loop := max(taker+load/starts, other+load/all, f.slots())
	loading := math.Ceil(starts/float64(f.working()))*load/starts + rest/all
	return max(loading, loop+max(0, rest-loop)/all)
}

// trainer is what the training loop does itself, one thing after another.
func (f *Figures) trainer() float64 {
	sum := float64(f.Calls)
	if f.Workers == 0 {
		sum += float64(f.Load + f.PinCopy)
	}
	waits := !f.InPlace && (!f.NonBlocking || !f.Pin.Pins())
	sync := f.SyncSteps || f.Workers == 0 || f.NoDevice
	if waits || sync {
		sum += f.move()
	}
	if sync {
		sum += float64(f.Step)
	}
	return sum
}

// slots is how often a batch can be begun with the slots there are: each is
// filled, then held until it has been read.
func (f *Figures) slots() float64 {
	if f.Workers == 0 {
		return 0
	}
	read := f.Copy + f.Latency
	if f.InPlace {
		read = f.Step
	}
	share := func(d time.Duration, slots int) float64 {
		if slots == 0 {
			return 0
		}
		return float64(d) / float64(slots)
	}
	switch {
	case f.Pin == loader.PinOff:
		return share(f.Load+read, f.QueueSlots)
	case f.Pin.HasThread():
		return max(share(f.Load+f.PinCopy, f.QueueSlots), share(f.PinCopy+read, f.RingSlots))
	default:
		return share(f.Load+read, f.RingSlots)
	}
}

// without is f with one stage that takes no time.
func (f Figures) without(l Limit) Figures {
	switch l {
	case Loading:
		f.Load, f.LoadCPU = 0, 0
	case PinCopy:
		f.PinCopy = 0
	case Transfer:
		f.Copy = min(f.Copy, f.Latency)
	case Compute:
		f.Step = min(f.Step, f.StepLaunch)
	case Launch:
		f.Copy, f.Step = f.Copy-min(f.Copy, f.Latency), f.Step-min(f.Step, f.StepLaunch)
		f.Calls, f.Latency, f.StepLaunch = 0, 0, 0
	}
	return f
}
