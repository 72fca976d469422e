package bench

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pinscope/bench/trace"
)

// WriteJSON writes the result as a result file.
func (r *Result) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(r)
}

// mostResultBytes is the largest result file that is read: some hundred times
// what the largest run with default settings writes.
const mostResultBytes = 256 << 20

// ReadResult reads a result file of this schema version or an older one.
func ReadResult(from io.Reader) (*Result, error) {
	data, err := io.ReadAll(io.LimitReader(from, mostResultBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > mostResultBytes {
		return nil, fmt.Errorf("larger than %d bytes: not a result file", mostResultBytes)
	}
	if start := bytes.TrimSpace(data); len(start) > 0 && start[0] != '{' {
		return nil, errors.New("not a result file")
	}
	var head struct {
		Schema *int `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("not a result file: %w", err)
	}
	switch {
	case head.Schema == nil || *head.Schema < 1:
		return nil, errors.New("not a result file: it has no schema version")
	case *head.Schema > SchemaVersion:
		return nil, fmt.Errorf("schema version %d: this program reads up to %d; a newer Pinscope wrote it", *head.Schema, SchemaVersion)
	}
	r := &Result{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("damaged result file: %w", err)
	}
	if err := r.consistent(); err != nil {
		return nil, fmt.Errorf("damaged result file: %w", err)
	}
	for i := range r.Sides {
		if s := &r.Sides[i]; len(s.Plan.Shape) == 0 { // written before plans held them
			s.Plan.Shape, s.Plan.DType = s.Config.Shape, s.Config.DType
		}
	}
	return r, nil
}

// consistent says what readers of a result rely on and its types do not hold.
func (r *Result) consistent() error {
	if len(r.Sides) == 0 {
		return errors.New("it holds no sides")
	}
	if r.Kind == KindCompare && len(r.Sides) != 2 {
		return fmt.Errorf("a comparison of %d sides", len(r.Sides))
	}
	for i := range r.Sides {
		s := &r.Sides[i]
		if (s.Typical == nil) != (s.Trace == nil) {
			return fmt.Errorf("side %d has a typical repeat or a trace, not both", i+1)
		}
		if s.Typical != nil && (*s.Typical < 0 || *s.Typical >= len(s.Repeats)) {
			return fmt.Errorf("side %d has no repeat %d", i+1, *s.Typical)
		}
	}
	return nil
}

// csvHeader names the columns of the CSV: a row for each repeat.
var csvHeader = []string{"side", "name", "device", "simulated", "pin", "pin_effective", "non_blocking", "copy_stream", "host_memory",
	"source", "shape", "dtype", "batch", "workers", "prefetch", "ring_slots", "repeat", "warmup", "complete", "wall_s",
	"batches", "samples", "input_bytes", "samples_per_s", "overlap_share", "pinned_bytes", "slots_s", "pin_s"}

// csvStages are the stages that follow, each with its mean time of a batch and
// the CPU time it took in all.
var csvStages = func() []trace.Stage {
	stages := make([]trace.Stage, trace.Stages)
	for i := range stages {
		stages[i] = trace.Stage(i)
	}
	return stages
}()

// WriteCSV writes a row for each repeat (RFC 4180, points for decimals whatever
// the locale). What is not known is an empty cell.
func (r *Result) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	header := slices.Clone(csvHeader)
	for _, stage := range csvStages {
		name := strings.ReplaceAll(stage.String(), " ", "_")
		header = append(header, name+"_ms_per_batch", name+"_cpu_s")
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for i := range r.Sides {
		for _, repeat := range r.Sides[i].Repeats {
			if err := out.Write(r.csvRow(&r.Sides[i], repeat)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (r *Result) csvRow(s *Side, repeat Repeat) []string {
	c := s.Config
	row := []string{plainCell(s.Label), plainCell(s.Name), plainCell(r.Device.ID), strconv.FormatBool(r.Simulated), c.Pin.String(),
		string(s.Setup.PinEffective), strconv.FormatBool(c.NonBlocking), c.CopyStream.String(), c.HostKind().String(),
		plainCell(c.Source), plainCell(s.Plan.Shape.String()), s.Plan.DType.String(), strconv.FormatInt(c.Batch, 10),
		strconv.Itoa(c.Workers), strconv.Itoa(c.Prefetch), strconv.Itoa(s.Plan.RingSlots), strconv.Itoa(repeat.Position),
		strconv.FormatBool(repeat.Warmup), strconv.FormatBool(repeat.Complete), decimal(repeat.Wall.Seconds()),
		strconv.FormatInt(repeat.Batches, 10), strconv.FormatInt(repeat.Samples, 10),
		strconv.FormatInt(repeat.InputBytes, 10), optional(repeat.SamplesPerS), optional(repeat.OverlapShare),
		strconv.FormatInt(s.Setup.PinnedBytes, 10), decimal(s.Setup.SlotsDuration.Seconds()), decimal(s.Setup.PinDuration.Seconds())}
	for _, stage := range csvStages {
		perBatch, cpu := "", ""
		for _, summary := range repeat.Stages {
			if summary.Stage != stage {
				continue
			}
			if repeat.Batches > 0 {
				perBatch = decimal(summary.Total.Seconds() * 1e3 / float64(repeat.Batches))
			}
			if summary.CPU != nil {
				cpu = decimal(summary.CPU.Seconds())
			}
		}
		row = append(row, perBatch, cpu)
	}
	return row
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return decimal(*v)
}

// plainCell keeps a spreadsheet from taking text for a formula.
func plainCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// WriteTrace writes the typical repeat of each side for Perfetto.
func (r *Result) WriteTrace(w io.Writer) error {
	var processes []trace.Process
	for i := range r.Sides {
		side := &r.Sides[i]
		if side.Trace == nil {
			continue
		}
		repeat := side.Repeats[*side.Typical]
		name := strings.TrimSpace(side.Label + " " + side.Config.Summary() + " on " + r.Device.ID)
		processes = append(processes, trace.Process{Trace: side.Trace, Meta: trace.Meta{Process: name,
			Simulated: r.Simulated, Counters: r.memoryCounters(repeat.Start, repeat.Start+repeat.Wall)}})
	}
	if len(processes) == 0 {
		return errors.New("there is no finished repeat to draw a trace of")
	}
	return trace.WriteAll(w, processes)
}

// CheckTarget says whether a file can be written at path, before a run that may
// take hours: its folder is there and writable, and nothing is overwritten
// unless force allows it. What it tries out leaves nothing behind.
func CheckTarget(field, path string, force bool) error {
	wrong := func(problem string) error { return &InputError{Field: field, Value: path, Problem: problem} }
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return wrong("it is a folder; allowed is the name of a file")
	case err == nil && !force && info.Mode().IsRegular():
		return wrong("the file exists; choose another name or add --force to replace it")
	case err == nil && info.Mode()&os.ModeNamedPipe != 0: // opening it would wait for who reads it
		return nil
	case err == nil && !info.Mode().IsRegular(): // a device: nothing is made beside it
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return wrong(fmt.Sprintf("%s cannot be written to: %v", path, errors.Unwrap(err)))
		}
		return file.Close()
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return wrong(err.Error())
	case err != nil && !force && isLink(path):
		return wrong("it is a link that leads nowhere; choose another name or add --force to replace it")
	}
	folder := filepath.Dir(path)
	probe, err := os.CreateTemp(folder, ".pinscope-check-*")
	if err != nil {
		if info, statErr := os.Stat(folder); statErr != nil || !info.IsDir() {
			return wrong(fmt.Sprintf("the folder %s does not exist", folder))
		}
		return wrong(fmt.Sprintf("the folder %s cannot be written to: %v", folder, errors.Unwrap(err)))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// WriteFile writes a file whole or not at all: beside its place, then renamed.
// A device or a pipe is written to directly.
func WriteFile(path string, write func(io.Writer) error) error {
	place := writeWhole
	if info, statErr := os.Stat(path); statErr == nil && !info.Mode().IsRegular() {
		place = writeDirect
	}
	err := place(path, write)
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		err = system.Err // without the name of the file beside it, which is gone
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeDirect(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
