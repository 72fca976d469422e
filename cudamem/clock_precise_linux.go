package cudamem

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A sleep of preciseClock has three legs, each ending where the error of the
// one before it may end.
const (
	// The runtime's timers wait in epoll_wait, whose timeout is whole
	// milliseconds: up to 1.1 ms late (2-core virtual machine, 2026-12). They
	// cost no thread, so they take the bulk.
	timerError = 1200 * time.Microsecond

	// nanosleep blocks its thread, and ends one wake-up of that thread late.
	nanosleepError = 60 * time.Microsecond

	// timerSlack is what the kernel may add to a nanosleep of this thread to
	// merge wake-ups, in nanoseconds; the default of 50,000 would nearly double the error.
	timerSlack = 1000
)

func newClock() Clock { return &preciseClock{*NewPlainClock()} }

// preciseClock is a PlainClock whose sleeps end on time: the bulk on the runtime's
// timers, the rest in nanosleep, and the last 60 us at most on the clock,
// offering the processor to other goroutines all the while.
type preciseClock struct{ PlainClock }

// SleepUntil blocks until t.
func (c *preciseClock) SleepUntil(t time.Duration) {
	if left := t - c.Now(); left > timerError {
		time.Sleep(left - timerError)
	}
	if left := t - c.Now(); left > nanosleepError+timerSlack {
		nanosleep(left - nanosleepError)
	}
	for c.Now() < t {
		runtime.Gosched()
	}
}

// nanosleep sleeps for d, or less when a signal comes. The slack set stays with
// whichever thread this runs on, where it does no harm.
func nanosleep(d time.Duration) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, timerSlack, 0, 0, 0)
	request := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &request, nil)
}
