package bench

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"pinscope/bench/pressure"
	"pinscope/cudamem"
)

// small is an experiment on a machine of 16 GiB with 1 GiB available, of which a
// 64th is held in two steps.
func small(t *testing.T) (Config, ExperimentOptions, RunOptions) {
	c := withSim(settings(t, "samples=64", "shape=16", "batch=16", "workers=1", "pin=direct"), append(still, "compute=1ms")...)
	m := newMachine(t, 1<<20)
	m.write(t, "proc/meminfo", "MemTotal:        1572864 kB\nMemFree:         1048576 kB\nMemAvailable:    1048576 kB\n")
	return c, ExperimentOptions{UpTo: 1.0 / 64, Steps: 2, PerStep: 200 * time.Millisecond}, RunOptions{root: pressure.Root(m.root)}
}

// Ballast of both kinds rises in equal steps, its pinned bytes are in the ledger
// while it is held, and nothing is left.
func TestExperiment(t *testing.T) {
	c, e, o := small(t)
	e.Against, e.CacheFolders = true, []string{t.TempDir()}
	var told []string
	e.OnStep = func(ballast string, step, steps int) { told = append(told, ballast) }
	r, err := Experiment(context.Background(), c, e, o)
	if err != nil {
		t.Fatal(err)
	}
	if left := cudamem.ReadLedger().PinnedBytes; left != 0 {
		t.Errorf("%d bytes are still pinned", left)
	}
	if len(told) != 8 || told[0] != "pinned" || told[7] != "pageable" {
		t.Errorf("told of %v", told)
	}
	if !r.Simulated || !r.Complete || r.Schema != 1 || len(r.Outcomes) != 2 {
		t.Fatalf("%+v", r)
	}
	want := []int64{0, 0, 8 << 20, 16 << 20}
	locked := len(r.Notes) == 0 // else the system let not all be locked
	for _, o := range r.Outcomes {
		if len(o.Steps) != len(want) {
			t.Fatalf("%s: %d steps, ended %q", o.Kind, len(o.Steps), o.Ended)
		}
		for i, s := range o.Steps {
			if s.BallastBytes != want[i] || s.SamplesPerSecond == nil || s.Cache == nil {
				t.Errorf("%s, step %d: %+v", o.Kind, i, s)
				continue
			}
			if *s.SamplesPerSecond > 1.1*16000 { // a batch of 16 takes 1 ms at least
				t.Errorf("%s, step %d: %g samples/s", o.Kind, i, *s.SamplesPerSecond)
			}
			pinned := int64(*s.PinnedBytes) - r.Plan.PinnedBytes
			switch {
			case o.Kind == "pageable" && pinned > 0, o.Kind == "pinned" && locked && pinned != want[i]:
				t.Errorf("%s, step %d: %d bytes pinned beside the ring", o.Kind, i, pinned)
			}
		}
	}
	var text, csv, file strings.Builder
	if err := errors.Join(r.Text(&text), r.WriteCSV(&csv), r.WriteJSON(&file)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if len(line) > textWidth+1 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	if rows := strings.Count(csv.String(), "\r\n"); rows != 1+8 {
		t.Errorf("%d rows:\n%s", rows, csv.String())
	}
	for _, want := range []string{"SIMULATED", "With 16 MiB held, pinned against pageable"} {
		if !strings.Contains(r.Sentence, want) || !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("no %q in %q and\n%s", want, r.Sentence, text.String())
		}
	}
	var again ExperimentResult
	if err := json.Unmarshal([]byte(file.String()), &again); err != nil || again.Outcomes[0].Steps[3].BallastBytes != 16<<20 ||
		!strings.Contains(file.String(), `"pressure_schema": 1`) || !strings.Contains(file.String(), `"simulated": true`) {
		t.Errorf("read back: %v", err)
	}
}

// Stopping in the middle frees everything and keeps the steps that were done.
func TestExperimentCancelled(t *testing.T) {
	c, e, o := small(t)
	folder := t.TempDir()
	e.CacheFolders = []string{folder}
	ctx, cancel := context.WithCancelCause(context.Background())
	e.OnStep = func(_ string, step, _ int) {
		if step == 3 {
			cancel(ErrCancelled)
		}
	}
	r, err := Experiment(ctx, c, e, o)
	if !errors.Is(err, ErrCancelled) || r == nil || r.Complete || !r.Cancelled || len(r.Outcomes[0].Steps) != 3 {
		t.Fatalf("%v, %+v", err, r)
	}
	if left := cudamem.ReadLedger().PinnedBytes; left != 0 {
		t.Errorf("%d bytes are still pinned", left)
	}
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

// A step must be long enough for a batch.
func TestExperimentWithTooShortSteps(t *testing.T) {
	c, e, o := small(t)
	c.Source = "delay:10s"
	if _, err := Experiment(context.Background(), c, e, o); !strings.Contains(errorText(err), "no batch was finished in 200ms: take longer steps") {
		t.Errorf("%v", err)
	}
}

// C43 in an experiment: a refusal to pin ends it, says why and keeps what was seen.
func TestExperimentRefused(t *testing.T) {
	c, e, o := small(t)
	r, err := Experiment(context.Background(), withSim(c, "pin-limit=12MiB"), e, o)
	if err != nil {
		t.Fatal(err)
	}
	steps := r.Outcomes[0].Steps
	if len(steps) != 4 || steps[3].BallastBytes != 8<<20 || !strings.Contains(r.Outcomes[0].Ended, "host memory") {
		t.Errorf("%d steps, ended %q", len(steps), r.Outcomes[0].Ended)
	}
}

func TestExperimentOptions(t *testing.T) {
	for name, change := range map[string]func(*ExperimentOptions){
		"up-to":       func(e *ExperimentOptions) { e.UpTo = 0 },
		"up-to above": func(e *ExperimentOptions) { e.UpTo = 1.01 },
		"steps":       func(e *ExperimentOptions) { e.Steps = 0 },
		"steps above": func(e *ExperimentOptions) { e.Steps = MostExperimentSteps + 1 },
		"seconds":     func(e *ExperimentOptions) { e.PerStep = 0 },
	} {
		c, e, o := small(t)
		change(&e)
		field, _, _ := strings.Cut(name, " ")
		var input *InputError
		if r, err := Experiment(context.Background(), c, e, o); r != nil || !errors.As(err, &input) || input.Field != field {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// When others take memory between the two kinds, the second goes as far as it can.
func TestExperimentWithLessLeft(t *testing.T) {
	c, e, o := small(t)
	e.Against = true
	e.OnStep = func(ballast string, step, steps int) {
		if ballast == "pinned" && step == steps { // 76.8 MiB are left to the system: 12 MiB can be used
			machine{string(o.root)}.write(t, "proc/meminfo", "MemTotal: 1572864 kB\nMemFree: 90931 kB\nMemAvailable: 90931 kB\n")
		}
	}
	r, err := Experiment(context.Background(), c, e, o)
	if err != nil {
		t.Fatal(err)
	}
	if steps := r.Outcomes[1].Steps; len(steps) != 3 || steps[2].BallastBytes != 8<<20 || len(r.Notes) == 0 ||
		!strings.Contains(r.Notes[len(r.Notes)-1], "the last of 4 steps are left out") {
		t.Errorf("%d steps; %q", len(steps), r.Notes)
	}
	if !strings.Contains(r.Sentence, "With 8 MiB held") {
		t.Errorf("%s", r.Sentence)
	}
}
