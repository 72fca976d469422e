package whatif

import (
	"fmt"
	"slices"
	"time"

	"pinscope/bench"
	"pinscope/bench/trace"
)

// calls is what the trainer spends on queueing and on waking up.
func (f *feed) calls() error {
	f.copyCall()
	f.wakeUps()
	if f.in.HostSteps {
		return nil
	}
	if s, ok := f.asked(trace.Launch); ok {
		f.in.Launch = s
		return nil
	}
	on, s, found := f.measured.find(trace.Launch, anyConfiguration)
	if !found || on.device.ID == "cpu" {
		f.say(trace.Launch, Stage{}, Assumed, "no time of the trainer: it was not measured")
		return nil
	}
	more := float64(f.config.StepsPerBatch) / float64(on.side.Config.StepsPerBatch)
	f.in.Launch = f.drawn(trace.Launch, on, s, more, "the steps on a batch")
	return nil
}

// copyCall is the call out of pinned memory; out of pageable memory it is part of the copy.
func (f *feed) copyCall() {
	s, ok := f.asked(trace.CopyCall)
	if ok {
		f.in.CopyCall = s
	}
	if ok || f.in.InPlace || !f.config.Pin.Pins() {
		return
	}
	if on, s, found := f.measured.find(trace.CopyCall, func(c bench.Config) bool { return c.Pin.Pins() }); found {
		f.in.CopyCall = f.drawn(trace.CopyCall, on, s, 1, "")
		return
	}
	f.say(trace.CopyCall, Stage{}, Assumed, "no time: calls out of pinned memory were not measured")
}

// fewWaits are too few for a distribution: one that was disturbed would be drawn
// time and again, so the quickest is taken.
const fewWaits = 8

// wakeUps is how long the trainer and the pin thread take to go on when a wait is over.
func (f *feed) wakeUps() {
	if f.measured == nil {
		return
	}
	all := f.measured.waits
	for _, other := range f.measured.others {
		all.wake = slices.Concat(all.wake, other.waits.wake)
		all.poll = slices.Concat(all.poll, other.waits.poll)
		all.batch = slices.Concat(all.batch, other.waits.batch)
		all.pin = slices.Concat(all.pin, other.waits.pin)
	}
	for i, kind := range []struct {
		to      *Stage
		samples []time.Duration
		name    string
		from    string
	}{
		{&f.in.Wake, all.wake, "wake up", "waits for the device, after it was done"},
		{&f.in.Poll, all.poll, "look", "waits for the device, which was done"},
		{&f.in.WakeNext, all.batch, "take", "waits for a batch, after it was there"},
		{&f.in.WakePin, all.pin, "pin take", "waits of the pin thread for a batch, after it was there"},
	} {
		if len(kind.samples) == 0 {
			continue
		}
		*kind.to = Drawn(kind.samples, f.config.Seed-golden*uint64(i+1))
		if len(kind.samples) < fewWaits {
			*kind.to = Always(slices.Min(kind.samples))
		}
		mean := kind.to.Mean()
		f.origins = append(f.origins, Origin{kind.name, Measured, fmt.Sprintf("%d %s", len(kind.samples), kind.from), &mean})
	}
}
