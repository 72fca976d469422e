//go:build unix

package hostcopy

import "testing"

// TestStreamAVX2 repeats the tests the way of processors without AVX-512.
func TestStreamAVX2(t *testing.T) {
	if !wide {
		t.Skip("this processor has no AVX-512: the other tests went this way")
	}
	wide = false
	defer func() { wide = true }()
	TestStream(t)
	TestStreamStaysInside(t)
}
