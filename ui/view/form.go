package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/cudamem"
	"pinscope/cudamem/sim"
	"pinscope/ui/words"
)

// Form is what stands in the fields of the form, by flag: "batch" is "64".
type Form map[string]string

// FormOf is the form that shows a configuration.
func FormOf(c bench.Config) Form {
	text, err := json.Marshal(c)
	if err != nil {
		return Form{} // a Config of this program always has a JSON form
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var values map[string]any
	if err := decoder.Decode(&values); err != nil {
		return Form{}
	}
	f := Form{"sim": ""}
	for key, value := range values {
		f[strings.ReplaceAll(key, "_", "-")] = fieldText(value)
	}
	return f
}

func fieldText(value any) string {
	pairs, ok := value.(map[string]any)
	if !ok {
		return fmt.Sprint(value)
	}
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		texts = append(texts, key+"="+fmt.Sprint(pairs[key]))
	}
	return strings.Join(texts, ",")
}

// Read is the configuration that the form asks for, and what is wrong with which
// field; the configuration counts only where nothing is. Problems that are no
// field's are under "".
func (f Form) Read() (bench.Config, map[string]string) {
	base := bench.DefaultConfig()
	base.Preset = ""
	var settings []string
	for _, flag := range slices.Sorted(maps.Keys(f)) {
		if flag != "preset" && !(flag == "sim" && f[flag] == "") {
			settings = append(settings, flag+"="+strings.TrimSpace(f[flag]))
		}
	}
	c, err := bench.ParseSettings(base, settings...)
	if err != nil {
		return c, unreadable(base, settings)
	}
	c.Preset = f["preset"]
	return c, problemsOf(c.Validate())
}

// unreadable looks for the fields that cannot be read, each by itself.
func unreadable(base bench.Config, settings []string) map[string]string {
	found := map[string]string{}
	for _, s := range settings {
		if _, err := bench.ParseSettings(base, s); err != nil {
			flag, _, _ := strings.Cut(s, "=")
			found[flag] = fieldProblem(err)
		}
	}
	return found
}

func problemsOf(err error) map[string]string {
	found := map[string]string{}
	for _, err := range flatten(err) {
		flag := ""
		if input := (*bench.InputError)(nil); errors.As(err, &input) {
			flag = input.Field
		}
		if found[flag] == "" {
			found[flag] = fieldProblem(err)
		}
	}
	return found
}

func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// fieldProblem leaves out the name of the field, which stands above.
func fieldProblem(err error) string {
	var input *bench.InputError
	if !errors.As(err, &input) {
		return err.Error()
	}
	if input.Problem != "" {
		return input.Problem
	}
	return strings.TrimPrefix(input.Error(), input.Field+": ")
}

// Kind is how a field is filled in.
type Kind int

// The kinds of field.
const (
	Entry  Kind = iota // text or a number
	Choice             // one of Choices
	Switch             // "true" or "false"
	Source             // a kind of data set, and what it is read from
)

// Field is a field of the form.
type Field struct {
	Flag    string
	Kind    Kind
	Label   string
	Unit    string // shown after the field; empty: none
	Hint    string // what it does, and its range
	Choices []string
}

// Section is a group of fields under a heading.
type Section struct {
	Title  string
	Fields []Field
}

// Sections are all fields in their order.
func Sections(l words.Language) []Section {
	field := func(flag string, kind Kind, label, unit string, choices ...string) Field {
		return Field{Flag: flag, Kind: kind, Label: label, Unit: unit, Hint: hint(l, flag), Choices: choices}
	}
	return []Section{
		{l.Say("Data set"), []Field{
			field("source", Source, l.Say("Source"), "", SourceKinds()...),
			field("samples", Entry, l.Say("Samples"), l.Say("samples")),
			field("shape", Entry, l.Say("Shape"), l.Say("values")),
			field("dtype", Choice, l.Say("Type"), "", cudamem.DTypeNames()...),
			field("on-bad", Choice, l.Say("Unreadable file"), "", bench.OnBadStop, bench.OnBadSkip),
		}},
		{l.Say("Loader"), []Field{
			field("batch", Entry, l.Say("Batch size"), l.Say("samples")),
			field("workers", Entry, l.Say("Workers"), l.Say("threads")),
			field("prefetch", Entry, l.Say("Prefetch"), l.Say("batches")),
			field("epochs", Entry, l.Say("Epochs"), l.Say("times")),
			field("shuffle", Switch, l.Say("Shuffle"), ""),
			field("drop-last", Switch, l.Say("Drop last batch"), ""),
			field("keep-workers", Switch, l.Say("Keep workers"), ""),
			field("seed", Entry, l.Say("Seed"), ""),
			field("timeout", Entry, l.Say("Timeout"), ""),
		}},
		{l.Say("Pinning"), []Field{
			field("pin", Choice, l.Say("Pin"), "", loader.PinModeNames()...),
			field("non-blocking", Switch, "non_blocking", ""),
			field("copy-stream", Choice, l.Say("Copy stream"), "", loader.CopyStreamNames()...),
			field("host-memory", Choice, l.Say("Host memory"), "", cudamem.HostKindNames()...),
			field("ring-slots", Entry, l.Say("Ring slots"), l.Say("slots")),
			field("max-pinned", Entry, l.Say("Most to pin"), ""),
			field("risk-memory", Switch, l.Say("Risk memory"), ""),
		}},
		{l.Say("Device and step"), []Field{
			field("device", Entry, l.Say("Device"), "", Devices()...),
			field("sim", Entry, l.Say("Simulated GPU"), ""),
			field("out-features", Entry, l.Say("Outputs"), ""),
			field("steps-per-batch", Entry, l.Say("Steps per batch"), l.Say("steps")),
			field("learning-rate", Entry, l.Say("Learning rate"), ""),
			field("sync-steps", Switch, l.Say("Wait for each step"), ""),
			field("numa", Entry, l.Say("NUMA node"), "", "auto", "off"),
		}},
		{l.Say("Measuring"), []Field{
			field("repeats", Entry, l.Say("Repeats"), l.Say("repeats")),
			field("warmup", Entry, l.Say("Warm-up"), l.Say("repeats")),
			field("verify", Switch, l.Say("Verify every byte"), ""),
		}},
	}
}

// Devices are the devices that a field offers; others can be typed.
func Devices() []string {
	names := []string{"auto", "cpu", "cuda:0"}
	for _, model := range sim.Presets() {
		names = append(names, "sim:"+model)
	}
	return names
}

// SourceKinds are the kinds of data set.
func SourceKinds() []string { return []string{"cached", "randn", "tokens", "npy", "images", "delay"} }

// SplitSource takes a source apart into its kind and what follows the colon.
func SplitSource(source string) (kind, argument string) {
	kind, argument, _ = strings.Cut(source, ":")
	return kind, argument
}

// JoinSource is the source of a kind with what belongs to it. Kinds that have
// nothing of the kind drop it.
func JoinSource(kind, argument string) string {
	switch kind {
	case "npy", "images", "delay":
		return kind + ":" + argument
	}
	return kind
}

// hint is what a setting does: the help text of its flag, without the default,
// which the field shows.
func hint(l words.Language, flag string) string {
	field, ok := fieldsByFlag[flag]
	if !ok {
		return ""
	}
	help := field.Tag.Get("help")
	if cut := strings.LastIndex(help, " Default"); cut >= 0 {
		help = help[:cut]
	}
	return l.Hint(flag, help)
}

var fieldsByFlag = func() map[string]reflect.StructField {
	byFlag := map[string]reflect.StructField{}
	config := reflect.TypeFor[bench.Config]()
	for i := range config.NumField() {
		key, _, _ := strings.Cut(config.Field(i).Tag.Get("json"), ",")
		byFlag[strings.ReplaceAll(key, "_", "-")] = config.Field(i)
	}
	return byFlag
}()
