//go:build unix

package source

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A mapped file that becomes shorter raises a fault (SIGBUS) where it was.
func TestNpyBecomesShorter(t *testing.T) {
	const sampleBytes = 1 << 16
	path := writeNpy(t, "|u1", "4, 65536", false, 4*sampleBytes)
	s := mustOpen(t, Options{Name: "npy:" + path, Classes: 1})
	if err := os.Truncate(path, 128+2*sampleBytes); err != nil {
		t.Fatal(err)
	}
	for _, streaming := range []bool{false, true} {
		f := s.NewFiller(streaming)
		filled(t, s, f, 1)
		sample, label := make([]byte, sampleBytes), make([]byte, 8)
		want := "npy file " + path + ": it has become shorter while it was read, or its disk failed"
		if err := f.Fill(sample, label, 3); errorText(err) != want {
			t.Errorf("error %q\nwant  %q", errorText(err), want)
		}
	}
}

// A fault in memory that is not the file's is a bug, and no error.
func TestOtherFaults(t *testing.T) {
	s := mustOpen(t, Options{Name: "npy:" + writeNpy(t, "|u1", "2, 4096", false, 8192), Classes: 1})
	readOnly := mustOpen(t, Options{Name: "npy:" + writeNpy(t, "|u1", "2, 4096", false, 8192), Classes: 1}).(*mappedNpy).bytes
	for name, dst := range map[string][]byte{"a page that must not be written": readOnly[:4096], "no label": make([]byte, 4096)} {
		label := make([]byte, 8)
		if name == "no label" {
			label = nil
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken for a file that has become shorter", name)
				}
			}()
			_ = s.NewFiller(false).Fill(dst, label, 1)
		}()
	}
}

// Opening a pipe would wait for somebody to write into it.
func TestPipes(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe.png")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Probe(options("npy:" + pipe)); errorText(err) != "npy file "+pipe+": it is not a regular file" {
		t.Errorf("error %q", errorText(err))
	}
	if _, err := Probe(imageOptions(folder)); errorText(err) != "image file "+pipe+": it is not a regular file" {
		t.Errorf("error %q", errorText(err))
	}
}
