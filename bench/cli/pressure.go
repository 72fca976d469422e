package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"pinscope/bench"
)

// pressureCommand is `pinscope pressure`.
type pressureCommand struct {
	bench.Flags
	UpTo        string  `name:"up-to" group:"ballast" placeholder:"SHARE" default:"60%" help:"Hold up to this share of the available memory, e.g. 60%; an eighth is always left to the system. Default ${default}."`
	Steps       int     `group:"ballast" placeholder:"N" default:"6" help:"Steps of ballast, 1 to 64. Default ${default}."`
	Seconds     float64 `group:"ballast" placeholder:"S" default:"2" help:"Time that the loader runs at each step, 0.2 to 600. Default ${default}."`
	Against     string  `group:"ballast" placeholder:"KIND" help:"Do it again with ballast of this kind and the same size: pageable."`
	CacheFolder string  `group:"ballast" placeholder:"DIR" help:"Folder on a disk for the file that is read beside the loader; it is removed again. Default: the folder of temporary files."`

	JSON  string `name:"json" group:"output" placeholder:"FILE" help:"Write everything as JSON; - is standard output."`
	CSV   string `name:"csv" group:"output" placeholder:"FILE" help:"Write a table with a row for each step."`
	Quiet bool   `group:"output" help:"Show only the answer."`
	Force bool   `group:"output" help:"Replace files that exist."`
}

func (c *pressureCommand) run(ctx context.Context, p *program) error {
	config := bench.Config(c.Flags)
	options, err := c.options()
	o := c.outputs()
	if err := errors.Join(err, config.Validate(), o.check()); err != nil {
		return err
	}
	name, why, err := p.choose(config)
	if err != nil {
		return err
	}
	w := p.events(o)
	w.simulated = strings.HasPrefix(name, "sim")
	if w.terminal != nil {
		options.OnStep = func(ballast string, step, steps int) {
			w.line(fmt.Sprintf("%s ballast, step %d of %d done (Ctrl+C gives everything back)", ballast, step, steps))
		}
	}
	result, err := bench.Experiment(ctx, config, options,
		bench.RunOptions{Device: name, DeviceWhy: why, Command: c.commandLine(config)})
	w.end()
	if result != nil {
		err = errors.Join(err, c.write(p, w, result))
	}
	return err
}

// outputs is the flags in the form that other commands have them.
func (c *pressureCommand) outputs() outputs {
	return outputs{JSON: c.JSON, CSV: c.CSV, Quiet: c.Quiet, Force: c.Force}
}

// options reads the settings that are not the loader's.
func (c *pressureCommand) options() (o bench.ExperimentOptions, err error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(c.UpTo), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share <= 1) {
		return o, &bench.InputError{Field: "up-to", Value: strconv.Quote(c.UpTo), Allowed: "above 0% to 100%"}
	}
	if c.Against != "" && c.Against != "pageable" {
		return o, &bench.InputError{Field: "against", Value: strconv.Quote(c.Against), Allowed: "pageable"}
	}
	if !(c.Seconds >= 0 && c.Seconds <= 1e6) {
		return o, &bench.InputError{Field: "seconds", Value: fmt.Sprint(c.Seconds), Allowed: "0.2 to 600"}
	}
	o = bench.ExperimentOptions{UpTo: share, Steps: c.Steps, PerStep: time.Duration(c.Seconds * 1e9), Against: c.Against != ""}
	o.CacheFolders = []string{os.TempDir(), "/var/tmp", "."} // temporary files may lie in memory
	if c.CacheFolder != "" {
		o.CacheFolders = []string{c.CacheFolder}
	}
	return o, nil
}

// commandLine repeats the experiment.
func (c *pressureCommand) commandLine(config bench.Config) string {
	text := fmt.Sprintf("%s --up-to %s --steps %d --seconds %v", config.CommandLine("pressure"), c.UpTo, c.Steps, c.Seconds)
	if c.Against != "" {
		text += " --against " + c.Against
	}
	return text
}

// write writes everything that was asked for.
func (c *pressureCommand) write(p *program, w *watcher, r *bench.ExperimentResult) error {
	failed := []error{c.outputs().save(p, []target{{"json", c.JSON, r.WriteJSON}, {"csv", c.CSV, r.WriteCSV}}, r.WriteJSON)}
	if c.Quiet {
		return errors.Join(append(failed, say(w.text, r.Sentence))...)
	}
	return errors.Join(append(failed, r.Text(w.text))...)
}
