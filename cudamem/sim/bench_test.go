package sim

import (
	"testing"

	"pinscope/cudamem"
)

// BenchmarkCopy is the cost of a copy, an event and finding it done, on an endless
// link: what the simulation itself takes.
func BenchmarkCopy(b *testing.B) {
	for _, c := range []struct {
		name string
		kind cudamem.HostKind
		size int64
	}{{"4000B", cudamem.Pinned, 4000}, {"4000B-pageable", cudamem.Pageable, 4000}, {"1MiB", cudamem.Pinned, 1 << 20}, {"38.5MB", cudamem.Pinned, 38535168}} {
		b.Run(c.name, func(b *testing.B) {
			cycle := copyCycle(b, c.kind, c.size)
			b.ReportAllocs()
			for b.Loop() {
				cycle()
			}
		})
	}
}

// copyCycle gives a function that copies, records, finds the event done, steps and digests.
func copyCycle(t testing.TB, kind cudamem.HostKind, size int64) func() {
	d, err := Open(model(t, map[string]string{"link-gbps": "inf"}), cudamem.NewPlainClock())
	if err != nil {
		t.Fatal(err)
	}
	host, err := d.AllocHost(kind, size)
	if err != nil {
		t.Fatal(err)
	}
	slot, err := d.AllocDevice(size)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := d.NewStream()
	e, _ := d.NewEvent()
	t.Cleanup(func() {
		for _, err := range []error{host.Free(), slot.Free(), d.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return func() {
		if err := s.CopyHtoD(slot, 0, host, 0, size); err != nil {
			t.Fatal(err)
		}
		if err := s.Record(e); err != nil {
			t.Fatal(err)
		}
		if done, err := e.Done(); !done || err != nil {
			t.Fatal(done, err)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	for _, kind := range []cudamem.HostKind{cudamem.Pinned, cudamem.Pageable} {
		for _, size := range []int64{4000, 1 << 20} {
			if n := testing.AllocsPerRun(100, copyCycle(t, kind, size)); n != 0 {
				t.Errorf("%v, %d bytes: %v allocations a copy", kind, size, n)
			}
		}
	}
	// The rest of what is called for each batch.
	d, err := Open(model(t, map[string]string{"link-gbps": "inf"}), cudamem.NewPlainClock())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	host, _ := d.AllocHost(cudamem.Mapped, 1<<20)
	slot, _ := d.AllocDevice(1 << 20)
	defer host.Free()
	defer slot.Free()
	s, _ := d.NewStream()
	e, _ := d.NewEvent()
	l, _ := d.NewLinear(cudamem.LinearSpec{Features: 1, Classes: 1, MaxRows: 1, Cells: 1})
	g, _ := d.NewDigester(1, false)
	parts := []cudamem.GatherPart{{Dataset: host, Bytes: 1 << 17}, {Dataset: host, Bytes: 8, DstOffset: 1 << 19}}
	if n := testing.AllocsPerRun(100, func() {
		for _, err := range []error{
			d.(cudamem.Gatherer).Gather(s, slot, host, 0, 4, parts...), l.Step(s, slot, 0, 0, 8, 1, 0),
			g.Digest(s, slot, 0, 1<<20, 0, false), s.Record(e), s.WaitFor(e), e.Wait(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
}
