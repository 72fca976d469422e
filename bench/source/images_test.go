package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/x448/float16"

	"pinscope/cudamem"
)

// imageOptions are good ones for a folder of images.
func imageOptions(folder string) Options {
	return Options{Name: "images:" + folder, Shape: []int{3, 8, 8}, DType: cudamem.Uint8, Classes: 10}
}

// plain is an image of one colour.
func plain(width, height int, c color.Color) image.Image {
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		picture.Set(i%width, i/width, c)
	}
	return picture
}

func writeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func encodePNG(t testing.TB, picture image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func encodeJPEG(t testing.TB, picture image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// grey is a PNG of one shade, which tells files apart.
func grey(t testing.TB, shade uint8) []byte { return encodePNG(t, plain(9, 9, color.Gray{Y: shade})) }

// shades are the first value and the label of all samples.
func shades(t testing.TB, s Source) (out [][2]int64) {
	t.Helper()
	f := s.NewFiller(false)
	for index := range s.Spec().Samples {
		sample, label := filled(t, s, f, index)
		out = append(out, [2]int64{int64(sample[0]), class(label)})
	}
	return out
}

func TestImageClasses(t *testing.T) {
	folder := t.TempDir()
	for path, shade := range map[string]uint8{
		"b/2.PNG": 20, "b/10.jpg": 10, "a/deep/er/1.png": 30, "a/x.jpeg": 40, "top.png": 50, "c/notes.txt": 0, "d/1.png": 60,
	} {
		writeFile(t, filepath.Join(folder, path), grey(t, shade)) // decoded by content, not by name
	}
	s := mustOpen(t, imageOptions(folder))
	want := "[[30 0] [40 0] [10 1] [20 1] [60 3] [50 0]]" // folders a, b, c (without images), d, then the file
	if got := fmt.Sprint(shades(t, s)); got != want {
		t.Errorf("shades and labels\n%s, want\n%s", got, want)
	}
	if spec := s.Spec(); spec.Samples != 6 || spec.Files != 6 || spec.Fills != Loads || spec.SampleBytes != 192 || spec.LabelBytes != 8 {
		t.Errorf("spec %+v", spec)
	}
	few := imageOptions(folder)
	few.Samples, few.Classes = 3, 2
	if got, want := fmt.Sprint(shades(t, mustOpen(t, few))), "[[30 0] [10 1] [60 1]]"; got != want {
		t.Errorf("of three samples and two classes %s, want %s", got, want)
	}
	if probed, err := Probe(few); err != nil || probed.Samples != 3 {
		t.Errorf("Probe tells %+v (%v)", probed, err)
	}
}

func TestImageLinks(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(folder, "a", "1.png"), grey(t, 10))
	writeFile(t, filepath.Join(other, "2.png"), grey(t, 20))
	for link, to := range map[string]string{
		"b": other, "a/up": "..", "a/loop": "loop", "a/file.png": filepath.Join(other, "2.png"),
	} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	if got, want := fmt.Sprint(shades(t, mustOpen(t, imageOptions(folder)))), "[[10 0] [20 0] [20 1]]"; got != want {
		t.Errorf("shades and labels %s, want %s", got, want)
	}
}

func TestImageKinds(t *testing.T) {
	colour := color.NRGBA{200, 100, 50, 255}
	cmyk := image.NewCMYK(image.Rect(0, 0, 16, 16))
	paletted := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{colour})
	deep := image.NewNRGBA64(image.Rect(0, 0, 16, 16))
	shade, deepShade := image.NewGray(image.Rect(0, 0, 16, 16)), image.NewGray16(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		x, y := i%16, i/16
		cmyk.Set(x, y, colour)
		deep.Set(x, y, colour)
		shade.SetGray(x, y, color.Gray{100})
		deepShade.SetGray16(x, y, color.Gray16{100 << 8})
	}
	cases := []struct {
		name    string
		content []byte
		want    [3]int
	}{
		{"colour JPEG", encodeJPEG(t, plain(16, 16, colour)), [3]int{200, 100, 50}},
		{"grey JPEG", encodeJPEG(t, shade), [3]int{100, 100, 100}},
		{"CMYK JPEG", cmykJPEG(t), [3]int{64, 64, 64}},
		{"colour PNG", encodePNG(t, plain(16, 16, colour)), [3]int{200, 100, 50}},
		{"paletted PNG", encodePNG(t, paletted), [3]int{200, 100, 50}},
		{"16-bit PNG", encodePNG(t, deep), [3]int{200, 100, 50}},
		{"grey PNG", encodePNG(t, shade), [3]int{100, 100, 100}},
		{"16-bit grey PNG", encodePNG(t, deepShade), [3]int{100, 100, 100}},
		{"half transparent PNG", encodePNG(t, plain(16, 16, color.NRGBA{200, 100, 50, 128})), [3]int{100, 50, 25}},
		{"one pixel", encodePNG(t, plain(1, 1, colour)), [3]int{200, 100, 50}},
		{"one line", encodePNG(t, plain(1000, 1, colour)), [3]int{200, 100, 50}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			folder := t.TempDir()
			writeFile(t, filepath.Join(folder, "1.jpg"), tc.content)
			s := mustOpen(t, imageOptions(folder))
			sample, _ := filled(t, s, s.NewFiller(false), 0)
			for channel, want := range tc.want {
				for _, i := range []int{0, 27, 63} {
					if got := int(sample[channel*64+i]); got < want-3 || got > want+3 {
						t.Errorf("channel %d, pixel %d: %d, want %d", channel, i, got, want)
					}
				}
			}
		})
	}
}

// cmykJPEG makes a JPEG of four components (8x8 pixels, all coefficients 0, which
// is a level of 128 in each, so 128 * 128 / 255 in red, green and blue), as image/jpeg cannot: a grey one's tables, with
// another frame and scan.
func cmykJPEG(t testing.TB) []byte {
	t.Helper()
	out := []byte{0xff, 0xd8}
	segment := func(marker byte, content ...byte) {
		out = append(out, 0xff, marker, 0, byte(len(content)+2))
		out = append(out, content...)
	}
	segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")...)                   // four components are CMYK, inverted
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)             // quantisation: all 1
	segment(0xc0, 8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0) // 8 bits, 8x8, 4 components
	segment(0xc4, append(append([]byte{0x00, 1}, make([]byte, 15)...), 0)...)       // DC: code 0 is "0"
	segment(0xc4, append(append([]byte{0x10, 1}, make([]byte, 15)...), 0)...)       // AC: code 0 is "end of block"
	segment(0xda, 4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0)                              // scan of all four
	return append(out, 0x00, 0xff, 0xd9)                                            // 4 x 2 bits
}

func TestImageValues(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "1.png"), encodePNG(t, plain(9, 9, color.NRGBA{255, 128, 0, 255})))
	for channel, want := range [3]float64{(1 - 0.485) / 0.229, (128.0/255 - 0.456) / 0.224, (0 - 0.406) / 0.225} {
		for dtype, tolerance := range map[cudamem.DType]float64{cudamem.Float32: 1e-6, cudamem.Float16: 2e-3} {
			s := mustOpen(t, with(imageOptions(folder), func(o *Options) { o.DType = dtype }))
			sample, _ := filled(t, s, s.NewFiller(false), 0)
			at := (channel*64 + 63) * int(dtype.Size())
			got := float64(float16.Frombits(binary.LittleEndian.Uint16(sample[at:])).Float32())
			if dtype == cudamem.Float32 {
				got = float64(float32At(sample, at))
			}
			if math.Abs(got-want) > tolerance {
				t.Errorf("%v, channel %d: %g, want %g", dtype, channel, got, want)
			}
		}
	}
}

// TestImageMiddle crops a wide image with red ends and a high one to its middle.
func TestImageMiddle(t *testing.T) {
	for _, tc := range []struct {
		name                    string
		width, height, toW, toH int
		want                    image.Rectangle
	}{
		{"as it is", 100, 50, 20, 10, image.Rect(0, 0, 100, 50)},
		{"wide", 300, 100, 8, 8, image.Rect(100, 0, 200, 100)},
		{"high", 100, 300, 8, 8, image.Rect(0, 100, 100, 200)},
		{"to wide", 100, 100, 20, 10, image.Rect(0, 25, 100, 75)},
		{"to high", 100, 100, 10, 20, image.Rect(25, 0, 75, 100)},
		{"a line", 1000, 1, 1, 10, image.Rect(499, 0, 500, 1)},
		{"a column", 1, 1000, 10, 1, image.Rect(0, 499, 1, 500)},
	} {
		if got := middle(image.Rect(0, 0, tc.width, tc.height), image.Rect(0, 0, tc.toW, tc.toH)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	picture := plain(60, 20, color.NRGBA{0, 0, 255, 255}).(*image.NRGBA)
	for y := range 20 {
		for x := range 60 {
			if x < 20 || x >= 40 {
				picture.Set(x, y, color.NRGBA{255, 0, 0, 255})
			}
		}
	}
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "1.png"), encodePNG(t, picture))
	s := mustOpen(t, imageOptions(folder))
	sample, _ := filled(t, s, s.NewFiller(false), 0)
	if !bytes.Equal(sample, append(make([]byte, 128), bytes.Repeat([]byte{255}, 64)...)) {
		t.Errorf("the middle is %v", sample)
	}
}

// pngHeader is a PNG that promises a size and holds nothing.
func pngHeader(width, height uint32) []byte {
	out := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	out = binary.BigEndian.AppendUint32(out, width)
	out = binary.BigEndian.AppendUint32(out, height)
	out = append(out, 8, 2, 0, 0, 0)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[12:]))
}

func TestBrokenImages(t *testing.T) {
	picture := encodeJPEG(t, plain(64, 64, color.NRGBA{200, 100, 50, 255}))
	broken := bytes.Clone(picture)
	broken[4], broken[5] = 0, 0                                                     // the length of the first segment
	arithmetic := bytes.Replace(picture, []byte("\xff\xc0"), []byte("\xff\xc9"), 1) // another kind of frame
	cases := []struct {
		name    string
		content []byte
		err     string
	}{
		{"empty", nil, "it is neither a JPEG nor a PNG file"},
		{"text", []byte("not an image\n"), "it is neither a JPEG nor a PNG file"},
		{"cut in the header", picture[:20], "it is damaged or cut off: unexpected EOF"},
		{"cut in the picture", picture[:len(picture)-20], "it is damaged or cut off: invalid JPEG format: short Huffman data"},
		{"cut at the end", picture[:len(picture)-2], "it is damaged or cut off: unexpected EOF"},
		{"cut PNG", grey(t, 7)[:50], "it is damaged or cut off: png: invalid format: not enough pixel data"},
		{"not for this decoder", arithmetic, "unsupported JPEG feature: unknown marker"},
		{"damaged", broken, "it is damaged or cut off: invalid JPEG format: short segment length"},
		{"as large as allowed", pngHeader(89478485, 1), "it is damaged or cut off: unexpected EOF"},
		{"larger than allowed", pngHeader(89478486, 1), "its size of 89478486x1 pixels is not allowed; allowed is up to 89478485 pixels"},
		{"bomb", pngHeader(65535, 65535), "its size of 65535x65535 pixels is not allowed; allowed is up to 89478485 pixels"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "b.jpg")
			writeFile(t, filepath.Join(folder, "a.png"), grey(t, 10))
			writeFile(t, path, tc.content)
			writeFile(t, filepath.Join(folder, "c.png"), grey(t, 30))
			s := mustOpen(t, imageOptions(folder))
			f := s.NewFiller(false)
			sample, label := filled(t, s, f, 0)
			if err, want := f.Fill(sample, label, 1), "image file "+path+": "+tc.err; errorText(err) != want {
				t.Errorf("error %q\nwant  %q", errorText(err), want)
			}
			if n := s.(BadSampler).BadSamples(); n != 0 {
				t.Errorf("%d bad samples", n)
			}
			skipping := mustOpen(t, with(imageOptions(folder), func(o *Options) { o.OnBad = "skip" }))
			for range 2 { // the second time it is known
				if got, want := fmt.Sprint(shades(t, skipping)), "[[10 0] [30 0] [30 0]]"; got != want {
					t.Errorf("skipping: shades and labels %s, want %s", got, want)
				}
				if n := skipping.(BadSampler).BadSamples(); n != 1 {
					t.Errorf("skipping: %d bad samples", n)
				}
			}
		})
	}
}

// The one that takes a bad file's place may lie before it, and be of another class.
func TestSkippingGoesRound(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "a/1.png"), grey(t, 10))
	writeFile(t, filepath.Join(folder, "b/1.png"), nil)
	writeFile(t, filepath.Join(folder, "b/2.png"), nil)
	s := mustOpen(t, with(imageOptions(folder), func(o *Options) { o.OnBad = "skip" }))
	if got, want := fmt.Sprint(shades(t, s)), "[[10 0] [10 0] [10 0]]"; got != want {
		t.Errorf("shades and labels %s, want %s", got, want)
	}
	if n := s.(BadSampler).BadSamples(); n != 2 {
		t.Errorf("%d bad samples, want 2", n)
	}
}

// What could not be read once is skipped from then on, also when it could be read
// later, and counted once, also when two workers meet it at once.
func TestBadStaysBad(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "1.png"), nil)
	writeFile(t, filepath.Join(folder, "2.png"), grey(t, 20))
	s := mustOpen(t, with(imageOptions(folder), func(o *Options) { o.OnBad = "skip" })).(*images)
	for range 2 {
		if got, want := fmt.Sprint(shades(t, s)), "[[20 0] [20 0]]"; got != want {
			t.Errorf("shades and labels %s, want %s", got, want)
		}
		writeFile(t, filepath.Join(folder, "1.png"), grey(t, 10))
	}
	s.markBad(0)
	if n := s.BadSamples(); n != 1 {
		t.Errorf("%d bad samples, want 1", n)
	}
}

func TestAllImagesBad(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "1.png"), nil)
	writeFile(t, filepath.Join(folder, "2.png"), nil)
	s := mustOpen(t, with(imageOptions(folder), func(o *Options) { o.OnBad = "skip" }))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// A folder, however large, is not gone through to its end.
	stopped := mustOpen(t, with(imageOptions(folder), func(o *Options) { o.OnBad = "skip" })).(*images)
	stopped.context = ctx
	if err := stopped.NewFiller(false).Fill(make([]byte, 192), make([]byte, 8), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for range 2 {
		err := s.NewFiller(false).Fill(make([]byte, 192), make([]byte, 8), 1)
		if want := "none of the 2 image files can be read"; !strings.HasPrefix(errorText(err), want) {
			t.Errorf("error %q, want %q", errorText(err), want)
		}
	}
}

func TestImageFoldersRefused(t *testing.T) {
	folder := t.TempDir()
	empty, file := filepath.Join(folder, "empty"), filepath.Join(folder, "a.png")
	writeFile(t, filepath.Join(empty, "class", "notes.txt"), nil)
	writeFile(t, file, grey(t, 1))
	for path, want := range map[string]string{
		filepath.Join(folder, "none"): "no such file or directory",
		file:                          "not a directory",
		empty:                         "no .jpg, .jpeg or .png file in it or its subfolders",
	} {
		want = "image folder " + path + ": " + want
		if _, err := Probe(imageOptions(path)); errorText(err) != want {
			t.Errorf("Probe: %q\nwant:  %q", errorText(err), want)
		}
		if s, err := Open(imageOptions(path)); s != nil || errorText(err) != want {
			t.Errorf("Open: %q\nwant: %q", errorText(err), want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cancelled := with(imageOptions(folder), func(o *Options) { o.Context = ctx })
	if _, err := Probe(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestClosedImageFolder(t *testing.T) {
	folder := t.TempDir()
	closed := filepath.Join(folder, "class")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("this user may read any folder")
	}
	if _, err := Probe(imageOptions(folder)); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), closed) {
		t.Errorf("closed folder: %v", err)
	}
}

// TestRealPhotographs decodes what cameras and other programs wrote.
func TestRealPhotographs(t *testing.T) {
	const folder = "/usr/share/backgrounds" // Debian: lomiri-wallpapers-16.04
	photographs, _ := filepath.Glob(folder + "/*.jpg")
	if len(photographs) == 0 {
		t.Skip("no .jpg file in " + folder)
	}
	links := t.TempDir()
	for _, path := range photographs[:min(3, len(photographs))] {
		if err := os.Symlink(path, filepath.Join(links, filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	s := mustOpen(t, with(imageOptions(links), func(o *Options) { o.Shape = []int{3, 224, 224} }))
	f := s.NewFiller(false)
	for index := range s.Spec().Samples {
		sample, _ := filled(t, s, f, index)
		again, _ := filled(t, s, f, index)
		if !bytes.Equal(sample, again) {
			t.Errorf("%s is another picture the second time", photographs[index])
		}
		var counts [256]int
		for _, value := range sample {
			counts[value]++
		}
		distinct := 0
		for _, n := range counts {
			distinct += min(n, 1)
		}
		if distinct < 64 {
			t.Errorf("%s has only %d values", photographs[index], distinct)
		}
	}
}

// BenchmarkImage decodes a picture of ImageNet's usual size.
func BenchmarkImage(b *testing.B) {
	picture := image.NewNRGBA(image.Rect(0, 0, 500, 375))
	newStream(1, 0).drawBytes(picture.Pix[:len(picture.Pix)/4]) // some of it noise
	folder := b.TempDir()
	writeFile(b, filepath.Join(folder, "1.jpg"), encodeJPEG(b, picture))
	s := mustOpen(b, Options{Name: "images:" + folder, Shape: []int{3, 224, 224}, DType: cudamem.Float32, Classes: 10})
	f, sample, label := s.NewFiller(false), make([]byte, s.Spec().SampleBytes), make([]byte, 8)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Fill(sample, label, 0); err != nil {
			b.Fatal(err)
		}
	}
}
