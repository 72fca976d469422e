package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"pinscope/bench"
	"pinscope/bench/units"
)

// watcher shows what happens during a measurement.
type watcher struct {
	stream *bench.EventWriter // nil without --events
	text   io.Writer          // for people
	plans  bool               // are shown

	estimates bool // are shown

	mu        sync.Mutex // guards what follows; events come from any goroutine
	failed    error      // the first of writing plans
	terminal  io.Writer  // gets a line of progress; nil: nobody looks
	width     int        // of that line
	shown     time.Time
	simulated bool // is the device
}

// events makes the watcher that the outputs ask for. People read standard
// output, or standard error when that is taken.
func (p *program) events(o outputs) *watcher {
	w := &watcher{text: p.stdout, plans: !o.Quiet, estimates: !o.Quiet}
	switch {
	case o.Events:
		w.stream, w.text, w.plans, w.estimates = bench.NewEventWriter(p.stdout), io.Discard, false, false
	case o.JSON == "-":
		w.text = p.stderr
	}
	if !o.Events && !o.Quiet && isTerminal(p.stderr) {
		w.terminal = p.stderr
	}
	return w
}

func isTerminal(w io.Writer) bool {
	if p, ok := w.(*pipe); ok {
		w = p.to
	}
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	connection, err := file.SyscallConn() // Fd would make writes to it blocking
	if err != nil {
		return false
	}
	terminal := false
	err = connection.Control(func(fd uintptr) { terminal = isTerminalFD(fd) })
	return err == nil && terminal
}

func (w *watcher) event(e bench.Event) {
	if w.stream != nil {
		w.stream.Write(e)
	}
	switch {
	case e.Start != nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.simulated = e.Start.Device.Simulated
	case e.Plan != nil && w.plans:
		w.plan(e.Plan)
	case e.Estimate != nil && w.estimates:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = cmp.Or(w.failed, e.Estimate.Text(w.text))
	case e.Progress != nil && w.terminal != nil:
		w.progress(e.Progress)
	}
}

func (w *watcher) plan(p *bench.PlanInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	title := "Plan"
	if p.Side != "" {
		title += " of " + p.Side
	}
	_, first := fmt.Fprintf(w.text, "%s: %s\n", title, p.Config.Summary())
	err := p.Plan.Text(w.text)
	_, last := fmt.Fprintln(w.text)
	w.failed = cmp.Or(w.failed, first, err, last)
}

// progress renews the line on the terminal, four times a second at most.
func (w *watcher) progress(p *bench.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.Sub(w.shown) >= 250*time.Millisecond {
		w.shown = now
		w.line(progressText(p))
	}
}

func progressText(p *bench.Progress) string {
	text := strings.TrimSpace(p.Phase + " " + p.Side)
	if p.Repeat > 0 {
		text += fmt.Sprintf(", repeat %d of %d, %.0f %%", p.Repeat, p.Repeats, p.Done*100)
	}
	if p.SamplesPerS != nil {
		text += ", " + units.SampleRate(*p.SamplesPerS) + " samples/s"
	}
	if p.ETAS != nil {
		text += ", " + units.Duration(time.Duration(*p.ETAS*1e9).Round(time.Second)) + " left"
	}
	return text
}

// line replaces the line on the terminal.
func (w *watcher) line(text string) {
	if w.simulated && text != "" {
		text = "SIMULATED: " + text
	}
	fmt.Fprintf(w.terminal, "\r%-*s", w.width, text)
	w.width = len(text)
}

// end clears the line on the terminal.
func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.terminal != nil && w.width > 0 {
		w.line("")
		fmt.Fprint(w.terminal, "\r")
	}
}
