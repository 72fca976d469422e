//go:build cuda

package cuda

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"pinscope/cudamem"
)

var hostKinds = []cudamem.HostKind{
	cudamem.Pageable, cudamem.Pinned, cudamem.Registered, cudamem.WriteCombined, cudamem.Mapped, cudamem.Managed,
}

func newStream(t testing.TB, d cudamem.Device) cudamem.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTwice(t, s) })
	return s
}

func newEvent(t testing.TB, d cudamem.Device) cudamem.Event {
	t.Helper()
	e, err := d.NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTwice(t, e) })
	return e
}

func closeTwice(t testing.TB, c interface{ Close() error }) {
	t.Helper()
	for range 2 {
		if err := c.Close(); err != nil {
			t.Errorf("close %T: %v", c, err)
		}
	}
}

func newHost(t testing.TB, d cudamem.Device, kind cudamem.HostKind, size int64) *cudamem.HostBuffer {
	t.Helper()
	b, err := d.AllocHost(kind, size)
	if err != nil {
		t.Fatalf("%v: %v", kind, err)
	}
	t.Cleanup(func() { freeTwice(t, b) })
	return b
}

func newDevice(t testing.TB, d cudamem.Device, size int64) cudamem.DeviceBuffer {
	t.Helper()
	b, err := d.AllocDevice(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { freeTwice(t, b) })
	return b
}

func freeTwice(t testing.TB, b interface{ Free() error }) {
	t.Helper()
	for range 2 {
		if err := b.Free(); err != nil {
			t.Errorf("free %T: %v", b, err)
		}
	}
}

// must ends a test at the first thing that fails.
func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func random(b []byte, seed uint64) []byte {
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

func TestHostMemory(t *testing.T) {
	d := open(t)
	for _, kind := range hostKinds {
		t.Run(kind.String(), func(t *testing.T) {
			bind(t, d)
			before := cudamem.ReadLedger().PinnedBytes
			for range 2 { // the second may be what the first has left behind
				b := newHost(t, d, kind, 5001)
				if len(b.Bytes()) != 5001 || cap(b.Bytes()) != 8192 || b.Kind() != kind || b.Locked() != kind.PageLocked() {
					t.Errorf("got %d of %d bytes, kind %v, locked %v", len(b.Bytes()), cap(b.Bytes()), b.Kind(), b.Locked())
				}
				locked := int64(0)
				if kind.PageLocked() {
					locked = 8192
				}
				if got := cudamem.ReadLedger().PinnedBytes - before; got != locked {
					t.Errorf("the ledger has %d bytes more, want %d", got, locked)
				}
				whole := b.Bytes()[:8192]
				if !bytes.Equal(whole, make([]byte, 8192)) {
					t.Error("not zeroed")
				}
				for i := range whole {
					whole[i] = 1
				}
				freeTwice(t, b)
				if b.Size() != 0 || b.Bytes() != nil {
					t.Error("a freed buffer is not empty")
				}
			}
		})
	}
	for _, size := range []int64{0, -1} {
		if _, err := d.AllocHost(cudamem.Pinned, size); err == nil || cudamem.IsPinRefused(err) {
			t.Errorf("%d bytes of host memory: %v", size, err)
		}
		if _, err := d.AllocDevice(size); err == nil {
			t.Errorf("%d bytes of device memory", size)
		}
	}
	if _, err := d.AllocHost(cudamem.HostKind(200), 1); err == nil {
		t.Error("host memory of no kind")
	}
}

func TestCopies(t *testing.T) {
	const size, at, to, n = 300_001, 17, 4099, 260_003
	d := open(t)
	for _, kind := range hostKinds {
		t.Run(kind.String(), func(t *testing.T) {
			bind(t, d)
			s := newStream(t, d)
			src, back := newHost(t, d, kind, size), newHost(t, d, kind, size)
			gpu := newDevice(t, d, size)
			want := random(make([]byte, size), uint64(kind))
			copy(src.Bytes(), want)
			must(t, s.CopyHtoD(gpu, to, src, at, n), s.CopyDtoH(back, at, gpu, to, n), s.Synchronize())
			clear(want[:at])
			clear(want[at+n:])
			if !bytes.Equal(back.Bytes(), want) {
				t.Error("what came back is not what was sent, and nothing else")
			}
		})
	}
}

// A copy of page-locked memory returns before it is done, one of pageable memory
// (of more than about 1 MiB) does not return before what is queued.
func TestCopiesAsynchronous(t *testing.T) {
	d := open(t)
	size := slowCopies(t, d)
	s, e := newStream(t, d), newEvent(t, d)
	gpu := newDevice(t, d, size)
	pinned, pageable := newHost(t, d, cudamem.Pinned, size), newHost(t, d, cudamem.Pageable, size)
	must(t, s.CopyHtoD(gpu, 0, pinned, 0, size), s.Record(e))
	if done, err := e.Done(); err != nil || done {
		t.Errorf("right after a call that only queues: done %v, %v", done, err)
	}
	must(t, s.CopyHtoD(gpu, 0, pageable, 0, pageable.Size()))
	if done, err := e.Done(); err != nil || !done {
		t.Errorf("after a pageable copy queued behind: done %v, %v", done, err)
	}
}

// One stream waits for another's event on the device.
func TestWaitFor(t *testing.T) {
	d := open(t)
	size := slowCopies(t, d)
	first, second := newStream(t, d), newStream(t, d)
	filled := newEvent(t, d)
	gpu := newDevice(t, d, size)
	src, back := newHost(t, d, cudamem.Pinned, size), newHost(t, d, cudamem.Pinned, size)
	random(src.Bytes(), 1)
	must(t, second.WaitFor(filled)) // never recorded: not waited for
	must(t, second.Synchronize())
	must(t, first.CopyHtoD(gpu, 0, src, 0, size), first.Record(filled),
		second.WaitFor(filled), second.CopyDtoH(back, 0, gpu, 0, size), second.Synchronize())
	if !bytes.Equal(back.Bytes(), src.Bytes()) {
		t.Error("the second stream did not wait for the first")
	}
}

func TestEvents(t *testing.T) {
	d := open(t)
	size := slowCopies(t, d)
	s := newStream(t, d)
	began, ended := newEvent(t, d), newEvent(t, d)
	if done, err := began.Done(); err != nil || !done {
		t.Errorf("an event never recorded: done %v, %v", done, err)
	}
	must(t, began.Wait())

	gpu, src := newDevice(t, d, size), newHost(t, d, cudamem.Pinned, size)
	for range 2 { // and anchored anew
		must(t, d.Anchor())
		before := d.clock.Now()
		must(t, s.Record(began), s.CopyHtoD(gpu, 0, src, 0, size), s.Record(ended), ended.Wait())
		after := d.clock.Now()
		from, err := began.Time()
		must(t, err)
		to, err := ended.Time()
		must(t, err)
		// What an anchor may be off by, and cuEventElapsedTime's resolution of 0.5 us.
		const slack = 100 * time.Microsecond
		if from < before-slack || to > after+slack || to-from < 2*time.Millisecond {
			t.Errorf("copy from %v to %v, on a clock that read %v before and %v after", from, to, before, after)
		}
	}
}

func TestClosedThings(t *testing.T) {
	d := open(t)
	s, e := newStream(t, d), newEvent(t, d)
	closed, gone := newStream(t, d), newEvent(t, d)
	closeTwice(t, closed)
	closeTwice(t, gone)
	host, gpu := newHost(t, d, cudamem.Pinned, 64), newDevice(t, d, 64)
	mapped := newHost(t, d, cudamem.Mapped, 64)
	freedHost, freedGPU := newHost(t, d, cudamem.Mapped, 64), newDevice(t, d, 64)
	freeTwice(t, freedHost)
	freeTwice(t, freedGPU)
	_, timeErr := gone.Time()
	_, doneErr := gone.Done()
	for name, err := range map[string]error{
		"copy on a closed stream":        closed.CopyHtoD(gpu, 0, host, 0, 64),
		"copy back on a closed stream":   closed.CopyDtoH(host, 0, gpu, 0, 64),
		"record on a closed stream":      closed.Record(e),
		"wait for on a closed stream":    closed.WaitFor(e),
		"synchronize a closed stream":    closed.Synchronize(),
		"record a closed event":          s.Record(gone),
		"wait for a closed event":        s.WaitFor(gone),
		"wait of a closed event":         gone.Wait(),
		"done of a closed event":         doneErr,
		"time of a closed event":         timeErr,
		"copy to freed memory":           s.CopyHtoD(freedGPU, 0, host, 0, 64),
		"copy from freed memory":         s.CopyHtoD(gpu, 0, freedHost, 0, 64),
		"copy past the end":              s.CopyHtoD(gpu, 1, host, 0, 64),
		"copy from past the end":         s.CopyHtoD(gpu, 0, host, 1, 64),
		"copy from before the beginning": s.CopyHtoD(gpu, 0, host, -1, 64),
		"copy to before the beginning":   s.CopyDtoH(host, 0, gpu, -8, 8),
		"copy of less than nothing":      s.CopyHtoD(gpu, 8, host, 8, -8),
		"gather from pinned memory":      d.Gather(s, gpu, mapped, 0, 1, cudamem.GatherPart{Dataset: host, Bytes: 8}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNothingAllocated(t *testing.T) {
	d := open(t)
	s, e := newStream(t, d), newEvent(t, d)
	gpu := newDevice(t, d, 4096)
	src, mapped := newHost(t, d, cudamem.Pinned, 4096), newHost(t, d, cudamem.Mapped, 4096)
	l := newLayer(t, d, cudamem.LinearSpec{Features: 8, Classes: 2, MaxRows: 4, Cells: 1})
	g := newDigester(t, d, 1)
	parts := []cudamem.GatherPart{{Dataset: mapped, Bytes: 64}, {Dataset: mapped, Bytes: 8, DstOffset: 128}}
	big, long := newDevice(t, d, 3<<20), newHost(t, d, cudamem.Mapped, 1<<20)
	longParts := []cudamem.GatherPart{{Dataset: long, Bytes: 1 << 20}}
	for name, f := range map[string]func() error{
		"CopyHtoD":    func() error { return s.CopyHtoD(gpu, 0, src, 0, 4096) },
		"CopyDtoH":    func() error { return s.CopyDtoH(src, 0, gpu, 0, 4096) },
		"Record":      func() error { return s.Record(e) },
		"WaitFor":     func() error { return s.WaitFor(e) },
		"Wait":        e.Wait,
		"Done":        func() error { _, err := e.Done(); return err },
		"Time":        func() error { must(t, s.Record(e), e.Wait()); _, err := e.Time(); return err },
		"Synchronize": s.Synchronize,
		"Step":        func() error { return l.Step(s, gpu, 32, 0, 8, 4, 0) },
		"Gather":      func() error { return d.Gather(s, gpu, mapped, 0, 2, parts...) },
		"Gather long": func() error { return d.Gather(s, big, mapped, 0, 3, longParts...) }, // with a copy beside
		"Digest":      func() error { return g.Digest(s, gpu, 0, 4096, 0, false) },
	} {
		if got := testing.AllocsPerRun(20, func() { must(t, f()) }); got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
	must(t, s.Synchronize())
}
