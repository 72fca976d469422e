package bench

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteNewFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "new")
	text := func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	}
	if err := WriteNewFile(path, text); err != nil {
		t.Fatal(err)
	}
	if err := WriteNewFile(path, func(io.Writer) error { return nil }); !errors.Is(err, ErrAppeared) {
		t.Errorf("over a file: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Skip(err)
	}
	if err := CheckTarget("json", link, false); err == nil {
		t.Error("a link that leads nowhere is allowed")
	}
	if left, _ := os.ReadDir(folder); len(left) != 2 {
		t.Errorf("files left behind: %v", left)
	}
}
