package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"pinscope/bench"
)

// reportCommand is `pinscope report`.
type reportCommand struct {
	Result string `arg:"" placeholder:"RESULT" help:"A result file, as --json wrote it, or a PNG report, which carries one."`
	Output string `short:"o" placeholder:"FILE" help:"Write it to a file, in the form that its ending names: .png or .svg (a page with charts), .md, .csv, .json or .trace.json. Without it the summary is shown."`
	Force  bool   `help:"Replace a file that exists."`
	looks
}

func (c *reportCommand) run(_ context.Context, p *program) error {
	if err := c.looks.validate(); err != nil {
		return err
	}
	write, err := c.form()
	if err != nil {
		return err
	}
	result, err := openResult(c.Result)
	if err != nil {
		return &bench.InputError{Field: "result", Value: c.Result, Problem: err.Error()}
	}
	if c.Output == "" {
		return write(result, p.stdout)
	}
	return outputs{Force: c.Force}.put(target{"output", c.Output, func(w io.Writer) error { return write(result, w) }})
}

// form is how the output is written; its place is checked too.
func (c *reportCommand) form() (func(*bench.Result, io.Writer) error, error) {
	if c.Output == "" {
		return (*bench.Result).Text, nil
	}
	var write func(*bench.Result, io.Writer) error
	switch name := strings.ToLower(c.Output); {
	case strings.HasSuffix(name, ".trace.json"):
		write = (*bench.Result).WriteTrace
	case strings.HasSuffix(name, ".json"):
		write = (*bench.Result).WriteJSON
	case strings.HasSuffix(name, ".csv"):
		write = (*bench.Result).WriteCSV
	default:
		if write = c.page(name); write == nil {
			return nil, &bench.InputError{Field: "output", Value: c.Output,
				Allowed: "a name that ends in " + pageEndings + ", .csv, .json or .trace.json"}
		}
	}
	return write, bench.CheckTarget("output", c.Output, c.Force)
}

// presetsCommand is `pinscope presets`.
type presetsCommand struct {
	List presetsListCommand `cmd:"" default:"1" help:"List the presets."`
	Show presetsShowCommand `cmd:"" help:"Show a preset as JSON: a file to start one's own from."`
}

type presetsListCommand struct{}

func (c *presetsListCommand) run(_ context.Context, p *program) error {
	for _, preset := range bench.Presets() {
		if _, err := fmt.Fprintf(p.stdout, "%-12s %s\n", preset.Name, preset.Description); err != nil {
			return err
		}
	}
	return nil
}

type presetsShowCommand struct {
	Name string `arg:"" help:"A preset's name, or a JSON file of settings."`
}

func (c *presetsShowCommand) run(_ context.Context, p *program) error {
	config, err := bench.LoadPreset(c.Name)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(p.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(config)
}

// versionCommand is `pinscope version`.
type versionCommand struct{}

func (c *versionCommand) run(_ context.Context, p *program) error {
	tool := bench.ThisTool()
	_, err := fmt.Fprintf(p.stdout, "pinscope %s (%s, %s)\n", tool.Version, tool.Build, tool.Go)
	return err
}
