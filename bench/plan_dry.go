package bench

import (
	"context"
	"errors"
	"time"

	"pinscope/cudamem"
)

// DryRun does what Run (one configuration) and Compare (two) do before they
// allocate anything: it checks the settings, works out the plans, tells
// o.Events of them and says whether they fit.
func DryRun(ctx context.Context, kind Kind, configs []Config, o RunOptions) (err error) {
	if o.Events == nil {
		o.Events = func(Event) {}
	}
	if o.Clock == nil {
		o.Clock = cudamem.NewClock()
	}
	s := &session{ctx: ctx, o: o, clock: o.Clock, result: &Result{
		Schema: SchemaVersion, Kind: kind, Tool: ThisTool(), Host: ThisHost(), Started: time.Now().UTC(), Command: o.Command,
	}}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.prepare(configs)
}
