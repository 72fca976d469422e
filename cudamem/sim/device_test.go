package sim

import (
	"os"
	"strings"
	"testing"
	"time"

	"pinscope/cudamem"
)

// TestC43PinLimit: of 500 MiB, 41 slots of 12 MiB fit; the refusal speaks of the host, and
// the device goes on.
func TestC43PinLimit(t *testing.T) {
	inBubble(t, map[string]string{"pin-limit": "500MiB"}, func(r *rig) {
		const slot = 12_582_912
		for round := range 2 {
			var ring []interface{ Free() error }
			var refusal error
			for range 64 {
				b, err := r.d.AllocHost(cudamem.Pinned, slot)
				if err != nil {
					refusal = err
					break
				}
				ring = append(ring, b)
			}
			if len(ring) != 41 {
				t.Errorf("round %d: %d slots fit, want 41", round, len(ring))
			}
			if !cudamem.IsPinRefused(refusal) {
				t.Fatalf("round %d: %v is no refusal to pin", round, refusal)
			}
			for _, part := range []string{"host memory can be locked", "12582912", "515899392", "524288000"} {
				if !strings.Contains(refusal.Error(), part) {
					t.Errorf("%q does not say %q", refusal, part)
				}
			}
			pageable, err := r.d.AllocHost(cudamem.Pageable, slot)
			r.must(err)
			r.free(ring...)
			r.free(pageable)
		}
	})
}

func TestFaults(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		d := r.open(model(t, nil), Faults{FailPinAt: 3, FailLaunchAt: 2})
		defer d.Close()
		for i := 1; i <= 4; i++ { // C23: slot 3 of 4
			b, err := d.AllocHost(cudamem.Pinned, 4096)
			if (err != nil) != (i == 3) || cudamem.IsPinRefused(err) != (i == 3) {
				t.Errorf("pin %d: %v", i, err)
			}
			r.must(b.Free())
		}
		s, _ := d.NewStream()
		slot, _ := d.AllocDevice(64)
		l, _ := d.NewLinear(cudamem.LinearSpec{Features: 1, Classes: 1, MaxRows: 1, Cells: 1})
		for i := 1; i <= 3; i++ {
			if err := l.Step(s, slot, 0, 0, 8, 1, 0); (err != nil) != (i == 2) {
				t.Errorf("launch %d: %v", i, err)
			}
		}
		r.must(slot.Free())
	})
}

func TestHostMemory(t *testing.T) {
	inBubble(t, map[string]string{"pin-s-per-gib": "0.5"}, func(r *rig) {
		page := int64(os.Getpagesize())
		for kind := cudamem.Pageable; kind <= cudamem.Managed; kind++ {
			begun, before := r.clock.Now(), cudamem.ReadLedger().PinnedBytes
			b, err := r.d.AllocHost(kind, 1<<20+1)
			r.must(err)
			took, pages := r.clock.Now()-begun, 1<<20+page
			if b.Kind() != kind || b.Size() != 1<<20+1 || int64(cap(b.Bytes())) != pages {
				t.Errorf("%v: a buffer of %d bytes of kind %v", kind, b.Size(), b.Kind())
			}
			var wantTook time.Duration
			var wantLedger int64
			if kind != cudamem.Pageable {
				wantTook = time.Duration(pages * 5e8 >> 30)
			}
			if b.Locked() {
				wantLedger = pages
			}
			r.want(kind.String(), took, wantTook)
			if got := cudamem.ReadLedger().PinnedBytes - before; got != wantLedger || b.Locked() && kind == cudamem.Pageable {
				t.Errorf("%v: %d bytes in the ledger, locked %v", kind, got, b.Locked())
			}
			r.free(b, b)
		}
		if _, err := r.d.AllocHost(cudamem.Pinned, 0); err == nil {
			t.Error("0 bytes of host memory were allocated")
		}
	})
}

func TestDeviceMemoryIsLimited(t *testing.T) {
	inBubble(t, map[string]string{"memory": "1MiB"}, func(r *rig) {
		for range 3 {
			a := r.memory(1 << 20)
			if _, err := r.d.AllocDevice(1); err == nil || cudamem.IsPinRefused(err) {
				t.Errorf("a byte too many: %v", err)
			}
			r.free(a, a)
			// (262143 + 1) * 4 B is all there is.
			l, err := r.d.NewLinear(cudamem.LinearSpec{Features: 1<<18 - 1, Classes: 1, MaxRows: 1, Cells: 1})
			r.must(err)
			if _, err := r.d.AllocDevice(1); err == nil {
				t.Error("a byte beside the weights")
			}
			r.must(l.Close())
			r.must(l.Close())
		}
		if _, err := r.d.NewLinear(cudamem.LinearSpec{Features: 1 << 62, Classes: 1, MaxRows: 1, Cells: 1}); err == nil {
			t.Error("weights whose size wraps were allocated")
		}
	})
}

// TestFreeWaits: memory that a copy still reads is given back when it is done.
func TestFreeWaits(t *testing.T) {
	for _, first := range []string{"host", "device", "stream", "device handle"} {
		inBubble(t, nil, func(r *rig) {
			host, slot, s := r.host(cudamem.Pinned, 12_000_000), r.memory(12_000_000), r.stream()
			r.htod(s, slot, host)
			switch first {
			case "host":
				r.free(host)
			case "device":
				r.free(slot)
			case "stream":
				r.must(s.Close())
			case "device handle":
				r.must(r.d.Anchor())
			}
			r.want("freeing the "+first, r.clock.Now(), ms)
			r.free(host, slot)
			r.must(s.Close())
		})
	}
}

func TestMisuse(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		other := r.open(model(t, nil), Faults{})
		defer other.Close()
		otherSlot, _ := other.AllocDevice(64)
		otherStream, _ := other.NewStream()
		otherEvent, _ := other.NewEvent()
		host, pageable, slot := r.host(cudamem.Pinned, 64), r.host(cudamem.Pageable, 64), r.memory(64)
		freedHost, freedSlot := r.host(cudamem.Pinned, 64), r.memory(64)
		r.free(freedHost, freedSlot)
		s, closed := r.stream(), r.stream()
		r.must(closed.Close())
		l, closedLayer, digests := r.linear(), r.linear(), r.digester(false)
		r.must(closedLayer.Close())
		for name, err := range map[string]error{
			"closed stream":            closed.CopyHtoD(slot, 0, host, 0, 64),
			"record on closed stream":  closed.Record(r.event()),
			"another device's buffer":  s.CopyHtoD(otherSlot, 0, host, 0, 64),
			"another device's event":   s.Record(otherEvent),
			"wait for another's event": s.WaitFor(otherEvent),
			"past the source":          s.CopyHtoD(slot, 0, host, 1, 64),
			"past the destination":     s.CopyHtoD(slot, 1, host, 0, 64),
			"negative length":          s.CopyHtoD(slot, 0, host, 0, -1),
			"negative offset":          s.CopyDtoH(host, -1, slot, 0, 1),
			"offset that would wrap":   s.CopyDtoH(host, 1<<62, slot, 1<<62, 1<<62),
			"freed host":               s.CopyHtoD(slot, 0, freedHost, 0, 64),
			"freed device":             s.CopyHtoD(freedSlot, 0, host, 0, 64),
			"step on another's stream": l.Step(otherStream, slot, 0, 0, 8, 1, 0),
			"step on pinned memory":    l.Step(s, host, 0, 0, 8, 1, 0),
			"step of too many rows":    l.Step(s, slot, 0, 0, 8, 2, 0),
			"step to no cell":          l.Step(s, slot, 0, 0, 8, 1, 1),
			"step past the buffer":     l.Step(s, slot, 64, 0, 8, 1, 0),
			"labels past the buffer":   l.Step(s, slot, 0, 57, 8, 1, 0),
			"odd label stride":         l.Step(s, slot, 0, 0, 9, 1, 0),
			"closed layer":             closedLayer.Step(s, slot, 0, 0, 8, 1, 0),
			"digest to no cell":        digests.Digest(s, slot, 0, 64, 4, false),
			"digest off the lines":     digests.Digest(s, slot, 8, 8, 0, false),
			"digest of pinned memory":  digests.Digest(s, host, 0, 64, 0, false),
			"digest past the buffer":   digests.Digest(s, slot, 0, 65, 0, false),
			"gather from pageable":     r.d.Gather(s, slot, host, 0, 1, of(pageable, 8, 0)),
			"gather by pageable":       r.d.Gather(s, slot, pageable, 0, 1, of(host, 8, 0)),
			"gather past the buffer":   r.d.Gather(s, slot, host, 0, 9, of(host, 8, 0)),
			"gather to past its end":   r.d.Gather(s, slot, host, 0, 2, of(host, 8, 0), of(host, 8, 56)),
			"gather past the indices":  r.d.Gather(s, slot, host, 0, 9, of(host, 1, 0)),
			"gather of nothing":        r.d.Gather(s, slot, host, 0, 1, of(host, 0, 0)),
			"gather of no part":        r.d.Gather(s, slot, host, 0, 1),
			"gather of three parts":    r.d.Gather(s, slot, host, 0, 1, of(host, 8, 0), of(host, 8, 8), of(host, 8, 16)),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			} else if !strings.Contains(err.Error(), "sim:laptop") {
				t.Errorf("%s: %q does not name the device", name, err)
			}
		}
		if r.clock.Now() != 0 || len(r.d.queue.heap) != 0 {
			t.Error("something was queued")
		}
		r.free(host, pageable, slot, otherSlot)
	})
}

func TestInfo(t *testing.T) {
	inBubble(t, map[string]string{"link-gbps": "inf"}, func(r *rig) {
		info := r.d.Info()
		if info.ID != "sim:laptop" || !info.Simulated || !strings.Contains(info.Name, "simulated") || !info.AlwaysDigests ||
			info.InPlace || info.LinkGBps != 0 || info.Model["link-gbps"] != "inf" || info.NUMANode != -1 {
			t.Errorf("%+v", info)
		}
		r.must(r.d.Close()) // twice, with the bubble's
	})
	if _, err := Open(Model{Name: "empty"}, cudamem.NewPlainClock()); err == nil {
		t.Error("a model of zeros was opened")
	}
}
