//go:build !headless

package ui

import "errors"

// Run opens the window on some result files, and returns when it is closed.
// There is no window yet: the error says what to use instead.
func Run([]string) error {
	return errors.New("the window is not built yet; use pinscope run, for instance: pinscope run --preset article")
}
