package runner

import (
	"fmt"
	"strings"
	"testing"

	"pinscope/bench/gpuwatch"
)

var (
	cardA  = gpuwatch.Device{Name: "card A", UUID: "GPU-aaaa-1", PCIAddress: "0000:3b:00.0"}
	cardB  = gpuwatch.Device{Name: "card B", UUID: "GPU-bbbb-1", PCIAddress: "0000:5e:00.0"}
	sliceC = gpuwatch.Device{Name: "card C MIG 1g", UUID: "MIG-c1", CardUUID: "GPU-cccc", PCIAddress: "0000:86:00.0", MIG: true}
	sliceD = gpuwatch.Device{Name: "card C MIG 2g", UUID: "MIG-c2", CardUUID: "GPU-cccc", PCIAddress: "0000:86:00.0", MIG: true}
)

// drivers are the states a machine can be in, as gpuwatch words them.
var drivers = map[string]Facts{
	"none":    {Driver: gpuwatch.NoDriver, Reason: "no NVIDIA driver found"},
	"bad":     {Driver: gpuwatch.BadDriver, Reason: "the driver is broken", Cure: "restart the machine"},
	"empty":   {Driver: gpuwatch.NoGPU, Reason: "the driver finds no GPU"},
	"unknown": {Driver: gpuwatch.Unknown, Reason: "built without cgo", Cure: "build with cgo"},
	"one":     {Driver: gpuwatch.Ready, Devices: []gpuwatch.Device{cardA}},
	"two":     {Driver: gpuwatch.Ready, Devices: []gpuwatch.Device{cardB, cardA}},
	"slices":  {Driver: gpuwatch.Ready, Devices: []gpuwatch.Device{sliceC, sliceD}},
}

// Programs: plain, plain with a runner beside it, CUDA build.
const (
	plain  = "plain"
	runner = "runner"
	tagged = "tagged"
)

func facts(t *testing.T, driver, program string) Facts {
	t.Helper()
	f, known := drivers[driver]
	if !known {
		t.Fatalf("no driver %q", driver)
	}
	f.DefaultSim = "sim:laptop"
	switch program {
	case runner:
		f.Runner = "/bin/pinscope-cuda"
	case tagged:
		f.CUDABuild = true
	}
	return f
}

func TestDecide(t *testing.T) {
	const build = "build it with: go build -tags cuda,headless -o pinscope-cuda ."
	const child = "/bin/pinscope-cuda"
	for _, c := range []struct {
		driver, program, device string
		want, handTo            string // want empty: an error
		why                     string // all of it
	}{
		// C62.
		{"none", plain, "auto", "sim:laptop", "", "no NVIDIA driver found, using the simulated GPU"},
		{"none", runner, "auto", "sim:laptop", "", "no NVIDIA driver found, using the simulated GPU"},
		{"none", tagged, "auto", "cuda:0", "", "using cuda:0"}, // CUDA is there, else this program had not started
		{"bad", plain, "auto", "sim:laptop", "", "the driver is broken, using the simulated GPU; restart the machine"},
		{"bad", runner, "auto", "sim:laptop", "", "the driver is broken, using the simulated GPU; restart the machine"},
		{"bad", tagged, "auto", "cuda:0", "", "using cuda:0"},
		{"empty", plain, "auto", "sim:laptop", "", "the driver finds no GPU, using the simulated GPU"},
		{"empty", runner, "auto", "sim:laptop", "", "the driver finds no GPU, using the simulated GPU"},
		{"empty", tagged, "auto", "cuda:0", "", "using cuda:0"},
		{"unknown", plain, "auto", "sim:laptop", "", "built without cgo, using the simulated GPU; build with cgo"},
		{"unknown", runner, "auto", "sim:laptop", "", "built without cgo, using the simulated GPU; --device cuda tries /bin/pinscope-cuda"},
		{"unknown", tagged, "auto", "cuda:0", "", "using cuda:0"},
		{"one", plain, "auto", "sim:laptop", "", "using the simulated GPU: a GPU is here (card A) but not the CUDA runner; " + build},
		{"one", runner, "auto", "cuda:0", child, "using cuda:0 (card A) through /bin/pinscope-cuda"},
		{"one", tagged, "auto", "cuda:0", "", "using cuda:0 (card A)"},
		{"two", plain, "auto", "sim:laptop", "", "using the simulated GPU: a GPU is here (card B) but not the CUDA runner; " + build},
		{"two", runner, "auto", "cuda:0", child, "using cuda:0 through /bin/pinscope-cuda"},
		{"two", tagged, "auto", "cuda:0", "", "using cuda:0"},

		// C63.
		{"none", plain, "cuda", "", "", "runner: device cuda:0 is not to be had: no NVIDIA driver found"},
		{"none", runner, "cuda", "", "", "runner: device cuda:0 is not to be had: no NVIDIA driver found"},
		{"none", tagged, "cuda", "cuda:0", "", "cuda:0"},
		{"bad", plain, "cuda", "", "", "runner: device cuda:0 is not to be had: the driver is broken; restart the machine"},
		{"bad", runner, "cuda", "", "", "runner: device cuda:0 is not to be had: the driver is broken; restart the machine"},
		{"bad", tagged, "cuda", "cuda:0", "", "cuda:0"},
		{"empty", plain, "cuda", "", "", "runner: device cuda:0 is not to be had: the driver finds no GPU"},
		{"empty", runner, "cuda", "", "", "runner: device cuda:0 is not to be had: the driver finds no GPU"},
		{"empty", tagged, "cuda", "cuda:0", "", "cuda:0"},
		{"unknown", plain, "cuda", "", "", "runner: device cuda:0 is not to be had: built without cgo, and there is no CUDA runner; " + build},
		{"unknown", runner, "cuda", "cuda:0", child, "cuda:0 through /bin/pinscope-cuda"},
		{"unknown", tagged, "cuda", "cuda:0", "", "cuda:0"},
		{"one", plain, "cuda", "", "", "runner: device cuda:0 is not to be had: a GPU is here (card A) but not the CUDA runner; " + build},
		{"one", runner, "cuda", "cuda:0", child, "cuda:0 (card A) through /bin/pinscope-cuda"},
		{"one", tagged, "cuda", "cuda:0", "", "cuda:0 (card A)"},
		{"one", plain, "cuda:3", "", "", "runner: device cuda:3 is not to be had: this machine has 1 GPU"},
		{"one", runner, "cuda:3", "", "", "runner: device cuda:3 is not to be had: this machine has 1 GPU"},
		{"one", tagged, "cuda:3", "", "", "runner: device cuda:3 is not to be had: this machine has 1 GPU"},
		{"two", runner, "cuda:1", "cuda:1", child, "cuda:1 through /bin/pinscope-cuda"},
		{"two", runner, "cuda:2", "", "", "runner: device cuda:2 is not to be had: this machine has 2 GPUs"},
		{"slices", tagged, "cuda:0", "cuda:0", "", "cuda:0"},
		{"slices", tagged, "cuda:1", "", "", "runner: device cuda:1 is not to be had: this machine has 1 GPU"}, // one slice a process

		// By name.
		{"two", tagged, "cuda:GPU-aaaa-1", "cuda:GPU-aaaa-1", "", "cuda:GPU-aaaa-1"},
		{"two", tagged, "cuda:gpu-aa", "cuda:gpu-aa", "", "cuda:gpu-aa"},
		{"two", tagged, "cuda:0000:3B:00.0", "cuda:0000:3B:00.0", "", "cuda:0000:3B:00.0"},
		{"slices", tagged, "cuda:MIG-c2", "cuda:MIG-c2", "", "cuda:MIG-c2"},
		{"slices", tagged, "cuda:GPU-cccc", "cuda:GPU-cccc", "", "cuda:GPU-cccc"},
		{"one", runner, "cuda:GPU-ffff", "", "", "runner: device cuda:GPU-ffff is not to be had: there is card A GPU-aaaa-1 0000:3b:00.0"},
		{"one", runner, "cuda:MIG-c1", "", "", "runner: device cuda:MIG-c1 is not to be had: there is card A GPU-aaaa-1 0000:3b:00.0"},
		{"one", runner, "cuda:-1", "", "", "runner: device cuda:-1 is not to be had: there is card A GPU-aaaa-1 0000:3b:00.0"},

		// No GPU asked for: the driver does not matter.
		{"one", runner, "cpu", "cpu", "", "the CPU was asked for"},
		{"one", runner, "sim", "sim:laptop", "", "a simulated GPU was asked for"},
		{"none", plain, "sim:h200", "sim:h200", "", "a simulated GPU was asked for"},
	} {
		t.Run(fmt.Sprintf("%s %s %s", c.driver, c.program, c.device), func(t *testing.T) {
			got, err := Decide(c.device, facts(t, c.driver, c.program))
			if c.want == "" {
				if err == nil || err.Error() != c.why {
					t.Errorf("got  %+v, error %v\nwant error %s", got, err, c.why)
				}
				return
			}
			if want := (Choice{c.want, c.handTo, c.why}); err != nil || got != want {
				t.Errorf("got  %+v, error %v\nwant %+v", got, err, want)
			}
		})
	}
}

// What is no device is wrong whatever the machine, and nothing that was asked
// for by name is ever replaced by another device.
func TestDecideNeverReplaces(t *testing.T) {
	wrong := []string{"", "gpu", "CUDA", "cuda:", "sim:", "cpu:0", "auto:1", ":0", "simulated"}
	asked := []string{"cuda", "cuda:0", "cuda:1", "cuda:GPU-aaaa-1", "sim:h200", "cpu"}
	for driver := range drivers {
		for _, program := range []string{plain, runner, tagged} {
			for _, device := range wrong {
				if got, err := Decide(device, facts(t, driver, program)); err == nil || !strings.Contains(err.Error(), "allowed is auto") {
					t.Errorf("%s %s %q: %+v, error %v", driver, program, device, got, err)
				}
			}
			for _, device := range asked {
				kind, _, _ := strings.Cut(device, ":")
				got, err := Decide(device, facts(t, driver, program))
				if err == nil && !strings.HasPrefix(got.Device, kind) {
					t.Errorf("%s %s %q: %+v", driver, program, device, got)
				}
			}
			if got, err := Decide("auto", facts(t, driver, program)); err != nil || got.Why == "" {
				t.Errorf("%s %s auto: %+v, error %v", driver, program, got, err)
			}
		}
	}
}

func TestVisibleDevices(t *testing.T) {
	for _, c := range []struct{ driver, list, device, why string }{
		{"two", "1", "cuda:0", ""},
		{"two", "1", "cuda:1", "CUDA_VISIBLE_DEVICES=1 leaves 1 GPU"},
		{"two", "1,0", "cuda:1", ""},
		{"two", "0,7,1", "cuda:1", "CUDA_VISIBLE_DEVICES=0,7,1 leaves 1 GPU"}, // nothing counts after the first wrong one
		{"two", "", "cuda:0", "CUDA_VISIBLE_DEVICES= leaves no GPU"},
		{"two", "-1", "cuda:0", "CUDA_VISIBLE_DEVICES=-1 leaves no GPU"},
		{"two", "GPU-aaaa, GPU-bbbb", "cuda:1", ""},
		{"slices", "MIG-c2", "cuda:0", ""},
	} {
		t.Run(c.list+" "+c.device, func(t *testing.T) {
			f := facts(t, c.driver, tagged)
			f.Visible = &c.list
			_, err := Decide(c.device, f)
			if (err == nil) != (c.why == "") || err != nil && !strings.HasSuffix(err.Error(), "not to be had: "+c.why) {
				t.Errorf("error %v, want %q", err, c.why)
			}
		})
	}
	f := facts(t, "one", runner)
	f.Visible = new("")
	got, err := Decide("auto", f)
	if err != nil || got.Device != "sim:laptop" || got.Why != "using the simulated GPU: CUDA_VISIBLE_DEVICES= leaves no GPU" {
		t.Errorf("auto with all hidden: %+v, error %v", got, err)
	}
}

// Choose on the machine at hand: whatever it is, what needs no GPU works, and
// auto names its reason.
func TestChooseHere(t *testing.T) {
	o := Options{DefaultSim: "sim:laptop"}
	for _, device := range []string{"auto", "sim", "cpu"} {
		got, err := Choose(device, o)
		if err != nil || got.Device == "" || got.Why == "" {
			t.Errorf("%s: %+v, error %v", device, got, err)
		}
		t.Log(got)
	}
	if Look(o).Driver == gpuwatch.NoDriver {
		if got, err := Choose("cuda", o); err == nil || !strings.Contains(err.Error(), "no NVIDIA driver found") {
			t.Errorf("cuda without a driver: %+v, error %v", got, err)
		}
	}
}
