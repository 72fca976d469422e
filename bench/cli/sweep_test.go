package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSweepCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sweep.json")
	code, stdout, stderr := call("sweep", "--preset", "tiny", "--device", "sim", "--warmup", "0", "--repeats", "2",
		"--vary", "batch=8,16", "--vary", "pin=off,direct", "--json", file)
	if code != exitFine || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"SIMULATED: 4 configurations, 8 repeats in all: at least", "2 of batch x 2 of pin: 4 cells, 2 rounds", "SIMULATED: the best of 4 cells is"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if len(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Nothing is left to do; the file is written again, with the same cells.
	code, again, stderr := call("sweep", "--resume", file)
	if code != exitFine || stderr != "" || !strings.Contains(again, "4 cells, 2 rounds") {
		t.Errorf("exit code %d, %s%s", code, again, stderr)
	}
	after, err := os.ReadFile(file)
	if err != nil || sides(t, before) != sides(t, after) {
		t.Errorf("%v; the cells changed", err)
	}
}

// sides are a result file's sides, as text.
func sides(t *testing.T, file []byte) string {
	t.Helper()
	var r struct {
		Sides json.RawMessage `json:"sides"`
	}
	if err := json.Unmarshal(file, &r); err != nil || len(r.Sides) == 0 {
		t.Fatalf("no sides: %v", err)
	}
	return string(r.Sides)
}

func TestSweepWrongInput(t *testing.T) {
	folder := t.TempDir()
	run, junk := filepath.Join(folder, "run.json"), filepath.Join(folder, "junk.json")
	if code, _, stderr := call("run", "--preset", "tiny", "--device", "sim", "--repeats", "1", "--warmup", "0", "--json", run); code != exitFine {
		t.Fatal(stderr)
	}
	if err := os.WriteFile(junk, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "pinscope: vary: nothing is varied; give --vary NAME=VALUE,VALUE,... at least once\n"},
		{[]string{"--vary", "batch=8,0"}, "pinscope: batch: 0 is not allowed; allowed is 1 to 2147483647\n"},
		{[]string{"--vary", "pin=off,maybe"}, "pinscope: pin: \"maybe\" is not allowed; allowed is off, thread, direct, dataset, pageable-thread\n"},
		{[]string{"--resume", run}, "pinscope: resume: the file holds a run, not a sweep\n"},
		{[]string{"--resume", run, "--batch", "8", "--vary", "pin=off"}, "pinscope: resume: all settings are in the file; leave out --batch, --vary\n"},
		{[]string{"--resume", folder + "/no.json"}, "pinscope: resume: open " + folder + "/no.json: no such file or directory\n"},
		{[]string{"--resume", junk}, "pinscope: resume: " + junk + ": not a result file: unexpected end of JSON input\n"},
		{[]string{"--vary", "batch=8", "--json", run}, "pinscope: json: the file exists; choose another name or add --force to replace it\n"},
	} {
		code, stdout, stderr := call(append([]string{"sweep"}, tc.args...)...)
		if code != exitInput || stderr != tc.want || stdout != "" {
			t.Errorf("%q: exit code %d, %s%s", tc.args, code, stdout, stderr)
		}
	}
}
