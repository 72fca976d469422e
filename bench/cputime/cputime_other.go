//go:build !linux

// Package cputime tells how much CPU time a thread has used.
package cputime

import "time"

// Thread is not told on this system.
func Thread() (used time.Duration, ok bool) { return 0, false }
