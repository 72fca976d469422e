// Package cpu is the CPU in the place of a GPU: a [cudamem.Device] whose training
// steps read host memory where it lies, so that nothing is copied.
//
// A step, a digest and every other call are done when the call returns, on the
// calling goroutine; a stream only keeps the order in which they were called,
// and an event takes the clock when it is recorded. Host memory of the kinds
// that would be page-locked is locked where the system lets us.
package cpu
