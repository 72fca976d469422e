package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// mostAnswering is how long a command that only tells something may take.
const mostAnswering = 30 * time.Second

// Output is what a command of the program, such as "doctor", writes to standard
// output. The error says why it wrote nothing; a command that finds something
// wrong and says so has not failed.
func Output(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), mostAnswering)
	defer cancel()
	var out bytes.Buffer
	var said tail
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case out.Len() > 0:
		return out.String(), nil
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer after %v", mostAnswering)
	case err == nil:
		err = errors.New("it wrote nothing")
	case said.String() != "":
		err = errors.New(lastLine(said.String()))
	}
	return "", fmt.Errorf("client: %s: %w", args[0], err)
}
