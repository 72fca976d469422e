//go:build !linux

package loader

import "time"

// threadCPU is not told here: stages have no CPU time.
func threadCPU() time.Duration { return 0 }
