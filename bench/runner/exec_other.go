//go:build !unix

package runner

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// Exec runs a program as a child, with the arguments after the program's own
// name and our standard streams, and gives its exit code. The console sends
// Ctrl+C to the child too, so that here it is only kept from ending us first.
func Exec(program string, args []string) (code int, err error) {
	signal.Ignore(os.Interrupt)
	defer signal.Reset(os.Interrupt)
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("runner: start %s: %w", program, err)
	}
	return cmd.ProcessState.ExitCode(), nil
}
