// Package cli is Pinscope's command line: it reads the arguments, has package
// bench do the work, writes the outputs and turns what happened into an exit code.
//
// [Main] is all that the program calls. Each command is a struct with a run
// method in a file of its own; kong fills the struct from the arguments.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/alecthomas/kong"

	"pinscope/bench"
)

// Exit codes of the program.
const (
	exitFine        = 0
	exitFailed      = 1 // the run failed
	exitInput       = 2 // the input is wrong
	exitHungUp      = 129
	exitInterrupted = 130
	exitTerminated  = 143
)

// program is one call of Main.
type program struct {
	args           []string // without the program's name
	stdout, stderr io.Writer
	interrupted    atomic.Int32 // exit code of the signal that came, 0 while none has
}

// grammar is what kong reads the arguments into.
type grammar struct {
	Run       runCommand       `cmd:"" help:"Run one configuration."`
	Compare   compareCommand   `cmd:"" help:"Run A against B, interleaved; by default A does not pin and waits, B pins and does not wait."`
	Sweep     sweepCommand     `cmd:"" help:"Run a grid of settings, interleaved, and show which is fastest and which pins least."`
	Tune      tuneCommand      `cmd:"" help:"Find the best workers and way to pin within a memory budget: a model first, then few runs that confirm."`
	Predict   predictCommand   `cmd:"" help:"Predict a run by a model, without running it, from settings or from a result with some of them changed."`
	Ladder    ladderCommand    `cmd:"" help:"Switch one thing on at a time, from pageable memory to a pinned data set, and show what each gives."`
	Bandwidth bandwidthCommand `cmd:"" help:"Measure copies each way: kind of host memory by size, DMA time and host-blocked time apart."`
	Pressure  pressureCommand  `cmd:"" help:"Hold more and more memory as ballast and see what that does to a loader and to cached files. Starts from the preset tiny."`
	Doctor    doctorCommand    `cmd:"" help:"Tell what limits pinning and loading on this machine, and what to do about it."`
	Report    reportCommand    `cmd:"" help:"Show a saved result again, or write it in another form."`
	Devices   devicesCommand   `cmd:"" help:"List the devices there are."`
	Presets   presetsCommand   `cmd:"" help:"List the presets, or show one."`
	Version   versionCommand   `cmd:"" help:"Show version and build."`
}

// command is what every command does once its flags are read.
type command interface {
	run(ctx context.Context, p *program) error
}

const description = "Shows what pinned (page-locked) host memory does to a training loop on this machine, and what it costs. " +
	"Without a command the window opens."

// Main runs the program: args are the arguments without the program's name, and
// window opens the window on some files. It returns the exit code. SIGINT,
// SIGTERM and SIGHUP cancel what is under way, a second one ends the process at
// once; so does a reader of standard output that has gone, without a signal.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer, window func(files []string) error) int {
	p := &program{args: args, stdout: stdout, stderr: stderr}
	if len(args) == 0 || areFiles(args) {
		return p.exit(asInput(window(args)))
	}
	ctx, stop := p.catchSignals(ctx)
	defer stop()
	chosen, err := p.parse(args)
	if err == nil && chosen != nil {
		err = chosen.run(ctx, p)
	}
	return p.exit(err)
}

// asInput makes the window's refusal to open wrong input: the command was the mistake.
func asInput(err error) error {
	if err == nil {
		return nil
	}
	return &bench.InputError{Problem: err.Error()}
}

// areFiles says whether all arguments name results or reports, which the window
// opens. The ending decides, so that a file called "run" is not in the way.
func areFiles(args []string) bool {
	for _, arg := range args {
		ending := strings.ToLower(filepath.Ext(arg))
		if _, err := os.Stat(arg); err != nil || ending != ".json" && ending != ".png" {
			return false
		}
	}
	return true
}

// parse reads the arguments; no command and no error means that help was shown.
func (p *program) parse(args []string) (command, error) {
	var g grammar
	helped := false
	var help bytes.Buffer
	options := append(bench.ParserOptions(startFrom(args)),
		kong.Name("pinscope"), kong.Description(description), kong.Writers(&help, &help),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
		kong.ExplicitGroups(groups))
	parser, err := kong.New(&g, options...)
	if err != nil {
		return nil, fmt.Errorf("command line: %w", err)
	}
	context, err := parser.Parse(args)
	if helped {
		_, err := p.stdout.Write(help.Bytes())
		return nil, err
	}
	if err != nil {
		return nil, bench.AsInputError(err)
	}
	if err := emptyNames(context); err != nil {
		return nil, err
	}
	for node := context.Selected(); node != nil; node = node.Parent {
		if chosen, ok := node.Target.Addr().Interface().(command); ok {
			return chosen, nil
		}
	}
	return nil, &bench.InputError{Field: "command line", Problem: "a command is missing; see pinscope --help"}
}

// emptyNames refuses flags for files that are given without one: a script's
// variable was empty, and the user believes that a file is written.
func emptyNames(context *kong.Context) error {
	for _, path := range context.Path {
		f := path.Flag
		if f == nil || path.Resolved || f.PlaceHolder != "FILE" && f.PlaceHolder != "RESULT" {
			continue
		}
		if value, ok := context.FlagValue(f).(string); ok && value == "" {
			return &bench.InputError{Field: f.Name, Value: `""`, Allowed: "the name of a file"}
		}
	}
	return nil
}

// startFrom is the configuration that a command's settings start from.
func startFrom(args []string) bench.Config {
	if len(args) > 0 && args[0] == "pressure" {
		return bench.ExperimentBase()
	}
	return bench.DefaultConfig()
}

// groups are the headings of the flags in help texts.
var groups = []kong.Group{
	{Key: "data", Title: "Data set"}, {Key: "loader", Title: "Loader"}, {Key: "pinning", Title: "Pinning"},
	{Key: "device", Title: "Device and training"}, {Key: "measuring", Title: "Measuring"},
	{Key: "compare", Title: "Comparing"}, {Key: "ladder", Title: "Ladder"}, {Key: "sweep", Title: "Sweep"}, {Key: "tune", Title: "Tuning"}, {Key: "predict", Title: "Predicting"}, {Key: "ballast", Title: "Ballast"}, {Key: "output", Title: "Output"},
}

// catchSignals cancels the context it returns when SIGINT, SIGTERM or SIGHUP comes.
// From then on signals do again what they do by default: the next one ends the
// process at once. A hangup that whoever started us had ignored (nohup) stays so.
func (p *program) catchSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	caught := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		caught = append(caught, syscall.SIGHUP)
	}
	signal.Notify(signals, caught...)
	p.watchReader(cancel)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			p.interrupted.Store(signalCodes[s])
			cancel(bench.ErrCancelled)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// signalCodes are the exit codes of signals, as shells count them.
var signalCodes = map[os.Signal]int32{os.Interrupt: exitInterrupted, syscall.SIGTERM: exitTerminated, syscall.SIGHUP: exitHungUp}

// exitCode is the code that an outcome is told by.
func (p *program) exitCode(err error) int {
	var input *bench.InputError
	var other exitCode
	switch code := p.interrupted.Load(); {
	case err == nil:
		return exitFine
	case errors.As(err, &other):
		return int(other)
	case code != 0:
		return int(code)
	case errors.As(err, &input):
		return exitInput
	default:
		return exitFailed
	}
}

// exit writes an error, a line for each problem, and gives its exit code.
func (p *program) exit(err error) int {
	if err != nil && !errors.As(err, new(exitCode)) {
		told := map[string]bool{} // many outputs may fail for one reason
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if line != "" && !told[line] {
				_ = say(p.stderr, "pinscope: "+line) // there is nowhere else to say it
			}
			told[line] = true
		}
	}
	return p.exitCode(err)
}
