package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pinscope/bench/loader"
	"pinscope/cudamem"
)

// Config is every setting of a run: one struct for the command line (kong's
// tags), for presets and for the result file (JSON). [DefaultConfig] is where
// it starts from, [Config.Validate] says what is allowed.
//
// A flag is spelled as its JSON key with dashes: ring_slots is --ring-slots.
type Config struct {
	Preset string `json:"preset" group:"data" placeholder:"NAME" help:"Start from a preset (see 'pinscope presets') or from a JSON file of settings; other flags override it."`

	Source  string        `json:"source" group:"data" placeholder:"KIND" help:"Where samples come from: randn (normal draws per sample), cached (drawn once, kept in memory), npy:FILE, images:DIR (JPEG and PNG in class folders), tokens (int64 ids), delay:TIME (a load time per batch that burns no CPU, e.g. delay:634ms). Default ${source}."`
	Samples int64         `json:"samples" group:"data" placeholder:"N" help:"Samples in the data set, 1 to 2^63-1; of files at most so many, 0: all. Default ${samples}, all of files."`
	Shape   Shape         `json:"shape" group:"data" placeholder:"DIMS" help:"Shape of one sample, 1 to 8 dimensions; npy files bring their own. Default ${shape}, 256 for tokens."`
	DType   cudamem.DType `json:"dtype" name:"dtype" group:"data" placeholder:"TYPE" help:"Type of a value: float32, float16, uint8, int64; npy files bring their own. Default ${dtype}, int64 for tokens."`
	OnBad   string        `json:"on_bad" group:"data" placeholder:"HOW" help:"What a file that cannot be read does: stop the run, or skip and count it. Default ${on_bad}."`

	Batch       int64    `json:"batch" group:"loader" placeholder:"N" help:"Samples in a batch, 1 to 2147483647. Default ${batch}."`
	Workers     int      `json:"workers" group:"loader" placeholder:"N" help:"Workers that fill batches, 0 to 4096; 0: the training loop loads by itself. Default: 4, or the usable CPUs if they are fewer."`
	Prefetch    int      `json:"prefetch" group:"loader" placeholder:"N" help:"Batches each worker is ahead, 1 to 1024; without workers it means nothing. Default ${prefetch}."`
	KeepWorkers bool     `json:"keep_workers" group:"loader" negatable:"" help:"Keep workers from one epoch to the next instead of starting new ones. Default ${keep_workers}."`
	Epochs      int      `json:"epochs" group:"loader" placeholder:"N" help:"Times a repeat goes through the data set, 1 to 1000000. Default ${epochs}."`
	Shuffle     bool     `json:"shuffle" group:"loader" negatable:"" help:"Visit the samples in a new random order each epoch. Default ${shuffle}."`
	Seed        uint64   `json:"seed" group:"loader" placeholder:"N" help:"Seed of the order, the data and the weights, 0 to 2^64-1. Default ${seed}."`
	DropLast    bool     `json:"drop_last" group:"loader" negatable:"" help:"Leave out a last batch that is not full. Default ${drop_last}."`
	Timeout     Duration `json:"timeout" group:"loader" placeholder:"TIME" help:"A worker that gives no batch for so long ends the run, 1ms to 24h. Default ${timeout}."`

	Pin         loader.PinMode    `json:"pin" group:"pinning" placeholder:"MODE" help:"Who pins a batch: off (nobody), thread (a pin thread copies it, as PyTorch does), direct (workers fill pinned slots), dataset (the whole data set is pinned once; cached and npy only), pageable-thread (a thread copies it as with thread, but nothing is pinned: to tell what the thread alone does). Default ${pin}."`
	NonBlocking bool              `json:"non_blocking" group:"pinning" negatable:"" help:"Go on while a copy is under way. Default ${non_blocking}."`
	CopyStream  loader.CopyStream `json:"copy_stream" group:"pinning" placeholder:"STREAM" help:"Stream of the copies: shared (with the steps, PyTorch's default) or dedicated. Default ${copy_stream}."`
	HostMemory  cudamem.HostKind  `json:"host_memory" group:"pinning" placeholder:"KIND" help:"Memory of the ring: pinned, registered, write-combined, mapped or managed; pageable (the default) stands for automatic: pageable with pin off and pageable-thread, pinned with thread and direct, mapped with dataset."`
	RingSlots   int               `json:"ring_slots" group:"pinning" placeholder:"N" help:"Slots of the pinned ring, 1 to 65536; 0 is automatic: 4 with a pin thread, workers x prefetch + 2 otherwise. Default ${ring_slots}."`
	MaxPinned   Size              `json:"max_pinned" group:"pinning" placeholder:"SIZE" help:"Refuse to pin more than this, e.g. 512MiB; 0: no limit but the system's. Default ${max_pinned}."`
	RiskMemory  bool              `json:"risk_memory" group:"pinning" negatable:"" help:"Pin more than half of the available memory; the system may become slow or end programs. Default ${risk_memory}."`
	NUMA        string            `json:"numa" group:"pinning" placeholder:"NODE" help:"NUMA node of slots and workers: auto (the device's), off, or a node's number. Default ${numa}."`

	Device        string            `json:"device" group:"device" placeholder:"NAME" help:"auto, cpu, cuda:N, sim or sim:MODEL. Default ${device}."`
	Sim           map[string]string `json:"sim,omitempty" group:"device" placeholder:"K=V,..." mapsep:"," help:"Values of the simulated GPU's model, e.g. link-gbps=12,latency=6us,pageable-gbps=6,compute=12.845ms."`
	OutFeatures   int               `json:"out_features" group:"device" placeholder:"N" help:"Outputs of the linear layer that is trained, 1 to 1000000. Default ${out_features}."`
	LearningRate  float64           `json:"learning_rate" group:"device" placeholder:"X" help:"Learning rate of SGD, 0 to 1000. Default ${learning_rate}."`
	StepsPerBatch int               `json:"steps_per_batch" group:"device" placeholder:"N" help:"Training steps on each batch, 1 to 1000000. Default ${steps_per_batch}."`
	SyncSteps     bool              `json:"sync_steps" group:"device" negatable:"" help:"Read each step's loss before going on, as a loop with loss.item() does; always so without workers. Default ${sync_steps}."`

	Repeats int  `json:"repeats" group:"measuring" placeholder:"N" help:"Repeats that count, 1 to 10000; a 95 % interval needs 6. Default ${repeats}."`
	Warmup  int  `json:"warmup" group:"measuring" placeholder:"N" help:"Repeats before those, kept in the result but not counted, 0 to 10000. Default ${warmup}."`
	Verify  bool `json:"verify" group:"measuring" negatable:"" help:"Check every byte of every batch on the device; times are then not to be used. Default ${verify}."`
}

// DefaultConfig is the configuration without a preset and without flags: the
// article's shapes, drawn once into memory, so that reading is not the limit.
func DefaultConfig() Config { return defaultConfig(DefaultWorkers()) }

func defaultConfig(workers int) Config {
	return Config{
		Source: "cached", Samples: defaultSamples, Shape: defaultShape(), OnBad: OnBadStop,
		Batch: 64, Workers: workers, Prefetch: defaultPrefetch, Epochs: 2, Shuffle: true,
		Timeout: Duration(time.Minute),
		Pin:     loader.PinThread, NonBlocking: true, NUMA: "auto",
		Device: "auto", OutFeatures: 10, LearningRate: 0.01, StepsPerBatch: 1,
		Repeats: 10, Warmup: 1,
	}
}

const (
	defaultSamples  = 640 // 10 batches, 385 MB as float32
	defaultPrefetch = 2   // PyTorch's
)

func defaultShape() Shape { return Shape{3, 224, 224} }

// DefaultWorkers is 4, or the CPUs that the process can use if they are fewer.
func DefaultWorkers() int { return min(4, usableCPUs()) }

// forSource is c with another source, and with what has to change with it where
// it was not given: files bring their own number of samples, tokens are rows of
// int64.
func (c Config) forSource(name string) Config {
	if holdsFiles(name) != holdsFiles(c.Source) {
		c.Samples = defaultSamples
		if holdsFiles(name) {
			c.Samples = 0
		}
	}
	if (name == "tokens") != (c.Source == "tokens") {
		c.Shape, c.DType = defaultShape(), cudamem.Float32
		if name == "tokens" {
			c.Shape, c.DType = Shape{256}, cudamem.Int64
		}
	}
	c.Source = name
	return c
}

// holdsFiles says whether a source reads files, and so knows how many samples there are.
func holdsFiles(source string) bool {
	return strings.HasPrefix(source, "npy:") || strings.HasPrefix(source, "images:")
}

// InMemory says whether the source's samples can lie in memory as a whole.
func (c Config) InMemory() bool { return c.Source == "cached" || strings.HasPrefix(c.Source, "npy:") }

// HostKind is the memory that the ring is made of: HostMemory, or what its zero
// value stands for.
func (c Config) HostKind() cudamem.HostKind {
	switch {
	case c.HostMemory != cudamem.Pageable || !c.Pin.Pins():
		return c.HostMemory
	case c.Pin == loader.PinDataset:
		return cudamem.Mapped
	default:
		return cudamem.Pinned
	}
}

// What Config.OnBad can be.
const (
	OnBadStop = "stop" // the run ends, naming file and sample
	OnBadSkip = "skip" // the sample is counted, and replaced by the nearest readable one
)

// Shape is the shape of one sample, outermost dimension first: "3x224x224".
type Shape []int

// String joins the dimensions with x.
func (s Shape) String() string {
	texts := make([]string, len(s))
	for i, n := range s {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, "x")
}

// MarshalText gives the same as String.
func (s Shape) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes what String gives. It takes any whole numbers;
// [Config.Validate] says which are allowed.
func (s *Shape) UnmarshalText(text []byte) error {
	shape := Shape{}
	for part := range strings.SplitSeq(string(text), "x") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return fmt.Errorf("%q is not a shape such as 3x224x224", text)
		}
		shape = append(shape, n)
	}
	*s = shape
	return nil
}

// Duration is a time.Duration that files spell as text: "1m0s".
type Duration time.Duration

// String is as time.Duration writes it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText gives the same as String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes what time.ParseDuration takes.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Size is a length in bytes, written with a binary unit where it is a whole
// number of them: "512MiB".
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// String is exact: UnmarshalText gives the same size again.
func (s Size) String() string {
	for _, unit := range sizeUnits {
		if n := int64(s); n != 0 && n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return "0"
}

// MarshalText gives the same as String.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes a whole number of bytes, KiB, MiB, GiB or TiB, up to 2^63-1 bytes.
func (s *Size) UnmarshalText(text []byte) error {
	digits, unit := strings.TrimSpace(string(text)), int64(1)
	for _, u := range sizeUnits {
		if number, found := strings.CutSuffix(digits, u.name); found {
			digits, unit = strings.TrimSpace(number), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return fmt.Errorf("%q is not a size such as 512MiB", text)
	}
	bytes, ok := times(int64(n), unit)
	if !ok {
		return fmt.Errorf("%q is more than 2^63-1 bytes", text)
	}
	*s = Size(bytes)
	return nil
}
