package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pinscope/cudamem"
)

// options are good ones for a source of small samples.
func options(name string) Options {
	return Options{Name: name, Samples: 6, Shape: []int{3, 5, 7}, DType: cudamem.Float32, Classes: 10, Seed: 1}
}

// with is o changed.
func with(o Options, change func(*Options)) Options {
	change(&o)
	return o
}

func mustOpen(t testing.TB, o Options) Source {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// filled is a sample and its label, in memory of their own.
func filled(t testing.TB, s Source, f Filler, index int64) (sample, label []byte) {
	t.Helper()
	sample, label = make([]byte, s.Spec().SampleBytes), make([]byte, s.Spec().LabelBytes)
	if err := f.Fill(sample, label, index); err != nil {
		t.Fatal(err)
	}
	return sample, label
}

func class(label []byte) int64 { return int64(binary.LittleEndian.Uint64(label)) }

// every is one of each source whose samples differ, and a mapped file.
func every(t testing.TB) map[string]Options {
	all := map[string]Options{
		"tokens": with(options("tokens"), func(o *Options) { o.DType, o.Shape = cudamem.Int64, []int{16} }),
		"delay":  options("delay:5ms±1ms"),
		"npy":    options("npy:" + writeNpy(t, "<f4", "6, 3, 5, 7", false, 6*3*5*7*4)),
		"npy in memory": with(options("npy:"+writeNpy(t, "<f4", "6, 3, 5, 7", false, 6*3*5*7*4)),
			func(o *Options) { o.InMemory = true }),
	}
	for _, name := range cudamem.DTypeNames() {
		for _, source := range []string{"randn", "cached"} {
			o := options(source)
			if err := o.DType.UnmarshalText([]byte(name)); err != nil {
				t.Fatal(err)
			}
			all[source+" "+name] = o
		}
	}
	return all
}

func TestEverySource(t *testing.T) {
	for name, o := range every(t) {
		t.Run(name, func(t *testing.T) {
			probed, err := Probe(o)
			if err != nil {
				t.Fatal(err)
			}
			s := mustOpen(t, o)
			spec := s.Spec()
			if !reflect.DeepEqual(probed, spec) {
				t.Errorf("Probe tells %+v, Open %+v", probed, spec)
			}
			if spec.Samples != 6 || spec.SampleBytes < 1 || spec.LabelBytes%8 != 0 {
				t.Errorf("spec %+v", spec)
			}
			plain, streaming := s.NewFiller(false), s.NewFiller(true)
			seen := map[string]bool{}
			for index := range spec.Samples {
				sample, label := filled(t, s, plain, index)
				again, labelAgain := filled(t, s, streaming, index)
				if !bytes.Equal(sample, again) || !bytes.Equal(label, labelAgain) {
					t.Errorf("sample %d is another one the second time", index)
				}
				if seen[string(sample)] {
					t.Errorf("sample %d is equal to one before", index)
				}
				seen[string(sample)] = true
				if c := class(label); spec.LabelBytes == 8 && (c < 0 || c >= int64(o.Classes)) {
					t.Errorf("sample %d has label %d of %d", index, c, o.Classes)
				}
			}
			sample, label := filled(t, s, plain, 0)
			if n := testing.AllocsPerRun(20, func() { _ = plain.Fill(sample, label, 1) }); n != 0 {
				t.Errorf("Fill allocates %v times", n)
			}
			if err := errors.Join(plain.Close(), streaming.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSeedChangesData(t *testing.T) {
	for _, name := range []string{"randn float32", "cached float32", "tokens"} {
		o := every(t)[name]
		one := mustOpen(t, o)
		other := mustOpen(t, with(o, func(o *Options) { o.Seed++ }))
		a, _ := filled(t, one, one.NewFiller(false), 0)
		b, _ := filled(t, other, other.NewFiller(false), 0)
		if bytes.Equal(a, b) {
			t.Errorf("%s: seeds 1 and 2 give the same sample", name)
		}
	}
}

func TestParse(t *testing.T) {
	const delayAllowed = " is not allowed; allowed is delay:TIME or delay:TIME±JITTER, " +
		"TIME from 0s to 24h, JITTER from 0s to TIME, such as delay:634ms±5ms"
	cases := []struct{ name, kind, argument, err string }{
		{"randn", "randn", "", ""},
		{"cached", "cached", "", ""},
		{"tokens", "tokens", "", ""},
		{"npy:a:b.npy", "npy", "a:b.npy", ""},
		{`images:C:\x`, "images", `C:\x`, ""},
		{"delay:634ms", "delay", "634ms", ""},
		{"delay:24h±24h", "delay", "24h±24h", ""},
		{"", "", "", `source "" is not allowed; allowed is ` + Names},
		{"random", "", "", `source "random" is not allowed; allowed is ` + Names},
		{"randn:", "", "", `source "randn:" is not allowed; allowed is ` + Names},
		{"tokens:5", "", "", `source "tokens:5" is not allowed; allowed is ` + Names},
		{"npy", "", "", `source "npy" names no FILE; allowed is npy:FILE`},
		{"images:", "", "", `source "images:" names no DIR; allowed is images:DIR`},
		{"delay:24h1ns", "delay", "24h1ns", `source "delay:24h1ns"` + delayAllowed},
		{"delay:-1ms", "delay", "-1ms", `source "delay:-1ms"` + delayAllowed},
		{"delay:5", "delay", "5", `source "delay:5"` + delayAllowed},
		{"delay:5ms±6ms", "delay", "5ms±6ms", `source "delay:5ms±6ms"` + delayAllowed},
		{"delay:5ms±", "delay", "5ms±", `source "delay:5ms±"` + delayAllowed},
	}
	for _, tc := range cases {
		kind, argument, err := Parse(tc.name)
		if kind != tc.kind || argument != tc.argument || errorText(err) != tc.err {
			t.Errorf("%q: kind %q, argument %q, error %q", tc.name, kind, argument, errorText(err))
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	cases := []struct {
		name   string
		source string
		change func(*Options)
		err    string
	}{
		{"source", "nothing", func(*Options) {}, `source "nothing" is not allowed; allowed is ` + Names},
		{"no samples", "randn", func(o *Options) { o.Samples = 0 }, "samples: 0 is not allowed with source randn; allowed is 1 to 2^63-1"},
		{"samples of files", "npy:x", func(o *Options) { o.Samples = -1 }, "samples: -1 is not allowed with source npy; allowed is 0 (all) to 2^63-1"},
		{"classes", "randn", func(o *Options) { o.Classes = 0 }, "classes: 0 is not allowed with source randn; allowed is 1 and more"},
		{"dtype", "randn", func(o *Options) { o.DType = 4 }, "dtype: DType(4) is not allowed with source randn; allowed is float32, float16, uint8, int64"},
		{"on-bad", "randn", func(o *Options) { o.OnBad = "no" }, `on-bad: "no" is not allowed with source randn; allowed is stop, skip`},
		{"in memory", "randn", func(o *Options) { o.InMemory = true }, "pin: dataset is not allowed with source randn; allowed is what does not need the samples in memory"},
		{"no shape", "randn", func(o *Options) { o.Shape = nil }, `shape: "" is not allowed with source randn; allowed is 1 to 8 dimensions of at least 1, such as 3x224x224`},
		{"nine dimensions", "randn", func(o *Options) { o.Shape = []int{1, 1, 1, 1, 1, 1, 1, 1, 1} },
			`shape: "1x1x1x1x1x1x1x1x1" is not allowed with source randn; allowed is 1 to 8 dimensions of at least 1, such as 3x224x224`},
		{"dimension 0", "delay:1s", func(o *Options) { o.Shape = []int{3, 0} }, `shape: "3x0" is not allowed with source delay; allowed is 1 to 8 dimensions of at least 1, such as 3x224x224`},
		{"sample too large", "randn", func(o *Options) { o.Shape = []int{1 << 30, 1 << 31} }, "shape: a sample of 1073741824x2147483648 float32 is too large; allowed is up to 2^63-1 bytes"},
		{"too many", "cached", func(o *Options) { o.Samples = 1 << 60 }, "samples: 1152921504606846976 samples of 420 bytes do not fit in memory; allowed is up to 21549934665548541 samples"},
		{"too many labels", "cached", func(o *Options) { o.Samples, o.Shape, o.DType = math.MaxInt64/9+1, []int{1}, cudamem.Uint8 },
			"samples: 1024819115206086201 samples of 1 bytes do not fit in memory; allowed is up to 1024819115206086200 samples"},
		{"tokens of floats", "tokens", func(*Options) {}, "dtype: float32 is not allowed with source tokens; allowed is int64"},
		{"images of tokens", "images:.", func(o *Options) { o.DType = cudamem.Int64 }, "dtype: int64 is not allowed with source images; allowed is float32, float16, uint8"},
		{"grey images", "images:.", func(o *Options) { o.Shape = []int{1, 2, 2} }, "shape: 1x2x2 is not allowed with source images; allowed is 3xHEIGHTxWIDTH of at most 89478485 pixels"},
		{"huge images", "images:.", func(o *Options) { o.Shape = []int{3, 89478485, 2} }, "shape: 3x89478485x2 is not allowed with source images; allowed is 3xHEIGHTxWIDTH of at most 89478485 pixels"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			o := with(options(tc.source), tc.change)
			if _, err := Probe(o); errorText(err) != tc.err {
				t.Errorf("Probe: %q\nwant:  %q", errorText(err), tc.err)
			}
			if s, err := Open(o); s != nil || errorText(err) != tc.err {
				t.Errorf("Open: %v, %q\nwant: %q", s, errorText(err), tc.err)
			}
		})
	}
}

func TestCachedIsInMemory(t *testing.T) {
	var allocated []int64
	o := with(options("cached"), func(o *Options) {
		o.Alloc = func(bytes int64) (*cudamem.HostBuffer, error) {
			allocated = append(allocated, bytes)
			return allocPageable(bytes)
		}
	})
	s := mustOpen(t, o)
	memory, spec := s.(InMemory), s.Spec()
	if want := []int64{6 * 420, 6 * 8}; !reflect.DeepEqual(allocated, want) {
		t.Errorf("allocated %v, want %v", allocated, want)
	}
	if spec.HostBytes != 6*428 || spec.Fills != Collates {
		t.Errorf("spec %+v", spec)
	}
	drawn := mustOpen(t, options("randn")) // the same values, drawn as they are asked for
	for index := range spec.Samples {
		sample, label := filled(t, drawn, drawn.NewFiller(false), index)
		if !bytes.Equal(memory.Samples().Bytes()[index*420:][:420], sample) || !bytes.Equal(memory.Labels().Bytes()[index*8:][:8], label) {
			t.Errorf("sample %d in memory is not the one that randn gives", index)
		}
	}
	if err := s.Close(); err != nil || memory.Samples().Size() != 0 || memory.Labels().Size() != 0 {
		t.Errorf("after Close %d and %d bytes are left (%v)", memory.Samples().Size(), memory.Labels().Size(), err)
	}
}

// The labels' memory is refused: the samples' must not be lost.
func TestCachedFreesWhatItGot(t *testing.T) {
	refused := errors.New("no more memory")
	var first *cudamem.HostBuffer
	_, err := Open(with(options("cached"), func(o *Options) {
		o.Alloc = func(bytes int64) (_ *cudamem.HostBuffer, err error) {
			if first != nil {
				return nil, refused
			}
			first, err = allocPageable(bytes)
			return first, err
		}
	}))
	if !errors.Is(err, refused) || errorText(err) != "memory for 6 labels, 48 bytes: no more memory" {
		t.Errorf("error %q", errorText(err))
	}
	if first.Size() != 0 {
		t.Error("the samples' memory is still held")
	}
}

func TestOpeningIsCancelled(t *testing.T) {
	all := every(t)
	for _, name := range []string{"cached uint8", "npy in memory"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var buffers []*cudamem.HostBuffer
			o := all[name]
			o.Context = ctx
			o.Alloc = func(bytes int64) (*cudamem.HostBuffer, error) {
				cancel()
				buffer, err := allocPageable(bytes)
				buffers = append(buffers, buffer)
				return buffer, err
			}
			if _, err := Open(o); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			for _, buffer := range buffers {
				if buffer.Size() != 0 {
					t.Error("memory is still held")
				}
			}
		})
	}
}

// Memory is not touched any more when opening has been cancelled.
func TestTouchingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var memory []byte
	_, err := Open(with(options("cached"), func(o *Options) {
		o.Context = ctx
		o.Alloc = func(bytes int64) (*cudamem.HostBuffer, error) {
			cancel()
			buffer := make([]byte, bytes)
			buffer[0] = 7
			if memory == nil {
				memory = buffer // the samples'
			}
			return cudamem.NewHostBuffer(cudamem.Pageable, false, buffer, func() error { return nil }), nil
		}
	}))
	if !errors.Is(err, context.Canceled) || memory[0] != 7 {
		t.Errorf("error %v, first byte %d", err, memory[0])
	}
}

func TestFillingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	spec, err := Probe(with(options("cached"), func(o *Options) { o.Samples = 1000 }))
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	_, err = newMemory(Options{Context: ctx}, spec, func(_, _ []byte, _ int64) error {
		cancel()
		calls.Add(1)
		return nil
	})
	if n := calls.Load(); !errors.Is(err, context.Canceled) || n > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("error %v after %d samples", err, n)
	}
}

// An error while the memory is filled ends the filling.
func TestFillingFails(t *testing.T) {
	broken := errors.New("broken")
	spec, err := Probe(options("cached"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMemory(Options{Context: t.Context()}, spec, func(_, _ []byte, index int64) error {
		if index == 3 {
			return broken
		}
		return nil
	})
	if m != nil || !errors.Is(err, broken) {
		t.Errorf("got %v, error %v", m, err)
	}
}

func TestTokensAreShifted(t *testing.T) {
	s := mustOpen(t, every(t)["tokens"])
	if spec := s.Spec(); spec.LabelBytes != spec.SampleBytes || spec.SampleBytes != 16*8 {
		t.Fatalf("spec %+v", spec)
	}
	for index := range int64(6) {
		ids, targets := filled(t, s, s.NewFiller(false), index)
		if !bytes.Equal(ids[8:], targets[:len(targets)-8]) {
			t.Errorf("sample %d: the targets are not the ids that follow", index)
		}
		for i := 0; i < len(targets); i += 8 {
			if id := class(targets[i:]); id < 0 || id >= vocabulary {
				t.Errorf("sample %d: id %d", index, id)
			}
		}
	}
}

func TestDelay(t *testing.T) {
	s := mustOpen(t, options("delay:634ms±5ms"))
	f := s.NewFiller(false)
	sample, label := filled(t, s, f, 5)
	if class(sample) != 5 || class(label) != 5 {
		t.Errorf("sample 5 is stamped %d, labelled %d", class(sample), class(label))
	}
	load := f.(Pacer).LoadTime
	var least, most, sum time.Duration = time.Hour, 0, 0
	const batches = 10000
	for batch := range int64(batches) {
		d := load(batch)
		if d != s.NewFiller(true).(Pacer).LoadTime(batch) {
			t.Fatalf("batch %d has two load times", batch)
		}
		least, most, sum = min(least, d), max(most, d), sum+d
	}
	// Uniform within 5 ms: the mean's standard error is 10 ms / sqrt(12 * 10000) = 0.03 ms.
	mean := sum / batches
	if least < 629*time.Millisecond || least > 629100*time.Microsecond || most > 639*time.Millisecond ||
		most < 638900*time.Microsecond || (mean-634*time.Millisecond).Abs() > 150*time.Microsecond {
		t.Errorf("load times from %v to %v, mean %v", least, most, mean)
	}
	exact := mustOpen(t, options("delay:634ms")).NewFiller(false).(Pacer)
	if d := exact.LoadTime(7); d != 634*time.Millisecond {
		t.Errorf("load time without jitter %v", d)
	}
	small := mustOpen(t, with(options("delay:0s"), func(o *Options) { o.Shape, o.DType, o.Samples = []int{3}, cudamem.Uint8, 1<<16 }))
	if sample, label := filled(t, small, small.NewFiller(false), 0x1234); !bytes.Equal(sample, []byte{0x34, 0x12, 0}) || class(label) != 0x1234%10 {
		t.Errorf("a sample of three bytes is stamped %x, labelled %d", sample, class(label))
	}
}

// A slot that was filled before keeps what the stamp does not cover.
func TestDelayLeavesTheRest(t *testing.T) {
	s := mustOpen(t, options("delay:1ms"))
	sample, label := bytes.Repeat([]byte{7}, 420), make([]byte, 8)
	if err := s.NewFiller(false).Fill(sample, label, 1); err != nil || !bytes.Equal(sample[8:], bytes.Repeat([]byte{7}, 412)) {
		t.Errorf("more than 8 bytes were written (%v)", err)
	}
}

// writeNpy writes a file whose bytes count up, with the given header.
func writeNpy(t testing.TB, dtype, shape string, fortran bool, body int) string {
	t.Helper()
	order := "False"
	if fortran {
		order = "True"
	}
	text := npyHeader(1, "{'descr': '"+dtype+"', 'fortran_order': "+order+", 'shape': ("+shape+"), }")
	for i := range body {
		text = append(text, byte(i+i>>8))
	}
	path := filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// npyHeader is a header as numpy/lib/format.py describes it.
func npyHeader(version byte, dictionary string) []byte {
	start := 8 + 2*int(version)
	dictionary += strings.Repeat(" ", 63-(start+len(dictionary))%64) + "\n"
	header := []byte{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0}
	if version == 1 {
		header = binary.LittleEndian.AppendUint16(header, uint16(len(dictionary)))
	} else {
		header = binary.LittleEndian.AppendUint32(header, uint32(len(dictionary)))
	}
	return append(header, dictionary...)
}

// BenchmarkFill of the article's sample by every way of having one.
func BenchmarkFill(b *testing.B) {
	article := Options{Samples: 64, Shape: []int{3, 224, 224}, Classes: 10}
	npy := writeNpy(b, "<f4", "64, 3, 224, 224", false, 64*602112)
	for _, name := range []string{"randn", "cached", "npy:" + npy} {
		for _, streaming := range []bool{false, true} {
			kind, _, _ := Parse(name)
			b.Run(fmt.Sprintf("%s/streaming=%v", kind, streaming), func(b *testing.B) {
				s := mustOpen(b, with(article, func(o *Options) { o.Name = name }))
				f, label := s.NewFiller(streaming), make([]byte, 8)
				slot := make([]byte, 16*s.Spec().SampleBytes) // larger than a cache
				b.SetBytes(s.Spec().SampleBytes)
				for index := int64(0); b.Loop(); index++ {
					if err := f.Fill(slot[index%16*602112:][:602112], label, index%64); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkOpenCached draws ten of the article's batches: 385 MB.
func BenchmarkOpenCached(b *testing.B) {
	for b.Loop() {
		s, err := Open(Options{Name: "cached", Samples: 640, Shape: []int{3, 224, 224}, Classes: 10})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
