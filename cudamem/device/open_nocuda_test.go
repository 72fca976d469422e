//go:build !cuda

package device

import (
	"strings"
	"testing"

	"pinscope/cudamem"
)

// TestC63CUDAIsNotToBeHad: a sentence, never a quiet simulated run.
func TestC63CUDAIsNotToBeHad(t *testing.T) {
	for _, name := range []string{"cuda", "cuda:0", "cuda:GPU-1"} {
		dev, _, err := Open(name, nil, cudamem.NewPlainClock())
		if dev != nil || err == nil || !strings.Contains(err.Error(), "pinscope-cuda") || !strings.Contains(err.Error(), "-tags cuda") {
			t.Errorf("%s: %v, %v", name, dev, err)
		}
	}
}
