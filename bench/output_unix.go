//go:build !windows

package bench

import (
	"errors"
	"io"

	"github.com/google/renameio/v2"
)

// writeWhole writes a file beside its place and renames it. Results are private
// to the user, as a new file's mode says; one that is replaced keeps its own.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	file, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600), renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Cleanup()) }()
	if err := write(file); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}
