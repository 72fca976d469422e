package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sebdah/goldie/v2"

	"pinscope/bench"
)

// childEnv makes the test program behave as pinscope, for tests of signals.
const childEnv = "PINSCOPE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr, noWindow))
	}
	os.Exit(m.Run())
}

func noWindow([]string) error { return errors.New("no window in tests") }

// call runs the program in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(context.Background(), args, &out, &err, noWindow)
	return code, out.String(), err.String()
}

func TestTexts(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	golden := goldie.New(t, goldie.WithNameSuffix(".txt"))
	for name, args := range map[string][]string{
		"help":          {"--help"},
		"run-help":      {"run", "--help"},
		"compare-help":  {"compare", "--help"},
		"pressure-help": {"pressure", "--help"},
		"doctor-help":   {"doctor", "--help"},
		"report-help":   {"report", "--help"},
		"presets":       {"presets"},
		"preset-small":  {"presets", "show", "small-batch"}, // its workers do not depend on the machine
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := call(args...)
			if code != exitFine || stderr != "" {
				t.Errorf("exit code %d, %s", code, stderr)
			}
			for line := range strings.Lines(stdout) {
				if len(line) > 81 && !strings.Contains(line, "link-gbps") { // one word that cannot be broken
					t.Errorf("%d columns: %s", len(line)-1, line)
				}
			}
			golden.Assert(t, name, []byte(stdout))
		})
	}
}

func TestDryRun(t *testing.T) {
	if os.Getpagesize() != 4096 {
		t.Skip("the figures are for pages of 4 KiB")
	}
	golden := goldie.New(t, goldie.WithNameSuffix(".txt"))
	for name, args := range map[string][]string{
		"dry-run":         {"run", "--preset", "small-batch", "--workers", "1", "--device", "sim:laptop", "--dry-run"},
		"dry-run-compare": {"compare", "--preset", "tiny", "--workers", "1", "--device", "sim:laptop", "--b", "pin=direct", "--dry-run"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := call(args...)
			if code != exitFine || stderr != "" {
				t.Fatalf("exit code %d, %s", code, stderr)
			}
			golden.Assert(t, name, []byte(stdout))
		})
	}
}

// What does not fit is put down to what was raised.
func TestWhatWasRaised(t *testing.T) {
	for _, args := range [][]string{{"batch", "100000000"}, {"prefetch", "1000", "--samples", "1000000000"}, {"ring-slots", "60000", "--samples", "100000000"}} {
		run := append([]string{"run", "--device", "sim:laptop", "--workers", "2", "--pin", "direct", "--dry-run", "--samples", "1000000000", "--source", "randn", "--batch", "64"}, "--"+args[0])
		code, _, stderr := call(append(run, args[1:]...)...)
		if code != exitInput || !strings.HasPrefix(stderr, "pinscope: "+args[0]+": ") {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
}

// Equal sides are allowed, to see the noise, and said to be equal.
func TestEqualSides(t *testing.T) {
	for want, b := range map[int]string{1: "pin=off", 0: "pin=direct"} {
		code, stdout, stderr := call("compare", "--preset", "tiny", "--device", "sim:laptop", "--b", b, "--b", "non-blocking=false", "--dry-run")
		if got := strings.Count(strings.Join(strings.Fields(stdout), " "), "Warning A and B have the same settings: this measures the machine's noise."); code != exitFine || got != want {
			t.Errorf("%s: exit code %d, told %d times: %s%s", b, code, got, stdout, stderr)
		}
	}
}

func TestWrongInput(t *testing.T) {
	folder := t.TempDir()
	existing := filepath.Join(folder, "old.json")
	if err := os.WriteFile(existing, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	if err := os.WriteFile("array.npy", []byte("\x93NUMPY"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		args []string
		want string // standard error
	}{
		{"no window", nil, "pinscope: no window in tests\n"},
		{"files", []string{existing}, "pinscope: no window in tests\n"},
		{"unknown command", []string{"rnu"}, "pinscope: command line: unexpected argument rnu, did you mean \"run\"?\n"},
		{"unknown flag", []string{"run", "--worker", "3"}, "pinscope: command line: unknown flag --worker, did you mean \"--workers\"?\n"},
		{"extra argument", []string{"run", "fast"}, "pinscope: command line: unexpected argument fast\n"},
		{"bad value", []string{"run", "--batch", "-3"}, "pinscope: batch: -3 is not allowed; allowed is 1 to 2147483647\n"},
		{"two bad values", []string{"run", "--batch", "0", "--epochs", "0"},
			"pinscope: batch: 0 is not allowed; allowed is 1 to 2147483647\npinscope: epochs: 0 is not allowed; allowed is 1 to 1000000\n"},
		{"C26", []string{"run", "--samples", "50", "--drop-last"},
			"pinscope: drop-last: 50 samples do not fill a batch of 64, so nothing would be left; lower batch to 50 or less, or switch drop-last off\n"},
		{"side of a comparison", []string{"compare", "--b", "pin=on"}, "pinscope: pin: \"on\" is not allowed; allowed is off, thread, direct, dataset, pageable-thread\n"},
		{"setting of A", []string{"compare", "--a", "foo=1"}, "pinscope: a: foo=1: there is no setting foo\n"},
		{"setting of a sweep", []string{"sweep", "--vary", "foo=1"}, "pinscope: vary: foo=1: there is no setting foo\n"},
		{"setting of a prediction", []string{"predict", "--preset", "tiny", "--device", "sim:laptop", "--set", "foo=1"}, "pinscope: set: foo=1: there is no setting foo\n"},
		{"no setting", []string{"compare", "--b", "foo"}, "pinscope: b: \"foo\" is not allowed; allowed is NAME=VALUE, such as pin=off\n"},
		{"simulated GPU", []string{"run", "--device", "sim:foo"}, "pinscope: device: sim:foo is not allowed; allowed is sim:laptop, sim:h200, sim:a100-pcie4, sim:rtx4090, sim:rtx3060, sim:gtx1080-pcie3, sim:gh200\n"},
		{"device", []string{"run", "--device", "foo"}, "pinscope: device: \"foo\" is not allowed; allowed is auto, cuda, cuda:N, cuda:UUID, sim, sim:NAME, cpu\n"},
		{"model", []string{"run", "--device", "sim", "--sim", "latency=x"}, "pinscope: sim: latency=x: want a duration from 0 to 1h, such as 6us\n"},
		{"no result file", []string{"report", "array.npy"}, "pinscope: result: array.npy: not a result file\n"},
		{"B alone", []string{"compare", "--b", "batch=0"}, "pinscope: side B: batch: 0 is not allowed; allowed is 1 to 2147483647\n"},
		{"preset", []string{"presets", "show", "none"}, "pinscope: preset: \"none\" is not allowed; allowed is article, imagenet-u8, tokens, small-batch, video, tiny, or a file ending in .json\n"},
		{"C82 folder missing", []string{"run", "--json", folder + "/no/x.json"}, "pinscope: json: the folder " + folder + "/no does not exist\n"},
		{"C82 a folder's name", []string{"run", "--csv", folder}, "pinscope: csv: it is a folder; allowed is the name of a file\n"},
		{"C83 existing", []string{"run", "--json", existing}, "pinscope: json: the file exists; choose another name or add --force to replace it\n"},
		{"one file for two", []string{"run", "--json", folder + "/a", "--csv", folder + "/./a"}, "pinscope: csv: " + folder + "/./a is already the file of --json\n"},
		{"one file for two, spelled otherwise", []string{"run", "--json", "z.json", "--csv", link + "/z.json"}, "pinscope: csv: " + link + "/z.json is already the file of --json\n"},
		{"no name", []string{"run", "--json", ""}, "pinscope: json: \"\" is not allowed; allowed is the name of a file\n"},
		{"trace to standard output", []string{"run", "--trace", "-"}, "pinscope: trace: - is not allowed; allowed is the name of a file\n"},
		{"two streams", []string{"run", "--json", "-", "--events"}, "pinscope: json: - cannot be used together with --events, which writes to standard output too\n"},
		{"no result", []string{"report", folder + "/no.json"}, "pinscope: result: open " + folder + "/no.json: no such file or directory\n"},
		{"report over a file", []string{"report", existing, "-o", existing}, "pinscope: output: the file exists; choose another name or add --force to replace it\n"},
		{"ending", []string{"report", existing, "-o", "x.txt"}, "pinscope: output: x.txt is not allowed; allowed is a name that ends in .png, .svg or .md, .csv, .json or .trace.json\n"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			code, _, stderr := call(tc.args...)
			if code != exitInput || stderr != tc.want {
				t.Errorf("exit code %d, want %d\ngot  %swant %s", code, exitInput, stderr, tc.want)
			}
		})
	}
	if left, _ := os.ReadDir(folder); len(left) != 2 {
		t.Errorf("files left behind: %v", left)
	}
}

func TestFileNamedAsCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("version", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := call("version"); code != exitFine || !strings.HasPrefix(stdout, "pinscope ") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

func TestDevices(t *testing.T) {
	code, stdout, stderr := call("devices")
	if code != exitFine || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, start := range []string{"auto ", "cpu ", "cuda:0 ", "sim:laptop "} {
		if !strings.Contains("\n"+stdout, "\n"+start) {
			t.Errorf("%snot listed in\n%s", start, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}

// With --events the reader learns of wrong input too.
func TestErrorEvent(t *testing.T) {
	code, stdout, _ := call("run", "--events", "--batch", "0")
	var event bench.Event
	if err := json.Unmarshal([]byte(stdout), &event); err != nil {
		t.Fatalf("%q: %v", stdout, err)
	}
	if event.Type != "error" || event.Error == nil || event.Error.ExitCode != code || code != exitInput {
		t.Errorf("exit code %d, event %+v", code, event)
	}
}

var quick = []string{"run", "--preset", "tiny", "--workers", "1", "--device", "sim:laptop", "--repeats", "1", "--warmup", "0"}

func TestRunWritesOutputs(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "r.json")
	code, stdout, stderr := call(append(quick, "--json", file, "--csv", filepath.Join(folder, "r.csv"))...)
	if code != exitFine {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, part := range []string{"Plan: pin thread", "SIMULATED"} {
		if !strings.Contains(stdout, part) {
			t.Errorf("%q is not in %s", part, stdout)
		}
	}
	code, shown, stderr := call("report", file)
	if code != exitFine || !strings.HasSuffix(stdout, shown) {
		t.Errorf("exit code %d, %s: report shows\n%s", code, stderr, shown)
	}
	if code, _, _ := call(append(quick, "--json", file)...); code != exitInput {
		t.Errorf("overwriting: exit code %d", code)
	}
	if code, _, stderr := call(append(quick, "--json", file, "--force")...); code != exitFine {
		t.Errorf("overwriting by force: exit code %d: %s", code, stderr)
	}
	for _, ending := range []string{".csv", ".json"} {
		if code, _, stderr := call("report", file, "-o", filepath.Join(folder, "again"+ending)); code != exitFine {
			t.Errorf("%s: exit code %d: %s", ending, code, stderr)
		}
	}
}

// A file that appears while the run lasts is not replaced, the result is kept.
func TestFileAppears(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(t.TempDir(), "r.json")
	appear := func() {
		if err := os.WriteFile(file, []byte("other"), 0o600); err != nil {
			t.Error(err)
		}
	}
	var stderr strings.Builder
	code := Main(t.Context(), append(quick, "--json", file), atFirst(appear), &stderr, noWindow)
	want := "pinscope: write " + file + ": the file was created in the meantime, and is not replaced without --force\npinscope: the result was kept in "
	if code != exitFailed || !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	if text, _ := os.ReadFile(file); string(text) != "other" {
		t.Errorf("it was replaced: %.40s", text)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("files left behind: %v", left)
	}
}

func TestStandardOutputIsKeptClean(t *testing.T) {
	code, stdout, stderr := call(append(quick, "--json", "-")...)
	var result bench.Result
	if err := json.Unmarshal([]byte(stdout), &result); code != exitFine || err != nil || !result.Complete {
		t.Errorf("exit code %d, %v: %s", code, err, stdout)
	}
	if !strings.Contains(stderr, "Plan: ") {
		t.Errorf("no text for people: %q", stderr)
	}
	code, stdout, _ = call(append(quick, "--quiet")...)
	if code != exitFine || strings.TrimSpace(stdout) != result.Sentence && !strings.HasPrefix(stdout, "SIMULATED: ") {
		t.Errorf("quiet: exit code %d: %s", code, stdout)
	}
	code, stdout, _ = call(append(quick, "--events")...)
	types := map[string]int{}
	for line := range strings.Lines(stdout) {
		var event bench.Event
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		types[event.Type]++
	}
	if code != exitFine || types["plan"] != 1 || types["result"] != 1 || types["error"] != 0 {
		t.Errorf("events: exit code %d, %v", code, types)
	}
}

// C37: a signal ends a run within 2 s by its own exit code, with the result
// written whole and marked as cancelled.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send itself such signals on Windows")
	}
	for name, tc := range map[string]struct {
		signal syscall.Signal
		code   int
	}{"SIGINT": {syscall.SIGINT, exitInterrupted}, "SIGTERM": {syscall.SIGTERM, exitTerminated},
		"SIGHUP": {syscall.SIGHUP, exitHungUp}} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			child, stdout := startChild(t, folder)
			if err := child.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			rest := readAll(stdout)
			err := child.Wait()
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("it took %v to end", took)
			}
			if child.ProcessState.ExitCode() != tc.code {
				t.Errorf("%v, want exit code %d; %s", err, tc.code, rest)
			}
			text, err := os.ReadFile(filepath.Join(folder, "r.json"))
			var result bench.Result
			if err != nil || json.Unmarshal(text, &result) != nil || !result.Cancelled || result.Complete {
				t.Errorf("result: %v, %.200s", err, text)
			}
			if left, _ := os.ReadDir(folder); len(left) != 1 {
				t.Errorf("files left behind: %v", left)
			}
		})
	}
}

// startChild starts a run that takes hours and waits until it is under way.
func startChild(t *testing.T, folder string) (*exec.Cmd, *json.Decoder) {
	t.Helper()
	child := exec.Command(os.Args[0], "run", "--preset", "tiny", "--workers", "1", "--device", "sim:laptop", "--source", "delay:1s",
		"--events", "--json", filepath.Join(folder, "r.json"))
	child.Env = append(os.Environ(), childEnv+"=1")
	pipe, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill() })
	decoder := json.NewDecoder(pipe)
	for {
		var event bench.Event
		if err := decoder.Decode(&event); err != nil {
			t.Fatalf("the run ended before it began: %v", err)
		}
		if event.Progress != nil && event.Progress.Phase != "setup" {
			return child, decoder
		}
	}
}

// readAll reads to the end of a stream of events and gives the last error in it.
func readAll(from *json.Decoder) (message string) {
	for {
		var event bench.Event
		if from.Decode(&event) != nil {
			return message
		}
		if event.Error != nil {
			message = event.Error.Message
		}
	}
}
