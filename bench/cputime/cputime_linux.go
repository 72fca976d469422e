// Package cputime tells how much CPU time a thread has used.
package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Thread is the CPU time that the calling thread has used; ok is false where the
// system does not tell. Differences mean something to a goroutine that stays on
// its thread (runtime.LockOSThread).
func Thread() (used time.Duration, ok bool) {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
