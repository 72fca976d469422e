// Package runner decides which program runs a benchmark, and on which device.
//
// Only a program built with the cuda tag can open a real GPU, and such a program
// does not start on a machine without the driver. So a plain one looks at what
// [gpuwatch] says of the driver and for a CUDA runner, a program called
// [Name], and hands over to it with [Exec].
//
// [Decide] is a function of the [Facts] alone; [Look] gathers them; [Choose] does
// both.
package runner

import (
	"fmt"
	"strconv"
	"strings"

	"pinscope/bench/gpuwatch"
)

// Name is what the CUDA runner's file is called.
const Name = "pinscope-cuda"

// BuildCommand builds the runner, in the program's source folder.
const BuildCommand = "go build -tags cuda,headless -o " + Name + " ."

// Options say what the calling program is.
type Options struct {
	CUDABuild  bool   // it was built with the cuda tag and opens cuda devices itself
	DefaultSim string // the simulated GPU that auto falls back to: "sim:laptop"
}

// Facts are what a choice rests on.
type Facts struct {
	Options

	Driver gpuwatch.State
	Reason string // why Driver is not Ready, as gpuwatch words it
	Cure   string // and what may help; may be empty

	Devices []gpuwatch.Device // where Driver is Ready

	// Visible is CUDA_VISIBLE_DEVICES, nil where it is not set.
	Visible *string

	Runner string // the CUDA runner's path, empty if there is none
}

// Choice is a device and the program to open it in.
type Choice struct {
	Device  string // to be opened: "cuda:0", "sim:laptop", "cpu"
	Program string // to hand over to with Exec; empty: the calling one
	Why     string // one sentence
}

// Choose decides where to run what a --device setting asks for: "auto", "cpu",
// "sim" or "sim:NAME", "cuda", "cuda:N", "cuda:UUID" or "cuda:ADDRESS". Every
// error is one sentence about a device that is not to be had or not known, to be
// treated as wrong input (exit 2): a GPU asked for is never replaced by a
// simulated one. The driver is asked only where the answer matters.
func Choose(device string, o Options) (Choice, error) {
	f := Facts{Options: o}
	if kind, _, _ := strings.Cut(device, ":"); kind == "auto" || kind == "cuda" {
		f = Look(o)
	}
	return Decide(device, f)
}

// Decide is Choose on given facts.
func Decide(device string, f Facts) (Choice, error) {
	kind, which, named := strings.Cut(device, ":")
	switch {
	case device == "auto":
		return auto(f), nil
	case device == "cpu":
		return Choice{Device: device, Why: "the CPU was asked for"}, nil
	case device == "sim":
		return Choice{Device: f.DefaultSim, Why: "a simulated GPU was asked for"}, nil
	case kind == "sim" && which != "":
		return Choice{Device: device, Why: "a simulated GPU was asked for"}, nil
	case kind == "cuda" && !named:
		return cuda("0", f)
	case kind == "cuda" && which != "":
		return cuda(which, f)
	}
	return Choice{}, fmt.Errorf("runner: device %q is not allowed; allowed is auto, cuda, cuda:N, cuda:UUID, sim, sim:NAME, cpu", device)
}

// auto takes the first GPU where it can, and else says why not.
func auto(f Facts) Choice {
	choice, err := cuda("0", f)
	if err == nil && (f.Driver == gpuwatch.Ready || f.CUDABuild) {
		choice.Why = "using " + choice.Why
		return choice
	}
	why := f.Reason + ", using the simulated GPU"
	switch {
	case f.Driver == gpuwatch.Ready:
		why = "using the simulated GPU: " + noUse(f, "0")
	case f.Driver == gpuwatch.Unknown && f.Runner != "":
		why += "; --device cuda tries " + f.Runner
	case f.Cure != "":
		why += "; " + f.Cure
	}
	return Choice{Device: f.DefaultSim, Why: why}
}

// cuda finds the program for a GPU named by CUDA's number, UUID or PCI address.
func cuda(which string, f Facts) (Choice, error) {
	choice := Choice{Device: "cuda:" + which}
	if why := noUse(f, which); why != "" {
		return Choice{}, fmt.Errorf("runner: device %s is not to be had: %s", choice.Device, why)
	}
	choice.Why = choice.Device
	if len(f.Devices) == 1 {
		choice.Why += " (" + f.Devices[0].Name + ")" // with more, CUDA's numbers are not NVML's
	}
	if !f.CUDABuild {
		choice.Program = f.Runner
		choice.Why += " through " + f.Runner
	}
	return choice, nil
}

// noUse says why a GPU cannot be used, empty when nothing speaks against it. A
// program with the cuda tag that got as far as this has a driver whatever NVML
// says (there are systems with CUDA and without NVML).
func noUse(f Facts, which string) string {
	known := f.Driver == gpuwatch.Ready
	if !known && !f.CUDABuild && f.Driver != gpuwatch.Unknown {
		if f.Cure != "" {
			return f.Reason + "; " + f.Cure
		}
		return f.Reason
	}
	if known {
		if why := absent(f, which); why != "" {
			return why
		}
	}
	if f.CUDABuild || f.Runner != "" {
		return ""
	}
	if !known {
		return fmt.Sprintf("%s, and there is no CUDA runner; build it with: %s", f.Reason, BuildCommand)
	}
	return fmt.Sprintf("a GPU is here (%s) but not the CUDA runner; build it with: %s", f.Devices[0].Name, BuildCommand)
}

// absent says why a GPU is not among those that CUDA will see.
func absent(f Facts, which string) string {
	index, err := strconv.ParseUint(which, 10, 31)
	if err != nil {
		return absentByName(f.Devices, which)
	}
	cards := cards(f.Devices)
	if index >= uint64(cards) {
		return fmt.Sprintf("this machine has %s", count(cards, "GPU"))
	}
	if f.Visible == nil {
		return ""
	}
	if seen := visible(*f.Visible, cards); index >= uint64(seen) {
		return fmt.Sprintf("CUDA_VISIBLE_DEVICES=%s leaves %s", *f.Visible, count(seen, "GPU"))
	}
	return ""
}

// absentByName looks a UUID (or its beginning, as CUDA allows) or a PCI address up.
func absentByName(devices []gpuwatch.Device, which string) string {
	for _, d := range devices {
		for _, uuid := range []string{d.UUID, d.CardUUID} {
			if isUUID(which) && strings.HasPrefix(strings.ToLower(uuid), strings.ToLower(which)) {
				return ""
			}
		}
		if gpuwatch.SameAddress(which, d.PCIAddress) {
			return ""
		}
	}
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = d.String()
	}
	return "there is " + strings.Join(names, ", ")
}

func isUUID(s string) bool {
	s = strings.ToUpper(s)
	return strings.HasPrefix(s, "GPU-") || strings.HasPrefix(s, "MIG-")
}

// cards counts what CUDA can number at most: a divided card is one, since a
// process sees one slice.
func cards(devices []gpuwatch.Device) int {
	n := 0
	divided := map[string]bool{}
	for _, d := range devices {
		if !d.MIG {
			n++
		} else {
			divided[d.CardUUID] = true
		}
	}
	return n + len(divided)
}

// visible counts the GPUs that a CUDA_VISIBLE_DEVICES leaves: CUDA stops reading
// at the first entry that is not a GPU, and an empty list leaves none (CUDA C++
// Programming Guide, "CUDA environment variables").
func visible(list string, cards int) int {
	n := 0
	for _, entry := range strings.Split(list, ",") {
		entry = strings.TrimSpace(entry)
		index, err := strconv.ParseUint(entry, 10, 31)
		if !isUUID(entry) && (err != nil || index >= uint64(cards)) {
			break
		}
		n++
	}
	return n
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
