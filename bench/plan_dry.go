package bench

import (
	"context"
	"errors"
)

// DryRun does what Run (one configuration) and Compare (two) do before they
// allocate anything: it checks the settings, works out the plans, tells
// o.Events of them and says whether they fit.
func DryRun(ctx context.Context, kind Kind, configs []Config, o RunOptions) (err error) {
	s := newSession(ctx, kind, configs, o)
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.prepare(configs); err != nil {
		return err
	}
	if kind == KindLadder || kind == KindSweep {
		estimate := s.estimate(0)
		s.emit(Event{Type: "estimate", Estimate: &estimate})
	}
	return nil
}
