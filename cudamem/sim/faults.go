package sim

// Faults makes a device fail where a test wants it to. The zero value never does.
type Faults struct {
	FailPinAt    int // the n-th allocation of locked host memory, from 1, is refused
	FailLaunchAt int // the n-th training step, from 1, is refused
}
