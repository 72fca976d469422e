package train

import (
	"fmt"

	"pinscope/cudamem"
)

// returnWhen gives the flight's host slot back once event is done: at once if it
// is, else through the returner.
func (r *run) returnWhen(f *flight, event cudamem.Event) error {
	done := r.t.releaseEarly
	if !done {
		var err error
		if done, err = event.Done(); err != nil {
			return err
		}
	}
	if done {
		f.release()
		return nil
	}
	f.handed, f.slotFree = true, event
	r.returns <- f
	return nil
}

// returnSlots is the returner: it waits for each flight's event, in order, and
// gives its slot back. It waits after an error too: a device that is lost answers
// at once, any other may still read the slot.
func (r *run) returnSlots() {
	defer close(r.returner)
	release, err := r.t.device.Bind()
	if err != nil {
		r.note(fmt.Errorf("train: bind the returner: %w", err))
	} else {
		defer release()
	}
	for f := range r.returns {
		r.note(f.slotFree.Wait())
		f.slot.Release()
		f.returned <- struct{}{}
	}
}

// note keeps the returner's first error for the trainer.
func (r *run) note(err error) {
	if err != nil {
		r.failure.CompareAndSwap(nil, &err)
	}
}

// failed is the returner's error, nil if there was none.
func (r *run) failed() error {
	if err := r.failure.Load(); err != nil {
		return *err
	}
	return nil
}

func (r *run) stopReturner() {
	close(r.returns)
	<-r.returner
}
