package cudamem

// NewClock starts the clock of a measurement: on Linux one whose sleeps end
// within some 10 us of the time asked for (see preciseClock), elsewhere a [PlainClock].
func NewClock() Clock { return newClock() }
