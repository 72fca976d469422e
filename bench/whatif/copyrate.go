package whatif

import (
	"math"
	"sync"
	"time"

	"pinscope/cudamem"
	"pinscope/cudamem/hostcopy"
)

// copyRate is how fast one thread of this machine copies memory that lies in no
// cache, as the pin thread does. It is measured once, when somebody needs it.
type copyRate struct {
	once sync.Once
	gbps float64
	err  error
}

const (
	copyRateBytes = 32 << 20 // beyond what caches hold of it, and quick
	copyRateTries = 5        // the best counts: the machine may be busy
)

// measure gives GB/s.
func (r *copyRate) measure() (float64, error) {
	r.once.Do(func() { r.gbps, r.err = measureCopy() })
	return r.gbps, r.err
}

func measureCopy() (float64, error) {
	from, err := cudamem.MapPages(copyRateBytes)
	if err != nil {
		return 0, err
	}
	defer func() { _ = cudamem.UnmapPages(from) }()
	to, err := cudamem.MapPages(copyRateBytes)
	if err != nil {
		return 0, err
	}
	defer func() { _ = cudamem.UnmapPages(to) }()
	cudamem.TouchPages(from)
	cudamem.TouchPages(to)
	best := time.Duration(math.MaxInt64)
	for range copyRateTries {
		begun := time.Now()
		hostcopy.Stream(to, from)
		best = min(best, time.Since(begun))
	}
	return copyRateBytes / float64(max(best, 1)), nil
}
