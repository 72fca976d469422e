package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"codeberg.org/sbinet/npyio/npy"

	"pinscope/cudamem"
)

// An npy source is one array in a NumPy file, little-endian and in C order: the
// first axis counts the samples, the others are the shape of one. Shape and type
// come from the file. It has no labels, so a sample's is its number modulo the
// classes.
//
// The file is mapped, where the system does that: filling copies out of the page
// cache. In memory (pin dataset) it is read once, into memory that the device can
// read.

// npyFile is a file whose header has been read.
type npyFile struct {
	*os.File
	path string
	body int64 // offset of the first sample
	spec Spec
}

func probeNpy(o Options, path string) (Spec, error) {
	f, err := openNpyFile(o, path)
	if err != nil {
		return Spec{}, err
	}
	return f.spec, f.Close()
}

func openNpy(o Options, path string) (Source, error) {
	f, err := openNpyFile(o, path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // a mapping stays
	if o.InMemory || !canMap {
		return newMemory(o, f.spec, func(sample, label []byte, index int64) error {
			putClass(label, index%int64(o.Classes))
			_, err := f.ReadAt(sample, f.body+index*f.spec.SampleBytes)
			if err == io.EOF {
				err = errShorter
			}
			return f.explain(err)
		})
	}
	return mapNpy(f, int64(o.Classes))
}

func openNpyFile(o Options, path string) (*npyFile, error) {
	f := &npyFile{path: path}
	var err error
	if f.File, err = openRegular(path); err != nil {
		return nil, f.explain(err)
	}
	if err = f.readSpec(o); err != nil {
		return nil, f.explain(errors.Join(err, f.Close()))
	}
	return f, nil
}

// readSpec reads the header.
func (f *npyFile) readSpec(o Options) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	array, err := readArray(f, info.Size())
	if err != nil {
		return err
	}
	f.body = array.body
	samples := array.samples
	if o.Samples > 0 {
		samples = min(samples, o.Samples)
	}
	if f.spec, err = newSpec(samples, array.shape, array.dtype); err != nil {
		return err
	}
	f.spec.Files = 1
	if o.InMemory || !canMap {
		f.spec.Fills = Collates
		return f.spec.hold()
	}
	return nil
}

var errShorter = errors.New("it has become shorter while it was read, or its disk failed")

// explain names the file, once.
func (f *npyFile) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("npy file %s: %w", f.path, cause(err))
}

// array is what a header says.
type array struct {
	dtype   cudamem.DType
	samples int64
	shape   []int // of one sample; one number: 1
	body    int64
}

// maxHeader is far more than a header that can be used here is long; NumPy itself
// stops at 10,000 bytes.
const maxHeader = 1 << 20

// readArray reads the header of a file of so many bytes, and checks that the body
// that it promises is there.
func readArray(r io.ReaderAt, size int64) (array, error) {
	text, err := readHeader(r, size)
	if err != nil {
		return array{}, err
	}
	header, err := parseHeader(text)
	if err != nil {
		return array{}, err
	}
	descr, a := header.Descr, array{body: int64(len(text))}
	if a.dtype, err = dtypeOf(strings.Trim(descr.Type, "'")); err != nil {
		return array{}, err
	}
	if descr.Fortran {
		return array{}, errors.New("its array is in Fortran order; save numpy.ascontiguousarray(a) instead")
	}
	if len(descr.Shape) == 0 {
		return array{}, errors.New("it holds a single value without axes; the first axis must count the samples")
	}
	total := a.dtype.Size()
	for _, n := range descr.Shape {
		var ok bool
		if total, ok = times(total, max(int64(n), 0)); !ok || n < 0 {
			return array{}, fmt.Errorf("its shape %s is not one that an array can have", shapeText(descr.Shape))
		}
	}
	if total == 0 {
		return array{}, fmt.Errorf("its array of shape %s is empty", shapeText(descr.Shape))
	}
	if total > size-a.body {
		return array{}, fmt.Errorf("it is cut off: %d bytes follow the header, its array of %s %s has %d",
			size-a.body, shapeText(descr.Shape), a.dtype, total)
	}
	a.samples, a.shape = int64(descr.Shape[0]), descr.Shape[1:]
	if len(a.shape) == 0 {
		a.shape = []int{1}
	}
	return a, nil
}

// readHeader gives all that lies before the body. The format is described in
// numpy/lib/format.py: magic string, version, length of the header, header.
func readHeader(r io.ReaderAt, size int64) ([]byte, error) {
	var start [12]byte
	n, err := r.ReadAt(start[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	const magic = "\x93NUMPY"
	switch text := string(start[:n]); {
	case strings.HasPrefix(text, "PK\x03\x04"):
		return nil, errors.New("it is an .npz archive; save one array alone with numpy.save")
	case !strings.HasPrefix(text, magic):
		return nil, fmt.Errorf("it is not a NumPy file: it begins with %q, not with %q", text[:min(n, len(magic))], magic)
	case n < len(start):
		return nil, errors.New("it is cut off in the header")
	}
	var length int64
	switch start[6] {
	case 1:
		length = 10 + int64(binary.LittleEndian.Uint16(start[8:]))
	case 2:
		length = 12 + int64(binary.LittleEndian.Uint32(start[8:]))
	default:
		return nil, fmt.Errorf("its format version %d.%d is not supported; supported are 1 and 2", start[6], start[7])
	}
	if length > maxHeader {
		return nil, fmt.Errorf("its header of %d bytes is too long; allowed is up to %d", length, maxHeader)
	}
	if length > size {
		return nil, errors.New("it is cut off in the header")
	}
	header := make([]byte, length)
	_, err = r.ReadAt(header, 0)
	if err == io.EOF {
		err = nil
	}
	return header, err
}

// parseHeader reads a whole header. npyio (v0.14.0) panics at some that are no
// Python dictionary of the expected form.
func parseHeader(text []byte) (header npy.Header, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("its header is not one that numpy.save writes")
		}
	}()
	reader, err := npy.NewReader(bytes.NewReader(text))
	if err != nil {
		return header, fmt.Errorf("its header cannot be read: %w", err)
	}
	return reader.Header, nil
}

// dtypeOf translates NumPy's name of a type.
func dtypeOf(name string) (cudamem.DType, error) {
	const allowed = "allowed are little-endian float32, float16, int64 (<f4, <f2, <i8) and uint8 (|u1)"
	switch name {
	case "<f4":
		return cudamem.Float32, nil
	case "<f2":
		return cudamem.Float16, nil
	case "|u1":
		return cudamem.Uint8, nil
	case "<i8":
		return cudamem.Int64, nil
	}
	switch {
	case strings.HasPrefix(name, "["):
		return 0, errors.New("its array is structured (a record of several fields); " + allowed)
	case strings.HasPrefix(name, "|O"):
		return 0, errors.New("its array holds Python objects; " + allowed)
	case strings.HasPrefix(name, ">"):
		return 0, fmt.Errorf("its array is big-endian (%s); %s", name, allowed)
	}
	return 0, fmt.Errorf("its values are of type %q; %s", name, allowed)
}
