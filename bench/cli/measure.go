package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"pinscope/bench"
)

// runCommand is `pinscope run`.
type runCommand struct {
	bench.Flags
	outputs
}

func (c *runCommand) run(ctx context.Context, p *program) error {
	config := bench.Config(c.Flags)
	return c.outputs.measure(ctx, p, measurement{kind: bench.KindRun, configs: []bench.Config{config}, command: config.CommandLine("run")})
}

// compareCommand is `pinscope compare`.
type compareCommand struct {
	bench.Flags
	A []string `name:"a" group:"compare" sep:"none" placeholder:"NAME=VALUE" help:"A setting of A alone, such as pin=off; may be repeated. Otherwise A has pin=off and non-blocking=false."`
	B []string `name:"b" group:"compare" sep:"none" placeholder:"NAME=VALUE" help:"A setting of B alone, such as pin=direct; may be repeated. Otherwise B has pin=thread, unless --pin says something else than off."`
	outputs
}

func (c *compareCommand) run(ctx context.Context, p *program) error {
	both := bench.Config(c.Flags)
	a, b, err := bench.CompareSides(both, c.A, c.B)
	if err != nil {
		return err
	}
	return c.outputs.measure(ctx, p, measurement{kind: bench.KindCompare, configs: []bench.Config{a, b}, command: bench.CompareCommandLine(both, c.A, c.B)})
}

// measurement is what is to be measured.
type measurement struct {
	kind    bench.Kind
	configs []bench.Config
	command string // that repeats it

	// Of ladders and sweeps.
	names   []string
	device  string // that it has to be, whatever the settings say; "": none
	measure func(context.Context, bench.RunOptions) (*bench.Result, error)
}

// start hands a measurement to package bench.
func (m measurement) start(ctx context.Context, o bench.RunOptions) (*bench.Result, error) {
	if m.measure != nil {
		return m.measure(ctx, o)
	}
	if m.kind == bench.KindCompare {
		return bench.Compare(ctx, m.configs[0], m.configs[1], o)
	}
	return bench.Run(ctx, m.configs[0], o)
}

// measure checks everything that can be wrong, measures, and writes the outputs.
func (o outputs) measure(ctx context.Context, p *program, m measurement) error {
	w := p.events(o)
	w.plans = w.plans && (m.measure == nil || o.DryRun) // of many sides they fill the screen
	if err := errors.Join(m.validate(), o.check()); err != nil {
		return o.failed(p, w, err)
	}
	where := m.configs[0]
	where.Device = cmp.Or(m.device, where.Device)
	name, why, err := p.choose(where)
	if err != nil {
		return o.failed(p, w, err)
	}
	options := bench.RunOptions{Events: w.event, Command: m.command, Device: name, DeviceWhy: why, SampleMemory: true, Names: m.names}
	if o.DryRun {
		return o.failed(p, w, cmp.Or(bench.DryRun(ctx, m.kind, m.configs, options), w.failed))
	}
	result, err := m.start(ctx, options)
	w.end()
	if result != nil {
		err = errors.Join(err, o.write(p, w, result))
	}
	return o.failed(p, w, err)
}

// validate says what is wrong with the first side that has anything wrong: the
// other most often repeats it.
func (m measurement) validate() error {
	for i, c := range m.configs {
		if err := c.Validate(); err != nil && i > 0 {
			name := "side B"
			if i < len(m.names) {
				name = m.names[i]
			}
			return fmt.Errorf("%s: %w", name, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// failed tells the reader of events of an error, if there is one, and passes it on.
func (o outputs) failed(p *program, w *watcher, err error) error {
	if err != nil && w.stream != nil {
		w.stream.Write(bench.Event{Type: "error", Error: &bench.Failure{Message: err.Error(), ExitCode: p.exitCode(err)}})
	}
	if err == nil && w.stream != nil {
		err = w.stream.Err()
	}
	return err
}
