//go:build !(linux && cgo)

package gpuwatch

import "runtime"

// openBackend says why there is none: go-nvml needs dlopen, hence cgo, and is
// used on Linux alone.
func openBackend() (backend, error) {
	u := &Unavailable{State: Unknown, Reason: "this program cannot ask the NVIDIA driver: it was built without cgo",
		Cure: "build it with CGO_ENABLED=1"}
	if runtime.GOOS != "linux" {
		u.Reason, u.Cure = "this program asks the NVIDIA driver on Linux only, and this is "+runtime.GOOS, ""
	}
	return nil, u
}
