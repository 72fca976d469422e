package doctor

import (
	"fmt"

	"pinscope/bench/pressure"
	"pinscope/bench/units"
)

const (
	// Below 1 MiB the cost of the copy call rules, not the bandwidth. Measured on
	// an H200 (2026-12): 62.5 kB take 5.5 us from pinned memory and 19 us from
	// pageable memory, 9.6 MB take 0.18 ms and 0.76 ms.
	smallBatchBytes = 1 << 20

	starvedShare = 0.20 // of the time waited for data: loading is the limit
	busyShare    = 0.95 // of the time the device works: nothing to gain from loading
)

// advice applies the usual rules about pin_memory to the run in question.
func advice(f Facts, r pressure.Ring) []Finding {
	return []Finding{
		pinOrNot(f, r), inContainers(f), workersUpToCores(f), idleGPU(f), nonBlocking(f), crashes(f, r),
	}
}

// pinOrNot: pin on a GPU with memory to spare; not on the CPU, with little
// memory, with small batches or with token-sized data.
func pinOrNot(f Facts, r pressure.Ring) Finding {
	out := Finding{Topic: "Turn pinning on?", Level: Good}
	batch := units.Bytes(f.Run.BatchBytes)
	switch {
	case f.Run.CPU:
		out.Found = "no: training is on the CPU"
		out.Why = "nothing is copied to a device, so that pinning only costs"
		if f.Run.Pinned {
			out.Level, out.Do = Warn, "--pin off"
		}
	case r.SafeBytes != nil && f.Run.SlotBytes > 0 && *r.Slots < 2:
		out.Level, out.Found = Warn, fmt.Sprintf("no: %s can be pinned, a slot takes %s", units.Bytes(*r.SafeBytes), units.Bytes(r.SlotBytes))
		out.Why, out.Do = "a ring needs at least two slots", "--pin off, or a smaller --batch"
	case f.Run.BatchBytes <= 0:
		out.Level, out.Found, out.Why = Unknown, units.NotAvailable, "it depends on the size of a batch"
	case f.Run.Tokens && f.Run.BatchBytes < smallBatchBytes:
		out.Found = fmt.Sprintf("hardly worth it: a batch of token ids is %s", batch)
		out.Why = "so little is copied in microseconds either way"
	case f.Run.BatchBytes < smallBatchBytes:
		out.Found = fmt.Sprintf("hardly worth it: a batch is %s", batch)
		out.Why = "below 1 MiB the cost of the copy call rules, a few microseconds; a larger batch would gain more"
	default:
		out.Found = fmt.Sprintf("yes: a batch is %s, and %s can be pinned", batch, r.Text())
		out.Why = "the driver need not stage each copy, and with non_blocking the host goes on meanwhile"
		if !f.Run.Pinned {
			out.Do = "--pin thread --non-blocking   (or --pin direct, which needs no extra copy)"
		}
	}
	return out
}

func inContainers(f Facts) Finding {
	out := Finding{Topic: "In a container?", Level: Good, Found: "no", Why: "the machine's own limits hold"}
	if f.Limits.Container == "" && f.Limits.Source != pressure.FromContainer {
		return out
	}
	out.Found = "yes"
	if f.Limits.TotalBytes != nil {
		out.Found = fmt.Sprintf("yes, with %s (%s)", units.Bytes(*f.Limits.TotalBytes), f.Limits.Source)
	}
	out.Why = "pinned memory counts against --memory; PyTorch's worker processes need --shm-size, and CUDA needs no --ulimit memlock"
	return out
}

func workersUpToCores(f Facts) Finding {
	cpus := f.Limits.UsableCPUs
	out := Finding{Topic: "Workers up to the cores?", Level: Good, Found: fmt.Sprintf("%d of %d", f.Run.Workers, cpus),
		Why: "more workers fill more batches at once, as long as each has a core"}
	switch {
	case f.Run.Workers > cpus:
		out.Level, out.Do = Warn, fmt.Sprintf("--workers %d", cpus)
		out.Why = "more workers than cores only take turns"
	case f.Run.WaitShare != nil && *f.Run.WaitShare >= starvedShare && f.Run.Workers < cpus:
		out.Level, out.Do = Warn, fmt.Sprintf("--workers %d", min(cpus, max(1, 2*f.Run.Workers)))
		out.Why = fmt.Sprintf("the trainer waits %s of the time and there are cores left", units.Percent(*f.Run.WaitShare))
	}
	return out
}

// idleGPU is the first of three questions: the GPU idles while the CPU is busy.
func idleGPU(f Facts) Finding {
	out := Finding{Topic: "GPU idle and CPU busy?"}
	busy, wait := f.Run.DeviceBusyShare, f.Run.WaitShare
	if busy == nil || wait == nil {
		out.Found, out.Why, out.Do = "not measured", "if the trainer waits for data, loading is the limit, not pinning", "pinscope run"
		return out
	}
	out.Found = fmt.Sprintf("the device works %s of the time, the trainer waits for data %s", units.Percent(*busy), units.Percent(*wait))
	switch {
	case *wait >= starvedShare && *busy < busyShare:
		out.Level = Warn
		out.Why = "loading is the limit: pinning cannot help until batches come faster"
		out.Do = fmt.Sprintf("--workers up to %d, --prefetch 4, a cheaper decode, or --source cached", f.Limits.UsableCPUs)
	default:
		out.Level, out.Why = Good, "data comes fast enough"
	}
	return out
}

// nonBlocking is the second: non_blocking has no effect.
func nonBlocking(f Facts) Finding {
	out := Finding{Topic: "non_blocking without effect?", Level: Good}
	switch {
	case f.Run.CPU:
		out.Found, out.Why = "training is on the CPU", "there is no copy that could block"
	case !f.Run.NonBlocking:
		out.Found, out.Why = "it is off", "the host waits for each copy"
		if f.Run.Pinned {
			out.Level, out.Do = Warn, "--non-blocking"
		}
	case !f.Run.Pinned:
		out.Level, out.Found, out.Do = Warn, "it is on, with pageable memory", "--pin thread"
		out.Why = "the copy call itself stages the bytes before it returns, so that the host is blocked anyway"
	case !f.Run.DedicatedStream:
		out.Found = "it is on, with pinned memory and one stream"
		out.Why = "host and GPU overlap, copy and compute do not: work on one stream is done in order"
		out.Do = "--copy-stream dedicated"
	default:
		out.Found = "it is on, with pinned memory and a copy stream of its own"
		out.Why = "host, copy and compute can all overlap"
	}
	return out
}

// crashes is the third: programs end or the system is slow.
func crashes(f Facts, r pressure.Ring) Finding {
	out := Finding{Topic: "Crashes or a slow system?", Why: "pinned memory cannot be taken back: too much of it leaves others to reclaim, swap and the kernel's killer"}
	switch {
	case r.SafeBytes == nil:
		out.Found = units.NotAvailable
	case f.Run.PinnedBytes > *r.SafeBytes:
		out.Level = Bad
		out.Found = fmt.Sprintf("the run pins %s, safe are %s", units.Bytes(f.Run.PinnedBytes), units.Bytes(*r.SafeBytes))
		out.Do = "lower --ring-slots, --batch, --workers or --prefetch; watch with pinscope pressure"
	default:
		out.Level = Good
		out.Found = fmt.Sprintf("the run pins %s of %s that are safe", units.Bytes(f.Run.PinnedBytes), units.Bytes(*r.SafeBytes))
	}
	return out
}
