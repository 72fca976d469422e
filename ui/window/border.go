//go:build !headless

package window

import (
	"sync"

	"fyne.io/fyne/v2"
)

// border is where goroutines of our own cross over to Fyne's.
type border struct {
	cross  func(func())  // has a function run on the Fyne goroutine, some time
	closed chan struct{} // closed once the window is
	once   sync.Once
}

// newBorder crosses by fyne.Do, or by what a test gives: with its driver fyne.Do
// runs at once, on the calling goroutine.
func newBorder(cross func(func())) *border {
	if cross == nil {
		cross = fyne.Do
	}
	return &border{cross: cross, closed: make(chan struct{})}
}

// do has f run on the Fyne goroutine and waits for it, so that a slow window
// slows its callers down instead of falling behind. It gives up when the window
// is closed. It must not be called on the Fyne goroutine.
func (b *border) do(f func()) {
	done := make(chan struct{})
	b.cross(func() {
		defer close(done)
		select {
		case <-b.closed:
		default:
			f()
		}
	})
	select {
	case <-done:
	case <-b.closed:
	}
}

// close ends all waiting.
func (b *border) close() { b.once.Do(func() { close(b.closed) }) }
