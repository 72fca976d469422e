package cpu

import (
	"testing"
	"testing/synctest"
	"time"

	"pinscope/cudamem"
)

func open(t *testing.T) cudamem.Device {
	t.Helper()
	d, err := Open(cudamem.NewPlainClock())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestInfo(t *testing.T) {
	info := open(t).Info()
	if info.ID != "cpu" || !info.InPlace || info.Simulated || info.AlwaysDigests || info.LinkGBps != 0 || info.NUMANode != -1 {
		t.Errorf("%+v", info)
	}
}

func TestHostMemory(t *testing.T) {
	d := open(t)
	for kind := cudamem.Pageable; kind <= cudamem.Managed; kind++ {
		before := cudamem.ReadLedger().PinnedBytes
		b, err := d.AllocHost(kind, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		if b.Size() != 10_000 || b.Kind() != kind || b.Locked() && !kind.PageLocked() {
			t.Errorf("%v: %d bytes of %v, locked %v", kind, b.Size(), b.Kind(), b.Locked())
		}
		var want int64
		if b.Locked() {
			want = int64(cap(b.Bytes()))
		}
		if got := cudamem.ReadLedger().PinnedBytes - before; got != want {
			t.Errorf("%v: %d bytes in the ledger, want %d", kind, got, want)
		}
		for range 2 {
			if err := b.Free(); err != nil {
				t.Error(err)
			}
		}
		if cudamem.ReadLedger().PinnedBytes != before {
			t.Errorf("%v: left in the ledger", kind)
		}
	}
	if _, err := d.AllocHost(cudamem.Pinned, 0); err == nil {
		t.Error("0 bytes were allocated")
	}
}

// TestEventsTakeTheClock, and wait for nothing.
func TestEventsTakeTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t)
		s, _ := d.NewStream()
		e, _ := d.NewEvent()
		if _, err := e.Time(); err == nil {
			t.Error("never recorded: has a time")
		}
		for i := range 3 {
			time.Sleep(time.Second)
			if err := s.Record(e); err != nil {
				t.Fatal(err)
			}
			done, err := e.Done()
			at, timeErr := e.Time()
			if !done || err != nil || timeErr != nil || at != time.Duration(i+1)*time.Second || s.WaitFor(e) != nil || e.Wait() != nil {
				t.Errorf("done %v, %v; time %v, %v", done, err, at, timeErr)
			}
		}
	})
}

func TestDigests(t *testing.T) {
	d := open(t)
	b, err := d.AllocHost(cudamem.Pageable, 200_000)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	for i := range b.Bytes() {
		b.Bytes()[i] = byte(i * i)
	}
	for _, full := range []bool{false, true} {
		want := cudamem.DigestLines
		if full {
			want = cudamem.Digest
		}
		g, err := d.NewDigester(2, full)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time over what is there
			if g.Digest(nil, b, 64, 100_000, 1, false) != nil || g.Digest(nil, b, 128_000, 70_001, 1, true) != nil {
				t.Fatal("digest failed")
			}
			if g.Value(1) != want(b.Bytes()[64:100_064], 64)+want(b.Bytes()[128_000:198_001], 128_000) {
				t.Errorf("every byte %v: wrong digest", full)
			}
		}
	}
}

func TestMisuse(t *testing.T) {
	d := open(t)
	s, _ := d.NewStream()
	b, err := d.AllocHost(cudamem.Pageable, 64)
	if err != nil {
		t.Fatal(err)
	}
	freed, _ := d.AllocHost(cudamem.Pageable, 64)
	_ = freed.Free()
	spec := cudamem.LinearSpec{Features: 4, Classes: 2, MaxRows: 2, Cells: 1}
	l, closed := newLinear(t, d, spec), newLinear(t, d, spec)
	_ = closed.Close()
	g, _ := d.NewDigester(1, true)
	_, noMemory := d.AllocDevice(64)
	_, noLayer := d.NewLinear(cudamem.LinearSpec{Features: 1, Classes: 1, MaxRows: 1})
	_, noDigester := d.NewDigester(0, true)
	for name, err := range map[string]error{
		"device memory":         noMemory,
		"layer of no cells":     noLayer,
		"digester of no cells":  noDigester,
		"HtoD":                  s.CopyHtoD(nil, 0, b, 0, 64),
		"DtoH":                  s.CopyDtoH(b, 0, nil, 0, 64),
		"another's event":       s.Record(nil),
		"no rows":               l.Step(s, b, 0, 0, 8, 0, 0),
		"too many rows":         l.Step(s, b, 0, 0, 8, 3, 0),
		"no such cell":          l.Step(s, b, 0, 0, 8, 1, 1),
		"odd input offset":      l.Step(s, b, 1, 0, 8, 1, 0),
		"odd label stride":      l.Step(s, b, 0, 0, 4, 1, 0),
		"input past the end":    l.Step(s, b, 52, 0, 8, 1, 0),
		"labels past the end":   l.Step(s, b, 0, 57, 8, 1, 0),
		"freed batch":           l.Step(s, freed, 0, 0, 8, 1, 0),
		"closed layer":          closed.Step(s, b, 0, 0, 8, 1, 0),
		"digest past the end":   g.Digest(s, b, 0, 65, 0, false),
		"digest off the lines":  g.Digest(s, b, 8, 8, 0, false),
		"digest to no cell":     g.Digest(s, b, 0, 8, 1, false),
		"digest of freed":       g.Digest(s, freed, 0, 8, 0, false),
		"digest of wrong range": g.Digest(s, b, -64, 8, 0, false),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := b.Free(); err != nil {
		t.Error(err)
	}
}
