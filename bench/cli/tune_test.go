package cli

import (
	"strings"
	"testing"
)

func TestTuneCommand(t *testing.T) {
	code, stdout, stderr := call("tune", "--preset", "tiny", "--device", "sim", "--repeats", "2", "--warmup", "0", "--budget-mib", "2")
	if code != exitFine || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, want := range []string{"Tuning: ", " <-", "Pinscope   pinscope run --preset tiny", "PyTorch    loader = DataLoader(", "SIMULATED: the best of"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

func TestTuneWrongInput(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"--pin off", "pinscope: pin: tune looks for it; leave it out\n"},
		{"--workers 3", "pinscope: workers: tune looks for it; leave it out\n"},
		{"--budget-mib -1", "pinscope: budget-mib: -1 is not allowed; allowed is 0 to 8796093022207\n"},
		{"--within 101", "pinscope: within: 101 is not allowed; allowed is 0 to 100\n"},
		{"--device cpu", "pinscope: device: the CPU trains on host memory where it lies: there is nothing to pin; allowed is a GPU, real or simulated\n"},
		{"--dry-run", "pinscope: dry-run: tune has to measure before it can plan; leave it out\n"},
		{"--batch 0", "pinscope: batch: 0 is not allowed; allowed is 1 to 2147483647\n"},
	} {
		code, stdout, stderr := call(append([]string{"tune"}, strings.Fields(tc.args)...)...)
		if code != exitInput || stderr != tc.want || stdout != "" {
			t.Errorf("%s: exit code %d, %s%s", tc.args, code, stdout, stderr)
		}
	}
}
