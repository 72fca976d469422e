//go:build !linux

package bench

// addSystem adds nothing: this system is not read.
func (h *Host) addSystem() {}

// readMemory knows nothing here.
func readMemory() LiveMemory { return LiveMemory{} }
