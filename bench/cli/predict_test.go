package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinscope/bench/whatif"
)

// modelled are settings whose every time is given or the model's.
var modelled = []string{"predict", "--device", "sim:laptop", "--source", "delay:20ms", "--samples", "640", "--shape", "16", "--batch", "64",
	"--workers", "2", "--epochs", "1", "--pin", "direct", "--sim", "compute=30ms,launch=0,link-gbps=inf,latency=0"}

// in80 checks that a text fits a terminal.
func in80(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if len(line) > 81 && !strings.Contains(line, "link-gbps=12") { // one word of the help that cannot be broken
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}

// TestPredict: two workers at 20 ms a batch feed a step of 30 ms, so ten batches
// take 320 ms; each place where a figure can be seen says that it is predicted.
func TestPredict(t *testing.T) {
	folder := t.TempDir()
	file, timeline := filepath.Join(folder, "p.json"), filepath.Join(folder, "p.trace.json")
	code, stdout, stderr := call(append(modelled, "--json", file, "--trace", timeline)...)
	if code != exitFine || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	in80(t, stdout)
	for _, want := range []string{"PREDICTED for a SIMULATED GPU", "Time       320 ms", "2,000 samples/s", "source delay:20ms", "30 ms a step", "Each batch, predicted"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in: %s", want, stdout)
		}
	}
	var p whatif.Prediction
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &p) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if p.Kind != "predict" || !p.Predicted || !p.Simulated || *p.SamplesPerS != 2000 || p.Trace == nil || p.Check != nil {
		t.Errorf("%+v", p)
	}
	if text, _ := os.ReadFile(timeline); !bytes.Contains(text, []byte("predicted: pin direct")) || !bytes.Contains(text, []byte("(simulated)")) {
		t.Errorf("trace: %.500s", text)
	}
	// A prediction is no result, and the same file is not replaced.
	if code, _, stderr := call("report", file); code != exitInput {
		t.Errorf("report of a prediction: exit code %d: %s", code, stderr)
	}
	if code, _, _ := call(append(modelled, "--json", file)...); code != exitInput {
		t.Errorf("overwriting: exit code %d", code)
	}
	code, stdout, stderr = call(append(modelled, "--json", "-", "--quiet")...)
	if code != exitFine || json.Unmarshal([]byte(stdout), &p) != nil || !strings.HasPrefix(stderr, "PREDICTED, for a simulated GPU: ") {
		t.Errorf("exit code %d: %.300s%s", code, stdout, stderr)
	}
}

// TestPredictWith: --set and --stage change what is predicted.
func TestPredictWith(t *testing.T) {
	for _, c := range []struct {
		args, want string
	}{
		{"--set workers=1", "Time       320 ms"},                        // the step is still the longer one
		{"--set compute=5ms", "Time       110 ms"},                      // two batches every 20 ms, and two steps
		{"--set pin=thread --stage pin-copy=50ms", "Time       550 ms"}, // 20 + 10*50 + 30
		{"--stage load=100ms --set workers=1", "Time       1.03 s"},
		{"--stage step=1s", "Time       10.02 s"},
	} {
		code, stdout, stderr := call(append(modelled, strings.Fields(c.args)...)...)
		if code != exitFine || !strings.Contains(stdout, c.want) {
			t.Errorf("%s: exit code %d: %s%s", c.args, code, stdout, stderr)
		}
	}
}

// TestPredictFromResult: what is not known is measured, in a result or in a short
// run; --check says how far off the prediction is.
func TestPredictFromResult(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	if code, _, stderr := call(append(quick, "--source", "delay:2ms", "--json", file)...); code != exitFine {
		t.Fatal(stderr)
	}
	for name, c := range map[string]struct {
		args  []string
		wants []string
	}{
		"unchanged": {[]string{"--from", file}, []string{"Measured   ", "the model gives", "by the measured setting"}},
		"changed":   {[]string{"--from", file, "--set", "workers=2", "--set", "link-gbps=0.1", "--set", "pin=direct"}, []string{"0.10 GB/s", "2 workers"}},
		"calibrated": {[]string{"--preset", "tiny", "--device", "sim:laptop", "--workers", "1", "--repeats", "1", "--warmup", "0", "--check"},
			[]string{"calibration of 16 batches", "measured  16 spans", "Check      ", "off by"}},
	} {
		code, stdout, stderr := call(append([]string{"predict"}, c.args...)...)
		in80(t, stdout)
		if code != exitFine || stderr != "" {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
		joined := strings.Join(strings.Fields(stdout), " ")
		for _, want := range c.wants {
			if !strings.Contains(joined, strings.TrimSpace(want)) && !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in: %s", name, want, stdout)
			}
		}
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"settings beside a result": {[]string{"--from", file, "--workers", "8"}, "from: the settings are those of the result; change them with --set NAME=VALUE"},
		"no result":                {[]string{"--from", file + "x"}, "from: "},
		"no such side":             {[]string{"--from", file, "--side", "B"}, `side: the result has no side "B"`},
		"a wait":                   {[]string{"--stage", "wait-batch=1ms"}, `stage: "wait-batch=1ms" is not allowed; allowed is load, `},
		"no time":                  {[]string{"--stage", "load"}, `stage: "load" is not allowed`},
		"a setting":                {[]string{"--from", file, "--set", "wrkers=1"}, "wrkers"},
		"settings":                 {[]string{"--batch", "0"}, "batch: 0 is not allowed"},
		"a place":                  {[]string{"--from", file, "--json", file}, "json: the file exists"},
	} {
		if code, _, stderr := call(append([]string{"predict"}, c.args...)...); code != exitInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
	}
	code, stdout, _ := call("predict", "--help")
	in80(t, stdout)
	if code != exitFine || !strings.Contains(stdout, "Predicting") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}
