package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pinscope/bench"
	"pinscope/bench/runner"
	"pinscope/cudamem/device"
)

// readResult reads a result file.
func readResult(t *testing.T, path string) *bench.Result {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := bench.ReadResult(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// C31: a worker that gives nothing ends the run by a sentence that names it; what
// there is of a result is saved.
func TestWorkerThatNeverAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	code, stdout, stderr := call(append(quick, "--source", "delay:1h", "--timeout", "200ms", "--json", file)...)
	if want := "pinscope: loader: worker 0 has given no batch for 200 ms (sample "; code != exitFailed || !strings.HasPrefix(stderr, want) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(stdout, "Ended early") {
		t.Errorf("the summary does not say that it ended early: %s", stdout)
	}
	if r := readResult(t, file); r.Complete || r.Cancelled || !strings.Contains(r.Error, "worker 0") || len(r.Sides[0].Repeats) != 1 {
		t.Errorf("result %+v", r)
	}
}

// C38, C40 and C97: the bytes of a plan are exact, and are shown before anything
// is allocated.
func TestPlanInBytes(t *testing.T) {
	plan := []string{"run", "--source", "delay:0s", "--device", "sim:laptop", "--epochs", "1", "--dry-run"}
	for name, tc := range map[string]struct {
		args   string
		code   int
		stdout []string
		stderr []string
	}{
		"C38": {"--batch 18944 --samples 18944 --shape 3584 --dtype float16 --workers 1 --prefetch 1 --ring-slots 4", exitFine,
			[]string{"135,790,592 B (129.5 MiB) of input", "4 pinned slots, 543,162,368 B (518 MiB) of input", "would reserve 1,073,741,824 B (1 GiB), +97.7 %"}, nil},
		"C38 second": {"--batch 14336 --samples 14336 --shape 4096 --dtype float16 --workers 1 --prefetch 1 --ring-slots 1", exitFine,
			[]string{"1 pinned slot, 117,440,512 B (112 MiB) of input", "would reserve 134,217,728 B (128 MiB), +14.3 %"}, nil},
		"C40": {"--batch 8 --samples 4000 --shape 3x1024x1024 --workers 16 --prefetch 2 --ring-slots 4", -1,
			[]string{"32 pageable slots, 3,221,225,472 B (3 GiB) of input", "4 pinned slots, 402,653,184 B (384 MiB) of input"}, nil},
		"C40 prefetch 8": {"--batch 8 --samples 4000 --shape 3x1024x1024 --workers 16 --prefetch 8 --ring-slots 4", -1,
			[]string{"128 pageable slots, 12,884,901,888 B (12 GiB) of input", "4 pinned slots, 402,653,184 B (384 MiB) of input"}, nil},
		"C97": {"--batch 1 --samples 1 --shape 65536x65536 --workers 1 --prefetch 1024", exitInput, // 16 TiB
			[]string{"17,179,869,184 B (16 GiB) of input"}, []string{"of host memory are needed", "lower "}},
		"C97 batch": {"--batch 4294967296 --samples 1 --shape 65536x65536", exitInput, nil,
			[]string{"pinscope: batch: 4294967296 is not allowed; allowed is 1 to 2147483647\n"}},
		"C97 batch that can be": {"--batch 2147483647 --samples 1 --shape 65536x65536", exitInput, nil, // 2^65 bytes
			[]string{"pinscope: batch: ", "too large; allowed is up to 2^63-1 bytes"}},
		"C97 samples": {"--batch 1 --samples 9223372036854775807 --shape 65536x65536", exitInput, nil, []string{"pinscope: samples: ", "2^63-1"}},
		"C97 samples beyond": {"--batch 1 --samples 9223372036854775808", exitInput, nil,
			[]string{"pinscope: samples: \"9223372036854775808\" is not allowed; allowed is 1 to 9223372036854775807\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := call(append(plan, strings.Fields(tc.args)...)...)
			if tc.code >= 0 && code != tc.code { // whether it fits depends on the machine
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			for _, want := range tc.stdout {
				if !strings.Contains(stdout, want) {
					t.Errorf("no %q in: %s", want, stdout)
				}
			}
			for _, want := range tc.stderr {
				if !strings.Contains(stderr, want) {
					t.Errorf("no %q in: %s", want, stderr)
				}
			}
		})
	}
}

// C33: settings that assume workers are ignored with one line.
func TestNoWorkersAtTheCommandLine(t *testing.T) {
	for _, pin := range []string{"off", "thread", "direct"} {
		code, stdout, stderr := call(append(quick, "--workers", "0", "--prefetch", "4", "--keep-workers", "--pin", pin)...)
		if code != exitFine || strings.Count(stdout, "ignored") != 1 {
			t.Errorf("pin %s: exit code %d, %s%s", pin, code, stdout, stderr)
		}
	}
}

// withoutGPU skips a test on a machine where a GPU can be had.
func withoutGPU(t *testing.T) {
	t.Helper()
	choice, err := runner.Choose("auto", runner.Options{CUDABuild: device.CUDA, DefaultSim: defaultSim})
	if err != nil || choice.Device != defaultSim {
		t.Skip("there is a GPU here: ", choice.Why, err)
	}
}

// C62: without a GPU auto takes the simulated one, and says why in one line.
func TestAutoWithoutGPU(t *testing.T) {
	withoutGPU(t)
	file := filepath.Join(t.TempDir(), "r.json")
	code, stdout, stderr := call("run", "--preset", "tiny", "--workers", "1", "--repeats", "1", "--warmup", "0", "--json", file)
	if code != exitFine || stderr != "" || !strings.Contains(stdout, "SIMULATED") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	r := readResult(t, file)
	if why := r.Device.Why; !r.Simulated || !r.Device.Simulated || !strings.Contains(why, "using the simulated GPU") || strings.Contains(why, "\n") {
		t.Errorf("simulated %v, why: %s", r.Simulated, why)
	}
}

// C63: a GPU that was asked for is never replaced; one sentence says why there is
// none, and no file is left.
func TestGPUAskedForAndNotThere(t *testing.T) {
	withoutGPU(t)
	folder := t.TempDir()
	for name, shown := range map[string]string{"cuda": "cuda:0", "cuda:0": "cuda:0", "cuda:3": "cuda:3"} {
		code, stdout, stderr := call("run", "--preset", "tiny", "--device", name, "--json", filepath.Join(folder, "r.json"))
		want := "pinscope: device: " + shown + " is not to be had: "
		if code != exitInput || stdout != "" || !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s%s", name, code, stdout, stderr)
		}
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("files left behind: %v", left)
	}
}

// C78: only a run that was cancelled fails for having measured nothing.
func TestCancelledBeforeTheFirstStep(t *testing.T) {
	folder := t.TempDir()
	file, table := filepath.Join(folder, "r.json"), filepath.Join(folder, "r.csv")
	one := append(quick, "--samples", "1", "--batch", "1", "--epochs", "1", "--force", "--json", file, "--csv", table)
	if code, _, stderr := call(one...); code != exitFine {
		t.Errorf("one step: exit code %d: %s", code, stderr)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	var stderr strings.Builder
	if code := Main(ctx, append(one, "--source", "delay:1h"), atFirst(func() { cancel(bench.ErrCancelled) }), &stderr, noWindow); code != exitFailed || stderr.String() != "pinscope: cancelled\n" {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	if r := readResult(t, file); !r.Cancelled || r.Complete {
		t.Errorf("%+v", r)
	}
	text, err := os.ReadFile(table)
	if err != nil || strings.Contains(string(text), "NaN") {
		t.Errorf("%v: %s", err, text)
	}
}

// atFirst is a writer that does something when it is first written to.
func atFirst(do func()) io.Writer { return &firstWriter{do: do} }

type firstWriter struct {
	once sync.Once
	do   func()
}

func (w *firstWriter) Write(p []byte) (int, error) {
	w.once.Do(w.do)
	return len(p), nil
}

// C79: numbers do not depend on the locale.
func TestDecimalPoints(t *testing.T) {
	folder := t.TempDir()
	result := filepath.Join(folder, "r.json")
	if code, _, stderr := call(append(quick, "--json", result)...); code != exitFine {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	in := func(locale string, args ...string) string {
		child := exec.Command(os.Args[0], args...)
		child.Env = append(os.Environ(), childEnv+"=1", "LANG="+locale, "LC_ALL="+locale, "LANGUAGE="+locale)
		out, err := child.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", locale, err, out)
		}
		return string(out)
	}
	tables := map[string]string{}
	for _, locale := range []string{"C", "de_DE.UTF-8"} {
		table := filepath.Join(folder, locale+".csv")
		shown := in(locale, "report", result)
		in(locale, "report", result, "-o", table)
		text, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		tables[locale] = shown + string(text)
		fresh := filepath.Join(folder, locale+"-fresh.csv")
		in(locale, append(quick, "--repeats", "3", "--csv", fresh)...)
		checkDecimals(t, fresh, 4)
	}
	if tables["C"] != tables["de_DE.UTF-8"] {
		t.Errorf("they differ:\n%s\n%s", tables["C"], tables["de_DE.UTF-8"])
	}
}

// checkDecimals reads a CSV, whose rows have to be of the same length, and looks
// for points in its figures.
func checkDecimals(t *testing.T, path string, want int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != want {
		t.Fatalf("%s: %d rows, %v", path, len(rows), err)
	}
	for i, name := range rows[0] {
		if name == "wall_s" && (!strings.Contains(rows[1][i], ".") || strings.Contains(rows[1][i], ",")) {
			t.Errorf("%s is %q", name, rows[1][i])
		}
	}
}

// Every line fits 80 columns, whatever is run on whatever device, and however
// large the figures are.
func TestWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many programs; the detector sees the same code in other tests")
	}
	for _, preset := range bench.Presets() {
		for _, kind := range []string{"run", "compare"} {
			for _, on := range []string{"sim:laptop", "cpu"} {
				if on == "cpu" && kind == "run" && preset.Name != "tiny" {
					continue // what comparing shows too; millions of weights are really trained
				}
				args := []string{kind, "--preset", preset.Name, "--device", on, "--samples", "8", "--batch", "3", "--epochs", "1",
					"--repeats", "6", "--warmup", "1", "--out-features", "2"}
				code, stdout, stderr := call(args...)
				if code != exitFine {
					t.Errorf("%q: exit code %d: %s", args, code, stderr)
				}
				checkWidth(t, strings.Join(args, " "), stdout)
				_, stdout, _ = call(kind, "--preset", preset.Name, "--device", on, "--dry-run")
				checkWidth(t, preset.Name+" plan", stdout)
			}
		}
	}
}

func checkWidth(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%s: %d columns: %s", what, n, line)
		}
	}
}

// The result that the largest figures make.
func TestWidthOfLargeFigures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	if code, _, stderr := call(append([]string{"compare"}, append(quick[1:], "--repeats", "6", "--json", file)...)...); code != exitFine {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	r := readResult(t, file)
	for figure, want := range map[float64]string{0.25: "0.25..0.25", 1.5e6: "1,500,000..1,500,000", 9876543210: "9,876,543,210..9,876,543,210"} {
		for i := range r.Sides {
			s := &r.Sides[i].SamplesPerS
			*s.Median, s.Interval.Lo, s.Interval.Hi = figure, figure, figure
			for j := range r.Sides[i].Repeats {
				*r.Sides[i].Repeats[j].SamplesPerS = figure
			}
		}
		var text strings.Builder
		if err := r.Text(&text); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%v: no %s in %s", err, want, text.String())
		}
		checkWidth(t, want, text.String())
	}
}

// Real files: photographs as they come, and what is not one.
func TestImages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many programs; the detector sees the same code in other tests")
	}
	const photographs = "/usr/share/backgrounds" // Debian: lomiri-wallpapers-16.04
	found, _ := filepath.Glob(photographs + "/*.jpg")
	if len(found) < 2 {
		t.Skip("no photographs here: install lomiri-wallpapers-16.04")
	}
	images := []string{"run", "--device", "sim:laptop", "--shape", "3x64x64", "--batch", "2", "--workers", "2", "--epochs", "1",
		"--repeats", "1", "--warmup", "0"}
	code, stdout, stderr := call(append(images, "--source", "images:"+photographs, "--samples", "2")...)
	if code != exitFine || !strings.Contains(stdout, "2 samples of 3x64x64 float32 (images:"+photographs+")") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}

	folder := t.TempDir()
	whole, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	cut, text := filepath.Join(folder, "b-cut.jpg"), filepath.Join(folder, "b-text.jpg")
	write(t, filepath.Join(folder, "a-whole.jpg"), whole)
	for path, content := range map[string][]byte{cut: whole[:len(whole)/3], text: []byte("not a picture\n")} {
		write(t, path, content)
		results := t.TempDir()
		code, _, stderr := call(append(images, "--source", "images:"+folder, "--json", filepath.Join(results, "r.json"))...)
		if code != exitInput || !strings.HasPrefix(stderr, "pinscope: source: image file "+path+": ") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", path, code, stderr)
		}
		code, stdout, stderr = call(append(images, "--source", "images:"+folder, "--on-bad", "skip", "--json", filepath.Join(results, "s.json"))...)
		if code != exitFine || !strings.Contains(stdout, "1 sample could not be read; others were taken in") {
			t.Errorf("%s: exit code %d: %s%s", path, code, stdout, stderr)
		}
		if r := readResult(t, filepath.Join(results, "s.json")); r.Sides[0].Repeats[0].BadSamples != 1 || r.Sides[0].Repeats[0].Samples != 2 {
			t.Errorf("%s: %+v", path, r.Sides[0].Repeats[0])
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Arrays that NumPy itself has written, and some that are not to be used.
func TestNumPy(t *testing.T) {
	const python = "/usr/bin/python3" // Debian's, whose numpy is python3-numpy
	folder := t.TempDir()
	script := exec.Command(python, "-c", `
import numpy as np
a = np.arange(12 * 3 * 8, dtype='<f4').reshape(12, 3, 8)
np.save('good.npy', a)
np.save('fortran.npy', np.asfortranarray(a))
np.save('object.npy', np.array([1, 'two'], dtype=object))
np.save('double.npy', a.astype('<f8'))
data = open('good.npy', 'rb').read()
open('cut.npy', 'wb').write(data[:-100])
open('header.npy', 'wb').write(data[:20] + b'?' * 40 + data[60:])
open('text.npy', 'wb').write(b'not an array\n')
`)
	script.Dir = folder
	if out, err := script.CombinedOutput(); err != nil {
		t.Skipf("no NumPy here: install python3-numpy: %v: %.200s", err, out)
	}
	arrays := []string{"run", "--device", "sim:laptop", "--batch", "5", "--workers", "1", "--repeats", "1", "--warmup", "0", "--verify"}
	for _, pin := range []string{"off", "thread", "direct", "dataset"} {
		code, stdout, stderr := call(append(arrays, "--pin", pin, "--source", "npy:"+filepath.Join(folder, "good.npy"))...)
		if code != exitFine || !strings.Contains(stdout, "12 samples in 3 batches an epoch") {
			t.Errorf("pin %s: exit code %d: %s%s", pin, code, stdout, stderr)
		}
	}
	for name, problem := range map[string]string{"fortran": "Fortran order", "object": "Python objects", "double": "<f8", "cut": "cut off",
		"header": "header", "text": "not a NumPy file", "missing": "no such file"} {
		path := filepath.Join(folder, name+".npy")
		code, stdout, stderr := call(append(arrays, "--source", "npy:"+path)...)
		if code != exitInput || !strings.HasPrefix(stderr, "pinscope: source: npy file "+path+": ") || !strings.Contains(stderr, problem) ||
			strings.Count(stderr, "\n") != 1 || stdout != "" {
			t.Errorf("%s: exit code %d: %s%s", name, code, stdout, stderr)
		}
	}
}

// The stream of events, read line by line as package bench describes it.
func TestEventStream(t *testing.T) {
	for name, tc := range map[string]struct {
		args  []string
		code  int
		plans int
		ends  []string // the last types
	}{
		"run":           {quick, exitFine, 1, []string{"result"}},
		"compare":       {append([]string{"compare", "--repeats", "2"}, quick[1:len(quick)-4]...), exitFine, 2, []string{"result"}},
		"short repeats": {append(quick, "--samples", "16", "--repeats", "100"), exitFine, 1, []string{"result"}},
		"some seconds":  {append(quick, "--source", "delay:20ms"), exitFine, 1, []string{"result"}},
		"stuck":         {append(quick, "--source", "delay:1h", "--timeout", "300ms"), exitFailed, 1, []string{"result", "error"}},
		"does not fit":  {append(quick, "--max-pinned", "4KiB"), exitInput, 1, []string{"error"}},
		"no such files": {append(quick, "--source", "images:/nowhere"), exitInput, 0, []string{"error"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, _ := call(append(tc.args, "--events")...)
			if code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			events := readEvents(t, stdout)
			plans, progress, last := 0, 0, 0.0
			for i, e := range events {
				if (e.Type == "start") != (i == 0) || e.Schema != bench.SchemaVersion || e.AtS < last {
					t.Errorf("event %d: type %s, schema %d, at %g s after %g s", i, e.Type, e.Schema, e.AtS, last)
				}
				last = e.AtS
				switch e.Type {
				case "plan":
					plans++
				case "progress":
					progress++
					checkProgress(t, e.Progress)
				case "error":
					if e.Error.ExitCode != code || e.Error.Message == "" {
						t.Errorf("exit code %d: %+v", code, e.Error)
					}
				}
			}
			if plans != tc.plans {
				t.Errorf("%d plans", plans)
			}
			// Ten a second, and the first and the last.
			if most := int(10*last) + 2; progress > most || tc.code != exitInput && progress == 0 || tc.code == exitFine && progress < 2 {
				t.Errorf("%d progress events in %g s, at most %d are wanted", progress, last, most)
			}
			for i, want := range tc.ends {
				if got := events[len(events)-len(tc.ends)+i].Type; got != want {
					t.Errorf("type %s at the end, want %s", got, want)
				}
			}
		})
	}
}

// readEvents reads a stream in which every line is one object that has no field
// beside those described, and holds what its type names and nothing else.
func readEvents(t *testing.T, stream string) (events []bench.Event) {
	t.Helper()
	for line := range strings.Lines(stream) {
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		var e bench.Event
		if err := decoder.Decode(&e); err != nil || !strings.HasSuffix(line, "}\n") {
			t.Fatalf("%v in %.200s", err, line)
		}
		holds := map[string]bool{"start": e.Start != nil, "plan": e.Plan != nil, "progress": e.Progress != nil,
			"warning": e.Warning != "", "result": e.Result != nil, "error": e.Error != nil}
		for kind, held := range holds {
			if held != (kind == e.Type) {
				t.Errorf("type %s, holds %s: %v", e.Type, kind, held)
			}
		}
		events = append(events, e)
	}
	return events
}

func checkProgress(t *testing.T, p *bench.Progress) {
	t.Helper()
	phases := map[string]bool{"setup": true, "warmup": true, "measure": true, "finish": true}
	if !phases[p.Phase] || p.Done < 0 || p.Done > 1 || p.Repeat > p.Repeats || p.Repeats == 0 || (p.Repeat == 0) != (p.Phase == "setup") || p.Batches > p.Of && p.Of > 0 || p.ETAS != nil && *p.ETAS < 0 {
		t.Errorf("progress %s", fmt.Sprintf("%+v", *p))
	}
}
