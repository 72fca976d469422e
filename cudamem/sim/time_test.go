package sim

import (
	"sync"
	"testing"
	"time"

	"pinscope/cudamem"
)

const ms = time.Millisecond

// TestC03TinyCopies: 6 us + 4,000 B / 12 GB/s = 6.333 us each, one after the other.
func TestC03TinyCopies(t *testing.T) {
	inBubble(t, map[string]string{"latency": "6us"}, func(r *rig) {
		host, slot, s := r.host(cudamem.Pinned, 4000), r.memory(4000), r.stream()
		for range 1000 {
			r.htod(s, slot, host)
		}
		r.want("calls", r.clock.Now(), 0)
		r.want("1000 copies", r.end(s), 1000*6333*time.Nanosecond)
		r.free(host, slot)
	})
}

// TestC12Periods is the positive control: 100 batches of 154,140,672 B, which take
// 25.690112 ms at 6 GB/s and 12.845056 ms at 12 GB/s, and steps of 12.845 ms.
func TestC12Periods(t *testing.T) {
	for _, c := range []struct {
		name      string
		kind      cudamem.HostKind
		blocking  bool
		dedicated bool
		want      time.Duration
	}{
		{"pageable, blocking: copies and steps in turn", cudamem.Pageable, true, false, 100 * (25690112 + 12845000)},
		{"pinned, blocking: the same, at twice the rate", cudamem.Pinned, true, false, 100 * (12845056 + 12845000)},
		{"pinned, shared stream: not blocking is no help to the device", cudamem.Pinned, false, false, 100 * (12845056 + 12845000)},
		{"pinned, own stream: copies end to end, then the last step", cudamem.Pinned, false, true, 100*12845056 + 12845000},
		{"pageable, own stream: the caller waits for copies, not for steps", cudamem.Pageable, false, true, 100*25690112 + 12845000},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, map[string]string{"pageable-gbps": "6", "compute": "12.845ms"}, func(r *rig) {
				host := r.host(c.kind, 154140672)
				slots := []cudamem.DeviceBuffer{r.memory(host.Size()), r.memory(host.Size())}
				copied := []cudamem.Event{r.event(), r.event()}
				stepped := []cudamem.Event{r.event(), r.event()}
				layer, compute := r.linear(), r.stream()
				copies := compute
				if c.dedicated {
					copies = r.stream()
				}
				for i := range 100 {
					r.must(copies.WaitFor(stepped[i%2]))
					r.htod(copies, slots[i%2], host)
					r.must(copies.Record(copied[i%2]))
					if c.blocking {
						r.must(copied[i%2].Wait())
					}
					r.must(compute.WaitFor(copied[i%2]))
					r.step(layer, compute, slots[i%2])
					r.must(compute.Record(stepped[i%2]))
				}
				r.want("100 batches", r.end(compute), c.want)
				r.free(host, slots[0], slots[1])
			})
		})
	}
}

// TestC20PageableWaitsForItsStream has the shape measured on an H200: with 37 ms of work
// on its stream a pageable copy of 64 MiB blocked its caller for 44.5 ms, on
// another one for 7.6; pinned ones, and small ones, do not block.
func TestC20PageableWaitsForItsStream(t *testing.T) {
	const size = 64 << 20
	const chunk = 2097152 / 8 * time.Nanosecond // 2 MiB at 8 GB/s
	const us = time.Microsecond                 // the latency of each copy
	for _, c := range []struct {
		name    string
		paced   string
		kind    cudamem.HostKind
		bytes   int64
		other   bool
		blocked time.Duration
		end     time.Duration
	}{
		{"paced, same stream", "4", cudamem.Pageable, size, false, 37*ms + us + 16777216, 37*ms + us + 16777216},
		{"paced, other stream", "4", cudamem.Pageable, size, true, us + 16777216, us + 16777216},
		// Two chunks are still under way when the last one is staged.
		{"staged, same stream", "0", cudamem.Pageable, size, false, 37*ms + us + 30*chunk, 37*ms + us + 32*chunk},
		{"staged, other stream", "0", cudamem.Pageable, size, true, us + 30*chunk, us + 32*chunk},
		{"64 KiB", "0", cudamem.Pageable, 64 << 10, false, 0, 37*ms + us + 8192},
		{"a byte more", "0", cudamem.Pageable, 64<<10 + 1, false, 37 * ms, 37*ms + us + 8192},
		{"pinned", "0", cudamem.Pinned, size, false, 0, 37*ms + us + 32*chunk},
		{"managed", "0", cudamem.Managed, size, true, 0, us + 32*chunk},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, map[string]string{"link-gbps": "8", "latency": "1us", "pageable-gbps": c.paced, "compute": "37ms"}, func(r *rig) {
				host, slot, s := r.host(c.kind, c.bytes), r.memory(c.bytes), r.stream()
				r.step(r.linear(), s, slot)
				on := s
				if c.other {
					on = r.stream()
				}
				r.htod(on, slot, host)
				r.want("blocked for", r.clock.Now(), c.blocked)
				r.want("end of copy", r.end(on), c.end)
				r.free(host, slot)
			})
		})
	}
}

// TestPageableCopyTakesNoEngineWhileItWaits: another stream's copy goes first.
func TestPageableCopyTakesNoEngineWhileItWaits(t *testing.T) {
	for _, paced := range []string{"12", "0"} {
		inBubble(t, map[string]string{"pageable-gbps": paced, "compute": "37ms"}, func(r *rig) {
			const size = 1_200_000 // 0.1 ms
			pageable, pinned, slot := r.host(cudamem.Pageable, size), r.host(cudamem.Pinned, size), r.memory(size)
			busy, other := r.stream(), r.stream()
			r.step(r.linear(), busy, slot)
			var copying sync.WaitGroup
			copying.Go(func() { r.htod(busy, slot, pageable) })
			r.clock.SleepUntil(ms)
			r.htod(other, slot, pinned)
			r.want("pinned copy on another stream", r.end(other), ms+ms/10)
			copying.Wait()
			r.want("pageable copy", r.end(busy), 37*ms+ms/10)
			r.free(pageable, pinned, slot)
		})
	}
}

func TestEnginesAndStreams(t *testing.T) {
	const size = 12_000_000 // 1 ms
	for _, c := range []struct {
		name    string
		engines string
		queue   func(r *rig, a, b cudamem.Stream, host *cudamem.HostBuffer, slot cudamem.DeviceBuffer)
		a, b    time.Duration // ends
	}{
		{"one direction shares an engine, in the order of queueing", "3", func(r *rig, a, b cudamem.Stream, host *cudamem.HostBuffer, slot cudamem.DeviceBuffer) {
			r.htod(b, slot, host)
			r.htod(a, slot, host)
		}, 2 * ms, ms},
		{"two engines: one a direction", "2", func(r *rig, a, b cudamem.Stream, host *cudamem.HostBuffer, slot cudamem.DeviceBuffer) {
			r.htod(a, slot, host)
			r.must(b.CopyDtoH(host, 0, slot, 0, size))
		}, ms, ms},
		{"one engine for both directions", "1", func(r *rig, a, b cudamem.Stream, host *cudamem.HostBuffer, slot cudamem.DeviceBuffer) {
			r.htod(a, slot, host)
			r.must(b.CopyDtoH(host, 0, slot, 0, size))
		}, ms, 2 * ms},
		{"copies and steps overlap", "1", func(r *rig, a, b cudamem.Stream, host *cudamem.HostBuffer, slot cudamem.DeviceBuffer) {
			r.htod(a, slot, host)
			r.step(r.linear(), b, slot)
		}, ms, 5 * ms},
		{"steps share the compute engine", "1", func(r *rig, a, b cudamem.Stream, _ *cudamem.HostBuffer, slot cudamem.DeviceBuffer) {
			l := r.linear()
			r.step(l, a, slot)
			r.step(l, b, slot)
		}, 5 * ms, 10 * ms},
		{"a stream waits for another's event, and what is queued before that does not", "2", func(r *rig, a, b cudamem.Stream, host *cudamem.HostBuffer, slot cudamem.DeviceBuffer) {
			e := r.event()
			r.htod(a, slot, host)
			r.must(a.Record(e))
			r.htod(a, slot, host)
			r.step(r.linear(), b, slot) // ends at 5 ms
			r.must(b.WaitFor(e))        // 1 ms
			r.must(b.CopyDtoH(host, 0, slot, 0, size))
		}, 2 * ms, 6 * ms},
		{"an event never recorded is not waited for", "2", func(r *rig, a, b cudamem.Stream, host *cudamem.HostBuffer, slot cudamem.DeviceBuffer) {
			r.must(a.WaitFor(r.event()))
			r.htod(a, slot, host)
			r.must(b.CopyDtoH(host, 0, slot, 0, 0)) // nothing
		}, ms, 0},
		{"the latest recording counts", "2", func(r *rig, a, b cudamem.Stream, host *cudamem.HostBuffer, slot cudamem.DeviceBuffer) {
			e := r.event()
			for range 2 {
				r.htod(a, slot, host)
				r.must(a.Record(e))
			}
			r.must(b.WaitFor(e))
		}, 2 * ms, 2 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, map[string]string{"copy-engines": c.engines, "compute": "5ms"}, func(r *rig) {
				host, slot, a, b := r.host(cudamem.Registered, size), r.memory(size), r.stream(), r.stream()
				c.queue(r, a, b, host, slot)
				endA, endB := r.event(), r.event()
				r.must(a.Record(endA))
				r.must(b.Record(endB))
				r.d.settle()
				atA, err := endA.Time()
				r.must(err)
				atB, err := endB.Time()
				r.must(err)
				r.want("first stream", atA, c.a)
				r.want("second stream", atB, c.b)
				r.free(host, slot)
			})
		})
	}
}

// TestC54Ramp: the link wakes up, 64 MiB at 3, 6 and then 12 GB/s, after each idle second.
func TestC54Ramp(t *testing.T) {
	inBubble(t, map[string]string{"ramp": "3:6:12"}, func(r *rig) {
		const size = 48_000_000
		host, label, slot, s := r.host(cudamem.Pinned, size), r.host(cudamem.Pinned, 12), r.memory(size), r.stream()
		for _, idle := range []time.Duration{0, 10 * time.Second, time.Second, time.Second - 1} {
			r.clock.SleepUntil(r.clock.Now() + idle)
			for i, want := range []time.Duration{16 * ms, 8 * ms, 4 * ms, 4 * ms} {
				if idle == time.Second-1 {
					want = 4 * ms
				}
				begun := r.clock.Now()
				r.htod(s, slot, label) // no step of the ramp
				labelled := r.end(s)
				r.htod(s, slot, host)
				r.want("copy", r.end(s)-labelled, want)
				if i == 0 && idle != time.Second-1 {
					r.want("labels", labelled-begun, 4)
				}
			}
		}
		r.free(host, label, slot)
	})
}

func TestStepTimes(t *testing.T) {
	// 64 samples of 150,528 float32 into 10 classes: 64*150528*4 = 38,535,168 B of input.
	spec := cudamem.LinearSpec{Features: 150528, Classes: 10, MaxRows: 64, Cells: 1}
	for _, c := range []struct {
		name     string
		settings map[string]string
		mapped   bool
		want     time.Duration
	}{
		// (2*38,535,168 + 2*4*150528*10) B / 1000 GB/s = 89.112576 us; 4*64*1505280 FLOP are 0.4 us
		{"memory bound", map[string]string{"compute": "roofline", "mem-gbps": "1000", "tflops": "1000"}, false, 89113},
		// 385,351,680 FLOP / 1 TFLOP/s
		{"compute bound", map[string]string{"compute": "roofline", "mem-gbps": "1000", "tflops": "1"}, false, 385352},
		{"launch", map[string]string{"compute": "1ms", "launch": "5us"}, false, 1005000},
		{"mapped: the link is slower", map[string]string{"compute": "1ms", "launch": "5us"}, true, 3211264 + 5000},
		{"mapped: the step is slower", map[string]string{"compute": "5ms"}, true, 5 * ms},
		{"endless", map[string]string{"link-gbps": "inf"}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, c.settings, func(r *rig) {
				layer, err := r.d.NewLinear(spec)
				r.must(err)
				host, slot, s := r.host(cudamem.Mapped, 38535168), r.memory(38535168), r.stream()
				var batch cudamem.Memory = slot
				if c.mapped {
					batch = host
				}
				r.must(layer.Step(s, batch, 0, 0, 8, 64, 0))
				r.want("step", r.end(s), c.want)
				if _, known := layer.Loss(0); known {
					t.Error("the loss is known")
				}
				r.free(host, slot)
				r.must(layer.Close())
			})
		})
	}
}

func TestEvents(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		host, slot, s, e := r.host(cudamem.Pinned, 12_000_000), r.memory(12_000_000), r.stream(), r.event()
		r.must(e.Wait())
		if done, err := e.Done(); !done || err != nil {
			t.Errorf("never recorded: done %v, %v", done, err)
		}
		if _, err := e.Time(); err == nil {
			t.Error("never recorded: has a time")
		}
		r.htod(s, slot, host)
		r.must(s.Record(e))
		if done, _ := e.Done(); done {
			t.Error("done before its time")
		}
		if _, err := e.Time(); err == nil {
			t.Error("has a time before it")
		}
		r.clock.SleepUntil(ms - 1)
		if done, _ := e.Done(); done {
			t.Error("done 1 ns before its time")
		}
		r.clock.SleepUntil(ms)
		if done, _ := e.Done(); !done {
			t.Error("not done at its time")
		}
		r.clock.SleepUntil(2 * ms)
		r.must(s.Record(e)) // on an idle stream: now
		at, err := e.Time()
		r.must(err)
		r.want("recorded again", at, 2*ms)
		r.must(e.Close())
		if s.Record(e) == nil {
			t.Error("a closed event can be recorded")
		}
		r.free(host, slot)
	})
}

// TestJitter: seeded, different for each operation, within ±20 %.
func TestJitter(t *testing.T) {
	times := func(seed string) (out []time.Duration) {
		inBubble(t, map[string]string{"jitter": "20%", "seed": seed, "compute": "1ms"}, func(r *rig) {
			host, slot, s, l := r.host(cudamem.Pinned, 12_000_000), r.memory(12_000_000), r.stream(), r.linear()
			last := time.Duration(0)
			for i := range 40 {
				if i%2 == 0 {
					r.htod(s, slot, host)
				} else {
					r.step(l, s, slot)
				}
				end := r.end(s)
				out = append(out, end-last)
				last = end
			}
			r.free(host, slot)
		})
		return out
	}
	one, again, other := times("1"), times("1"), times("2")
	seen := map[time.Duration]bool{}
	for i, d := range one {
		if d != again[i] {
			t.Errorf("operation %d: %v, then %v with the same seed", i, d, again[i])
		}
		if d < 800*time.Microsecond || d > 1200*time.Microsecond {
			t.Errorf("operation %d: %v is not 1 ms ± 20 %%", i, d)
		}
		seen[d], seen[other[i]] = true, true
	}
	if len(seen) < 79 {
		t.Errorf("only %d different times in 80", len(seen))
	}
}
