package bench

import (
	"strings"

	"pinscope/bench/loader"
	"pinscope/cudamem"
)

// CompareSides makes the two sides of a comparison out of settings for both and
// the settings that only A and only B have ("pin=direct"). What these leave open
// is the question that most people ask: A does not pin and waits for its copies;
// B pins (as the settings say, or with a pin thread) and goes on, unless the
// settings say that it waits. The sides are not validated. The error is an *InputError.
func CompareSides(both Config, onlyA, onlyB []string) (a, b Config, err error) {
	a, b = both, both
	a.Pin, a.NonBlocking = loader.PinOff, false
	a.HostMemory, a.RingSlots = cudamem.Pageable, 0 // they are the ring's
	if !b.Pin.Pins() {
		b.Pin = loader.PinThread
	}
	if a, err = ParseSettings(a, onlyA...); err != nil {
		return a, b, ForFlag("a", err)
	}
	b, err = ParseSettings(b, onlyB...)
	return a, b, ForFlag("b", err)
}

// CompareCommandLine is the command line that makes the same sides again.
func CompareCommandLine(both Config, onlyA, onlyB []string) string {
	words := []string{both.CommandLine(string(KindCompare))}
	for _, s := range onlyA {
		words = append(words, "--a", quote(s))
	}
	for _, s := range onlyB {
		words = append(words, "--b", quote(s))
	}
	return strings.Join(words, " ")
}
