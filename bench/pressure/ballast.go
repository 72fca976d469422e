package pressure

import (
	"context"
	"errors"
	"fmt"
)

// ballastChunk is how much ballast is taken between two looks at what is left.
const ballastChunk = 256 << 20

// Alloc takes host memory: bytes of it, all touched, so that it really is held.
// release gives it back and is called once.
type Alloc func(bytes int64) (release func() error, err error)

// Ballast is memory held to see what holding it does. It belongs to one goroutine.
type Ballast struct {
	alloc    Alloc
	limits   func() Limits
	pinned   bool
	held     int64
	releases []func() error
}

// NewBallast makes an empty ballast. limits reads what there is now; pinned says
// that alloc page-locks.
func NewBallast(alloc Alloc, pinned bool, limits func() Limits) *Ballast {
	return &Ballast{alloc: alloc, limits: limits, pinned: pinned}
}

// Bytes is what is held.
func (b *Ballast) Bytes() int64 { return b.held }

// GrowTo takes more until so many bytes are held. Before each chunk the guard is
// asked again, as others take memory too; it was the caller who asked for the
// override of the cap on pinned memory. What was taken before an error is kept.
func (b *Ballast) GrowTo(ctx context.Context, bytes int64) error {
	for b.held < bytes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		chunk := min(ballastChunk, bytes-b.held)
		need := Need{{Name: "ballast", Bytes: chunk, Pinned: b.pinned}}
		if d := Guard(need, b.limits(), true); d.Verdict == Unchecked || !d.Runs() {
			return fmt.Errorf("pressure: grow ballast from %d to %d bytes: %s", b.held, bytes, d.Text)
		}
		release, err := b.alloc(chunk)
		if err != nil {
			return fmt.Errorf("pressure: grow ballast from %d to %d bytes: %w", b.held, bytes, err)
		}
		b.releases = append(b.releases, release)
		b.held += chunk
	}
	return nil
}

// Release gives everything back. It may be called twice.
func (b *Ballast) Release() error {
	var failed []error
	for _, release := range b.releases {
		failed = append(failed, release())
	}
	b.releases, b.held = nil, 0
	return errors.Join(failed...)
}
