package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"pinscope/bench/units"
	"pinscope/cudamem"
	"pinscope/cudamem/device"
)

// devicesCommand is `pinscope devices`.
type devicesCommand struct{}

func (c *devicesCommand) run(_ context.Context, p *program) error {
	for _, name := range device.List() {
		if err := describe(p.stdout, name); err != nil {
			return err
		}
	}
	return nil
}

// describe opens a device for a moment and writes a line about it, or why there is none.
func describe(w io.Writer, name string) error {
	dev, why, err := device.Open(name, nil, cudamem.NewClock())
	if err != nil {
		return line(w, name, fmt.Sprintf("not here: %v", err))
	}
	text := describeInfo(dev.Info())
	if id := dev.Info().ID; id != name {
		text = "stands for " + id
		if why != "" {
			text += ": " + why
		}
	}
	if err := dev.Close(); err != nil {
		return err
	}
	return line(w, name, text)
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
