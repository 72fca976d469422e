package source

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pinscope/cudamem"
)

const typesAllowed = "allowed are little-endian float32, float16, int64 (<f4, <f2, <i8) and uint8 (|u1)"

func TestNpyHeaders(t *testing.T) {
	dictionary := func(dtype, fortran, shape string) []byte {
		return npyHeader(1, "{'descr': "+dtype+", 'fortran_order': "+fortran+", 'shape': "+shape+", }")
	}
	good := dictionary("'<f4'", "False", "(2, 3)")
	cases := []struct {
		name   string
		header []byte
		body   int64
		want   array
		err    string
	}{
		{"float32", good, 24, array{cudamem.Float32, 2, []int{3}, 128}, ""},
		{"float16", dictionary("'<f2'", "False", "(2, 3, 4)"), 48, array{cudamem.Float16, 2, []int{3, 4}, 128}, ""},
		{"uint8", dictionary("'|u1'", "False", "(5, 1)"), 5, array{cudamem.Uint8, 5, []int{1}, 128}, ""},
		{"int64", dictionary("'<i8'", "False", "(2,)"), 16, array{cudamem.Int64, 2, []int{1}, 128}, ""},
		{"version 2", npyHeader(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"), 24, array{cudamem.Float32, 2, []int{3}, 128}, ""},
		{"more follows", good, 1000, array{cudamem.Float32, 2, []int{3}, 128}, ""},
		{"empty file", nil, 0, array{}, `it is not a NumPy file: it begins with "", not with "\x93NUMPY"`},
		{"text", []byte("label,pixels\n"), 0, array{}, `it is not a NumPy file: it begins with "label,", not with "\x93NUMPY"`},
		{"archive", []byte("PK\x03\x04..........."), 0, array{}, "it is an .npz archive; save one array alone with numpy.save"},
		{"only the magic string", good[:8], 0, array{}, "it is cut off in the header"},
		{"less than a version", good[:6], 0, array{}, "it is cut off in the header"},
		{"half a header", good[:100], 0, array{}, "it is cut off in the header"},
		{"version 3", append([]byte("\x93NUMPY\x03\x00"), good[8:]...), 24, array{}, "its format version 3.0 is not supported; supported are 1 and 2"},
		{"long header", []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), 0, array{}, "its header of 4294967307 bytes is too long; allowed is up to 1048576"},
		{"one byte short", good, 23, array{}, "it is cut off: 23 bytes follow the header, its array of 2x3 float32 has 24"},
		{"no body", good, 0, array{}, "it is cut off: 0 bytes follow the header, its array of 2x3 float32 has 24"},
		{"Fortran order", dictionary("'<f4'", "True", "(2, 3)"), 24, array{}, "its array is in Fortran order; save numpy.ascontiguousarray(a) instead"},
		{"objects", dictionary("'|O'", "False", "(2, 3)"), 24, array{}, "its array holds Python objects; " + typesAllowed},
		{"big-endian", dictionary("'>f4'", "False", "(2, 3)"), 24, array{}, "its array is big-endian (>f4); " + typesAllowed},
		{"structured", dictionary("[('a', '<f4'), ('b', '<i8')]", "False", "(2,)"), 24, array{}, "its array is structured (a record of several fields); " + typesAllowed},
		{"float64", dictionary("'<f8'", "False", "(2, 3)"), 48, array{}, `its values are of type "<f8"; ` + typesAllowed},
		{"no axes", dictionary("'<f4'", "False", "()"), 4, array{}, "it holds a single value without axes; the first axis must count the samples"},
		{"no samples", dictionary("'<f4'", "False", "(0, 3)"), 0, array{}, "its array of shape 0x3 is empty"},
		{"empty samples", dictionary("'<f4'", "False", "(3, 0)"), 0, array{}, "its array of shape 3x0 is empty"},
		{"negative", dictionary("'<f4'", "False", "(-2, 3)"), 24, array{}, "its shape -2x3 is not one that an array can have"},
		{"too large", dictionary("'<f4'", "False", "(4611686018427387904, 3)"), 24, array{}, "its shape 4611686018427387904x3 is not one that an array can have"},
		{"no line end", append([]byte("\x93NUMPY\x01\x00\x04\x00"), "{  }"...), 24, array{}, "its header is not one that numpy.save writes"},
		{"other order", npyHeader(1, "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4', }"), 24, array{}, "its header is not one that numpy.save writes"},
		{"no dictionary", npyHeader(1, "hello"), 24, array{}, "its header cannot be read: npy: invalid dictionary format"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			file := append(bytes.Clone(tc.header), make([]byte, tc.body)...)
			got, err := readArray(bytes.NewReader(file), int64(len(file)))
			if errorText(err) != tc.err {
				t.Errorf("error %q\nwant  %q", errorText(err), tc.err)
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// FuzzNpyHeader looks for headers that promise more than the file holds, or that
// end the program.
func FuzzNpyHeader(f *testing.F) {
	f.Add(append(npyHeader(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"), make([]byte, 24)...))
	f.Add(append(npyHeader(2, "{'descr': '|u1', 'fortran_order': False, 'shape': (9,), }"), make([]byte, 9)...))
	f.Add(npyHeader(1, "{'descr': [('a', '|O')], 'fortran_order': True, 'shape': (), }"))
	f.Add(npyHeader(1, "{'shape': (2, 3), 'fortran_order': False, 'descr': '<i8', }"))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		a, err := readArray(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		bytes := a.samples * a.dtype.Size()
		for _, n := range a.shape {
			bytes *= int64(n)
		}
		if a.samples < 1 || bytes < 1 || a.body+bytes > int64(len(file)) {
			t.Errorf("%+v in a file of %d bytes", a, len(file))
		}
	})
}

func TestNpyFile(t *testing.T) {
	path := writeNpy(t, "<i8", "5, 2, 3", false, 5*48)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"mapped":    {Name: "npy:" + path, Classes: 3},
		"in memory": {Name: "npy:" + path, Classes: 3, InMemory: true},
		"fewer":     {Name: "npy:" + path, Classes: 3, Samples: 4, Shape: []int{3, 224, 224}, DType: cudamem.Uint8},
		"more":      {Name: "npy:" + path, Classes: 3, Samples: 6},
	} {
		t.Run(name, func(t *testing.T) {
			want := Spec{Samples: 5, Shape: []int{2, 3}, DType: cudamem.Int64, SampleBytes: 48, LabelBytes: 8, Files: 1}
			if name == "fewer" {
				want.Samples = 4
			}
			if o.InMemory || !canMap {
				want.Fills, want.HostBytes = Collates, 5*56
			}
			s := mustOpen(t, o)
			if spec := s.Spec(); !reflect.DeepEqual(spec, want) {
				t.Errorf("spec %+v\nwant %+v", spec, want)
			}
			if _, ok := s.(InMemory); ok != o.InMemory && canMap {
				t.Errorf("in memory: %v", ok)
			}
			for index := range want.Samples {
				sample, label := filled(t, s, s.NewFiller(false), index)
				if !bytes.Equal(sample, file[128+index*48:][:48]) || class(label) != index%3 {
					t.Errorf("sample %d, label %d: %x", index, class(label), sample)
				}
			}
		})
	}
}

func TestNpyFilesRefused(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(folder, "none.npy"):                "no such file or directory",
		folder:                                           "it is not a regular file",
		writeNpy(t, ">f4", "2, 3", false, 24):            "its array is big-endian (>f4); " + typesAllowed,
		writeNpy(t, "<f4", "1048576, 1048576", false, 0): "it is cut off: 0 bytes follow the header, its array of 1048576x1048576 float32 has 4398046511104",
	} {
		want = "npy file " + path + ": " + want
		if _, err := Probe(Options{Name: "npy:" + path, Classes: 1}); errorText(err) != want {
			t.Errorf("Probe: %q\nwant:  %q", errorText(err), want)
		}
		if s, err := Open(Options{Name: "npy:" + path, Classes: 1}); s != nil || errorText(err) != want {
			t.Errorf("Open: %q\nwant: %q", errorText(err), want)
		}
	}
}

// Into memory it is read, not mapped.
func TestNpyInMemoryBecomesShorter(t *testing.T) {
	path := writeNpy(t, "|u1", "4, 65536", false, 4<<16)
	_, err := Open(Options{Name: "npy:" + path, Classes: 1, InMemory: true, Alloc: func(bytes int64) (*cudamem.HostBuffer, error) {
		if err := os.Truncate(path, 1<<16); err != nil {
			t.Error(err)
		}
		return allocPageable(bytes)
	}})
	if want := "npy file " + path + ": it has become shorter while it was read, or its disk failed"; errorText(err) != want {
		t.Errorf("error %q\nwant  %q", errorText(err), want)
	}
}

// TestNpyOfNumPy reads what NumPy itself writes.
func TestNpyOfNumPy(t *testing.T) {
	const python = "/usr/bin/python3" // Debian's, whose numpy is python3-numpy
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skip("no NumPy here: ", err)
	}
	folder := t.TempDir()
	script := `
import numpy as np
a = np.arange(24).reshape(4, 2, 3)
for t in "float32", "float16", "uint8", "int64":
    np.save(t, a.astype(t))
np.save("float64", a.astype("float64"))
np.save("fortran", np.asfortranarray(a.astype("float32")))
np.save("object", np.array([None, "x"]), allow_pickle=True)
np.save("record", np.zeros(3, dtype=[("a", "<f4"), ("b", "<i8")]))
np.save("big", a.astype(">f4"))
np.save("scalar", np.float32(3))
np.save("none", np.zeros((0, 3), "float32"))
np.savez("archive.npy.npz", a=a)
`
	command := exec.Command(python, "-c", script)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, dtype := range map[string]cudamem.DType{
		"float32": cudamem.Float32, "float16": cudamem.Float16, "uint8": cudamem.Uint8, "int64": cudamem.Int64,
	} {
		s := mustOpen(t, Options{Name: "npy:" + filepath.Join(folder, name+".npy"), Classes: 10})
		spec := s.Spec()
		if spec.DType != dtype || spec.Samples != 4 || !reflect.DeepEqual(spec.Shape, []int{2, 3}) {
			t.Errorf("%s: spec %+v", name, spec)
		}
		sample, _ := filled(t, s, s.NewFiller(false), 3) // 18, 19, ... 23
		last := map[string][]byte{"float32": {0, 0, 0xb8, 0x41}, "float16": {0xc0, 0x4d}, "uint8": {23}, "int64": {23, 0, 0, 0, 0, 0, 0, 0}}
		if !bytes.HasSuffix(sample, last[name]) {
			t.Errorf("%s: sample 3 is %x", name, sample)
		}
	}
	for name, want := range map[string]string{
		"float64.npy": "type \"<f8\"", "fortran.npy": "Fortran order", "object.npy": "Python objects", "record.npy": "structured",
		"big.npy": "big-endian", "scalar.npy": "without axes", "none.npy": "empty", "archive.npy.npz": ".npz archive",
	} {
		if _, err := Probe(Options{Name: "npy:" + filepath.Join(folder, name), Classes: 1}); !strings.Contains(errorText(err), want) {
			t.Errorf("%s: error %q, want %q", name, errorText(err), want)
		}
	}
}
