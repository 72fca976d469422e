//go:build !linux

package cudamem

// forgoHugePages has nothing to forgo: only Linux makes huge pages unasked.
func forgoHugePages([]byte) {}
