//go:build cuda

package device

import (
	"pinscope/cudamem"
	"pinscope/cudamem/cuda"
)

// openCUDA opens a real GPU by the name that was asked for.
func openCUDA(name string, clock cudamem.Clock) (cudamem.Device, error) {
	return cuda.Open(name, clock)
}
