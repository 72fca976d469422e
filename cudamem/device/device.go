// Package device opens devices by name, so that nobody else need know which
// there are: the simulated GPU and the CPU in every build, real GPUs where it was
// built with the tag cuda.
package device

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pinscope/cudamem"
	"pinscope/cudamem/cpu"
	"pinscope/cudamem/sim"
)

// Open opens a device by name: cpu, sim (the default model) or sim:NAME, cuda (the
// first GPU) or cuda:N, or auto: the first GPU where this build can use one, else
// the default simulated GPU. settings are the simulated GPU's, KEY: VALUE as
// [sim.Model.Set] takes them, and an error with any other device. why says which
// device auto took and for what reason; else it is empty.
func Open(name string, settings map[string]string, clock cudamem.Clock) (dev cudamem.Device, why string, err error) {
	if name == "auto" {
		return openAuto(settings, clock)
	}
	dev, err = open(name, settings, clock)
	return dev, "", err
}

// List names what Open takes; cuda:0 stands for any number.
func List() []string {
	names := []string{"auto", "cpu", "cuda:0", "sim"}
	for _, preset := range sim.Presets() {
		names = append(names, "sim:"+preset)
	}
	return names
}

func open(name string, settings map[string]string, clock cudamem.Clock) (cudamem.Device, error) {
	kind, preset, _ := strings.Cut(name, ":")
	if kind == "sim" {
		return openSim(name, preset, settings, clock)
	}
	if len(settings) > 0 {
		return nil, fmt.Errorf("device %s: settings of a simulated GPU (%s) need a device sim or sim:NAME",
			name, strings.Join(slices.Sorted(maps.Keys(settings)), ", "))
	}
	switch {
	case name == "cpu":
		return cpu.Open(clock)
	case kind == "cuda":
		return openCUDA(name, clock)
	}
	return nil, fmt.Errorf("device %q is not allowed; allowed is %s", name, strings.Join(List(), ", "))
}

func openSim(name, preset string, settings map[string]string, clock cudamem.Clock) (cudamem.Device, error) {
	if name == "sim" {
		preset = sim.Presets()[0]
	}
	model, err := sim.Lookup(preset)
	if err != nil {
		return nil, fmt.Errorf("device %s is not allowed; allowed is sim:%s", name, strings.Join(sim.Presets(), ", sim:"))
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if err := model.Set(key, settings[key]); err != nil {
			return nil, err
		}
	}
	return sim.Open(model, clock)
}

// openAuto takes the simulated GPU where settings for one are given.
func openAuto(settings map[string]string, clock cudamem.Clock) (cudamem.Device, string, error) {
	why := "settings of a simulated GPU are given"
	if len(settings) == 0 {
		dev, err := openCUDA("cuda", clock)
		if err == nil {
			return dev, "a GPU was found: " + dev.Info().Name, nil
		}
		why = err.Error()
	}
	dev, err := open("sim", settings, clock)
	return dev, "the simulated GPU was taken: " + why, err
}
