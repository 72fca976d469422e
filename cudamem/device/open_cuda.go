//go:build cuda

package device

import (
	"pinscope/cudamem"
	"pinscope/cudamem/cuda"
)

// CUDA says that this build opens real GPUs.
const CUDA = true

// openCUDA opens a real GPU by the name that was asked for.
func openCUDA(name string, clock cudamem.Clock) (cudamem.Device, error) {
	return cuda.Open(name, clock)
}
