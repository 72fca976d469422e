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

// Small figures keep digits, and something is never called nothing.
func TestRateAndShare(t *testing.T) {
	var rates, shares []string
	for _, v := range []float64{0.123, 4.6, 9.99, 10.04, 99.9, 99.96, 1234.5} {
		rates = append(rates, rate(v))
	}
	for _, v := range []float64{0, 0.0002, 0.0006, 0.5} {
		shares = append(shares, share(v))
	}
	if got := strings.Join(rates, " "); got != "0.12 4.60 9.99 10.0 99.9 100 1,234" {
		t.Errorf("rates %s", got)
	}
	if got := strings.Join(shares, ", "); got != "0.0 %, under 0.1 %, 0.1 %, 50.0 %" {
		t.Errorf("shares %s", got)
	}
}
