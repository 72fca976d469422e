package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"pinscope/bench"
)

// outputs are the flags that say where results go.
type outputs struct {
	JSON   string `name:"json" group:"output" placeholder:"FILE" help:"Write the result file; - is standard output."`
	CSV    string `name:"csv" group:"output" placeholder:"FILE" help:"Write a table with a row for each repeat."`
	Trace  string `name:"trace" group:"output" placeholder:"FILE" help:"Write the typical repeat for Perfetto or Chrome."`
	Report string `name:"report" group:"output" placeholder:"FILE" help:"Write a page with charts: .png (carries the result), .svg or .md."`
	Events bool   `name:"events" group:"output" help:"Stream what happens to standard output, a JSON object a line, and no other text."`
	Quiet  bool   `name:"quiet" group:"output" help:"Show only the answer."`
	Force  bool   `name:"force" group:"output" help:"Replace files that exist."`
	goesOn bool   // the result file is one that is gone on with

	DryRun bool `name:"dry-run" group:"output" help:"Show the plan, allocate nothing, run nothing."`
	looks
}

// target is one file to write.
type target struct {
	flag, path string
	write      func(*bench.Result, io.Writer) error
}

func (o outputs) targets() []target {
	var out []target
	for _, t := range []target{
		{"json", o.JSON, (*bench.Result).WriteJSON},
		{"csv", o.CSV, (*bench.Result).WriteCSV},
		{"trace", o.Trace, (*bench.Result).WriteTrace},
		{"report", o.Report, o.page(o.Report)},
	} {
		if t.path != "" {
			out = append(out, t)
		}
	}
	return out
}

// check looks, before the run, for what would keep the outputs from being written.
func (o outputs) check() error {
	var wrong []error
	refuse := func(flag, value, problem string) {
		wrong = append(wrong, &bench.InputError{Field: flag, Value: value, Problem: problem})
	}
	seen := map[string]string{}
	if o.Report != "" && o.page(o.Report) == nil {
		wrong = append(wrong, &bench.InputError{Field: "report", Value: o.Report, Allowed: "a name that ends in " + pageEndings})
	}
	wrong = append(wrong, o.looks.validate())
	for _, t := range o.targets() {
		if t.path == "-" {
			switch {
			case t.flag != "json":
				refuse(t.flag, t.path, "- is not allowed; allowed is the name of a file")
			case o.Events:
				refuse("json", "-", "- cannot be used together with --events, which writes to standard output too")
			}
			continue
		}
		path := filepath.Clean(t.path)
		if other, twice := seen[path]; twice {
			refuse(t.flag, t.path, fmt.Sprintf("%s is already the file of --%s", t.path, other))
			continue
		}
		seen[path] = t.flag
		wrong = append(wrong, bench.CheckTarget(t.flag, t.path, o.Force || o.goesOn && t.flag == "json"))
	}
	return errors.Join(wrong...)
}

// write writes a result to everything that was asked for. One output that fails
// does not keep the others from being written; if the place of a file has become
// unusable and no result file was written, one goes where temporary files are.
func (o outputs) write(p *program, w *watcher, r *bench.Result) error {
	var failed []error
	saved, unusable := false, false
	for _, t := range o.targets() {
		err := t.save(p, r)
		failed = append(failed, err)
		saved = saved || t.flag == "json" && err == nil
		unusable = unusable || t.path != "-" && errors.As(err, new(syscall.Errno))
	}
	if unusable && !saved {
		failed = append(failed, rescue(r))
	}
	if w.stream != nil {
		w.stream.Write(bench.Event{Type: "result", Result: r})
	}
	switch {
	case o.Quiet && r.Sentence != "":
		_, err := fmt.Fprintln(w.text, r.Sentence)
		failed = append(failed, err)
	case !o.Quiet:
		failed = append(failed, r.Text(w.text))
	}
	return errors.Join(failed...)
}

// save writes the target's form of a result to its place.
func (t target) save(p *program, r *bench.Result) error {
	if t.path == "-" {
		return t.write(r, p.stdout)
	}
	return bench.WriteFile(t.path, func(to io.Writer) error { return t.write(r, to) })
}

// rescue writes a result file where temporary files go. The error says where it is.
func rescue(r *bench.Result) error {
	file, err := os.CreateTemp("", "pinscope-*.json")
	if err != nil {
		return fmt.Errorf("the result could not be kept anywhere: %w", err)
	}
	if err := errors.Join(r.WriteJSON(file), file.Close()); err != nil {
		return errors.Join(fmt.Errorf("the result could not be kept anywhere: %w", err), os.Remove(file.Name()))
	}
	return fmt.Errorf("the result was kept in %s: see it with pinscope report", file.Name())
}
