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
	ours   *bool  // the result file is this run's, or one that is gone on with; nil: it is not

	DryRun bool `name:"dry-run" group:"output" help:"Show the plan, allocate nothing, run nothing."`
	looks
}

// target is one file to write; without a path it is not asked for.
type target struct {
	flag, path string
	write      func(io.Writer) error
}

// targets are the forms of a result.
func (o outputs) targets(r *bench.Result) []target {
	page := o.page(o.Report)
	return []target{
		{"json", o.JSON, r.WriteJSON},
		{"csv", o.CSV, r.WriteCSV},
		{"trace", o.Trace, r.WriteTrace},
		{"report", o.Report, func(w io.Writer) error { return page(r, w) }},
	}
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
	for _, t := range o.targets(nil) {
		if t.path == "" {
			continue
		}
		if t.path == "-" {
			switch {
			case t.flag != "json":
				refuse(t.flag, t.path, "- is not allowed; allowed is the name of a file")
			case o.Events:
				refuse("json", "-", "- cannot be used together with --events, which writes to standard output too")
			}
			continue
		}
		path := whereIs(t.path)
		if other, twice := seen[path]; twice {
			refuse(t.flag, t.path, fmt.Sprintf("%s is already the file of --%s", t.path, other))
			continue
		}
		seen[path] = t.flag
		wrong = append(wrong, bench.CheckTarget(t.flag, t.path, o.replaces(t.flag)))
	}
	return errors.Join(wrong...)
}

// whereIs spells a file's place in one way: from the root on, links of folders
// followed.
func whereIs(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
		return filepath.Join(folder, filepath.Base(full))
	}
	return full
}

// replaces says whether the file of a flag may be one that is there.
func (o outputs) replaces(flag string) bool {
	return o.Force || flag == "json" && o.ours != nil && *o.ours
}

// write writes a result to everything that was asked for.
func (o outputs) write(p *program, w *watcher, r *bench.Result) error {
	failed := []error{o.save(p, o.targets(r), r.WriteJSON)}
	if w.stream != nil {
		w.stream.Write(bench.Event{Type: "result", Result: r})
	}
	switch {
	case o.Quiet && r.Sentence != "":
		failed = append(failed, say(w.text, r.Sentence))
	case !o.Quiet:
		failed = append(failed, r.Text(w.text))
	}
	return errors.Join(failed...)
}

// save writes targets. One that fails does not keep the others from being written;
// if the place of a file has become unusable and no JSON was written, that goes
// where temporary files are.
func (o outputs) save(p *program, targets []target, asJSON func(io.Writer) error) error {
	var failed []error
	saved, unusable := false, false
	for _, t := range targets {
		var err error
		switch t.path {
		case "":
			continue
		case "-":
			err = t.write(p.stdout)
		default:
			err = o.put(t)
			unusable = unusable || errors.As(err, new(syscall.Errno)) || errors.Is(err, bench.ErrAppeared)
		}
		failed = append(failed, err)
		saved = saved || t.flag == "json" && err == nil
	}
	if unusable && !saved {
		failed = append(failed, rescue(asJSON))
	}
	return errors.Join(failed...)
}

// put writes a target to its file.
func (o outputs) put(t target) error {
	if o.replaces(t.flag) {
		return bench.WriteFile(t.path, t.write)
	}
	return bench.WriteNewFile(t.path, t.write)
}

// rescue writes a result where temporary files go. The error says where it is.
func rescue(asJSON func(io.Writer) error) error {
	file, err := os.CreateTemp("", "pinscope-*.json")
	if err != nil {
		return fmt.Errorf("the result could not be kept anywhere: %w", err)
	}
	if err := errors.Join(asJSON(file), file.Close()); err != nil {
		return errors.Join(fmt.Errorf("the result could not be kept anywhere: %w", err), os.Remove(file.Name()))
	}
	if _, err := openResult(file.Name()); err != nil { // it is of another kind
		return fmt.Errorf("the result was kept in %s", file.Name())
	}
	return fmt.Errorf("the result was kept in %s: see it with pinscope report", file.Name())
}
