//go:build !linux

package numa

import "errors"

var errUnsupported = errors.New("numa: binding is only built for Linux")

// Nodes lists nothing: this system is not read.
func Nodes() []int { return nil }

// BindThread fails.
func BindThread(int) error { return errUnsupported }

// PreferMemory fails.
func PreferMemory(int) (restore func(), err error) { return nil, errUnsupported }
