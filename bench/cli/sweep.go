package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"pinscope/bench"
)

// sweepCommand is `pinscope sweep`.
type sweepCommand struct {
	bench.Flags
	Vary   []string `name:"vary" group:"sweep" sep:"none" placeholder:"NAME=V,V,..." help:"A setting and its values, such as batch=16,32,64; once for each axis of the grid."`
	Resume string   `name:"resume" group:"sweep" placeholder:"FILE" help:"Go on with a sweep that was stopped: the file that its --json wrote, after each round. Its settings are in the file."`
	outputs

	given []string // settings on the command line
}

// AfterApply is called by kong.
func (c *sweepCommand) AfterApply(context *kong.Context) error {
	for _, path := range context.Path {
		if f := path.Flag; f != nil && !path.Resolved && (f.Group == nil || f.Group.Key != "output") && f.Name != "resume" {
			c.given = append(c.given, f.Name)
		}
	}
	return nil
}

func (c *sweepCommand) run(ctx context.Context, p *program) error {
	sweep, device, err := c.sweep()
	if err != nil {
		return err
	}
	m := measurement{kind: bench.KindSweep, configs: sweep.Configs(), command: sweep.CommandLine(), names: sweep.Names(), device: device}
	o := c.outputs
	o.ours = new(bool)
	if c.Resume != "" && (o.JSON == "" || whereIs(o.JSON) == whereIs(c.Resume)) {
		o.JSON, *o.ours = c.Resume, true
	}
	var save func(*bench.Result) error
	if file := o.JSON; file != "" && file != "-" {
		save = func(r *bench.Result) error {
			err := o.put(target{"json", file, r.WriteJSON})
			*o.ours = *o.ours || err == nil
			return err
		}
	}
	m.measure = func(ctx context.Context, o bench.RunOptions) (*bench.Result, error) {
		return bench.RunSweep(ctx, sweep, o, save)
	}
	return o.measure(ctx, p, m)
}

// sweep is the one that is asked for, and the device that it has to go on with.
func (c *sweepCommand) sweep() (sweep *bench.Sweep, device string, err error) {
	if c.Resume == "" {
		axes := make([]bench.Axis, len(c.Vary))
		for i, text := range c.Vary {
			if axes[i], err = bench.ParseAxis(text); err != nil {
				return nil, "", err
			}
		}
		sweep, err = bench.NewSweep(bench.Config(c.Flags), axes)
		return sweep, "", err
	}
	if len(c.given) > 0 {
		names := slices.Compact(slices.Sorted(slices.Values(c.given)))
		return nil, "", &bench.InputError{Field: "resume", Value: c.Resume,
			Problem: fmt.Sprintf("all settings are in the file; leave out --%s", strings.Join(names, ", --"))}
	}
	file, err := os.Open(c.Resume)
	if err != nil {
		return nil, "", &bench.InputError{Field: "resume", Value: c.Resume, Problem: err.Error()}
	}
	defer file.Close()
	prior, err := bench.ReadResult(file)
	if err != nil {
		return nil, "", &bench.InputError{Field: "resume", Value: c.Resume, Problem: fmt.Sprintf("%s: %v", c.Resume, err)}
	}
	sweep, err = bench.ResumeSweep(prior)
	return sweep, cmp.Or(prior.Device.ID, "auto"), err
}
