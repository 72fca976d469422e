//go:build headless

package ui

import "errors"

// Run says that this build has no window.
func Run([]string) error {
	return errors.New("this build has no window; use pinscope run, for instance: pinscope run --preset article")
}
