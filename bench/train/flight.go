package train

import (
	"pinscope/bench/loader"
	"pinscope/cudamem"
)

// flight is one batch on its way through the device.
type flight struct {
	cell     int // of the linear layer and the digester
	slot     *loader.Slot
	batch    int64
	rows     int64
	digest   uint64        // of what the worker wrote
	busy     bool          // between board and landing
	handed   bool          // the returner gives the slot back
	slotFree cudamem.Event // when it may
	returned chan struct{} // one token when it has

	events              []cudamem.Event // all of them, for Close
	copyStart, copyDone cudamem.Event
	stepStart, stepDone cudamem.Event
	over                cudamem.Event // the device slot is free: step and digest are done
}

// makeEvents makes a flight's events. Only where a digest follows the step does
// its end need one of its own.
func (f *flight) makeEvents(device cudamem.Device, digested bool) error {
	wanted := []*cudamem.Event{&f.copyStart, &f.copyDone, &f.stepStart, &f.stepDone}
	if digested {
		wanted = append(wanted, &f.over)
	}
	for _, event := range wanted {
		made, err := device.NewEvent()
		if err != nil {
			return err
		}
		*event = made
		f.events = append(f.events, made)
	}
	if !digested {
		f.over = f.stepDone
	}
	return nil
}

// board puts a batch on the flight.
func (f *flight) board(slot *loader.Slot) {
	f.slot, f.batch, f.rows, f.digest = slot, slot.Batch, slot.Rows, slot.Digest
	f.busy, f.handed = true, false
}

// release gives the host slot back now.
func (f *flight) release() {
	f.slot.Release()
	f.slot = nil
}
