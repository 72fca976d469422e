package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/bench"
)

// TestMain makes this test program play the runner when it is told to.
func TestMain(m *testing.M) {
	if play := os.Getenv("PINSCOPE_TEST_RUNNER"); play != "" {
		os.Exit(plays[play]())
	}
	os.Exit(m.Run())
}

// plays are what a runner may do, and its exit code.
var plays = map[string]func() int{
	"fine": func() int {
		opening()
		say(bench.Event{Type: "result", Result: &bench.Result{Schema: 1, Complete: true, Sides: []bench.Side{{Config: bench.DefaultConfig()}}, Sentence: "answer"}})
		return 0
	},
	"killed": func() int {
		opening()
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	},
	"panic": func() int {
		opening()
		fmt.Fprintln(os.Stderr, "panic: the driver is gone\n\ngoroutine 1 [running]:"+strings.Repeat("\nmain.main()", 2000))
		return 2
	},
	"garbage": func() int {
		fmt.Println("\x00\xff not JSON\n{\"type\":\n[]")
		opening()
		fmt.Print(`{"type":"progress","progr`)
		return 0
	},
	"silent": func() int { return 0 },
	"refused": func() int {
		say(bench.Event{Type: "error", Error: &bench.Failure{Message: "batch: 0 is not allowed", ExitCode: 2}})
		fmt.Fprintln(os.Stderr, "pinscope: batch: 0 is not allowed")
		return 2
	},
	"polite": func() int {
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		opening()
		<-interrupted
		say(bench.Event{Type: "result", Result: &bench.Result{Schema: 1, Cancelled: true, Error: "cancelled", Sides: []bench.Side{{Config: bench.DefaultConfig()}}}})
		say(bench.Event{Type: "error", Error: &bench.Failure{Message: "cancelled", ExitCode: 130}})
		return 130
	},
}

func say(e bench.Event) { _ = json.NewEncoder(os.Stdout).Encode(e) }

// opening is the beginning of a comparison: warm-up, and two repeats of each side.
func opening() {
	for _, e := range openingEvents() {
		say(e)
	}
}

func openingEvents() []bench.Event {
	events := []bench.Event{
		{Type: "start", Start: &bench.StartInfo{Kind: bench.KindCompare, Device: bench.Device{ID: "sim:laptop", Simulated: true}}},
		{Type: "plan", Plan: &bench.PlanInfo{Side: "A", Config: bench.DefaultConfig()}},
		{Type: "plan", Plan: &bench.PlanInfo{Side: "B", Config: bench.DefaultConfig()}},
		{Type: "warning", Warning: "a doubt"},
	}
	for i, rate := range []float64{1, 1, 100, 150, 200, 300} {
		events = append(events, bench.Event{Type: "repeat", Repeat: &bench.RepeatInfo{Side: string("AB"[i%2]),
			Repeat: bench.Repeat{Warmup: i < 2, Position: i, Complete: true, SamplesPerS: &rate}}})
	}
	return events
}

func playing(t *testing.T, play string) *Runner {
	t.Helper()
	t.Setenv("PINSCOPE_TEST_RUNNER", play)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Start(program, "compare")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		play    string
		failure []string // what the sentence holds
		repeats int      // kept, of both sides
		lost    bool
		input   bool
	}{
		{play: "fine"},
		{play: "killed", failure: []string{"killed", "short of memory"}, repeats: 6, lost: true},
		{play: "panic", failure: []string{"exit code 2", "panic: the driver is gone"}, repeats: 6, lost: true},
		{play: "garbage", failure: []string{"without a result", "4 lines of its output were unreadable"}, repeats: 6, lost: true},
		{play: "silent", failure: []string{"without a result"}, lost: true},
		{play: "refused", failure: []string{"batch: 0 is not allowed"}, input: true},
	} {
		t.Run(c.play, func(t *testing.T) {
			o := playing(t, c.play).Outcome()
			if o.Lost != c.lost || o.Input != c.input || o.Stopped {
				t.Errorf("lost %v, input %v, stopped %v", o.Lost, o.Input, o.Stopped)
			}
			if (o.Failure == "") != (len(c.failure) == 0) || strings.Contains(o.Failure, "\n") {
				t.Errorf("failure %q", o.Failure)
			}
			for _, part := range c.failure {
				if !strings.Contains(o.Failure, part) {
					t.Errorf("failure %q does not say %q", o.Failure, part)
				}
			}
			checkKept(t, o.Result, c.repeats)
		})
	}
}

// checkKept looks at the repeats of a result that was put together; none are
// expected where there is no such result.
func checkKept(t *testing.T, r *bench.Result, want int) {
	t.Helper()
	if want == 0 {
		if r != nil && !r.Complete {
			t.Errorf("a result was made of nothing: %+v", r)
		}
		return
	}
	if r == nil {
		t.Fatal("the finished repeats are gone")
	}
	got := 0
	for _, side := range r.Sides {
		got += len(side.Repeats)
	}
	if got != want || r.Complete || r.Error == "" || !r.Simulated {
		t.Errorf("%d repeats, complete %v, error %q, simulated %v", got, r.Complete, r.Error, r.Simulated)
	}
	// The pairs are 100:150 and 200:300.
	if c := r.Comparison; c == nil || c.Ratio == nil || *c.Ratio != 1.5 {
		t.Errorf("comparison %+v", c)
	}
	if m := r.Sides[1].SamplesPerS.Median; m == nil || *m != 225 {
		t.Errorf("median of B %v, want 225: warm-up must not count", m)
	}
}

func TestStopIsHeard(t *testing.T) {
	r := playing(t, "polite")
	for len(r.State().Repeats) < 6 {
		<-r.Changed()
	}
	begun := time.Now()
	r.Stop()
	r.Stop()
	if !r.State().Stopping {
		t.Error("the state does not say that it is stopping")
	}
	o := r.Outcome()
	if took := time.Since(begun); took > patience {
		t.Errorf("it took %v", took)
	}
	if !o.Stopped || o.Lost || o.Result == nil || !o.Result.Cancelled || o.Failure != "stopped" {
		t.Errorf("outcome %+v", o)
	}
}

func TestOutput(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ play, want, failure string }{
		{play: "fine", want: `"type":"start"`},
		{play: "panic", want: `"type":"start"`}, // it said something
		{play: "silent", failure: "client: doctor: it wrote nothing"},
	} {
		t.Run(c.play, func(t *testing.T) {
			t.Setenv("PINSCOPE_TEST_RUNNER", c.play)
			text, err := Output(program, "doctor")
			if !strings.Contains(text, c.want) || (err == nil) != (c.failure == "") || err != nil && err.Error() != c.failure {
				t.Errorf("text %q, error %v", text, err)
			}
		})
	}
	if _, err := Output("/nowhere/pinscope", "doctor"); err == nil || !strings.Contains(err.Error(), "/nowhere/pinscope") {
		t.Errorf("error %v", err)
	}
}

func TestStartFails(t *testing.T) {
	_, err := Start("/nowhere/pinscope", "run")
	if err == nil || !strings.Contains(err.Error(), "/nowhere/pinscope") {
		t.Errorf("error %v", err)
	}
}

// deaf is a process that says what it is given and ends only when it is killed.
type deaf struct {
	output      *io.PipeReader
	writer      *io.PipeWriter
	interrupted int
	killed      chan struct{}
}

func newDeaf() *deaf {
	d := &deaf{killed: make(chan struct{})}
	d.output, d.writer = io.Pipe()
	return d
}

func (d *deaf) Output() io.Reader { return d.output }
func (d *deaf) Errors() string    { return "" }
func (d *deaf) Interrupt()        { d.interrupted++ }
func (d *deaf) Kill() {
	close(d.killed)
	d.writer.Close()
}
func (d *deaf) Wait() error {
	<-d.killed
	return errors.New("signal: killed")
}

func TestStopKillsTheDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeaf()
		r := watch(d)
		begun := time.Now()
		r.Stop()
		synctest.Wait()
		if d.interrupted != 1 {
			t.Errorf("asked %d times to end at once, want 1", d.interrupted)
		}
		time.Sleep(patience - time.Nanosecond)
		synctest.Wait()
		select {
		case <-r.Done():
			t.Error("killed before its time was over")
		default:
		}
		o := r.Outcome()
		if took := time.Since(begun); took != patience {
			t.Errorf("killed after %v, want %v", took, patience)
		}
		if !o.Stopped || !o.Lost || !strings.Contains(o.Failure, "did not end by itself") {
			t.Errorf("outcome %+v", o)
		}
	})
}

// TestSlowReader: events are taken from the runner however slow the window is.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeaf()
		r := watch(d)
		encoder := json.NewEncoder(d.writer)
		for i := range 1000 {
			if err := encoder.Encode(bench.Event{Type: "progress", Progress: &bench.Progress{Repeat: i}}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		<-r.Changed()
		if got := r.State().Progress.Repeat; got != 999 {
			t.Errorf("progress %d, want the newest, 999", got)
		}
		select {
		case <-r.Changed():
			t.Error("there is nothing new to tell of")
		default:
		}
		d.Kill()
		<-r.Done()
	})
}
