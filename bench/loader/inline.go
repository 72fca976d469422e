package loader

import "pinscope/bench/trace"

// inline loads in the trainer's own goroutine: workers 0.
type inline struct{ *writer }

func newInline(l *Loader) *inline { return &inline{l.newWriter()} }

// next fills one batch, and pins it where a pin thread would.
func (in *inline) next(p *Pass) (*Slot, error) {
	asked := p.l.clock.Now()
	var slot *Slot
	if p.over() {
		return nil, p.err
	}
	select {
	case slot = <-p.free:
	case <-p.done:
		return nil, p.err
	}
	batch := p.taken
	p.taken++
	p.trainer.Add(trace.WaitSlot, batch, asked, p.l.clock.Now(), 0)
	if err := in.timedFill(p, slot, batch, p.trainer); err != nil {
		p.fail(err)
		return nil, err
	}
	if p.l.o.Pin.HasThread() {
		return p.copyToRing(slot, p.trainer)
	}
	return slot, nil
}
