package bench

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// writeWhole writes a file beside its place and renames it: renameio does not
// serve Windows, where renaming over a file is all there is.
func writeWhole(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(file), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
