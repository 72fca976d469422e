package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"pinscope/bench/loader"
	"pinscope/cudamem"
)

// Preset is a named configuration.
type Preset struct {
	Name        string
	Description string // one line
	Config      Config
}

// Presets are those of the program, in the order they are listed.
func Presets() []Preset { return presets(DefaultWorkers()) }

// machineWorkers stands for a number of workers that depends on the machine.
const machineWorkers = -1

// presets are the presets where the machine's default is so many workers.
func presets(workers int) []Preset {
	preset := func(name, description string, change func(*Config)) Preset {
		c := defaultConfig(workers)
		c.Preset = name
		change(&c)
		return Preset{name, description, c}
	}
	return []Preset{
		preset("article", "the article's script: samples drawn as they are read, 4 workers", func(c *Config) {
			// 3x224x224 float32, Linear(150528, 10), SGD 0.01 are the defaults.
			c.Source, c.Samples, c.Workers = "randn", 1000, 4
		}),
		preset("imagenet-u8", "ImageNet's shape as bytes in memory, workers fill pinned slots", func(c *Config) {
			c.Samples, c.DType, c.Batch, c.OutFeatures = 2560, cudamem.Uint8, 256, 1000
			c.Pin, c.CopyStream = loader.PinDirect, loader.Dedicated
		}),
		preset("tokens", "nanoGPT's batches: 64 x 256 token ids, no workers", func(c *Config) {
			// karpathy/nanoGPT train.py: get_batch pins in the loop; 65 characters
			// in its Shakespeare data set.
			*c = c.forSource("tokens")
			c.Samples, c.Workers, c.Epochs, c.OutFeatures = 64000, 0, 1, 65
		}),
		preset("small-batch", "one sample of 1,000 floats a batch: the cost of calls, not bytes", func(c *Config) {
			c.Samples, c.Shape, c.Batch, c.Workers = 1000, Shape{1000}, 1, 1
		}),
		preset("video", "clips of 16 frames as bytes, batch 8, dedicated copy stream", func(c *Config) {
			// 16 frames of 224x224 and 400 classes: Kinetics-400, as video transformers take it.
			c.Samples, c.Shape, c.DType, c.Batch, c.OutFeatures = 160, Shape{3, 16, 224, 224}, cudamem.Uint8, 8, 400
			c.Pin, c.CopyStream = loader.PinDirect, loader.Dedicated
		}),
		preset("tiny", "over in a second: 256 samples of 3x32x32, for a first look", func(c *Config) {
			c.Samples, c.Shape, c.Batch, c.Workers = 256, Shape{3, 32, 32}, 16, min(2, workers)
		}),
	}
}

func builtinPreset(name string, workers int) (Preset, bool) {
	for _, p := range presets(workers) {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

// LoadPreset gives the configuration of a preset of the program or, if the name
// ends in .json, of a file that holds settings as the result file spells them;
// settings that the file leaves out are those of DefaultConfig. The outcome is
// not validated. The error is an *InputError.
func LoadPreset(name string) (Config, error) {
	if p, ok := builtinPreset(name, DefaultWorkers()); ok {
		return p.Config, nil
	}
	if !strings.HasSuffix(name, ".json") {
		var names []string
		for _, p := range Presets() {
			names = append(names, p.Name)
		}
		return Config{}, &InputError{Field: "preset", Value: strconv.Quote(name), Allowed: list(names) + ", or a file ending in .json"}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return Config{}, &InputError{Field: "preset", Value: name, Problem: err.Error()}
	}
	c, err := decodePreset(text)
	if err != nil {
		return Config{}, &InputError{Field: "preset", Value: name, Problem: fmt.Sprintf("%s: %v", name, err)}
	}
	c.Preset = name
	return c, nil
}

func decodePreset(text []byte) (Config, error) {
	var named struct {
		Source string `json:"source"`
	}
	c := DefaultConfig()
	if json.Unmarshal(text, &named) == nil && named.Source != "" {
		c = c.forSource(named.Source)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return c, presetProblem(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return c, errors.New("more than one JSON object")
	}
	return c, nil
}

// presetProblem rewords package json's errors for people.
func presetProblem(err error) error {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return fmt.Errorf("%s: a JSON %s is not allowed; allowed is %s", wrongType.Field, wrongType.Value,
			allowed(strings.ReplaceAll(wrongType.Field, "_", "-")))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
