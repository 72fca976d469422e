// Pinscope shows what pinned (page-locked) host memory does to a training loop
// on the user's own machine, and what it costs.
//
// Without arguments it opens a window; `pinscope --help` lists the commands.
package main

import (
	"context"
	"os"

	"pinscope/bench/cli"
	"pinscope/ui"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr, ui.Run))
}
