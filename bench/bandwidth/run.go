package bandwidth

import (
	"context"
	"errors"
	"fmt"

	"pinscope/cudamem"
)

// The reference is what nvbandwidth's host_to_device_memcpy_ce does (README:
// 64 MiB buffers, 16 copies, median of 3), so that the two can be compared.
const (
	referenceBytes   = 64 << 20
	referenceSamples = 3
)

// engine is one Run.
type engine struct {
	dev   cudamem.Device
	clock cudamem.Clock
	o     Options
	timer *timer

	stream, otherStream cudamem.Stream       // other: of the direction that is only kept busy
	device, otherDevice cudamem.DeviceBuffer // other: nil where there is no such direction
	reference           *cudamem.HostBuffer  // pinned; pageable where that is refused
	index               *cudamem.HostBuffer  // one int64 0, of the kernel that reads; nil without one

	result *Result
	done   int // cells
	total  int
}

// Run measures all cells that the device can do, on the calling goroutine, which
// it binds to the device. What cannot be done is left out with a note. It fails
// when a copy fails, and with ctx's cause when ctx is done, and then has freed
// all that it allocated.
func Run(ctx context.Context, dev cudamem.Device, clock cudamem.Clock, o Options) (result *Result, err error) {
	if dev.Info().InPlace {
		return nil, fmt.Errorf("bandwidth: %s has no link: it reads host memory where it lies", dev.Info().ID)
	}
	release, err := dev.Bind()
	if err != nil {
		return nil, err
	}
	defer release()
	e := &engine{dev: dev, clock: clock, o: o, result: newResult(dev.Info(), o)}
	defer func() {
		if failed := e.close(); err == nil && failed != nil {
			result, err = nil, failed
		}
	}()
	if err := e.open(); err != nil {
		return nil, err
	}
	if err := e.wakeFirst(ctx); err != nil {
		return nil, err
	}
	for _, kind := range o.Kinds {
		e.total += len(e.directions(kind)) * len(o.Sizes)
	}
	for _, kind := range o.Kinds {
		if err := e.kind(ctx, kind); err != nil {
			return nil, err
		}
	}
	if err := e.measureReference(ctx); err != nil {
		return nil, err
	}
	return e.result, nil
}

// open allocates what all cells share.
func (e *engine) open() (err error) {
	if e.timer, err = newTimer(e.dev, e.clock); err != nil {
		return err
	}
	if e.stream, err = e.dev.NewStream(); err != nil {
		return err
	}
	if e.otherStream, err = e.dev.NewStream(); err != nil {
		return err
	}
	if e.device, err = e.dev.AllocDevice(e.o.deviceBytes()); err != nil {
		return err
	}
	if e.o.bothWays() {
		if e.otherDevice, err = e.dev.AllocDevice(referenceBytes); err != nil {
			return err
		}
	}
	return e.openHost()
}

func (e *engine) openHost() (err error) {
	e.reference, err = e.dev.AllocHost(cudamem.Pinned, referenceBytes)
	if cudamem.IsPinRefused(err) {
		e.result.note("the comparison with nvbandwidth is left out: %v", err)
		e.reference, err = e.dev.AllocHost(cudamem.Pageable, referenceBytes)
	}
	if err != nil {
		return err
	}
	cudamem.TouchPages(e.reference.Bytes())
	if _, ok := e.dev.(cudamem.Gatherer); ok {
		if e.index, err = e.dev.AllocHost(cudamem.Mapped, 8); cudamem.IsPinRefused(err) {
			e.index, err = nil, nil
		}
	}
	return err
}

// close frees everything; what was not allocated is nil.
func (e *engine) close() error {
	var errs []error
	for _, stream := range []cudamem.Stream{e.stream, e.otherStream} {
		if stream != nil {
			errs = append(errs, stream.Close())
		}
	}
	if e.timer != nil {
		errs = append(errs, e.timer.close())
	}
	errs = append(errs, e.reference.Free(), e.index.Free())
	for _, buffer := range []cudamem.DeviceBuffer{e.device, e.otherDevice} {
		if buffer != nil {
			errs = append(errs, buffer.Free())
		}
	}
	return errors.Join(errs...)
}
