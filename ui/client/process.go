package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// command is a process of the operating system.
type command struct {
	cmd    *exec.Cmd
	output io.Reader
	errors tail // of standard error
}

func startProcess(program string, args []string) (process, error) {
	c := &command{cmd: exec.Command(program, args...)}
	c.cmd.Stderr = &c.errors
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.output = output
	return c, c.cmd.Start()
}

func (c *command) Output() io.Reader { return c.output }
func (c *command) Errors() string    { return c.errors.String() }
func (c *command) Kill()             { _ = c.cmd.Process.Kill() } // fails only where it has ended
func (c *command) Wait() error       { return c.cmd.Wait() }

// Interrupt falls back to Kill where there are no signals.
func (c *command) Interrupt() {
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.Kill()
	}
}

// ended says how a process ended.
func ended(err error) string {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return "was lost: " + err.Error()
	}
	if code := exit.ExitCode(); code >= 0 {
		return fmt.Sprintf("ended with exit code %d", code)
	}
	how := exit.String() // "signal: killed"
	if strings.Contains(how, "killed") {
		how += "; the system may have been short of memory"
	}
	return "was ended from outside (" + how + ")"
}

// tail keeps the beginning of what is written to it, where a panic says what it
// is, and the end.
type tail struct {
	mu        sync.Mutex
	head, end []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fits := min(len(p), mostErrorBytes-len(t.head))
	t.head = append(t.head, p[:fits]...)
	t.end = append(t.end, p[fits:]...)
	if over := len(t.end) - mostErrorBytes; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.head) + string(t.end)
}
