package pressure

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
)

// Root is the folder that holds proc, sys, dev and the rest of what is read:
// "/", or in tests a copy of parts of some machine. Empty is "/".
type Root string

// path is a file below the root.
func (r Root) path(elements ...string) string {
	base := string(r)
	if base == "" {
		base = "/"
	}
	return filepath.Join(append([]string{base}, elements...)...)
}

// text is a whole small file without the white space around it.
func (r Root) text(elements ...string) (text string, ok bool) {
	bytes, err := os.ReadFile(r.path(elements...))
	return strings.TrimSpace(string(bytes)), err == nil
}

func (r Root) exists(elements ...string) bool {
	_, err := os.Stat(r.path(elements...))
	return err == nil
}

// procfs gives the library's view; its zero value when there is no proc.
func (r Root) procfs() (fs procfs.FS, self procfs.Proc, err error) {
	fs, err = procfs.NewFS(r.path("proc"))
	if err == nil {
		self, err = fs.Self()
	}
	return fs, self, err
}
