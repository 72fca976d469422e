//go:build linux && cgo

package gpuwatch

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// libraryName is what every driver package installs; the plain libnvidia-ml.so
// comes with development packages only.
const libraryName = "libnvidia-ml.so.1"

// openBackend loads the library and starts it. go-nvml's Init would do both, but
// it calls nvmlInit whether the library has it or not, which ends the process,
// and keeps the loader's reason to itself: so the library is opened here first.
func openBackend() (backend, error) {
	file := dl.New(libraryName, dl.RTLD_LAZY|dl.RTLD_GLOBAL) // go-nvml's flags
	if err := file.Open(); err != nil {
		return nil, loadFailed(err)
	}
	defer file.Close() // the library stays: go-nvml holds it by then
	info := Library{Name: libraryName}
	if path, err := file.Path(); err == nil {
		info.Path = path
		if real, err := filepath.EvalSymlinks(path); err == nil {
			info.Path = real
		}
	}
	has := func(symbol string) bool { return file.Lookup(symbol) == nil }
	return startNVML(nvml.New(nvml.WithLibraryPath(libraryName)), has, info, "/sys")
}

func loadFailed(err error) error {
	// dlopen names the file that is missing: the library itself, or one it needs.
	if strings.HasPrefix(err.Error(), libraryName+": cannot open shared object file: No such file") {
		return &Unavailable{State: NoDriver, Reason: "no NVIDIA driver found"}
	}
	return &Unavailable{State: BadDriver, Reason: fmt.Sprintf("the NVIDIA driver's library cannot be loaded (%v)", err)}
}

// initFailed puts NVML's refusal to start into words. The names of the codes are
// ours: the library's own nvmlErrorString may be missing like any other symbol.
func initFailed(code nvml.Return) error {
	u := &Unavailable{State: BadDriver}
	switch code {
	case nvml.ERROR_DRIVER_NOT_LOADED:
		u.Reason = "the NVIDIA driver is installed but not running (NVML code 9, DRIVER_NOT_LOADED)"
		u.Cure = "load it (sudo modprobe nvidia), or start the container with access to the GPU"
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		u.Reason = "the NVIDIA driver was updated and the old one is still running (NVML code 18, LIB_RM_VERSION_MISMATCH)"
		u.Cure = "restart the machine"
	case nvml.ERROR_NO_PERMISSION:
		u.Reason = "this user may not talk to the NVIDIA driver (NVML code 4, NO_PERMISSION)"
		u.Cure = "check the rights of /dev/nvidia*"
	case nvml.ERROR_GPU_NOT_FOUND, nvml.ERROR_NOT_FOUND:
		u.State = NoGPU
		u.Reason = fmt.Sprintf("the NVIDIA driver is here but finds no GPU (NVML code %d)", code)
	case nvml.ERROR_GPU_IS_LOST, nvml.ERROR_RESET_REQUIRED:
		u.Reason = fmt.Sprintf("the GPU no longer answers the NVIDIA driver (NVML code %d)", code)
		u.Cure = "restart the machine"
	default:
		u.Reason = fmt.Sprintf("the NVIDIA driver does not start (NVML code %d)", code)
		u.Cure = "see what nvidia-smi says"
	}
	return u
}
