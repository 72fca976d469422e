package bench

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pinscope/bench/loader"
	"pinscope/cudamem"
)

func TestValidate(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Config)
		want   []string // lines of the error; nil: allowed
	}{
		{"defaults", func(c *Config) {}, nil},
		{"negative batch", func(c *Config) { c.Batch = -3 }, []string{"batch: -3 is not allowed; allowed is 1 to 2147483647"}},
		{"largest batch", func(c *Config) { c.Batch = math.MaxInt32 }, nil},
		{"all problems at once", func(c *Config) { c.Batch, c.Workers, c.OnBad, c.NUMA = 0, -1, "go", "x" }, []string{
			"batch: 0 is not allowed; allowed is 1 to 2147483647",
			"workers: -1 is not allowed; allowed is 0 to 4096",
			`on-bad: "go" is not allowed; allowed is stop, skip`,
			`numa: "x" is not allowed; allowed is auto, off or the number of a NUMA node`}},
		{"no shape", func(c *Config) { c.Shape = nil }, []string{`shape: "" is not allowed; allowed is 1 to 8 dimensions of at least 1, such as 3x224x224`}},
		{"zero dimension", func(c *Config) { c.Shape = Shape{3, 0} }, []string{`shape: "3x0" is not allowed; allowed is 1 to 8 dimensions of at least 1, such as 3x224x224`}},
		{"unknown source", func(c *Config) { c.Source = "disk" }, []string{`source: "disk" is not allowed; allowed is randn, cached, npy:FILE, images:DIR, tokens, delay:TIME`}},
		{"no file", func(c *Config) { c.Source = "npy" }, []string{`source: "npy" names no FILE; allowed is npy:FILE`}},
		{"no time", func(c *Config) { c.Source = "delay:5" }, []string{`source: "delay:5" is not allowed; allowed is delay:TIME or delay:TIME±JITTER, TIME from 0s to 24h, JITTER from 0s to TIME, such as delay:634ms±5ms`}},
		{"tokens as floats", func(c *Config) { c.Source = "tokens" }, []string{"dtype: float32 is not allowed with source tokens; allowed is int64"}},
		{"images as int64", func(c *Config) { c.Source, c.DType = "images:d", cudamem.Int64 }, []string{"dtype: int64 is not allowed with source images; allowed is float32, float16, uint8"}},
		{"no samples", func(c *Config) { c.Samples = 0 }, []string{"samples: 0 is not allowed; allowed is 1 to 9223372036854775807"}},
		{"all of a file", func(c *Config) { c.Source, c.Samples = "npy:f.npy", 0 }, nil},
		{"not a number", func(c *Config) { c.LearningRate = math.NaN() }, []string{"learning-rate: NaN is not allowed; allowed is 0 to 1000"}},
		{"timeout 0", func(c *Config) { c.Timeout = 0 }, []string{"timeout: 0s is not allowed; allowed is 1ms to 24h"}},

		// C97: 65536 * 65536 * 4 = 2^34 bytes a sample.
		{"C97 batch 1", func(c *Config) { c.Source, c.Shape, c.Batch = "randn", Shape{65536, 65536}, 1 }, nil},
		{"C97 batch 2^32", func(c *Config) { c.Source, c.Shape, c.Batch = "randn", Shape{65536, 65536}, 1<<32 }, []string{
			"batch: 4294967296 is not allowed; allowed is 1 to 2147483647"}},
		{"C97 batch 2^30: 2^64 bytes", func(c *Config) { c.Source, c.Shape, c.Batch = "randn", Shape{65536, 65536}, 1<<30 }, []string{
			"batch: 1073741824 samples of 17179869184 bytes are too large; allowed is up to 2^63-1 bytes, 536870911 samples"}},
		{"C97 samples 2^63-1, drawn as they are read", func(c *Config) { c.Source, c.Samples, c.Epochs = "randn", math.MaxInt64, 1 }, nil},
		{"C97 samples 2^63-1, twice", func(c *Config) { c.Source, c.Samples, c.Epochs = "randn", math.MaxInt64, 2 }, []string{
			"epochs: 2 epochs of 9223372036854775807 samples are too many; allowed is up to 2^63-1 samples in all"}},
		{"C97 samples 2^63-1, in memory", func(c *Config) { c.Samples, c.Epochs = math.MaxInt64, 1 }, []string{
			"samples: 9223372036854775807 samples of 602112 bytes do not fit in memory; allowed with source cached is up to 15318366079491 samples"}},
		{"C97 shape", func(c *Config) { c.Shape = Shape{math.MaxInt32, math.MaxInt32, 2} }, []string{
			"shape: a sample of 2147483647x2147483647x2 float32 is too large; allowed is up to 2^63-1 bytes"}},

		{"C26 nothing left", func(c *Config) { c.Samples, c.DropLast = 50, true }, []string{
			"drop-last: 50 samples do not fill a batch of 64, so nothing would be left; lower batch to 50 or less, or switch drop-last off"}},
		{"C26 kept", func(c *Config) { c.Samples = 50 }, nil},
		{"C26 one batch", func(c *Config) { c.Samples, c.DropLast = 64, true }, nil},

		{"pinned memory, pin off", func(c *Config) { c.Pin, c.HostMemory = loader.PinOff, cudamem.Pinned }, []string{
			"host-memory: pinned is not allowed with pin off; allowed is pageable"}},
		{"ring, pin off", func(c *Config) { c.Pin, c.RingSlots = loader.PinOff, 2 }, []string{
			"ring-slots: 2 is not allowed with pin off, which has no ring; allowed is 0"}},
		{"data set drawn as it is read", func(c *Config) { c.Pin, c.Source = loader.PinDataset, "randn" }, []string{
			"pin: dataset is not allowed with source randn; allowed is cached, npy:FILE, whose samples lie in memory"}},
		{"data set write-combined", func(c *Config) { c.Pin, c.HostMemory = loader.PinDataset, cudamem.WriteCombined }, []string{
			"host-memory: write-combined is not allowed with pin dataset; allowed is mapped, registered"}},
		{"data set registered", func(c *Config) { c.Pin, c.HostMemory = loader.PinDataset, cudamem.Registered }, nil},
		{"managed, pin thread", func(c *Config) { c.HostMemory = cudamem.Managed }, []string{
			"host-memory: managed is not allowed with pin thread; allowed is pinned, registered, write-combined, mapped"}},
		{"C33", func(c *Config) { c.Workers, c.Prefetch, c.KeepWorkers = 0, 4, true }, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := DefaultConfig()
			tc.change(&c)
			err := c.Validate()
			want := strings.Join(tc.want, "\n")
			if got := errorText(err); got != want {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
			var input *InputError
			if err != nil && (!errors.As(err, &input) || !strings.HasPrefix(want, input.Field+": ")) {
				t.Errorf("not an *InputError for the field: %#v", input)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParseArgs(t *testing.T) {
	base := DefaultConfig()
	cases := []struct {
		name   string
		args   string
		change func(*Config)
		err    string
	}{
		{"nothing", "", func(c *Config) {}, ""},
		{"switched off", "--no-non-blocking --no-shuffle", func(c *Config) { c.NonBlocking, c.Shuffle = false, false }, ""},
		{"switched by value", "--non-blocking=false --drop-last=true", func(c *Config) { c.NonBlocking, c.DropLast = false, true }, ""},
		{"values", "--pin direct --shape 3x8 --dtype uint8 --host-memory write-combined --max-pinned 512MiB --timeout 5s --seed 18446744073709551615",
			func(c *Config) {
				c.Pin, c.Shape, c.DType, c.HostMemory = loader.PinDirect, Shape{3, 8}, cudamem.Uint8, cudamem.WriteCombined
				c.MaxPinned, c.Timeout, c.Seed = 512<<20, Duration(5*time.Second), math.MaxUint64
			}, ""},
		{"model", "--sim link-gbps=12,ramp=3:6:12 --sim jitter=0", func(c *Config) {
			c.Sim = map[string]string{"link-gbps": "12", "ramp": "3:6:12", "jitter": "0"}
		}, ""},
		{"preset", "--preset article", func(c *Config) { *c, _ = LoadPreset("article") }, ""},
		{"flag over preset", "--batch 32 --preset article --no-shuffle", func(c *Config) {
			*c, _ = LoadPreset("article")
			c.Batch, c.Shuffle = 32, false
		}, ""},
		{"files know how many", "--source npy:x.npy", func(c *Config) { c.Source, c.Samples = "npy:x.npy", 0 }, ""},
		{"of files so many", "--source images:d --samples 640", func(c *Config) { c.Source = "images:d" }, ""},
		{"tokens", "--source tokens", func(c *Config) { c.Source, c.Shape, c.DType = "tokens", Shape{256}, cudamem.Int64 }, ""},

		{"not a number", "--batch x", nil, `batch: "x" is not allowed; allowed is 1 to 2147483647`},
		{"no octal", "--batch 010", func(c *Config) { c.Batch = 10 }, ""},
		{"decimal comma (C79)", "--learning-rate 1,5", nil, `learning-rate: "1,5" is not allowed; allowed is 0 to 1000`},
		{"beyond 64 bits", "--samples 9223372036854775808", nil, `samples: "9223372036854775808" is not allowed; allowed is 1 to 9223372036854775807`},
		{"negative seed", "--seed=-1", nil, `seed: "-1" is not allowed; allowed is 0 to 18446744073709551615`},
		{"pin", "--pin yes", nil, `pin: "yes" is not allowed; allowed is off, thread, direct, dataset, pageable-thread`},
		{"dtype", "--dtype float64", nil, `dtype: "float64" is not allowed; allowed is float32, float16, uint8, int64`},
		{"size", "--max-pinned 9223372036854775807KiB", nil, `max-pinned: "9223372036854775807KiB" is not allowed; allowed is 0 to 2^63-1 bytes, such as 512MiB`},
		{"boolean", "--shuffle=perhaps", nil, `shuffle: bool value must be true, 1, yes, false, 0 or no but got "perhaps"`},
		{"unknown", "--batchsize 3", nil, `command line: unknown flag --batchsize`},
		{"preset", "--preset artikel", nil, `preset: "artikel" is not allowed; allowed is article, imagenet-u8, tokens, small-batch, video, tiny, or a file ending in .json`},
		{"no value", "--batch", nil, `batch: "" is not allowed; allowed is 1 to 2147483647`},
		{"negative", "--batch -3", func(c *Config) { c.Batch = -3 }, ""},
		{"a flag as value", "--batch --shuffle", nil, `batch: "--shuffle" is not allowed; allowed is 1 to 2147483647`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseArgs(base, strings.Fields(tc.args))
			if errorText(err) != tc.err {
				t.Fatalf("error %q, want %q", errorText(err), tc.err)
			}
			if err != nil {
				var input *InputError
				if !errors.As(err, &input) {
					t.Errorf("%T is not an *InputError", err)
				}
				return
			}
			want := base
			tc.change(&want)
			equalConfig(t, got, want)
		})
	}
}

func equalConfig(t *testing.T, got, want Config) {
	t.Helper()
	g, w := got.settings(), want.settings()
	for i := range g {
		if g[i] != w[i] {
			t.Errorf("%s is %q, want %q", g[i].flag, g[i].value, w[i].value)
		}
	}
}

// Files know how many samples they hold; what is drawn needs a number again.
func TestSourceChangesBack(t *testing.T) {
	base := DefaultConfig().forSource("npy:x.npy")
	got, err := ParseSettings(base, "source=cached")
	if err != nil {
		t.Fatal(err)
	}
	equalConfig(t, got, DefaultConfig())
}

func TestParseSettings(t *testing.T) {
	base, _ := LoadPreset("article")
	base.Sim = map[string]string{"jitter": "0"}
	got, err := ParseSettings(base, "pin=off", "non_blocking=false", "source=npy:a_b=c.npy")
	if err != nil {
		t.Fatal(err)
	}
	want := base
	want.Pin, want.NonBlocking, want.Source, want.Samples = loader.PinOff, false, "npy:a_b=c.npy", 0
	equalConfig(t, got, want)

	for setting, message := range map[string]string{
		"pin":      `settings: "pin" is not allowed; allowed is NAME=VALUE, such as pin=off`,
		"=3":       `settings: "=3" is not allowed; allowed is NAME=VALUE, such as pin=off`,
		"pin=on":   `pin: "on" is not allowed; allowed is off, thread, direct, dataset, pageable-thread`,
		"pinn=off": `settings: pinn=off: there is no setting pinn, did you mean "pin"?`,
	} {
		if _, err := ParseSettings(base, setting); errorText(err) != message {
			t.Errorf("%s: error %q, want %q", setting, errorText(err), message)
		}
	}
}

// randomConfig draws a configuration that may or may not be valid.
func randomConfig(r *rand.Rand) Config {
	c := DefaultConfig()
	if presets := Presets(); r.IntN(2) == 0 {
		c = presets[r.IntN(len(presets))].Config
	}
	maybe := func(change func()) {
		if r.IntN(3) == 0 {
			change()
		}
	}
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	maybe(func() {
		c.Source = pick("randn", "cached", "npy:a 'b'.npy", "images:/d/$x", "tokens", "delay:634ms±5ms")
	})
	maybe(func() { c.Samples = r.Int64() })
	maybe(func() { c.Samples = defaultSamples })
	maybe(func() { c.Shape = Shape{r.IntN(9), r.IntN(1000)} })
	maybe(func() { c.DType = cudamem.DType(r.IntN(4)) })
	maybe(func() { c.OnBad = OnBadSkip })
	maybe(func() { c.Batch = r.Int64N(1 << 32) })
	maybe(func() { c.Workers = r.IntN(300) })
	maybe(func() { c.Workers = DefaultWorkers() })
	maybe(func() { c.Prefetch = -r.IntN(9) })
	maybe(func() { c.KeepWorkers = !c.KeepWorkers })
	maybe(func() { c.Epochs = r.IntN(9) })
	maybe(func() { c.Shuffle = !c.Shuffle })
	maybe(func() { c.Seed = r.Uint64() })
	maybe(func() { c.DropLast = !c.DropLast })
	maybe(func() { c.Timeout = Duration(r.Int64N(1e12)) })
	maybe(func() { c.Pin = loader.PinMode(r.IntN(4)) })
	maybe(func() { c.NonBlocking = !c.NonBlocking })
	maybe(func() { c.CopyStream = loader.CopyStream(r.IntN(2)) })
	maybe(func() { c.HostMemory = cudamem.HostKind(r.IntN(6)) })
	maybe(func() { c.RingSlots = r.IntN(99) })
	maybe(func() { c.MaxPinned = Size(r.Int64() >> r.IntN(63)) })
	maybe(func() { c.RiskMemory = !c.RiskMemory })
	maybe(func() { c.NUMA = pick("auto", "off", "3", "") })
	maybe(func() { c.Device = pick("cpu", "cuda:1", "sim:h200", "-x", "") })
	maybe(func() { c.Sim = map[string]string{"link-gbps": "12", "ramp": pick("3:6:12", `a,b\c`)} })
	maybe(func() { c.OutFeatures = r.IntN(1000) })
	maybe(func() { c.LearningRate = r.NormFloat64() })
	maybe(func() { c.StepsPerBatch = r.IntN(9) })
	maybe(func() { c.SyncSteps = !c.SyncSteps })
	maybe(func() { c.Repeats, c.Warmup = r.IntN(9), r.IntN(9) })
	maybe(func() { c.Verify = !c.Verify })
	return c
}

func TestCommandLineGivesTheSameConfig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		want := randomConfig(r)
		got, err := ParseArgs(DefaultConfig(), want.Args())
		if err != nil {
			t.Fatalf("%q: %v", want.Args(), err)
		}
		equalConfig(t, got, want)
		if t.Failed() {
			t.Fatalf("arguments %q", want.Args())
		}
	}
}

func TestJSONGivesTheSameConfig(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		want := randomConfig(r)
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodePreset(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		equalConfig(t, got, want)
	}
}

func TestCommandLine(t *testing.T) {
	article, _ := LoadPreset("article")
	article.Pin, article.Shuffle = loader.PinOff, false
	file := defaultConfig(3)
	file.Preset, file.Source, file.Samples = "mine.json", "npy:it's here.npy", 0
	for want, c := range map[string]Config{
		"pinscope run --workers 3":                                 defaultConfig(3),
		"pinscope run --preset article --no-shuffle --pin off":     article,
		`pinscope run --source 'npy:it'\''s here.npy' --workers 3`: file,
	} {
		if got := c.CommandLine("run"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestQuoteIsReadByShell(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell here: ", err)
	}
	for _, word := range []string{"plain", "", "a b", "it's", `\n$HOME"*?` + "`", "-x", "±5", "two\nlines"} {
		out, err := exec.Command(shell, "-c", "printf %s "+quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is read as %q (%v)", word, out, err)
		}
	}
}

// Flags, JSON keys and the spelling in settings are the same names.
func TestNamesAgree(t *testing.T) {
	for _, s := range DefaultConfig().settings() {
		if s.value == "" {
			continue // preset and sim
		}
		if _, err := ParseArgs(DefaultConfig(), []string{"--" + s.flag + "=" + s.value}); err != nil {
			t.Errorf("--%s=%s: %v", s.flag, s.value, err)
		}
	}
	type_ := reflect.TypeFor[Config]()
	for i := range type_.NumField() {
		if help := type_.Field(i).Tag.Get("help"); help == "" || !strings.HasSuffix(help, ".") {
			t.Errorf("%s has no help text", type_.Field(i).Name)
		}
	}
}

func TestPresets(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			if err := p.Config.Validate(); err != nil {
				t.Error(err)
			}
			if p.Config.Preset != p.Name || p.Description == "" || len(p.Description) > 67 {
				t.Errorf("name %q, description %q", p.Config.Preset, p.Description)
			}
		})
	}
	article, _ := LoadPreset("article")
	if got := article.CommandLine("run"); got != "pinscope run --preset article" {
		t.Errorf("article: %s", got)
	}
}

func TestPresetFiles(t *testing.T) {
	cases := []struct{ name, text, err string }{
		{"empty", `{}`, ""},
		{"some", `{"batch": 8, "pin": "direct", "sim": {"jitter": "0"}, "timeout": "5s", "max_pinned": "1GiB", "shape": "3x4"}`, ""},
		{"unknown field", `{"batch_size": 8}`, `unknown field "batch_size"`},
		{"wrong type", `{"batch": "8"}`, "batch: a JSON string is not allowed; allowed is 1 to 2147483647"},
		{"wrong value", `{"pin": "yes"}`, `"yes" is not one of [off thread direct dataset pageable-thread]`},
		{"not JSON", `batch = 8`, "invalid character 'b' looking for beginning of value"},
		{"two", `{} {}`, "more than one JSON object"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mine.json")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := LoadPreset(path)
			want := tc.err
			if want != "" {
				want = "preset: " + path + ": " + want
			}
			if errorText(err) != want {
				t.Fatalf("error %q, want %q", errorText(err), want)
			}
			if tc.name == "some" && (c.Batch != 8 || c.Pin != loader.PinDirect || c.MaxPinned != 1<<30 || c.Preset != path) {
				t.Errorf("got %+v", c)
			}
		})
	}
	if _, err := LoadPreset("/no/such.json"); errorText(err) != "preset: open /no/such.json: no such file or directory" {
		t.Error(err)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "7": 7, "7B": 7, "512MiB": 512 << 20, "1 GiB": 1 << 30, "3TiB": 3 << 40} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s is %d (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "1.5GiB", "1,5GiB", "-1", "1MB", "8388608TiB"} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken as %d", text, got)
		}
	}
}

func TestCompareSides(t *testing.T) {
	article, _ := LoadPreset("article")
	with := func(change func(*Config)) Config {
		c := article
		change(&c)
		return c
	}
	cases := []struct {
		name         string
		both         Config
		onlyA, onlyB []string
		a, b         Config
	}{
		{"article", article, nil, nil,
			with(func(c *Config) { c.Pin, c.NonBlocking = loader.PinOff, false }), article},
		{"pin off asked for both", with(func(c *Config) { c.Pin = loader.PinOff }), nil, nil,
			with(func(c *Config) { c.Pin, c.NonBlocking = loader.PinOff, false }), article},
		{"another pin, its memory and ring are B's", with(func(c *Config) { c.Pin, c.HostMemory, c.RingSlots = loader.PinDirect, cudamem.Registered, 3 }), nil, nil,
			with(func(c *Config) { c.Pin, c.NonBlocking = loader.PinOff, false }),
			with(func(c *Config) { c.Pin, c.HostMemory, c.RingSlots = loader.PinDirect, cudamem.Registered, 3 })},
		{"A/A", article, []string{"pin=off"}, []string{"pin=off", "non-blocking=false"},
			with(func(c *Config) { c.Pin, c.NonBlocking = loader.PinOff, false }),
			with(func(c *Config) { c.Pin, c.NonBlocking = loader.PinOff, false })},
		{"both wait", with(func(c *Config) { c.NonBlocking = false }), nil, nil,
			with(func(c *Config) { c.Pin, c.NonBlocking = loader.PinOff, false }),
			with(func(c *Config) { c.NonBlocking = false })},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			a, b, err := CompareSides(tc.both, tc.onlyA, tc.onlyB)
			if err != nil {
				t.Fatal(err)
			}
			equalConfig(t, a, tc.a)
			equalConfig(t, b, tc.b)
		})
	}
	if got := CompareCommandLine(article, []string{"pin=direct"}, []string{"source=npy:a b.npy"}); got !=
		"pinscope compare --preset article --a pin=direct --b 'source=npy:a b.npy'" {
		t.Error(got)
	}
}
