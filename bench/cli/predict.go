package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pinscope/bench"
	"pinscope/bench/trace"
	"pinscope/bench/whatif"
)

// predictCommand is `pinscope predict`.
type predictCommand struct {
	bench.Flags
	From  string   `name:"from" group:"predict" placeholder:"RESULT" help:"Take settings and stage times from a result that was measured, or a PNG report of it; --set then changes settings."`
	Side  string   `name:"side" group:"predict" placeholder:"NAME" help:"The side of that result, A or B. Default: its first."`
	Set   []string `name:"set" group:"predict" sep:"none" placeholder:"NAME=VALUE" help:"Change a setting, such as workers=8 or pin=direct, or a value of the device's model, such as link-gbps=55; may be repeated."`
	Stage []string `name:"stage" group:"predict" sep:"none" placeholder:"NAME=TIME" help:"What a stage takes for a full batch: load, collate, pin-copy, copy-call, launch, htod, gather or step; may be repeated. What is neither given nor modelled is measured in a short calibration run."`
	Check bool     `name:"check" group:"predict" help:"Run the predicted settings too and show how far off the prediction is."`

	JSON  string `name:"json" group:"output" placeholder:"FILE" help:"Write the prediction; - is standard output."`
	Trace string `name:"trace" group:"output" placeholder:"FILE" help:"Write the predicted run for Perfetto or Chrome."`
	Quiet bool   `name:"quiet" group:"output" help:"Show only the answer."`
	Force bool   `name:"force" group:"output" help:"Replace files that exist."`
}

func (c *predictCommand) run(ctx context.Context, p *program) error {
	if err := c.outputs().check(); err != nil {
		return err
	}
	base, err := c.base(ctx, p)
	if err != nil {
		return err
	}
	prediction, err := base.Predict()
	if err != nil {
		return err
	}
	if c.Check {
		if err := c.check(ctx, p, base, prediction); err != nil {
			return err
		}
	}
	return c.write(p, prediction)
}

// outputs is the flags in the form that other commands have them.
func (c *predictCommand) outputs() outputs {
	return outputs{JSON: c.JSON, Trace: c.Trace, Quiet: c.Quiet, Force: c.Force}
}

// base is what the prediction starts from.
func (c *predictCommand) base(ctx context.Context, p *program) (*whatif.Base, error) {
	given, err := c.stages()
	if err != nil {
		return nil, err
	}
	if c.From != "" {
		return c.fromResult(given)
	}
	config := bench.Config(c.Flags)
	if err := config.Validate(); err != nil {
		return nil, err
	}
	name, why, err := p.choose(config)
	if err != nil {
		return nil, err
	}
	config.Device = name
	base, err := c.fromSettings(config, given)
	if !errors.As(err, new(*whatif.MissingError)) {
		return base, err
	}
	w := p.events(c.outputs())
	defer w.end()
	w.plans = false
	base, err = whatif.Calibrate(ctx, config, given, bench.RunOptions{Events: w.event, DeviceWhy: why})
	if err != nil {
		return nil, fmt.Errorf("calibration run: %w", err)
	}
	return c.with(base)
}

// fromSettings starts from settings whose times are all known without measuring.
func (c *predictCommand) fromSettings(config bench.Config, given map[trace.Stage]time.Duration) (*whatif.Base, error) {
	base, err := whatif.FromSettings(config, given)
	if err == nil {
		base, err = c.with(base)
	}
	if err == nil {
		_, err = base.Predict()
	}
	return base, err
}

// with changes the settings that are to be changed.
func (c *predictCommand) with(base *whatif.Base) (*whatif.Base, error) {
	base, err := base.With(c.Set...)
	return base, bench.ForFlag("set", err)
}

// fromResult starts from a result file.
func (c *predictCommand) fromResult(given map[trace.Stage]time.Duration) (*whatif.Base, error) {
	if bench.Config(c.Flags).CommandLine("") != bench.DefaultConfig().CommandLine("") {
		return nil, &bench.InputError{Field: "from", Value: c.From,
			Problem: "the settings are those of the result; change them with --set NAME=VALUE"}
	}
	result, err := openResult(c.From)
	if err != nil {
		return nil, &bench.InputError{Field: "from", Value: c.From, Problem: err.Error()}
	}
	base, err := whatif.FromResult(result, c.Side, given)
	if err != nil {
		return nil, err
	}
	return c.with(base)
}

// stages reads the times that are given.
func (c *predictCommand) stages() (map[trace.Stage]time.Duration, error) {
	given := map[trace.Stage]time.Duration{}
	for _, text := range c.Stage {
		name, value, _ := strings.Cut(text, "=")
		var stage trace.Stage
		d, err := time.ParseDuration(value)
		if stage.UnmarshalText([]byte(strings.ReplaceAll(name, "-", " "))) != nil || !whatif.CanGive(stage) || err != nil || d < 0 || d > time.Hour {
			return nil, &bench.InputError{Field: "stage", Value: strconv.Quote(text),
				Allowed: "load, collate, pin-copy, copy-call, launch, htod, gather or step, = and a time from 0s to 1h, such as load=20ms"}
		}
		given[stage] = d
	}
	return given, nil
}

// check runs what was predicted.
func (c *predictCommand) check(ctx context.Context, p *program, base *whatif.Base, prediction *whatif.Prediction) error {
	config, err := base.Runnable()
	if err != nil {
		return err
	}
	name, why, err := p.choose(config)
	if err != nil {
		return err
	}
	w := p.events(c.outputs())
	w.plans = false
	result, err := bench.Run(ctx, config, bench.RunOptions{Events: w.event, Device: name, DeviceWhy: why})
	w.end()
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return prediction.CheckAgainst(result)
}

// write writes everything that was asked for.
func (c *predictCommand) write(p *program, prediction *whatif.Prediction) error {
	failed := []error{c.outputs().save(p, []target{{"json", c.JSON, prediction.WriteJSON}, {"trace", c.Trace, prediction.WriteTrace}}, prediction.WriteJSON)}
	text := p.events(c.outputs()).text
	if c.Quiet {
		return errors.Join(append(failed, say(text, prediction.Sentence()))...)
	}
	return errors.Join(append(failed, prediction.Text(text))...)
}
