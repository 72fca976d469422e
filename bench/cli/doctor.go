package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"pinscope/bench"
	"pinscope/bench/doctor"
	"pinscope/bench/gpuwatch"
	"pinscope/bench/loader"
	"pinscope/bench/pressure"
	"pinscope/bench/runner"
)

// doctorCommand is `pinscope doctor`.
type doctorCommand struct {
	bench.Flags
	JSON bool `name:"json" group:"output" help:"Show everything as JSON."`
}

// doctorSchema is the version of doctor's JSON.
const doctorSchema = 1

// doctorFile is doctor's JSON: where the report comes from, and the report.
type doctorFile struct {
	Schema int          `json:"doctor_schema"`
	Tool   bench.Tool   `json:"tool"`
	Host   bench.Host   `json:"host"`
	Config bench.Config `json:"config"` // of the run in question
	Plan   bench.Plan   `json:"plan"`
	doctor.Report
}

// run tells what it found. Whatever that is, it is no failure of the command.
func (c *doctorCommand) run(ctx context.Context, p *program) error {
	config := bench.Config(c.Flags)
	if err := config.Validate(); err != nil {
		return err
	}
	looked := runner.Look(thisProgram)
	choice, err := runner.Decide(config.Device, looked)
	if config.Device == "auto" && len(config.Sim) > 0 {
		choice, err = simGiven, nil
	}
	if err != nil {
		return noDevice(config.Device, err)
	}
	plan, err := planOnly(ctx, config, choice)
	if err != nil {
		return err
	}
	facts := doctor.Facts{
		Limits: pressure.ReadLimits(""), Driver: driverStates[looked.Driver], DriverReason: looked.Reason, DriverCure: looked.Cure,
		GPUs: readGPUs(looked.Devices), Runner: doctor.RunnerMissing, RunnerPath: looked.Runner, BuildRunner: runner.BuildCommand,
		Run: runInQuestion(config, plan, choice.Device),
	}
	if looked.CUDABuild {
		facts.RunnerPath = "this program"
	}
	if facts.RunnerPath != "" {
		facts.Runner = doctor.RunnerReady
	}
	if facts.Run.NUMANode, err = boundNode(config.NUMA, facts); err != nil {
		return err
	}
	report := doctor.Examine(facts)
	report.Findings = slices.Insert(report.Findings, 0, deviceFinding(config, choice))
	if c.JSON {
		encoder := json.NewEncoder(p.stdout)
		encoder.SetIndent("", " ")
		return encoder.Encode(doctorFile{doctorSchema, bench.ThisTool(), bench.ThisHost(), config, plan, report})
	}
	return writeReport(p.stdout, report, isTerminal(p.stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// deviceFinding is what a run would use, by the same choice.
func deviceFinding(c bench.Config, choice runner.Choice) doctor.Finding {
	out := doctor.Finding{Topic: "device", Level: doctor.Good, Found: choice.Device, Why: choice.Why}
	if c.Device == "auto" && strings.HasPrefix(choice.Device, "sim") {
		out.Level = doctor.Warn
	}
	return out
}

var driverStates = map[gpuwatch.State]doctor.Driver{
	gpuwatch.Unknown: doctor.DriverUnknown, gpuwatch.NoDriver: doctor.NoDriver, gpuwatch.BadDriver: doctor.BadDriver,
	gpuwatch.NoGPU: doctor.NoGPU, gpuwatch.Ready: doctor.DriverReady,
}

// planOnly works out the run's sizes and allocates nothing. A run that would not
// fit still has a plan. Where another program would open the GPU, the simulated
// one stands in: slots and rings are of the same size.
func planOnly(ctx context.Context, config bench.Config, choice runner.Choice) (plan bench.Plan, err error) {
	name := choice.Device
	if choice.Program != "" {
		name = defaultSim
	}
	planned := false
	err = bench.DryRun(ctx, bench.KindRun, []bench.Config{config}, bench.RunOptions{Device: name, Events: func(e bench.Event) {
		if e.Plan != nil {
			plan, planned = e.Plan.Plan, true
		}
	}})
	if planned {
		err = nil
	}
	return plan, err
}

// readGPUs tells of each GPU what the driver does, its link as it is while idle.
func readGPUs(devices []gpuwatch.Device) (gpus []doctor.GPU) {
	if len(devices) == 0 {
		return nil
	}
	watch, err := gpuwatch.Open()
	if err == nil {
		defer watch.Close()
	}
	for _, d := range devices {
		gpu := doctor.GPU{Name: d.Name, NUMANode: asInt(d.NUMANode)}
		if watch != nil {
			sample, _ := watch.Read(d) // what could not be read is nil
			gpu.Generation, gpu.Width = asInt(sample.LinkGeneration), asInt(sample.LinkWidth)
			gpu.MaxGeneration, gpu.MaxWidth = asInt(sample.MaxLinkGeneration), asInt(sample.MaxLinkWidth)
		}
		gpus = append(gpus, gpu)
	}
	return gpus
}

func asInt(v *int64) *int {
	if v == nil {
		return nil
	}
	n := int(*v)
	return &n
}

func runInQuestion(c bench.Config, p bench.Plan, name string) doctor.Run {
	return doctor.Run{
		Workers: c.Workers, BatchBytes: p.BatchBytes, SlotBytes: p.SlotBytes, PinnedBytes: p.PinnedBytes,
		Pinned: p.PinnedBytes > 0, NonBlocking: c.NonBlocking, DedicatedStream: c.CopyStream == loader.Dedicated,
		CPU: name == "cpu", Simulated: strings.HasPrefix(name, "sim"), Tokens: c.Source == "tokens",
	}
}

// boundNode is the NUMA node that the run would be bound to; nil: none.
func boundNode(mode string, f doctor.Facts) (*int, error) {
	switch {
	case mode == "off" || mode == "":
		return nil, nil
	case mode != "auto":
		node, err := strconv.Atoi(mode)
		if err != nil {
			return nil, &bench.InputError{Field: "numa", Value: mode, Allowed: "auto, off or a node's number"}
		}
		return &node, nil
	case f.Run.Simulated || f.Run.CPU || len(f.GPUs) == 0 || f.Limits.NUMANodes == nil || *f.Limits.NUMANodes < 2:
		return nil, nil
	}
	return f.GPUs[0].NUMANode, nil
}

// colours of levels: green, yellow, red.
var colours = map[string]string{"good": "\x1b[32m", "warn": "\x1b[33m", "bad": "\x1b[31m"}

// writeReport writes a paragraph a finding, 80 columns wide.
func writeReport(to io.Writer, report doctor.Report, colour bool) error {
	var text, out strings.Builder
	if err := report.Text(&text); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		line = strings.TrimRight(line, "\n")
		level, _, _ := strings.Cut(line, " ")
		if new(doctor.Level).UnmarshalText([]byte(level)) != nil {
			out.WriteString(line + "\n")
			continue
		}
		lead := fmt.Sprintf("%-7s ", level)
		paragraph := wrap(lead, strings.TrimPrefix(line, level))
		if colour && colours[level] != "" {
			paragraph = colours[level] + level + "\x1b[0m" + strings.TrimPrefix(paragraph, level)
		}
		out.WriteString(paragraph + "\n")
	}
	out.WriteString("\n" + wrap("", fmt.Sprintf("The most you should pin here: %s. %s", report.Ring.Text(), report.Ring.Rule)) + "\n")
	_, err := io.WriteString(to, out.String())
	return err
}
