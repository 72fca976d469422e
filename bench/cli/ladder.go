package cli

import (
	"context"
	"slices"

	"github.com/alecthomas/kong"

	"pinscope/bench"
)

// ladderCommand is `pinscope ladder`.
type ladderCommand struct {
	bench.Flags
	SideSteps bool `name:"side-steps" group:"ladder" help:"Also try other kinds of memory for the ring: registered, write-combined, mapped, managed."`
	outputs

	given []string // flags on the command line
}

// AfterApply is called by kong.
func (c *ladderCommand) AfterApply(context *kong.Context) error {
	c.given = givenFlags(context)
	return nil
}

// givenFlags are the names of the flags that are on the command line.
func givenFlags(context *kong.Context) []string {
	var names []string
	for _, path := range context.Path {
		if path.Flag != nil && !path.Resolved {
			names = append(names, path.Flag.Name)
		}
	}
	return names
}

func (c *ladderCommand) run(ctx context.Context, p *program) error {
	for _, name := range []string{"pin", "non-blocking", "copy-stream", "host-memory"} {
		if slices.Contains(c.given, name) {
			return &bench.InputError{Field: name, Problem: "a ladder sets it, another way on each rung; leave it out"}
		}
	}
	config := bench.Config(c.Flags)
	rungs, err := bench.LadderRungs(config, c.SideSteps)
	if err != nil {
		return err
	}
	m := measurement{kind: bench.KindLadder, command: bench.LadderCommandLine(config, c.SideSteps), names: bench.RungNames(rungs)}
	for _, rung := range rungs {
		m.configs = append(m.configs, rung.Config)
	}
	m.measure = func(ctx context.Context, o bench.RunOptions) (*bench.Result, error) {
		return bench.RunLadder(ctx, rungs, o)
	}
	return c.outputs.measure(ctx, p, m)
}
