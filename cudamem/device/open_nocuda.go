//go:build !cuda

package device

import (
	"errors"

	"pinscope/cudamem"
)

// CUDA says that this build opens real GPUs.
const CUDA = false

var errNoCUDA = errors.New("device cuda: this build has no CUDA support; run pinscope-cuda instead, " +
	"which \"go build -tags cuda,headless -o pinscope-cuda .\" builds")

func openCUDA(string, cudamem.Clock) (cudamem.Device, error) { return nil, errNoCUDA }
