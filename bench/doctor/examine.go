package doctor

import (
	"fmt"
	"strings"

	"pinscope/bench/pressure"
	"pinscope/bench/units"
)

const (
	// Below this much RAM a ring and its page cache compete with a desktop. A
	// machine sold with 32 GB (decimal or binary) tells of a little less than
	// 32 GiB, but of more than this.
	smallRAMBytes = 32_000_000_000

	// Swap in use is worth a word from a tenth on: a few idle pages always go there.
	swapInUse = 0.10
)

// Examine looks at the facts. The order of findings is always the same.
func Examine(f Facts) Report {
	r := Report{Ring: pressure.SafeRing(f.Limits, f.Run.SlotBytes), Limits: f.Limits}
	for _, look := range []func(Facts) Finding{
		driver, runner, memlock, containerLimit, devShm, workers, memory, swap, hugePages, overcommit, numaNode, surroundings,
	} {
		r.Findings = append(r.Findings, look(f))
	}
	for _, gpu := range f.GPUs {
		r.Findings = append(r.Findings, link(gpu))
	}
	r.Findings = append(r.Findings, ring(f, r.Ring))
	r.Advice = advice(f, r.Ring)
	return r
}

func driver(f Facts) Finding {
	out := Finding{Topic: "NVIDIA driver", Why: "without a driver and a GPU runs use the simulated GPU"}
	reason := f.DriverReason
	switch f.Driver {
	case DriverReady:
		out.Level, out.Found = Good, fmt.Sprintf("working, %d GPU", len(f.GPUs))
		if len(f.GPUs) != 1 {
			out.Found += "s"
		}
		out.Why = "copies from pinned memory can be measured"
		return out
	case NoDriver:
		out.Level, out.Found = Warn, "none"
		out.Do = "sudo ubuntu-drivers install   (Debian: sudo apt install nvidia-driver)"
		if f.Limits.WSL2 {
			out.Do = "install the NVIDIA driver in Windows; none belongs inside WSL"
		}
		if f.Limits.Container != "" {
			out.Do = "docker run --gpus all ...   (with the NVIDIA container toolkit on the host)"
		}
	case BadDriver:
		out.Level, out.Found, out.Do = Bad, "found, but not working", "nvidia-smi   (shows the reason; after an update: sudo reboot)"
	case NoGPU:
		out.Level, out.Found, out.Do = Warn, "working, but it has no GPU", "lspci | grep -i nvidia   (shows whether the machine has one)"
	default:
		out.Found = units.NotAvailable
	}
	if reason != "" {
		out.Found += " (" + reason + ")"
	}
	if f.DriverCure != "" {
		out.Do = f.DriverCure
	}
	return out
}

func runner(f Facts) Finding {
	out := Finding{Topic: "CUDA runner", Why: "only the runner can use the real GPU"}
	switch {
	case f.Runner == RunnerReady:
		out.Level, out.Found = Good, "ready"
		if f.RunnerPath != "" {
			out.Found = f.RunnerPath
		}
	case f.Driver != DriverReady:
		out.Found, out.Why = "not needed", "there is no GPU that it could use"
		out.Level = Good
	case f.Runner == RunnerMissing:
		out.Level, out.Found, out.Do = Bad, "missing, although there is a GPU", f.BuildRunner
	default:
		out.Found = units.NotAvailable
	}
	return out
}

// memlock: what `ulimit -l` limits and what not (seen on driver 580: 4 GiB pinned
// under a limit of 64 KiB).
func memlock(f Facts) Finding {
	out := Finding{Topic: "memory lock limit", Why: "it limits mlock, which the simulated GPU uses, but not CUDA: cuMemHostAlloc pins as much as there is"}
	soft := f.Limits.MemlockSoft
	if soft == nil {
		out.Found = units.NotAvailable
		return out
	}
	out.Level, out.Found = Good, soft.String()
	if f.Limits.MemlockExempt {
		out.Found += ", but this process is exempt (CAP_IPC_LOCK)"
		return out
	}
	if f.Run.Simulated && f.Run.PinnedBytes > int64(*soft) {
		out.Level = Warn
		out.Found += fmt.Sprintf(", the simulated run would lock %s and goes on unlocked", units.Bytes(f.Run.PinnedBytes))
		out.Do = "ulimit -l unlimited   (where the hard limit allows it; else in /etc/security/limits.conf: * - memlock unlimited)"
		if f.Limits.Container != "" {
			out.Do = "docker run --ulimit memlock=-1 ..."
		}
	}
	return out
}

func containerLimit(f Facts) Finding {
	out := Finding{Topic: "container limit"}
	l := f.Limits
	switch {
	case l.TotalBytes == nil:
		out.Found, out.Why = units.NotAvailable, "a limit would count pinned memory too"
	case l.Source == pressure.FromContainer:
		out.Level = Warn
		out.Found = units.Bytes(*l.TotalBytes)
		if l.RAMBytes != nil {
			out.Found += " of the machine's " + units.Bytes(*l.RAMBytes)
		}
		out.Found += ", " + l.LimitedBy
		out.Why = "pinned memory counts and cannot be taken back; above the limit the kernel ends the process"
		out.Do = raiseLimit(l)
	default:
		out.Level, out.Found, out.Why = Good, "none below the machine's memory", "all that is available can be used"
	}
	return out
}

func raiseLimit(l pressure.Limits) string {
	switch l.Container {
	case "kubernetes":
		return "raise resources.limits.memory of the pod"
	case "podman":
		return "podman run --memory 16g ..."
	case "docker":
		return "docker run --memory 16g ..."
	default:
		return "systemd-run --user --scope -p MemoryMax=16G pinscope ...   (or raise the limit of the group named)"
	}
}

func devShm(f Facts) Finding {
	out := Finding{Topic: "shared-memory mount", Level: Good,
		Why: "it does not matter here: workers share one process; PyTorch's worker processes pass batches through it and need docker run --shm-size=8g"}
	if f.Limits.DevShmBytes == nil {
		out.Found = "no size of /dev/shm known"
		return out
	}
	out.Found = "/dev/shm of " + units.Bytes(*f.Limits.DevShmBytes)
	return out
}

func workers(f Facts) Finding {
	cpus := f.Limits.UsableCPUs
	out := Finding{Topic: "workers", Level: Good, Found: fmt.Sprintf("workers %d, usable CPUs %d%s", f.Run.Workers, cpus, cpuSource(f.Limits)),
		Why: "each worker can have a CPU of its own"}
	if f.Run.Workers > cpus {
		out.Level, out.Why, out.Do = Warn, "workers take turns, and the trainer with them", fmt.Sprintf("--workers %d", cpus)
	}
	return out
}

// cpuSource says what the CPUs are limited by.
func cpuSource(l pressure.Limits) string {
	if l.QuotaCPUs != nil && (l.AffinityCPUs == nil || *l.QuotaCPUs < float64(*l.AffinityCPUs)) {
		return fmt.Sprintf(" (quota %s of %s)", units.Number(*l.QuotaCPUs, 2), l.QuotaSource)
	}
	return ""
}

func memory(f Facts) Finding {
	out := Finding{Topic: "RAM", Why: "pinned memory is taken from everything else, page cache first"}
	ram := f.Limits.RAMBytes
	if ram == nil {
		out.Found = units.NotAvailable
		return out
	}
	out.Level, out.Found = Good, units.Bytes(*ram)
	if f.Limits.AvailableBytes != nil {
		out.Found += ", " + units.Bytes(*f.Limits.AvailableBytes) + " available"
	}
	if *ram < smallRAMBytes {
		out.Level = Warn
		out.Why = "under 32 GB a large ring is soon felt by everything else"
		out.Do = "keep the ring small: --ring-slots, --batch; see the largest safe ring below"
	}
	return out
}

func swap(f Facts) Finding {
	out := Finding{Topic: "swap"}
	size, used := f.Limits.SwapBytes, f.Limits.SwapUsedBytes
	switch {
	case size == nil:
		out.Found, out.Why = units.NotAvailable, "swap shows whether memory has been short"
	case *size == 0:
		out.Level, out.Found = Warn, "none"
		out.Why = "when pinned memory leaves too little, only page cache can give way before the kernel ends programs"
		out.Do = "sudo fallocate -l 8G /swapfile && sudo chmod 600 /swapfile && sudo mkswap /swapfile && sudo swapon /swapfile"
		if f.Limits.Container != "" {
			out.Do = "leave it, or add swap on the host: a container cannot"
		}
	case used != nil && float64(*used) > swapInUse*float64(*size):
		out.Level, out.Found = Warn, fmt.Sprintf("%s of %s in use", units.Bytes(*used), units.Bytes(*size))
		out.Why = "memory has been short: pinned memory cannot be swapped and pushes others out"
		out.Do = "close what is not needed, or pin less; vmstat 1 shows si and so while it happens"
	default:
		out.Level, out.Found, out.Why = Good, units.Bytes(*size)+", hardly used", "idle memory of others can give way to pinned memory"
	}
	return out
}

func hugePages(f Facts) Finding {
	out := Finding{Topic: "huge pages", Found: f.Limits.HugePages, Level: Good,
		Why: "pageable and registered slots can be made of 2 MiB pages, which are quicker to pin and to fill; cuMemHostAlloc does not depend on it"}
	switch f.Limits.HugePages {
	case "":
		out.Level, out.Found = Unknown, units.NotAvailable
	case "never":
		out.Level, out.Do = Warn, "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
	}
	return out
}

func overcommit(f Facts) Finding {
	out := Finding{Topic: "overcommit", Level: Good, Found: f.Limits.Overcommit, Why: "large rings can be asked for"}
	switch f.Limits.Overcommit {
	case "":
		out.Level, out.Found = Unknown, units.NotAvailable
	case "never":
		out.Level, out.Why = Warn, "the kernel refuses memory beyond a fixed sum even while much is free"
		out.Do = "sudo sysctl vm.overcommit_memory=0"
	}
	return out
}

func numaNode(f Facts) Finding {
	out := Finding{Topic: "NUMA", Why: "copies from the memory of a far node can take three times as long"}
	nodes := f.Limits.NUMANodes
	if nodes == nil {
		out.Found = units.NotAvailable
		return out
	}
	if *nodes == 1 {
		out.Level, out.Found, out.Why = Good, "one node", "all memory is equally near"
		return out
	}
	out.Found = fmt.Sprintf("%d nodes", *nodes)
	var near []string
	bound := true
	for _, gpu := range f.GPUs {
		if gpu.NUMANode == nil || *gpu.NUMANode < 0 {
			continue
		}
		near = append(near, fmt.Sprintf("%s at node %d", gpu.Name, *gpu.NUMANode))
		bound = bound && f.Run.NUMANode != nil && *f.Run.NUMANode == *gpu.NUMANode
	}
	switch {
	case len(near) == 0:
		out.Found += ", the GPU's is not known"
	case bound:
		out.Level, out.Found = Good, fmt.Sprintf("%s, %s, run bound to node %d", out.Found, strings.Join(near, ", "), *f.Run.NUMANode)
	case f.Run.NUMANode == nil:
		out.Level, out.Found, out.Do = Warn, fmt.Sprintf("%s, %s, run not bound", out.Found, strings.Join(near, ", ")), "--numa auto"
	default:
		out.Level, out.Do = Bad, "--numa auto"
		out.Found = fmt.Sprintf("%s, %s, run bound to node %d", out.Found, strings.Join(near, ", "), *f.Run.NUMANode)
	}
	return out
}

func surroundings(f Facts) Finding {
	out := Finding{Topic: "surroundings", Level: Good, Why: "nothing is known to come between memory and GPU"}
	var found []string
	if f.Limits.Container != "" {
		found = append(found, "container ("+f.Limits.Container+")")
	}
	if f.Limits.VirtualMachine != "" {
		found = append(found, "virtual machine ("+f.Limits.VirtualMachine+")")
		out.Level, out.Why = Warn, "cores, memory and link may be shared with others, so that figures vary"
		out.Do = "repeat more often: --repeats 10"
	}
	if f.Limits.WSL2 {
		found = append(found, "WSL2")
		out.Level, out.Why = Warn, "the driver refuses to pin from 500 MB to 1 GB on"
		out.Do = "keep the ring below 512 MiB: --max-pinned 512MiB"
	}
	out.Found = strings.Join(found, ", ")
	if out.Found == "" {
		out.Found = "no sign of a container, virtual machine or WSL"
	}
	return out
}

func link(gpu GPU) Finding {
	out := Finding{Topic: "PCIe link of " + gpu.Name, Why: "it bounds every copy, pinned or not"}
	if gpu.Generation == nil || gpu.Width == nil || gpu.MaxGeneration == nil || gpu.MaxWidth == nil {
		out.Found, out.Do = units.NotAvailable, "pinscope bandwidth"
		return out
	}
	out.Found = fmt.Sprintf("generation %d x%d, at most %d x%d", *gpu.Generation, *gpu.Width, *gpu.MaxGeneration, *gpu.MaxWidth)
	switch {
	case !gpu.UnderLoad:
		out.Found = fmt.Sprintf("at most generation %d x%d", *gpu.MaxGeneration, *gpu.MaxWidth)
		out.Why = "it bounds every copy, and slows down when idle, so that it is only worth reading under load"
		out.Do = "read under load by pinscope bandwidth"
	case *gpu.Generation < *gpu.MaxGeneration || *gpu.Width < *gpu.MaxWidth:
		out.Level = Bad
		out.Why = "under load it is below its maximum, and so is every copy"
		out.Do = "put the card into the slot next to the CPU, check riser and BIOS (PCIe speed Auto), power limits: nvidia-smi -q -d PERFORMANCE"
	default:
		out.Level = Good
	}
	return out
}

func ring(f Facts, r pressure.Ring) Finding {
	out := Finding{Topic: "largest safe ring", Found: r.Text(), Why: strings.TrimSuffix(r.How, ".") + "; a rule of thumb", Do: "pinscope pressure   (measures it)"}
	switch {
	case r.SafeBytes == nil:
		out.Why = strings.TrimSuffix(r.How, ".")
	case f.Run.PinnedBytes > *r.SafeBytes:
		out.Level = Bad
		out.Found += fmt.Sprintf("; the run would pin %s", units.Bytes(f.Run.PinnedBytes))
		out.Do = "lower --ring-slots, --batch, --workers or --prefetch"
	default:
		out.Level = Good
	}
	return out
}
