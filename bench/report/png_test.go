package report

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench"
)

func written(t *testing.T, r *bench.Result, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WritePNG(&out, r, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestResultTravelsInThePicture(t *testing.T) {
	r := comparison()
	data := written(t, r, Options{DPI: 72})
	back, err := Extract(iotest.OneByteReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(r)
	after, _ := json.Marshal(back)
	if !bytes.Equal(before, after) {
		t.Error("the result is not the one that was written")
	}
	if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		t.Errorf("the picture does not open: %v", err)
	}
	if !bytes.Equal(written(t, back, Options{DPI: 72}), data) {
		t.Error("drawn again, the picture is another one")
	}
}

func TestPictureSizeAndDPI(t *testing.T) {
	for _, dpi := range []int{0, 72, 200} {
		data := written(t, comparison(), Options{DPI: dpi})
		if dpi == 0 {
			dpi = defaultDPI
		}
		config, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		// A4: 297 mm by 210 mm.
		if w, h := 297*dpi*10/254, 210*dpi*10/254; abs(config.Width-w) > 1 || abs(config.Height-h) > 1 {
			t.Errorf("%d DPI: %d x %d dots, want %d x %d", dpi, config.Width, config.Height, w, h)
		}
		at := bytes.Index(data, []byte("pHYs"))
		if at < 0 || bytes.Index(data, []byte("IDAT")) < at {
			t.Fatal("no pHYs chunk ahead of the picture")
		}
		want := uint32(math.Round(float64(dpi) * 39.37007874))
		if got := binary.BigEndian.Uint32(data[at+4:]); got != want || data[at+12] != 1 {
			t.Errorf("%d DPI: %d dots by unit %d, want %d by 1 (metre)", dpi, got, data[at+12], want)
		}
	}
	for _, dpi := range []int{-1, 1, 100_000} {
		if err := WritePNG(io.Discard, comparison(), Options{DPI: dpi}); err == nil {
			t.Errorf("%d DPI was drawn", dpi)
		}
	}
}

func abs(n int) int { return max(n, -n) }

// chunk is one of a PNG, with a right checksum.
func chunk(name string, content []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	out = append(append(out, name...), content...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

func packed(text io.Reader) []byte {
	out := bytes.NewBufferString(resultKeyword + "\x00\x01\x00\x00\x00")
	w := zlib.NewWriter(out)
	io.Copy(w, text)
	w.Close()
	return out.Bytes()
}

func TestExtractRefuses(t *testing.T) {
	good := written(t, comparison(), Options{DPI: 40})
	at := bytes.Index(good, []byte("iTXt")) - 4
	length := int(binary.BigEndian.Uint32(good[at:]))
	head, tail := good[:at], good[at+12+length:]
	with := func(chunks ...[]byte) []byte { return bytes.Join([][]byte{head, bytes.Join(chunks, nil), tail}, nil) }
	changed := bytes.Clone(good)
	changed[at+8+length/2] ^= 1
	var plain bytes.Buffer
	png.Encode(&plain, image.NewGray(image.Rect(0, 0, 4, 4)))
	var jpeg = append([]byte("\xff\xd8\xff\xe0"), make([]byte, 64)...)
	newer, foreign := comparison(), `{"hello":"world"}`
	newer.Schema = bench.SchemaVersion + 1
	newerText, _ := json.Marshal(newer)
	longChunk := binary.BigEndian.AppendUint32(bytes.Clone(head), math.MaxInt32)
	longChunk = append(longChunk, "iTXt"...)
	noBytes := binary.BigEndian.AppendUint32(bytes.Clone(head), mostChunkBytes)
	noBytes = append(noBytes, "iTXtPinscope"...)

	for _, c := range []struct {
		name string
		data []byte
		want string // in the error
	}{
		{"nothing", nil, "not a PNG"},
		{"text", []byte("hello, this is not a picture"), "not a PNG"},
		{"another picture format", jpeg, "not a PNG"},
		{"a picture without a result", plain.Bytes(), "carries no Pinscope result"},
		{"text chunks of others", with(chunk("iTXt", []byte("Title\x00\x00\x00\x00\x00A title")), chunk("tEXt", []byte("Comment\x00x"))), "carries no Pinscope result"},
		{"a bit changed", changed, "checksum of a text"},
		{"not compressed as said", with(chunk("iTXt", []byte(resultKeyword+"\x00\x01\x00\x00\x00no zlib"))), "decompressed"},
		{"unknown method", with(chunk("iTXt", []byte(resultKeyword+"\x00\x01\x07\x00\x00"))), "packed in a way"},
		{"keyword alone", with(chunk("iTXt", []byte(resultKeyword+"\x00"))), "packed in a way"},
		{"no text", with(chunk("iTXt", []byte(resultKeyword+"\x00\x01\x00"))), "no beginning"},
		{"half a result", with(chunk("iTXt", packed(bytes.NewReader(newerText[:len(newerText)/2])))), "not a result file"},
		{"cut compression", with(chunk("iTXt", packed(strings.NewReader(foreign))[:len(resultKeyword)+12])), "decompressed"},
		{"foreign JSON", with(chunk("iTXt", packed(strings.NewReader(foreign)))), "no schema version"},
		{"newer schema", with(chunk("iTXt", packed(bytes.NewReader(newerText)))), "newer Pinscope"},
		{"a bomb", with(chunk("iTXt", packed(io.LimitReader(spaces{}, 1<<28)))), "grows more than"},
		{"a length that is a lie", noBytes, "cut off"},
		{"a huge length", longChunk, "no result is that large"},
		{"an impossible length", append(bytes.Clone(head), 0xff, 0xff, 0xff, 0xff, 'I', 'D', 'A', 'T'), "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := Extract(bytes.NewReader(c.data))
			runtime.ReadMemStats(&after)
			if err == nil || r != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("result %v, error %v, want one with %q", r != nil, err, c.want)
			}
			// The bomb is 256 MiB; what it may grow to is 200 times its 260 KB.
			if used := after.TotalAlloc - before.TotalAlloc; used > 300<<20 {
				t.Errorf("reading it took %d MiB", used>>20)
			}
		})
	}
	for cut := 0; cut < at+12+length; cut += 97 {
		if r, err := Extract(bytes.NewReader(good[:cut])); err == nil || r != nil {
			t.Fatalf("cut off at %d of %d bytes it was read", cut, len(good))
		}
	}
	if _, err := Extract(bytes.NewReader(plain.Bytes())); !errors.Is(err, ErrNoResult) {
		t.Errorf("a plain picture gives %v, want ErrNoResult", err)
	}
}

// spaces is endless white space, which JSON may begin with.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestUncompressedResultIsReadToo(t *testing.T) {
	r := comparison()
	text, _ := json.Marshal(r)
	data := bytes.Join([][]byte{pngSignature, chunk("iTXt", append([]byte(resultKeyword+"\x00\x00\x00\x00\x00"), text...))}, nil)
	back, err := Extract(bytes.NewReader(data))
	if err != nil || !reflect.DeepEqual(back.Comparison, r.Comparison) {
		t.Errorf("error %v", err)
	}
}

func TestExperimentTravelsInThePicture(t *testing.T) {
	var out bytes.Buffer
	e := experimentResult()
	if err := WriteExperimentPNG(&out, e, Options{DPI: 40}); err != nil {
		t.Fatal(err)
	}
	for data := bytes.NewReader(out.Bytes()[len(pngSignature):]); ; {
		name, content, err := readChunk(data)
		if err != nil {
			t.Fatal("no experiment in the picture: ", err)
		}
		keyword, text, _ := bytes.Cut(content, []byte{0})
		if name != "iTXt" || string(keyword) != "Pinscope pressure result" {
			continue
		}
		z, err := zlib.NewReader(bytes.NewReader(text[4:]))
		if err != nil {
			t.Fatal(err)
		}
		var back bench.ExperimentResult
		if err := json.NewDecoder(z).Decode(&back); err != nil || back.Sentence != e.Sentence || len(back.Outcomes) != 2 {
			t.Errorf("error %v, sentence %q", err, back.Sentence)
		}
		return
	}
}

func FuzzExtract(f *testing.F) {
	text, err := (&carried{resultKeyword, &bench.Result{Schema: 1, Sides: make([]bench.Side, 1)}}).text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Join([][]byte{pngSignature, chunk("IHDR", make([]byte, 13)), chunk("iTXt", text)}, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		Extract(bytes.NewReader(data)) // must return
	})
}

func TestPanicsBecomeErrors(t *testing.T) {
	explode := func(draw.Canvas) { panic("a plot's panic") }
	if _, err := picture(10, 10, 96, explode); err == nil || !strings.Contains(err.Error(), "a plot's panic") {
		t.Errorf("picture: error %v", err)
	}
	if err := drawSVG(io.Discard, 10, 10, explode); err == nil || !strings.Contains(err.Error(), "a plot's panic") {
		t.Errorf("SVG: error %v", err)
	}
}

func TestSVG(t *testing.T) {
	r := comparison()
	r.Host.Name = `<script>alert("x")</script>&`
	var out bytes.Buffer
	if err := WriteSVG(&out, r, Options{Language: Chinese}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"模拟 GPU", "'Noto Sans SC',", "</svg>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(text, "<script") {
		t.Error("a host's name is taken for markup")
	}
	for decoder := xml.NewDecoder(&out); ; {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
	}
	if len(text) > 2<<20 {
		t.Errorf("%d bytes", len(text))
	}
}

func TestWritersReportErrors(t *testing.T) {
	broken := iotestWriter{errors.New("disk full")}
	for name, write := range map[string]func(io.Writer, *bench.Result, Options) error{"png": WritePNG, "svg": WriteSVG, "md": WriteMarkdown} {
		if err := write(broken, comparison(), Options{DPI: 40}); !errors.Is(err, broken.err) {
			t.Errorf("%s: error %v, want %v", name, err, broken.err)
		}
	}
}

type iotestWriter struct{ err error }

func (w iotestWriter) Write([]byte) (int, error) { return 0, w.err }

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	r := comparison()
	r.Findings = append(r.Findings, "a | b <i>c</i> _d_")
	if err := WriteMarkdown(&out, r, Options{}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"> **SIMULATED GPU**", "| A: pin off, blocking | 3,025 |", "| wait batch | 1.875 ms | 8.225 ms |", "| pinned | off (0 B) | on (147.02 MiB) |",
		`a \| b &lt;i&gt;c&lt;/i&gt; \_d\_`, "    pinscope compare --preset article", "1.22x (+22.2 %)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	columns := 0
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns > 0 && n != columns {
			t.Errorf("%q has %d bars, the line above %d", line, n, columns)
		}
		columns = n
	}
}
