//go:build !linux

package pressure

import "time"

var processStart = time.Now()

// threadCPU stands in with wall time, which is never less.
func threadCPU() time.Duration { return time.Since(processStart) }
