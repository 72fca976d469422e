package bench

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"pinscope/bench/loader"
	"pinscope/cudamem"
)

// setting is one field of a Config as text.
type setting struct{ flag, value string }

// settings lists all fields in the order of the struct, as flags spell them.
func (c Config) settings() []setting {
	var out []setting
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		out = append(out, setting{strings.ReplaceAll(key, "_", "-"), spell(v.Field(i).Interface())})
	}
	return out
}

// spell writes a value so that readValue gives the same again.
func spell(value any) string {
	switch v := value.(type) {
	case fmt.Stringer:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case map[string]string:
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			pairs = append(pairs, key+"="+v[key])
		}
		return kong.JoinEscaped(pairs, ',')
	default:
		return fmt.Sprint(v)
	}
}

// Flags is a Config for a command's struct to embed. It has no methods, since
// kong would call Validate before the rest of the command line is understood.
type Flags Config

// ParserOptions is what a kong parser of a struct that embeds Flags needs:
// how values are read, what the help text fills in, and where settings that
// are not on the command line come from: the preset named there, else base.
func ParserOptions(base Config) []kong.Option {
	vars := kong.Vars{}
	for _, s := range base.settings() {
		vars[strings.ReplaceAll(s.flag, "-", "_")] = s.value
	}
	options := []kong.Option{vars, kong.WithHyphenPrefixedParameters(true), kong.Resolvers(kong.ResolverFunc(
		func(context *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
			return resolve(base, context, flag)
		}))}
	for _, kind := range []reflect.Kind{reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64} {
		options = append(options, kong.KindMapper(kind, kong.MapperFunc(readValue)))
	}
	for _, value := range []any{Shape(nil), Duration(0), Size(0), cudamem.Float32, cudamem.Pageable, loader.PinOff, loader.Shared} {
		options = append(options, kong.TypeMapper(reflect.TypeOf(value), kong.MapperFunc(readValue)))
	}
	return options
}

// readValue reads a flag's value; the error is an *InputError.
func readValue(context *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := context.Scan.PopValueInto("value", &text); err != nil {
		return &InputError{Field: context.Value.Name, Problem: "a value is missing; allowed is " + allowed(context.Value.Name)}
	}
	if err := readText(text, target); err != nil {
		return &InputError{Field: context.Value.Name, Value: strconv.Quote(text), Allowed: allowed(context.Value.Name)}
	}
	return nil
}

func readText(text string, target reflect.Value) error {
	if reader, ok := target.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return reader.UnmarshalText([]byte(text))
	}
	switch target.Kind() {
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		target.SetUint(n)
		return err
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		target.SetFloat(x)
		return err
	default:
		n, err := strconv.ParseInt(text, 10, target.Type().Bits())
		target.SetInt(n)
		return err
	}
}

// resolve is the value of a flag that is not on the command line.
func resolve(base Config, context *kong.Context, flag *kong.Flag) (any, error) {
	if name, ok := given(context, "preset").(string); ok && name != "" {
		preset, err := LoadPreset(name)
		if err != nil {
			return nil, err
		}
		base = preset
	}
	if source, ok := given(context, "source").(string); ok {
		base = base.forSource(source)
	}
	for _, s := range base.settings() {
		if s.flag == flag.Name && s.value != "" {
			return s.value, nil
		}
	}
	return nil, nil
}

// given is the value of a flag on the command line, nil if it is not there.
func given(context *kong.Context, name string) any {
	for _, path := range context.Path {
		if path.Flag != nil && path.Flag.Name == name && !path.Resolved {
			return context.FlagValue(path.Flag)
		}
	}
	return nil
}

// ParseArgs reads settings as they stand on a command line ("--pin", "off",
// "--no-shuffle") on top of base, without validating them. The error is an *InputError.
func ParseArgs(base Config, args []string) (Config, error) {
	var target struct{ Flags }
	options := append(ParserOptions(base), kong.Name("settings"), kong.NoDefaultHelp(), kong.Exit(func(int) {}))
	parser, err := kong.New(&target, options...)
	if err != nil {
		return base, fmt.Errorf("bench: settings: %w", err)
	}
	if _, err := parser.Parse(args); err != nil {
		return base, AsInputError(err)
	}
	return Config(target.Flags), nil
}

// ParseSettings applies settings such as "pin=off" and "non-blocking=false", as
// sweeps and the sides of a comparison spell them, to base, without validating
// the outcome. The error is an *InputError.
func ParseSettings(base Config, settings ...string) (Config, error) {
	args := make([]string, len(settings))
	for i, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return base, &InputError{Field: "settings", Value: strconv.Quote(s), Allowed: "NAME=VALUE, such as pin=off"}
		}
		args[i] = "--" + strings.ReplaceAll(name, "_", "-") + "=" + value
	}
	out, err := ParseArgs(base, args)
	return out, unknownSetting(args, err)
}

// unknownSetting words a parser's "unknown flag" for somebody who typed a setting.
func unknownSetting(args []string, err error) error {
	var input *InputError
	if !errors.As(err, &input) {
		return err
	}
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if rest, ok := strings.CutPrefix(input.Problem, "unknown flag "+name); ok && (rest == "" || rest[0] == ',') {
			return &InputError{Field: "settings", Value: arg[2:], Problem: fmt.Sprintf("%s: there is no setting %s%s",
				arg[2:], name[2:], strings.ReplaceAll(rest, `"--`, `"`))}
		}
	}
	return err
}

// ForFlag names the flag that held the settings in an error of ParseSettings that
// is about no setting in particular.
func ForFlag(flag string, err error) error {
	var input *InputError
	if errors.As(err, &input) && input.Field == "settings" {
		named := *input
		named.Field = flag
		return &named
	}
	return err
}

var flagPrefix = regexp.MustCompile(`^--(?:\[no-\])?([a-z-]+)(?:=[^:]*)?: `)

// AsInputError turns an error of a kong parser into an *InputError, if it is
// none yet.
func AsInputError(err error) error {
	var input *InputError
	if errors.As(err, &input) {
		return input
	}
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	if found := flagPrefix.FindStringSubmatch(text); found != nil {
		return &InputError{Field: found[1], Problem: strings.TrimPrefix(text, found[0])}
	}
	return &InputError{Field: "command line", Problem: text}
}

// Args is the shortest list of flags that ParseArgs, on DefaultConfig, reads as
// c again on any machine: a number of workers that the machine decided is
// spelled out. A preset of the program is named; one from a file is not, since the
// file may change: its settings are spelled out and Preset is lost.
func (c Config) Args() []string {
	base := defaultConfig(machineWorkers)
	var args []string
	if preset, ok := builtinPreset(c.Preset, machineWorkers); ok {
		base = preset.Config
		args = append(args, "--preset", c.Preset)
	}
	implied := base.forSource(c.Source) // what ParseArgs takes for granted with this source
	implied.Source = base.Source
	return append(args, c.differences(implied)...)
}

func (c Config) differences(base Config) []string {
	var args []string
	defaults := base.settings()
	for i, s := range c.settings() {
		switch {
		case s.flag == "preset" || s.value == defaults[i].value:
		case s.value == "true":
			args = append(args, "--"+s.flag)
		case s.value == "false":
			args = append(args, "--no-"+s.flag)
		default:
			args = append(args, "--"+s.flag, s.value)
		}
	}
	return args
}

// CommandLine is the command line, quoted for a POSIX shell, that gives c again:
// "pinscope run --preset article --pin off". See [Config.Args].
func (c Config) CommandLine(command string) string {
	words := []string{"pinscope", command}
	for _, arg := range c.Args() {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,+%@-]+$`)

// quote writes a word so that a POSIX shell reads it as it is.
func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
