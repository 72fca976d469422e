package gpuwatch

import (
	"strings"
	"sync/atomic"
	"testing"
)

// fakeBackend counts what is asked of it.
type fakeBackend struct {
	list          []Device
	onRead        func(card int, s *Sample)
	onTraffic     func(card int) (rx, tx *float64)
	closed        atomic.Int32
	readAfterward atomic.Bool
}

func (f *fakeBackend) library() Library  { return Library{Name: "fake"} }
func (f *fakeBackend) devices() []Device { return f.list }
func (f *fakeBackend) read(card int, s *Sample) {
	f.noteLate()
	if f.onRead != nil {
		f.onRead(card, s)
	}
}
func (f *fakeBackend) traffic(card int) (rx, tx *float64) {
	f.noteLate()
	if f.onTraffic == nil {
		return nil, nil
	}
	return f.onTraffic(card)
}
func (f *fakeBackend) close() error { f.closed.Add(1); return nil }

func (f *fakeBackend) noteLate() {
	if f.closed.Load() > 0 {
		f.readAfterward.Store(true)
	}
}

var testDevices = []Device{
	{Name: "card B", UUID: "GPU-bbbb", PCIAddress: "0000:5e:00.0"},
	{Name: "card A", UUID: "GPU-aaaa", PCIAddress: "0000:3b:00.0"},
	{Name: "card C MIG 1g", UUID: "MIG-c1", CardUUID: "GPU-cccc", PCIAddress: "0000:86:00.0", MIG: true},
	{Name: "card D MIG 1g", UUID: "MIG-d1", CardUUID: "GPU-dddd", PCIAddress: "0000:af:00.0", MIG: true},
	{Name: "card D MIG 2g", UUID: "MIG-d2", CardUUID: "GPU-dddd", PCIAddress: "0000:af:00.0", MIG: true},
}

func TestMatch(t *testing.T) {
	w := newWatch(&fakeBackend{list: testDevices})
	for _, c := range []struct{ name, uuid, pci, want, wantErr string }{
		// C70: CUDA's first card is A, the driver's first is B.
		{"by UUID", "GPU-aaaa", "", "card A", ""},
		{"by UUID in capitals", "gpu-AAAA", "", "card A", ""},
		{"by address", "", "0000:3b:00.0", "card A", ""},
		{"by address as NVML writes it", "", "00000000:3B:00.0", "card A", ""},
		{"by short address", "", "3b:00", "card A", ""},
		{"by both", "GPU-bbbb", "0000:5e:00.0", "card B", ""},
		{"by both, of two cards", "GPU-bbbb", "0000:3b:00.0", "", "no such GPU"},
		{"unknown UUID", "GPU-eeee", "", "", "match GPU-eeee: no such GPU; there is card B GPU-bbbb"},
		{"other domain", "", "0001:3b:00.0", "", "no such GPU"},
		{"not an address", "", "3b", "", "no such GPU"},
		{"a number", "0", "", "", "no such GPU"},
		{"nothing", "", "", "", "neither UUID nor PCI address"},
		{"slice", "MIG-d2", "", "card D MIG 2g", ""},
		{"unknown slice", "MIG-d3", "", "", "no such GPU"},
		{"card with one slice", "GPU-cccc", "", "card C MIG 1g", ""},
		{"card with two slices", "", "0000:af:00.0", "", "2 slices of that card; name one of card D MIG 1g MIG-d1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := w.Match(c.uuid, c.pci)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Fatalf("got %q, error %v; want an error with %q", d.Name, err, c.wantErr)
				}
				return
			}
			if err != nil || d.Name != c.want {
				t.Errorf("got %q, error %v; want %q", d.Name, err, c.want)
			}
		})
	}
}

func TestReadFollowsTheCardNotTheNumber(t *testing.T) {
	var asked []int
	w := newWatch(&fakeBackend{list: testDevices, onRead: func(card int, _ *Sample) { asked = append(asked, card) }})
	if _, err := w.Read(Device{UUID: "GPU-aaaa"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Read(Device{UUID: "GPU-eeee"}); err == nil {
		t.Error("an unknown card was read")
	}
	if len(asked) != 1 || asked[0] != 1 {
		t.Errorf("asked cards %v, want [1]", asked)
	}
}

func TestCloseEndsReading(t *testing.T) {
	f := &fakeBackend{list: testDevices}
	w := newWatch(f)
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Read(testDevices[0]); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("read after close: error %v", err)
	}
	if _, err := w.Start(t.Context(), testDevices[0], 0, nil); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("start after close: error %v", err)
	}
	if f.closed.Load() != 1 || f.readAfterward.Load() {
		t.Errorf("closed %d times, read afterwards: %v", f.closed.Load(), f.readAfterward.Load())
	}
}
