package cli

import (
	"context"
	"errors"
	"io"
	"os/signal"
	"runtime"
	"syscall"

	"pinscope/bench"
)

// readerGone is why a run ends whose standard output nobody reads any more. It is
// a kind of being cancelled.
type readerGone struct{}

func (readerGone) Error() string { return "the reader of standard output has gone" }

func (readerGone) Unwrap() error { return bench.ErrCancelled }

// watchReader cancels when a write to standard output finds no reader: a window
// that is gone leaves no run behind, and what was measured is still written to
// files. SIGPIPE is ignored as long as the process lives, since it would end it in
// the middle of that.
func (p *program) watchReader(cancel context.CancelCauseFunc) {
	signal.Ignore(syscall.SIGPIPE)
	p.stdout = &pipe{to: p.stdout, gone: func() { cancel(readerGone{}) }}
}

// pipe is a writer that notices that its reader has gone.
type pipe struct {
	to   io.Writer
	gone func() // may be called more than once
}

func (w *pipe) Write(text []byte) (int, error) {
	n, err := w.to.Write(text)
	if hasNoReader(err) {
		w.gone()
		err = readerGone{}
	}
	return n, err
}

func hasNoReader(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // of Windows
	if runtime.GOOS == "windows" {
		return errors.Is(err, brokenPipe) || errors.Is(err, noData)
	}
	return errors.Is(err, syscall.EPIPE)
}
