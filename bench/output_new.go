package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrAppeared is why [WriteNewFile] did not write a file.
var ErrAppeared = errors.New("the file was created in the meantime, and is not replaced without --force")

// WriteNewFile is [WriteFile] for a file that must not be there yet: one that
// appeared since [CheckTarget] looked stays as it is, and the error is ErrAppeared.
func WriteNewFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return WriteFile(path, write)
	}
	err := writeNew(path, write)
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		err = system.Err // without the name of the file beside it, which is gone
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeNew writes a file beside its place, private to the user, and moves it there.
func writeNew(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(file), file.Sync(), file.Close())
	if err == nil {
		err = moveNew(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// moveNew gives a file another name that must not be taken. A link fails by itself
// where there is a file of that name; not every file system has links, and on one
// without, a file that appears between the look and the rename is lost.
func moveNew(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return ErrAppeared
	}
	if _, err := os.Lstat(to); err == nil {
		return ErrAppeared
	}
	return os.Rename(from, to)
}
