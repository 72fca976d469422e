package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"pinscope/bench/doctor"
	"pinscope/bench/runner"
)

// The doctor finds what it finds and succeeds, in 80 columns and without colours
// where nobody looks.
func TestDoctor(t *testing.T) {
	code, stdout, stderr := call("doctor", "--device", "sim:laptop", "--workers", "4096", "--batch", "64", "--shape", "3x128x128")
	if code != exitFine || stderr != "" || strings.Contains(stdout, "\x1b") {
		t.Fatalf("exit code %d, %s\n%s", code, stderr, stdout)
	}
	flat := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"warn workers: workers 4096, usable CPUs", "Do: --workers", "largest safe ring: ", "slots of 12 MiB",
		"The most you should pin here: ", "Rules of thumb with your numbers:"} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if len(line) > textWidth+1 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}

func TestDoctorColours(t *testing.T) {
	report := doctor.Report{Findings: []doctor.Finding{
		{Topic: "swap", Level: doctor.Bad, Found: "good", Why: "why"}, {Topic: "x", Level: doctor.Unknown, Found: "n/a", Why: "why"}}}
	var plain, coloured strings.Builder
	if err := writeReport(&plain, report, false); err != nil || !strings.HasPrefix(plain.String(), "bad     swap: good - why.\nunknown x: n/a") {
		t.Errorf("%v: %q", err, plain.String())
	}
	if err := writeReport(&coloured, report, true); err != nil || strings.ReplaceAll(strings.ReplaceAll(coloured.String(), "\x1b[31m", ""), "\x1b[0m", "") != plain.String() ||
		!strings.HasPrefix(coloured.String(), "\x1b[31mbad\x1b[0m     swap: good") {
		t.Errorf("%v: %q", err, coloured.String())
	}
}

func TestDoctorJSON(t *testing.T) {
	code, stdout, _ := call("doctor", "--device", "sim:laptop", "--pin", "direct", "--ring-slots", "60000", "--json")
	var file doctorFile
	if err := json.Unmarshal([]byte(stdout), &file); code != exitFine || err != nil {
		t.Fatalf("exit code %d, %v\n%s", code, err, stdout)
	}
	if file.Schema != 1 || file.Limits.UsableCPUs < 1 || file.Ring.SlotBytes != file.Plan.SlotBytes || file.Worst() != doctor.Bad {
		t.Errorf("%+v", file) // 60,000 slots of 36.75 MiB are more than any machine has
	}
}

func TestDoctorAndPressureWrongInput(t *testing.T) {
	for args, want := range map[string]string{
		"doctor --batch 0":                    "pinscope: batch: 0 is not allowed; allowed is 1 to 2147483647\n",
		"doctor --numa x --device sim:laptop": "numa: ",
		"doctor --device warp":                "pinscope: device: ",
		"doctor --source npy:/no/such.npy":    "pinscope: source: ",
		"pressure --up-to 0%":                 "pinscope: up-to: \"0%\" is not allowed; allowed is above 0% to 100%\n",
		"pressure --up-to 101%":               "pinscope: up-to: ",
		"pressure --up-to much":               "pinscope: up-to: ",
		"pressure --steps 0":                  "pinscope: steps: 0 is not allowed; allowed is 1 to 64\n",
		"pressure --seconds 0.1":              "pinscope: seconds: 0.1 is not allowed; allowed is 0.2 to 600\n",
		"pressure --seconds -1":               "pinscope: seconds: ",
		"pressure --against disk":             "pinscope: against: \"disk\" is not allowed; allowed is pageable\n",
		"pressure --batch 0":                  "pinscope: batch: 0 is not allowed",
	} {
		t.Run(args, func(t *testing.T) {
			code, _, stderr := call(strings.Fields(args)...)
			if code != exitInput || !strings.Contains(stderr, want) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
}

// Whoever asks why the device is the one it is hears the same from all commands.
func TestOneReasonForTheDevice(t *testing.T) {
	choice, err := runner.Choose("auto", thisProgram)
	if err != nil || choice.Program != "" {
		t.Skip("the CUDA runner would be started: ", err)
	}
	for _, args := range [][]string{{"devices"}, {"doctor"}, {"run", "--preset", "tiny", "--repeats", "1", "--warmup", "0"}} {
		code, stdout, _ := call(args...)
		if flat := strings.Join(strings.Fields(stdout), " "); code != exitFine || !strings.Contains(flat, choice.Why) {
			t.Errorf("%v: exit code %d, no %q in\n%s", args, code, choice.Why, stdout)
		}
	}
}
