//go:build unix

package runner

import (
	"fmt"
	"os"
	"syscall"
)

// Exec hands this process over to a program, with the arguments after the
// program's own name: standard streams, signals, process number and exit code are
// the program's from here on, and nothing of the caller is left. A child between
// us and a terminal would get each Ctrl+C twice, once from the terminal and once
// from us, and a second one means "end at once". It returns only when the program
// could not be started; deferred calls do not run and buffers are not flushed.
func Exec(program string, args []string) (code int, err error) {
	err = syscall.Exec(program, append([]string{program}, args...), os.Environ())
	return 0, fmt.Errorf("runner: start %s: %w", program, err)
}
