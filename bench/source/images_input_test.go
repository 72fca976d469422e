package source

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFirstImageIsLookedAt: what is wrong with all files is said before a run begins,
// and by Probe as by Open, but not where bad files are skipped.
func TestFirstImageIsLookedAt(t *testing.T) {
	picture := encodeJPEG(t, plain(64, 64, color.NRGBA{200, 100, 50, 255}))
	for _, tc := range []struct {
		name    string
		content []byte
		err     string // "" if it can only be found when its turn comes
	}{
		{"text", []byte("not an image\n"), "it is neither a JPEG nor a PNG file"},
		{"bomb", pngHeader(65535, 65535), "its size of 65535x65535 pixels is not allowed; allowed is up to 89478485 pixels"},
		{"cut in the header", picture[:20], "cut off"},
		{"cut in the picture", picture[:len(picture)-20], ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "a.jpg")
			writeFile(t, path, tc.content)
			writeFile(t, filepath.Join(folder, "b.png"), grey(t, 20))
			_, probeErr := Probe(imageOptions(folder))
			s, openErr := Open(imageOptions(folder))
			if tc.err == "" {
				if probeErr != nil || openErr != nil {
					t.Fatalf("Probe: %v, Open: %v", probeErr, openErr)
				}
				wantFileError(t, s.NewFiller(false).Fill(make([]byte, 192), make([]byte, 8), 0), path, "cut off")
				return
			}
			wantFileError(t, probeErr, path, tc.err)
			wantFileError(t, openErr, path, tc.err)
			skipping := mustOpen(t, with(imageOptions(folder), func(o *Options) { o.OnBad = "skip" }))
			if got, want := fmt.Sprint(shades(t, skipping)), "[[20 0] [20 0]]"; got != want {
				t.Errorf("skipping: shades and labels %s, want %s", got, want)
			}
		})
	}
}

func wantFileError(t *testing.T, err error, path, text string) {
	t.Helper()
	var file *FileError
	if !errors.As(err, &file) || file.Path != path || !strings.Contains(err.Error(), text) {
		t.Errorf("error %q is not one of file %s: %s", errorText(err), path, text)
	}
}

// A link that leads back to the folder, or above it, is no class.
func TestImageLinksBack(t *testing.T) {
	above := t.TempDir()
	folder := filepath.Join(above, "set")
	writeFile(t, filepath.Join(folder, "b", "1.png"), grey(t, 10))
	writeFile(t, filepath.Join(above, "set-2", "1.png"), grey(t, 20)) // beside it: may be one
	for link, to := range map[string]string{"a": ".", "c": above, "d": filepath.Join(above, "set-2")} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	want := "[[10 0] [20 1]]"
	if got := fmt.Sprint(shades(t, mustOpen(t, imageOptions(folder)))); got != want {
		t.Errorf("shades and labels %s, want %s", got, want)
	}
	t.Chdir(folder)
	if got := fmt.Sprint(shades(t, mustOpen(t, imageOptions(".")))); got != want {
		t.Errorf("from inside: shades and labels %s, want %s", got, want)
	}
}

// FuzzImage decodes damaged files: each fills its sample or is an error of that file.
func FuzzImage(f *testing.F) {
	picture := plain(20, 10, color.NRGBA{200, 100, 50, 255})
	for _, content := range [][]byte{encodeJPEG(f, picture), encodePNG(f, picture), grey(f, 3), cmykJPEG(f), pngHeader(7, 7), []byte("text")} {
		f.Add(content)
	}
	path := filepath.Join(f.TempDir(), "1.jpg")
	s := &images{files: []imageFile{{path, 0}}, classes: 1}
	var err error
	if s.spec, err = imagesSpec(imageOptions("")); err != nil {
		f.Fatal(err)
	}
	filler := s.NewFiller(false)
	f.Fuzz(func(t *testing.T, content []byte) {
		if config, _, err := image.DecodeConfig(bytes.NewReader(content)); err == nil && config.Width*config.Height > 1<<20 {
			return // allowed, but takes long
		}
		writeFile(t, path, content)
		if err := filler.Fill(make([]byte, 192), make([]byte, 8), 0); err != nil {
			wantFileError(t, err, path, "image file")
		}
	})
}
