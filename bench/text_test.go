package bench

import (
	"strings"
	"testing"
)

// Repeats are listed as far as there is room, with a mark where some are missing.
func TestRepeatList(t *testing.T) {
	var s Side
	for i, rate := range []float64{957, 1144, 932, 927, 1018, 925, 1005} {
		s.Repeats = append(s.Repeats, Repeat{Warmup: i == 0, Complete: true, SamplesPerS: &rate})
	}
	for width, want := range map[int]string{
		35: "(957) 1,144 932 927 1,018 925 1,005",
		34: "(957) 1,144 932 927 1,018 925 ...",
		33: "(957) 1,144 932 927 1,018 925 ...",
		32: "(957) 1,144 932 927 1,018 ...",
	} {
		if got := s.repeatList(width); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}

// Something is never called nothing.
func TestShare(t *testing.T) {
	var shares []string
	for _, v := range []float64{0, 0.0002, 0.0006, 0.5} {
		shares = append(shares, share(v))
	}
	if got := strings.Join(shares, ", "); got != "0.0 %, under 0.1 %, 0.1 %, 50.0 %" {
		t.Errorf("shares %s", got)
	}
}
