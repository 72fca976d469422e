package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"

	"pinscope/cudamem"
)

// Options says which data set to open.
type Options struct {
	Name    string        // the kind, with its argument: randn, cached, npy:FILE, images:DIR, tokens, delay:634ms±5ms
	Samples int64         // in the data set; 0 for npy and images alone: all there are, otherwise at most so many
	Shape   []int         // of one sample, 1 to 8 dimensions of at least 1; npy ignores it, images wants 3, height, width
	DType   cudamem.DType // of one value; npy ignores it
	Classes int           // labels are 0..Classes-1, >= 1; tokens ignores it
	Seed    uint64        // of what is drawn
	OnBad   string        // images alone: "stop" (or "") at a file that cannot be read, or "skip" it

	// InMemory asks for a source that is an [InMemory]: cached always is, npy
	// when asked.
	InMemory bool
	// Alloc allocates the memory of an [InMemory]; nil: pageable memory.
	Alloc func(bytes int64) (*cudamem.HostBuffer, error)
	// Context ends a long opening; nil: nothing does.
	Context context.Context
}

// kind is one kind of source.
type kind struct {
	argument string // what follows the colon, "" if nothing does
	files    bool   // knows its number of samples
	memory   bool   // can be InMemory
	// check says what is wrong with the argument; nil: nothing can be.
	check func(argument string) error
	// probe works out the spec, open the source; both after validate. What open
	// gives together with an error does not count.
	probe func(o Options, argument string) (Spec, error)
	open  func(o Options, argument string) (Source, error)
}

var kinds = map[string]kind{
	"randn":  {probe: probeRandn, open: openRandn},
	"cached": {memory: true, probe: probeCached, open: openCached},
	"tokens": {probe: probeTokens, open: openTokens},
	"npy":    {argument: "FILE", files: true, memory: true, probe: probeNpy, open: openNpy},
	"images": {argument: "DIR", files: true, probe: probeImages, open: openImages},
	"delay":  {argument: "TIME", check: checkDelay, probe: probeDelay, open: openDelay},
}

// Names is how the kinds are spelled, for messages.
const Names = "randn, cached, npy:FILE, images:DIR, tokens, delay:TIME"

// Parse takes a source's name apart into its kind and what follows the colon. It
// opens nothing, so that a name can be refused early.
func Parse(name string) (kind, argument string, err error) {
	kind, argument, _ = strings.Cut(name, ":")
	k, known := kinds[kind]
	switch {
	case !known || k.argument == "" && name != kind:
		return "", "", fmt.Errorf("source %q is not allowed; allowed is %s", name, Names)
	case k.argument != "" && argument == "":
		return "", "", fmt.Errorf("source %q names no %s; allowed is %s:%s", name, k.argument, kind, k.argument)
	case k.check != nil:
		err = k.check(argument)
	}
	return kind, argument, err
}

// Probe tells what Open would open, reading no more than headers and the lists of
// folders. Its errors are the ones that other input would cure. Like those of Open
// they begin with what is wrong, a field or a file, not with this package's name:
// they are shown after the word "source".
func Probe(o Options) (Spec, error) {
	k, argument, err := o.validate()
	if err != nil {
		return Spec{}, err
	}
	return k.probe(o, argument)
}

// Open opens a data set. The calling goroutine touches the memory that the data
// set lies in first, so that where it is bound is where the memory is.
func Open(o Options) (Source, error) {
	k, argument, err := o.validate()
	if err != nil {
		return nil, err
	}
	opened, err := k.open(o, argument)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// validate says what is wrong with the options, and fills in the context.
func (o *Options) validate() (kind, string, error) {
	name, argument, err := Parse(o.Name)
	if err != nil {
		return kind{}, "", err
	}
	k := kinds[name]
	refuse := func(field string, value any, allowed string) error {
		return fmt.Errorf("%s: %v is not allowed with source %s; allowed is %s", field, value, name, allowed)
	}
	switch {
	case k.files && o.Samples < 0:
		err = refuse("samples", o.Samples, "0 (all) to 2^63-1")
	case !k.files && o.Samples < 1:
		err = refuse("samples", o.Samples, "1 to 2^63-1")
	case o.Classes < 1:
		err = refuse("classes", o.Classes, "1 and more")
	case o.DType > cudamem.Int64:
		err = refuse("dtype", o.DType, strings.Join(cudamem.DTypeNames(), ", "))
	case o.OnBad != "" && o.OnBad != "stop" && o.OnBad != "skip":
		err = refuse("on-bad", fmt.Sprintf("%q", o.OnBad), "stop, skip")
	case o.InMemory && !k.memory:
		err = refuse("pin", "dataset", "what does not need the samples in memory")
	case name != "npy" && (len(o.Shape) < 1 || len(o.Shape) > maxDimensions || slices.Min(o.Shape) < 1):
		err = refuse("shape", fmt.Sprintf("%q", shapeText(o.Shape)), "1 to 8 dimensions of at least 1, such as 3x224x224")
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	return k, argument, err
}

const maxDimensions = 8

// shapeText spells a shape as the flag does.
func shapeText(shape []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", "x")
}

// classBytes is the length of a label that is a class.
const classBytes = 8

// newSpec is the spec of samples whose labels are classes.
func newSpec(samples int64, shape []int, dtype cudamem.DType) (Spec, error) {
	bytes, ok := dtype.Size(), true
	for _, n := range shape {
		if bytes, ok = times(bytes, int64(n)); !ok {
			return Spec{}, fmt.Errorf("shape: a sample of %s %s is too large; allowed is up to 2^63-1 bytes", shapeText(shape), dtype)
		}
	}
	return Spec{Samples: samples, Shape: slices.Clone(shape), DType: dtype, SampleBytes: bytes, LabelBytes: classBytes}, nil
}

// hold notes in the spec that the source holds all samples and labels in memory.
func (s *Spec) hold() error {
	bytes, ok := times(s.Samples, s.SampleBytes)
	labels, labelsOK := times(s.Samples, s.LabelBytes)
	if !ok || !labelsOK || bytes > math.MaxInt64-labels {
		return fmt.Errorf("samples: %d samples of %d bytes do not fit in memory; allowed is up to %d samples",
			s.Samples, s.SampleBytes, math.MaxInt64/max(s.SampleBytes+s.LabelBytes, s.SampleBytes))
	}
	s.HostBytes = bytes + labels
	return nil
}

// times is a*b for values >= 0; ok is false where 63 bits do not hold it.
func times(a, b int64) (product int64, ok bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && low <= math.MaxInt64
}

// openRegular opens a file, and nothing else: opening a pipe would wait for somebody
// to write into it.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return os.Open(path)
}

// cause leaves out of an error of the system which file it was.
func cause(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}
