package loader

import (
	"fmt"
	"runtime/debug"

	"pinscope/bench/trace"
	"pinscope/cudamem/hostcopy"
)

// pin is the pin thread: it copies each batch, in order, out of its pageable
// slot into a page-locked one, as PyTorch's does with pin_memory=True. With
// PageableThread the other slot is pageable too.
func (p *Pass) pin() {
	defer func() {
		if r := recover(); r != nil {
			p.fail(fmt.Errorf("loader: pin thread panicked: %v\n%s", r, debug.Stack()))
		}
	}()
	for p.taken < p.total {
		asked := p.l.clock.Now()
		slot, err := p.take()
		if err != nil {
			return
		}
		p.pinLane.Add(trace.PinWait, slot.Batch, asked, p.l.clock.Now(), 0)
		pinned, err := p.copyToRing(slot, p.pinLane)
		if err != nil {
			return
		}
		p.l.pinned <- pinned
	}
}

// copyToRing moves a batch into a free ring slot and frees its pageable one.
func (p *Pass) copyToRing(slot *Slot, lane *trace.Lane) (*Slot, error) {
	clock := p.l.clock
	asked := clock.Now()
	var pinned *Slot
	select {
	case pinned = <-p.ringFree:
	case <-p.done:
		return nil, p.err
	}
	begun := clock.Now()
	lane.Add(trace.RingWait, slot.Batch, asked, begun, 0)
	meter := startCPUMeter()
	used := InputOffset(p.l.spec, p.l.o.Batch) + slot.Rows*p.l.spec.SampleBytes
	hostcopy.Stream(pinned.Buffer.Bytes()[:used], slot.Buffer.Bytes()[:used])
	meter.stop()
	pinned.Batch, pinned.Rows, pinned.Digest = slot.Batch, slot.Rows, slot.Digest
	lane.Add(trace.PinCopy, slot.Batch, begun, clock.Now(), used)
	meter.charge(lane, trace.PinCopy)
	slot.Release()
	return pinned, nil
}
