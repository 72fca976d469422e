package cli

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/alecthomas/kong"

	"pinscope/bench"
	"pinscope/bench/tune"
)

// tuneCommand is `pinscope tune`.
type tuneCommand struct {
	bench.Flags
	BudgetMiB int64   `name:"budget-mib" group:"tune" placeholder:"N" default:"0" help:"Pin at most so many MiB; 0: no limit but the system's."`
	Within    float64 `name:"within" group:"tune" placeholder:"PERCENT" default:"0" help:"Give up so much of the best throughput for less pinned memory, 0 to 100."`
	outputs

	given []string // flags on the command line
}

// AfterApply is called by kong.
func (c *tuneCommand) AfterApply(context *kong.Context) error {
	c.given = givenFlags(context)
	return nil
}

func (c *tuneCommand) run(ctx context.Context, p *program) error {
	w := p.events(c.outputs)
	w.plans = false
	base := bench.Config(c.Flags)
	if err := errors.Join(c.validate(), base.Validate(), c.outputs.check()); err != nil {
		return c.failed(p, w, err)
	}
	name, why, err := p.choose(base)
	if err != nil {
		return c.failed(p, w, err)
	}
	base.Device = name
	o := tune.Options{BudgetBytes: c.BudgetMiB << 20, Within: c.Within / 100}
	out, err := tune.Tune(ctx, base, o, bench.RunOptions{Events: w.event, DeviceWhy: why, SampleMemory: true})
	w.end()
	if out != nil {
		rest := c.outputs
		if !c.Quiet {
			err = errors.Join(err, out.Text(w.text))
			rest.Quiet = true // of the confirming runs there is only their answer to add
		}
		err = errors.Join(err, rest.write(p, w, out.Result))
	}
	return c.failed(p, w, err)
}

// validate says what is wrong with what only this command has.
func (c *tuneCommand) validate() error {
	for _, name := range []string{"workers", "pin", "non-blocking", "copy-stream", "host-memory", "ring-slots"} {
		if slices.Contains(c.given, name) {
			return &bench.InputError{Field: name, Problem: "tune looks for it; leave it out"}
		}
	}
	switch {
	case c.DryRun:
		return &bench.InputError{Field: "dry-run", Problem: "tune has to measure before it can plan; leave it out"}
	case c.Device == "cpu":
		return &bench.InputError{Field: "device", Value: "cpu", Problem: "the CPU trains on host memory where it lies: there is nothing to pin; allowed is a GPU, real or simulated"}
	case c.BudgetMiB < 0 || c.BudgetMiB > math.MaxInt64>>20:
		return &bench.InputError{Field: "budget-mib", Value: strconv.FormatInt(c.BudgetMiB, 10), Allowed: "0 to 8796093022207"}
	case !(c.Within >= 0 && c.Within <= 100):
		return &bench.InputError{Field: "within", Value: strconv.FormatFloat(c.Within, 'g', -1, 64), Allowed: "0 to 100"}
	}
	return nil
}
