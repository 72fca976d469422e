package bandwidth

import (
	"strings"
	"testing"

	"pinscope/cudamem"
)

// TestMappedIsReadByAKernel, and what the kernel cannot take is left out.
func TestMappedIsReadByAKernel(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, dev cudamem.Device, clock cudamem.Clock) {
		g := &gathers{Device: dev, gatherer: dev.(cudamem.Gatherer)}
		r := run(t, g, clock, Options{Kinds: []cudamem.HostKind{cudamem.Pinned, cudamem.Mapped}, Sizes: []int64{4096}, Directions: []Direction{HtoD}, PerCell: 50 * ms})
		if want := 1 + mostCopies*mostSamples; g.calls != want { // 1: the plan
			t.Errorf("%d calls of the kernel, want %d", g.calls, want)
		}
		e := &engine{dev: g, clock: clock, o: Options{Sizes: []int64{2 << 30}, Directions: []Direction{HtoD}}, result: r, index: new(cudamem.HostBuffer)}
		if err := e.kind(t.Context(), cudamem.Mapped); err != nil || e.done != 1 || !strings.Contains(r.Notes[len(r.Notes)-1], "mapped of 2 GiB is left out") {
			t.Errorf("%v, notes %q", err, r.Notes)
		}
	})
}

// gathers counts the calls of the kernel.
type gathers struct {
	cudamem.Device
	gatherer cudamem.Gatherer
	calls    int
}

func (g *gathers) Gather(s cudamem.Stream, dst cudamem.DeviceBuffer, indices *cudamem.HostBuffer, at int64, rows int, parts ...cudamem.GatherPart) error {
	g.calls++
	return g.gatherer.Gather(s, dst, indices, at, rows, parts...)
}
