// Package client starts the runner, Pinscope's own program with `--events`, and
// reads what it says. It knows nothing of windows.
//
// [Start] gives a [Runner]. Its [Runner.Changed] tells that there is something
// new in [Runner.State], never oftener than the reader takes it: a slow reader
// loses progress, and the measurement does not notice. [Runner.Stop] ends it, and
// [Runner.Outcome] is what came of it, once [Runner.Done] is closed.
//
// Whatever happens to the runner, be it killed, out of memory or writing
// nonsense, the outcome has a sentence, and the repeats that were finished.
package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"pinscope/bench"
)

// patience is how long a runner may take to end once it was asked to: then it is killed.
const patience = 2 * time.Second

// mostLineBytes is the longest line that is read: as much as a result file may have.
const mostLineBytes = 256 << 20

// mostErrorBytes is how much of standard error's beginning is kept, and of its end.
const mostErrorBytes = 4096

// State is what is known of a run under way. Values that it points to are not
// changed any more.
type State struct {
	Start    *bench.StartInfo // nil until the runner has opened the device
	Plans    []bench.PlanInfo
	Progress *bench.Progress
	Repeats  []bench.RepeatInfo // that have ended, warm-up included
	Warnings []string
	Stopping bool // the user wants it to end
}

// Outcome is what came of a run.
type Outcome struct {
	Result  *bench.Result // nil when no repeat was finished
	Lost    bool          // the runner died: Result is put together from what it had said
	Stopped bool          // by Stop
	Failure string        // why there is no complete result, a sentence; empty when there is one
	Input   bool          // the settings are at fault
}

// Runner is a runner that was started. Its methods may be called from any goroutine.
type Runner struct {
	process process
	changed chan struct{}
	done    chan struct{}
	stop    sync.Once
	began   time.Time

	mu      sync.Mutex // guards what follows
	state   State
	result  *bench.Result
	failure *bench.Failure
	garbage int // lines that are no events
	outcome Outcome
}

// process is a runner's process; tests have their own.
type process interface {
	Output() io.Reader // standard output; ends when the process does
	Errors() string    // standard error, without its middle if it is long; valid after Wait
	Interrupt()        // asks it to end
	Kill()
	Wait() error
}

// Start starts program with arguments such as "run", "--preset", "tiny"; --events
// is added. The error says that it could not be started.
func Start(program string, args ...string) (*Runner, error) {
	p, err := startProcess(program, append(slices.Clone(args), "--events"))
	if err != nil {
		return nil, fmt.Errorf("client: start the runner: %w", err)
	}
	return watch(p), nil
}

func watch(p process) *Runner {
	r := &Runner{process: p, changed: make(chan struct{}, 1), done: make(chan struct{}), began: time.Now()}
	go r.follow()
	return r
}

// Changed gives a value when State has changed since the last one.
func (r *Runner) Changed() <-chan struct{} { return r.changed }

// Done is closed when the runner has ended.
func (r *Runner) Done() <-chan struct{} { return r.done }

// State is what is known now.
func (r *Runner) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	s.Plans, s.Repeats, s.Warnings = slices.Clip(s.Plans), slices.Clip(s.Repeats), slices.Clip(s.Warnings)
	return s
}

// Outcome waits for the runner's end.
func (r *Runner) Outcome() Outcome {
	<-r.done
	return r.outcome
}

// Stop asks the runner to end and to give what it has, and kills it if it has not
// ended within two seconds. It returns at once and may be called any number of times.
func (r *Runner) Stop() {
	r.stop.Do(func() {
		r.mu.Lock()
		r.state.Stopping = true
		r.mu.Unlock()
		r.tell()
		r.process.Interrupt()
		go func() {
			select {
			case <-r.done:
			case <-time.After(patience):
				r.process.Kill()
			}
		}()
	})
}

// follow reads events until the process has ended.
func (r *Runner) follow() {
	lines := bufio.NewReaderSize(r.process.Output(), 64<<10)
	for {
		line, err := readLine(lines)
		if len(line) > 0 {
			r.take(line)
		}
		if err != nil {
			break
		}
	}
	err := r.process.Wait()
	r.mu.Lock()
	r.outcome = r.conclude(err)
	r.mu.Unlock()
	close(r.done)
}

// readLine is one line without its end, nothing of one that is too long.
func readLine(from *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		if len(line) <= mostLineBytes {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > mostLineBytes {
			line = []byte("too long")
		}
		return line, err
	}
}

func (r *Runner) take(line []byte) {
	var e bench.Event
	err := json.Unmarshal(line, &e)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil || e.Type == "":
		r.garbage++
		return
	case e.Start != nil:
		r.state.Start = e.Start
	case e.Plan != nil:
		r.state.Plans = append(r.state.Plans, *e.Plan)
	case e.Progress != nil:
		r.state.Progress = e.Progress
	case e.Repeat != nil:
		r.state.Repeats = append(r.state.Repeats, *e.Repeat)
	case e.Warning != "":
		r.state.Warnings = append(r.state.Warnings, e.Warning)
	case e.Result != nil:
		r.result = e.Result
	case e.Error != nil:
		r.failure = e.Error
	}
	r.tell()
}

// tell makes Changed ready; it never waits.
func (r *Runner) tell() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// conclude says what came of it. The lock is held.
func (r *Runner) conclude(exit error) Outcome {
	o := Outcome{Result: r.result, Stopped: r.state.Stopping}
	switch {
	case r.result != nil && r.result.Complete && r.failure == nil:
		return o
	case r.result != nil && o.Stopped:
		o.Failure = "stopped"
	case r.failure != nil:
		o.Failure, o.Input = r.failure.Message, r.failure.ExitCode == exitInput
	case r.result != nil:
		o.Failure = r.result.Error
	default:
		o.Lost = true
		o.Failure = r.death(exit)
	}
	if o.Result == nil {
		o.Result = r.state.partial(o.Failure, o.Stopped, r.began)
	}
	return o
}

// exitInput is the exit code of wrong input.
const exitInput = 2

// death is a sentence about a runner that ended without an answer.
func (r *Runner) death(exit error) string {
	text := "the runner ended without a result"
	if exit != nil {
		text = "the runner " + ended(exit)
	}
	if r.state.Stopping {
		text = "stopped; the runner did not end by itself"
	}
	if said := lastLine(r.process.Errors()); said != "" {
		text += ": " + said
	}
	if r.garbage > 0 {
		text += fmt.Sprintf("; %d lines of its output were unreadable", r.garbage)
	}
	return text
}

// lastLine is what a program that died most likely said last about why: the
// first line of a Go panic, otherwise the last line there is.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "pinscope: ")
}
