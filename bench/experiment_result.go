package bench

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"pinscope/bench/pressure"
	"pinscope/bench/units"
)

// ExperimentSchemaVersion is that of an experiment's JSON file.
const ExperimentSchemaVersion = 1

// ExperimentResult is what an [Experiment] found. Its JSON is the file format; what
// is not known is nil, null there.
type ExperimentResult struct {
	Schema    int       `json:"pressure_schema"`
	Simulated bool      `json:"simulated"` // copies and steps are timed by a model; memory, reclaim and stalls are real
	Tool      Tool      `json:"tool"`
	Started   time.Time `json:"started"`
	Command   string    `json:"command"`
	Host      Host      `json:"host"`
	Device    Device    `json:"device"`

	Config         Config        `json:"config"` // of the loader
	Plan           Plan          `json:"plan"`
	UpTo           float64       `json:"up_to_share"` // of the available memory, as asked for
	PerStep        time.Duration `json:"per_step_ns"`
	CacheFileBytes int64         `json:"cache_file_bytes"` // 0: cached files were not read

	Complete  bool   `json:"complete"`
	Cancelled bool   `json:"cancelled"`
	Error     string `json:"error,omitempty"`

	Outcomes []pressure.Outcome `json:"outcomes"` // pinned ballast; then pageable, where asked for
	Notes    []string           `json:"notes"`
	Sentence string             `json:"sentence"`
}

func newExperimentResult(s *session, e ExperimentOptions) *ExperimentResult {
	r := s.result
	return &ExperimentResult{
		Schema: ExperimentSchemaVersion, Simulated: r.Simulated, Tool: r.Tool, Started: r.Started, Command: r.Command,
		Host: r.Host, Device: r.Device, Config: s.sides[0].config, Plan: s.sides[0].plan, UpTo: e.UpTo, PerStep: e.PerStep,
		Outcomes: []pressure.Outcome{}, Notes: slices.Clone(r.Warnings),
	}
}

// note adds a note, once.
func (r *ExperimentResult) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

func (r *ExperimentResult) finish(err error) {
	r.Complete = err == nil
	if err != nil {
		r.Error = err.Error()
		r.Cancelled = errors.Is(err, context.Canceled) || errors.Is(err, ErrCancelled)
	}
	r.Sentence = r.sentence()
	if r.Simulated && r.Sentence != "" {
		r.Sentence = "SIMULATED: " + r.Sentence
	}
}

func (r *ExperimentResult) sentence() string {
	text := ""
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Text == "" {
			continue
		}
		if text != "" {
			text += " "
		}
		text += o.Text
	}
	return text + r.difference()
}

// difference holds pinned against pageable ballast at the largest size that both held.
func (r *ExperimentResult) difference() string {
	if len(r.Outcomes) < 2 {
		return ""
	}
	pinned, pageable := r.Outcomes[0].Steps, r.Outcomes[1].Steps
	for i := min(len(pinned), len(pageable)) - 1; i >= 0; i-- {
		a, b := &pinned[i], &pageable[i]
		if a.BallastBytes == 0 || a.SamplesPerSecond == nil || b.SamplesPerSecond == nil {
			continue
		}
		text := fmt.Sprintf(" With %s held, pinned against pageable: %s against %s samples/s", units.Bytes(a.BallastBytes),
			units.SampleRate(*a.SamplesPerSecond), units.SampleRate(*b.SamplesPerSecond))
		if a.Cache != nil && b.Cache != nil {
			text += fmt.Sprintf(", cached files at %s against %s", units.GBps(a.Cache.BytesPerSecond/1e9), units.GBps(b.Cache.BytesPerSecond/1e9))
		}
		return text + fmt.Sprintf(", pages swapped out %s against %s.", count(a.SwapOutPages), count(b.SwapOutPages))
	}
	return ""
}

func count(v *float64) string {
	if v == nil {
		return units.NotAvailable
	}
	return units.Count(int64(*v))
}

// Text writes the result for a terminal, 80 columns wide.
func (r *ExperimentResult) Text(to io.Writer) error {
	w := &textWriter{Writer: bufio.NewWriter(to)}
	if r.Simulated {
		w.line("SIMULATED GPU: link and compute times come from a model; memory is real")
	}
	w.pair("Device", r.Device.Name+" ("+r.Device.ID+")")
	if r.Device.Why != "" {
		w.pair("", r.Device.Why)
	}
	w.pair("Loader", fmt.Sprintf("batch %s (%s), %s, %s; %s a step", units.Count(r.Config.Batch), units.Bytes(r.Plan.BatchBytes),
		plural(int64(r.Config.Workers), "worker"), r.Config.Summary(), units.Duration(r.PerStep)))
	if r.CacheFileBytes > 0 {
		w.pair("Cache", fmt.Sprintf("a file of %s is read beside it, as long as memory holds it", units.Bytes(r.CacheFileBytes)))
	}
	for i := range r.Outcomes {
		textOutcome(w, &r.Outcomes[i])
	}
	w.list("Notes", r.Notes)
	if r.Error != "" {
		w.list("Ended early", []string{firstLine(r.Error)})
	}
	if r.Sentence != "" {
		w.line("")
		w.wrap("", r.Sentence)
	}
	return w.Flush()
}

// textOutcome is a table with a row for each step.
func textOutcome(w *textWriter, o *pressure.Outcome) {
	w.line("")
	w.line("Ballast that is %s; available before: %s", o.Kind, optionalBytes(o.Limits.AvailableBytes))
	w.line("%10s %11s %11s %7s %7s %9s %7s %10s", "held", "samples/s", "cached", "PSI", "PSI", "pages", "major", "lowest")
	w.line("%10s %11s %11s %7s %7s %9s %7s %10s", "", "", "files", "some", "full", "reclaimed", "faults", "available")
	for i := range o.Steps {
		s := &o.Steps[i]
		samples, cached, least := units.NotAvailable, units.NotAvailable, units.NotAvailable
		if s.SamplesPerSecond != nil {
			samples = units.SampleRate(*s.SamplesPerSecond)
		}
		if s.Cache != nil && s.Cache.Bytes > 0 {
			cached = units.GBps(s.Cache.BytesPerSecond / 1e9)
		}
		if s.LeastAvailableBytes != nil {
			least = units.Bytes(int64(*s.LeastAvailableBytes))
		}
		w.line("%10s %11s %11s %7s %7s %9s %7s %10s", units.Bytes(s.BallastBytes), samples, cached,
			optionalShare(s.SomeShare), optionalShare(s.FullShare), count(s.StolenPages), count(s.MajorFaults), least)
	}
	if o.Ended != "" {
		w.wrap("", "Ended there: "+o.Ended)
	}
}

func optionalShare(part *float64) string {
	if part == nil {
		return units.NotAvailable
	}
	return units.Percent(*part)
}

func optionalBytes(bytes *int64) string {
	if bytes == nil {
		return units.NotAvailable
	}
	return units.Bytes(*bytes)
}

// WriteJSON writes the result as a file.
func (r *ExperimentResult) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(r)
}

var experimentHeader = []string{"device", "simulated", "ballast", "step", "ballast_bytes", "pinned_bytes", "grow_s", "samples_per_s",
	"cache_bytes_per_s", "memory_some_share", "memory_full_share", "scanned_pages", "stolen_pages", "alloc_stalls", "refault_pages",
	"swap_out_pages", "major_faults", "least_available_bytes", "ended"}

// WriteCSV writes a row for each step (RFC 4180, points for decimals whatever the
// locale). What is not known is an empty cell.
func (r *ExperimentResult) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	rows := [][]string{experimentHeader}
	for _, o := range r.Outcomes {
		for i, s := range o.Steps {
			row := []string{plainCell(r.Device.ID), strconv.FormatBool(r.Simulated), o.Kind, strconv.Itoa(i),
				strconv.FormatInt(s.BallastBytes, 10), optional(s.PinnedBytes), decimal(s.Grow.Seconds()), optional(s.SamplesPerSecond)}
			var cached *float64
			if s.Cache != nil && s.Cache.Bytes > 0 {
				cached = &s.Cache.BytesPerSecond
			}
			for _, v := range []*float64{cached, s.SomeShare, s.FullShare, s.ScannedPages, s.StolenPages, s.AllocStalls, s.RefaultPages,
				s.SwapOutPages, s.MajorFaults, s.LeastAvailableBytes} {
				row = append(row, optional(v))
			}
			rows = append(rows, append(row, plainCell(s.Ended)))
		}
	}
	return out.WriteAll(rows)
}
