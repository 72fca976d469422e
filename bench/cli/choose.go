package cli

import (
	"fmt"
	"strings"

	"pinscope/bench"
	"pinscope/bench/runner"
	"pinscope/cudamem/device"
)

// defaultSim is the simulated GPU that stands in where there is no real one.
const defaultSim = "sim:laptop"

// thisProgram is what a choice of a device has to know of the program.
var thisProgram = runner.Options{CUDABuild: device.CUDA, DefaultSim: defaultSim}

// simGiven is what auto stands for beside settings of a simulated GPU.
var simGiven = runner.Choice{Device: defaultSim, Why: "settings of a simulated GPU are given"}

// noDevice makes a choice's refusal wrong input.
func noDevice(name string, err error) error {
	return &bench.InputError{Field: "device", Value: name, Problem: strings.TrimPrefix(err.Error(), "runner: device ")}
}

// choose says which device a measurement opens, and why that one. Where the CUDA
// runner has to open it, the whole command is handed over to it, with the same
// arguments: it then chooses for itself.
func (p *program) choose(c bench.Config) (name, why string, err error) {
	if c.Device == "auto" && len(c.Sim) > 0 {
		return simGiven.Device, simGiven.Why, nil
	}
	choice, err := runner.Choose(c.Device, thisProgram)
	if err != nil {
		return "", "", noDevice(c.Device, err)
	}
	if choice.Program != "" {
		code, err := runner.Exec(choice.Program, p.args)
		if err != nil {
			return "", "", fmt.Errorf("hand over to %s: %w", choice.Program, err)
		}
		return "", "", exitCode(code)
	}
	if c.Device != "auto" {
		choice.Why = ""
	}
	return choice.Device, choice.Why, nil
}

// exitCode is the error of a program that ran in our place and has said all there
// is to say.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }
