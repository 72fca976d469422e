package bench

import (
	"errors"
	"time"

	"pinscope/bench/loader"
	"pinscope/bench/source"
	"pinscope/cudamem"
)

// sources are the data sets of a session. Sides that read the same one share it,
// so that both see the same bytes in the same place.
type sources struct {
	opened []sharedSource
}

type sharedSource struct {
	of          *side
	source      source.Source
	pinDuration time.Duration // page-locking it
}

// open gives the side its source, opened unless another side has it open.
func (d *sources) open(s *side) (source.Source, error) {
	for _, shared := range d.opened {
		if sameData(shared.of.config, s.config) {
			s.setups.SourceShared = shared.of != s
			return shared.source, nil
		}
	}
	o := s.sourceOptions()
	kind, pinDuration := cudamem.Pageable, time.Duration(0)
	for _, other := range s.session.sides {
		if sameData(other.config, s.config) && other.config.Pin == loader.PinDataset {
			kind, o.InMemory = other.config.HostKind(), true
		}
	}
	o.Alloc = func(bytes int64) (*cudamem.HostBuffer, error) {
		begun := s.session.clock.Now()
		defer func() {
			if kind.PageLocked() {
				pinDuration += s.session.clock.Now() - begun
			}
		}()
		return s.session.device.AllocHost(kind, bytes)
	}
	opened, err := source.Open(o)
	if err != nil {
		return nil, err
	}
	if wrap := s.session.o.wrapSource; wrap != nil {
		opened = wrap(opened)
	}
	d.opened = append(d.opened, sharedSource{s, opened, pinDuration})
	return opened, nil
}

// pinDuration is how long page-locking the data set that the side reads took; 0
// for a side that does not read it from page-locked memory.
func (d *sources) pinDuration(s *side) time.Duration {
	for _, shared := range d.opened {
		if s.config.Pin == loader.PinDataset && sameData(shared.of.config, s.config) {
			return shared.pinDuration
		}
	}
	return 0
}

// sameData says whether two configurations read the same samples.
func sameData(a, b Config) bool {
	return a.Source == b.Source && a.Samples == b.Samples && a.Shape.String() == b.Shape.String() &&
		a.DType == b.DType && a.Seed == b.Seed && a.OutFeatures == b.OutFeatures && a.OnBad == b.OnBad
}

func (d *sources) close() error {
	var errs []error
	for _, shared := range d.opened {
		errs = append(errs, shared.source.Close())
	}
	d.opened = nil
	return errors.Join(errs...)
}
