package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pinscope/bench"
)

func TestLadderCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ladder.json")
	code, stdout, stderr := call("ladder", "--preset", "tiny", "--device", "sim", "--workers", "1", "--warmup", "0", "--json", file)
	if code != exitFine || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"A pageable, blocking", "G + data set is pinned", "Total, G by A", "saved staging copy"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if len(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if _, again, _ := call("report", file); !strings.HasSuffix(stdout, again) {
		t.Errorf("the saved result reads\n%s\nnot\n%s", again, stdout)
	}
	saved, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	r, err := bench.ReadResult(saved)
	if err != nil || r.Kind != bench.KindLadder || len(r.Sides) != 7 || len(r.Ladder.Steps) != 6 || !strings.HasPrefix(r.Command, "pinscope ladder --preset tiny") {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestLadderWrongInput(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"--pin off", "pinscope: pin: a ladder sets it, another way on each rung; leave it out\n"},
		{"--no-non-blocking", "pinscope: non-blocking: a ladder sets it, another way on each rung; leave it out\n"},
		{"--device cpu", "pinscope: device: the CPU trains on host memory where it lies: there is no copy to make faster; allowed is a GPU, real or simulated\n"},
		{"--workers 0", "pinscope: workers: a ladder needs workers: without them there is no thread that could pin; allowed is 1 to 4096\n"},
		{"--batch 0", "pinscope: batch: 0 is not allowed; allowed is 1 to 2147483647\n"},
		{"--ring-slots 70000", "pinscope: + thread, still pageable: ring-slots: 70000 is not allowed; allowed is 0 to 65536\n"},
	} {
		code, stdout, stderr := call(append([]string{"ladder"}, strings.Fields(tc.args)...)...)
		if code != exitInput || stderr != tc.want || stdout != "" {
			t.Errorf("%s: exit code %d, %s%s", tc.args, code, stdout, stderr)
		}
	}
}
