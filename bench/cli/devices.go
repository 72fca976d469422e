package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"pinscope/bench/runner"
	"pinscope/bench/units"
	"pinscope/cudamem"
	"pinscope/cudamem/device"
)

// devicesCommand is `pinscope devices`.
type devicesCommand struct{}

func (c *devicesCommand) run(_ context.Context, p *program) error {
	looked := runner.Look(thisProgram)
	for _, name := range device.List() {
		text, err := describe(name, looked)
		if err != nil {
			return err
		}
		if err := line(p.stdout, name, text); err != nil {
			return err
		}
	}
	return nil
}

// describe says what a run with a device of this name would use, or why there is
// none. It opens the device for a moment if it is this program that would.
func describe(name string, looked runner.Facts) (string, error) {
	choice, err := runner.Decide(name, looked)
	switch {
	case err != nil:
		return "not here: " + strings.TrimPrefix(err.Error(), "runner: device "+name+" is not to be had: "), nil
	case name == "auto":
		return "stands for " + choice.Device + ": " + choice.Why, nil
	case choice.Program != "":
		return choice.Why, nil
	case choice.Device != name:
		return "stands for " + choice.Device, nil
	}
	dev, _, err := device.Open(choice.Device, nil, cudamem.NewClock())
	if err != nil {
		return fmt.Sprintf("not here: %v", err), nil
	}
	text := describeInfo(dev.Info())
	return text, dev.Close()
}

// line writes a device's name and what there is to say about it, in 80 columns.
func line(w io.Writer, name, text string) error {
	_, err := fmt.Fprintln(w, wrap(fmt.Sprintf("%-18s ", name), text))
	return err
}

func describeInfo(info cudamem.Info) string {
	parts := []string{info.Name}
	if info.LinkGBps > 0 {
		parts = append(parts, "link "+units.GBps(info.LinkGBps))
	}
	if info.MemoryBytes > 0 {
		parts = append(parts, units.Bytes(info.MemoryBytes))
	}
	return strings.Join(parts, ", ")
}
