package cli

import (
	"bytes"
	"testing"
	"time"

	"pinscope/bench"
)

func TestProgressText(t *testing.T) {
	rate, left := 1234.4, 65.2
	for want, p := range map[string]bench.Progress{
		"setup A":                     {Phase: "setup", Side: "A", Repeats: 14},
		"warmup, repeat 1 of 14, 0 %": {Phase: "warmup", Repeat: 1, Repeats: 14},
		"measure B, repeat 4 of 14, 25 %, 1,234 samples/s, 65 s left": {Phase: "measure", Side: "B", Repeat: 4, Repeats: 14,
			Done: 0.25, SamplesPerS: &rate, ETAS: &left},
	} {
		if got := progressText(&p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A line of progress covers the one before it, comes four times a second at
// most, and is gone at the end.
func TestProgressLine(t *testing.T) {
	var terminal bytes.Buffer
	w := &watcher{terminal: &terminal}
	w.event(bench.Event{Start: &bench.StartInfo{Device: bench.Device{ID: "cuda:0"}}})
	w.event(bench.Event{Progress: &bench.Progress{Phase: "measure"}})
	w.event(bench.Event{Progress: &bench.Progress{Phase: "too soon"}})
	w.shown = w.shown.Add(-time.Second)
	w.event(bench.Event{Progress: &bench.Progress{Phase: "end"}})
	w.end()
	if got, want := terminal.String(), "\rmeasure\rend    \r   \r"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Figures of a model are never shown without saying so.
func TestProgressLineIsMarked(t *testing.T) {
	var terminal bytes.Buffer
	w := &watcher{terminal: &terminal}
	w.event(bench.Event{Start: &bench.StartInfo{Device: bench.Device{Simulated: true}}})
	w.event(bench.Event{Progress: &bench.Progress{Phase: "measure"}})
	if got, want := terminal.String(), "\rSIMULATED: measure"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
