package bench

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/source"
	"pinscope/cudamem"
)

// InputError is a setting that is not allowed: the program ends with exit code 2.
// [Config.Validate] may join several.
type InputError struct {
	Field   string // as the flag is spelled, without dashes in front; "" if it is no flag's fault
	Value   string // as given
	Allowed string // what would be allowed
	Problem string // what is wrong, where that is not a matter of Allowed
}

func (e *InputError) Error() string {
	switch {
	case e.Field == "":
		return e.Problem
	case e.Problem != "":
		return e.Field + ": " + e.Problem
	}
	return fmt.Sprintf("%s: %s is not allowed; allowed is %s", e.Field, e.Value, e.Allowed)
}

// bounds is a range of whole numbers, ends included.
type bounds struct{ low, high int64 }

func (i bounds) String() string { return fmt.Sprintf("%d to %d", i.low, i.high) }

var ranges = map[string]bounds{
	"samples": {1, math.MaxInt64}, "batch": {1, math.MaxInt32}, "workers": {0, 4096}, "prefetch": {1, 1024},
	"epochs": {1, 1e6}, "ring-slots": {0, 65536}, "out-features": {1, 1e6}, "steps-per-batch": {1, 1e6},
	"repeats": {1, 1e4}, "warmup": {0, 1e4},
}

// allowed says in words what a flag takes.
func allowed(field string) string {
	if i, ok := ranges[field]; ok {
		return i.String()
	}
	switch field {
	case "source":
		return source.Names
	case "shape":
		return "1 to 8 dimensions of at least 1, such as 3x224x224"
	case "dtype":
		return list(cudamem.DTypeNames())
	case "on-bad":
		return OnBadStop + ", " + OnBadSkip
	case "seed":
		return "0 to 18446744073709551615"
	case "timeout":
		return "1ms to 24h"
	case "pin":
		return list(loader.PinModeNames())
	case "copy-stream":
		return list(loader.CopyStreamNames())
	case "host-memory":
		return list(cudamem.HostKindNames())
	case "max-pinned":
		return "0 to 2^63-1 bytes, such as 512MiB"
	case "numa":
		return "auto, off or the number of a NUMA node"
	case "learning-rate":
		return "0 to 1000"
	case "device":
		return "auto, cpu, cuda:N, sim or sim:MODEL"
	default:
		return "true, false"
	}
}

func list(names []string) string { return strings.Join(names, ", ") }

// problems collects what is wrong.
type problems []error

func (p *problems) refuse(field, value string) {
	p.add(&InputError{Field: field, Value: value, Allowed: allowed(field)})
}

func (p *problems) add(e *InputError) { *p = append(*p, e) }

func (p *problems) number(field string, n int64) {
	if i := ranges[field]; n < i.low || n > i.high {
		p.refuse(field, strconv.FormatInt(n, 10))
	}
}

func (p *problems) explain(field, value, problem string, args ...any) {
	p.add(&InputError{Field: field, Value: value, Problem: fmt.Sprintf(problem, args...)})
}

// Validate says everything that is wrong with the settings, as one error that
// joins an *InputError for each problem. It opens no file and no device.
func (c Config) Validate() error {
	var p problems
	c.validateValues(&p)
	c.validateSource(&p)
	if len(p) == 0 { // sizes and combinations mean something only then
		c.validateSizes(&p)
		c.validatePinning(&p)
	}
	return errors.Join(p...)
}

func (c Config) validateValues(p *problems) {
	if c.Samples != 0 || !holdsFiles(c.Source) {
		p.number("samples", c.Samples)
	}
	p.number("batch", c.Batch)
	p.number("workers", int64(c.Workers))
	p.number("prefetch", int64(c.Prefetch))
	p.number("epochs", int64(c.Epochs))
	p.number("ring-slots", int64(c.RingSlots))
	p.number("out-features", int64(c.OutFeatures))
	p.number("steps-per-batch", int64(c.StepsPerBatch))
	p.number("repeats", int64(c.Repeats))
	p.number("warmup", int64(c.Warmup))
	if c.Timeout < Duration(time.Millisecond) || c.Timeout > Duration(24*time.Hour) {
		p.refuse("timeout", c.Timeout.String())
	}
	if !(c.LearningRate >= 0 && c.LearningRate <= 1000) { // so that NaN is refused
		p.refuse("learning-rate", strconv.FormatFloat(c.LearningRate, 'g', -1, 64))
	}
	if c.MaxPinned < 0 {
		p.refuse("max-pinned", c.MaxPinned.String())
	}
	if c.OnBad != OnBadStop && c.OnBad != OnBadSkip {
		p.refuse("on-bad", strconv.Quote(c.OnBad))
	}
	if c.NUMA != "auto" && c.NUMA != "off" {
		if node, err := strconv.Atoi(c.NUMA); err != nil || node < 0 {
			p.refuse("numa", strconv.Quote(c.NUMA))
		}
	}
	if c.Device == "" {
		p.refuse("device", `""`)
	}
}

func (c Config) validateSource(p *problems) {
	if len(c.Shape) < 1 || len(c.Shape) > 8 || slices.Min(c.Shape) < 1 {
		p.refuse("shape", strconv.Quote(c.Shape.String()))
	}
	kind, _, err := source.Parse(c.Source)
	switch {
	case err != nil:
		p.explain("source", c.Source, "%s", strings.TrimPrefix(err.Error(), "source "))
	case kind == "tokens" && c.DType != cudamem.Int64:
		p.explain("dtype", c.DType.String(), "%s is not allowed with source tokens; allowed is int64", c.DType)
	case kind == "images" && c.DType == cudamem.Int64:
		p.explain("dtype", c.DType.String(), "%s is not allowed with source images; allowed is float32, float16, uint8", c.DType)
	}
}

// validateSizes refuses sizes that 64 bits do not hold.
func (c Config) validateSizes(p *problems) {
	sample, ok := c.sampleBytes()
	if !ok {
		p.explain("shape", c.Shape.String(), "a sample of %s %s is too large; allowed is up to 2^63-1 bytes", c.Shape, c.DType)
		return
	}
	if _, ok := times(sample, c.Batch); !ok {
		p.explain("batch", fmt.Sprint(c.Batch), "%d samples of %d bytes are too large; allowed is up to 2^63-1 bytes, %d samples",
			c.Batch, sample, math.MaxInt64/sample)
	}
	if _, ok := times(sample, c.Samples); !ok && c.Source == "cached" {
		p.explain("samples", fmt.Sprint(c.Samples), "%d samples of %d bytes do not fit in memory; allowed with source cached is up to %d samples",
			c.Samples, sample, math.MaxInt64/sample)
	}
	if _, ok := times(c.Samples, int64(c.Epochs)); !ok {
		p.explain("epochs", fmt.Sprint(c.Epochs), "%d epochs of %d samples are too many; allowed is up to 2^63-1 samples in all",
			c.Epochs, c.Samples)
	}
	if c.DropLast && !holdsFiles(c.Source) && c.Samples < c.Batch {
		p.add(nothingLeft(c.Samples, c.Batch))
	}
}

// nothingLeft is the refusal to drop the only batch there is.
func nothingLeft(samples, batch int64) *InputError {
	return &InputError{Field: "drop-last", Value: "true", Problem: fmt.Sprintf(
		"%d samples do not fill a batch of %d, so nothing would be left; lower batch to %d or less, or switch drop-last off",
		samples, batch, samples)}
}

func (c Config) validatePinning(p *problems) {
	kind, given := c.HostMemory, c.HostMemory != cudamem.Pageable
	switch c.Pin {
	case loader.PinOff, loader.PageableThread:
		if given {
			p.explain("host-memory", kind.String(), "%s is not allowed with pin %s; allowed is pageable", kind, c.Pin)
		}
	case loader.PinDataset:
		if given && kind != cudamem.Mapped && kind != cudamem.Registered {
			p.explain("host-memory", kind.String(), "%s is not allowed with pin dataset; allowed is mapped, registered", kind)
		}
		if !c.InMemory() {
			p.explain("pin", "dataset", "dataset is not allowed with source %s; allowed is cached, npy:FILE, whose samples lie in memory", c.Source)
		}
	case loader.PinThread:
		if kind == cudamem.Managed {
			p.explain("host-memory", kind.String(), "managed is not allowed with pin thread; allowed is pinned, registered, write-combined, mapped")
		}
	}
	if c.Pin == loader.PinOff && c.RingSlots > 0 {
		p.explain("ring-slots", fmt.Sprint(c.RingSlots), "%d is not allowed with pin off, which has no ring; allowed is 0", c.RingSlots)
	}
}

// sampleBytes is the length of one sample; ok is false where 63 bits do not hold it.
func (c Config) sampleBytes() (bytes int64, ok bool) {
	bytes, ok = c.DType.Size(), true
	for _, n := range c.Shape {
		if bytes, ok = times(bytes, int64(n)); !ok {
			return 0, false
		}
	}
	return bytes, true
}

// times is a*b for values >= 0; ok is false where 63 bits do not hold it.
func times(a, b int64) (product int64, ok bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && low <= math.MaxInt64
}

// pageBytes is the length of a page: what host memory is allocated in.
var pageBytes = int64(os.Getpagesize())
