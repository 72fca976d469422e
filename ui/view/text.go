package view

import (
	"strings"

	"pinscope/bench"
)

// Text is a result as the terminal shows it.
func Text(r *bench.Result) (string, error) {
	var b strings.Builder
	err := r.Text(&b)
	return b.String(), err
}
