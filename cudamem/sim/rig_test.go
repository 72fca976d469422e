package sim

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/cudamem"
)

// rig is a device in a bubble, whose clock stands still but while all wait.
type rig struct {
	*testing.T
	clock cudamem.Clock
	d     *device
}

// inBubble runs a test on a device of the given settings, on top of a round model:
// 12 GB/s, no latency, no launch cost, steps of 0. It checks that all host memory
// that was locked is given back.
func inBubble(t *testing.T, settings map[string]string, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		before := cudamem.ReadLedger().PinnedBytes
		r := &rig{T: t, clock: cudamem.NewPlainClock()}
		r.d = r.open(model(t, settings), Faults{})
		test(r)
		if err := r.d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if left := cudamem.ReadLedger().PinnedBytes - before; left != 0 {
			t.Errorf("%d bytes are still locked", left)
		}
	})
}

func model(t testing.TB, settings map[string]string) Model {
	t.Helper()
	m, err := Lookup("laptop")
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range []map[string]string{{"link-gbps": "12", "latency": "0", "launch": "0", "compute": "0"}, settings} {
		for key, value := range round {
			if err := m.Set(key, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

func (r *rig) open(m Model, f Faults) *device {
	d, err := OpenFaulty(m, r.clock, f)
	r.must(err)
	return d.(*device)
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) host(kind cudamem.HostKind, bytes int64) *cudamem.HostBuffer {
	r.Helper()
	b, err := r.d.AllocHost(kind, bytes)
	r.must(err)
	return b
}

// filled is host memory of random bytes.
func (r *rig) filled(kind cudamem.HostKind, bytes int64) *cudamem.HostBuffer {
	r.Helper()
	b := r.host(kind, bytes)
	fill(b.Bytes(), 1)
	return b
}

func fill(b []byte, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	for i := 0; i < len(b); i += 8 {
		var word [8]byte
		binary.NativeEndian.PutUint64(word[:], random.Uint64())
		copy(b[i:], word[:])
	}
}

func (r *rig) memory(bytes int64) cudamem.DeviceBuffer {
	b, err := r.d.AllocDevice(bytes)
	r.must(err)
	return b
}

func (r *rig) stream() cudamem.Stream {
	s, err := r.d.NewStream()
	r.must(err)
	return s
}

func (r *rig) event() cudamem.Event {
	e, err := r.d.NewEvent()
	r.must(err)
	return e
}

func (r *rig) digester(full bool) cudamem.Digester {
	g, err := r.d.NewDigester(4, full)
	r.must(err)
	return g
}

// linear makes a layer of one feature and class, whose steps take the compute setting.
func (r *rig) linear() cudamem.Linear {
	l, err := r.d.NewLinear(cudamem.LinearSpec{Features: 1, Classes: 1, MaxRows: 1, Cells: 1})
	r.must(err)
	return l
}

func (r *rig) step(l cudamem.Linear, s cudamem.Stream, m cudamem.Memory) {
	r.Helper()
	r.must(l.Step(s, m, 0, 0, 8, 1, 0))
}

func (r *rig) htod(s cudamem.Stream, dst cudamem.DeviceBuffer, src *cudamem.HostBuffer) {
	r.Helper()
	r.must(s.CopyHtoD(dst, 0, src, 0, src.Size()))
}

// end waits for what is on a stream, and gives when it was done.
func (r *rig) end(s cudamem.Stream) time.Duration {
	r.Helper()
	e := r.event()
	r.must(s.Record(e))
	r.must(e.Wait())
	at, err := e.Time()
	r.must(err)
	return at
}

func (r *rig) free(buffers ...interface{ Free() error }) {
	r.Helper()
	for _, b := range buffers {
		r.must(b.Free())
	}
}

func (r *rig) want(what string, got, want time.Duration) {
	r.Helper()
	if got != want {
		r.Errorf("%s: %v, want %v", what, got, want)
	}
}
