package runner

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"pinscope/bench/gpuwatch"
)

// Look gathers the facts: it opens the driver's library for a moment and looks
// for the runner.
func Look(o Options) Facts {
	f := Facts{Options: o}
	if w, err := gpuwatch.Open(); err == nil {
		f.Driver, f.Devices = gpuwatch.Ready, w.Devices()
		_ = w.Close() // the list is what was wanted
	} else {
		var u *gpuwatch.Unavailable
		if errors.As(err, &u) {
			f.Driver, f.Reason, f.Cure = u.State, u.Reason, u.Cure
		} else {
			f.Reason = err.Error()
		}
	}
	if list, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
		f.Visible = &list
	}
	if self, err := os.Executable(); err == nil && !o.CUDABuild {
		f.Runner = find(self)
	}
	return f
}

// find looks for the runner beside a program, links followed, then on PATH. The
// program itself under that name is none: it would start itself for ever.
func find(self string) string {
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	name := Name
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	// LookPath refuses what is not executable, and with an error what it found
	// in the current folder.
	for _, place := range []string{filepath.Join(filepath.Dir(self), name), name} {
		path, err := exec.LookPath(place)
		if err == nil && !sameFile(path, self) {
			return path
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
