//go:build !headless

package window

import (
	"sync"

	"fyne.io/fyne/v2"
)

// border is where goroutines of our own cross over to Fyne's.
type border struct {
	closed chan struct{} // closed once the window is
	once   sync.Once
}

func newBorder() *border { return &border{closed: make(chan struct{})} }

// do has f run on the Fyne goroutine and waits for it, so that a slow window
// slows its callers down instead of falling behind. It gives up when the window
// is closed. It must not be called on the Fyne goroutine.
func (b *border) do(f func()) {
	done := make(chan struct{})
	fyne.Do(func() {
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
