package sim

import (
	"fmt"
	"time"

	"pinscope/cudamem"
)

// AllocHost maps host memory and, for all kinds but pageable, locks it: unlocked
// memory is given where the system refuses, an error only where the model does.
func (d *device) AllocHost(kind cudamem.HostKind, bytes int64) (*cudamem.HostBuffer, error) {
	begun := d.clock.Now()
	memory, err := cudamem.MapPages(bytes)
	if err != nil {
		return nil, d.refuse("allocating "+kind.String()+" host memory", bytes, err.Error())
	}
	if kind == cudamem.Pageable {
		// Copies are over with it when their call is back, and kernels cannot read it.
		return cudamem.NewHostBuffer(kind, false, memory, func() error { return cudamem.UnmapPages(memory) }), nil
	}
	pages := int64(cap(memory))
	if err := d.takePins(kind, bytes, pages); err != nil {
		_ = cudamem.UnmapPages(memory) // nothing else holds it: it can only succeed
		return nil, err
	}
	locked := cudamem.LockPages(memory) == nil
	if !locked {
		cudamem.TouchPages(memory) // resident, as pinned memory is, though it can be swapped
	}
	d.clock.SleepUntil(begun + time.Duration(float64(pages)/(1<<30)*d.model.PinSecPerGiB*1e9))
	return cudamem.NewHostBuffer(kind, locked, memory, func() error {
		err := d.unmap(memory)
		d.mu.Lock()
		d.pinned -= pages
		d.mu.Unlock()
		return err
	}), nil
}

// unmap gives host memory back once no copy can read it any more.
func (d *device) unmap(memory []byte) error {
	d.settle()
	return cudamem.UnmapPages(memory)
}

// takePins books pages of locked host memory, unless the model refuses.
func (d *device) takePins(kind cudamem.HostKind, bytes, pages int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pins++
	limited := d.model.PinLimit > 0 && pages > d.model.PinLimit-d.pinned
	if !limited && d.pins != d.faults.FailPinAt {
		d.pinned += pages
		return nil
	}
	err := d.refuse("allocating "+kind.String()+" host memory", bytes,
		fmt.Sprintf("no more host memory can be locked: %d bytes asked for, %d bytes held", pages, d.pinned))
	if limited {
		err.Reason += fmt.Sprintf(", the limit is %d", d.model.PinLimit)
	}
	err.Cure = "use fewer or smaller pinned slots, or raise the limit on locked host memory"
	err.PinRefused = true
	return err
}
