package cudamem

import (
	"errors"
	"math"
	"os"
	"testing"
)

func TestMapPages(t *testing.T) {
	page := os.Getpagesize()
	for name, mapping := range map[string]func(int64) ([]byte, error){"dense": MapPages, "sparse": MapSparsePages} {
		for _, c := range []struct {
			bytes int64
			pages int
		}{{1, 1}, {int64(page) - 1, 1}, {int64(page), 1}, {int64(page) + 1, 2}, {10 * int64(page), 10}} {
			memory, err := mapping(c.bytes)
			if err != nil {
				t.Fatal(err)
			}
			if int64(len(memory)) != c.bytes || cap(memory) != c.pages*page {
				t.Errorf("%s, %d bytes: length %d and capacity %d", name, c.bytes, len(memory), cap(memory))
			}
			for i, b := range memory[:cap(memory)] {
				if b != 0 {
					t.Fatalf("%s: byte %d is %d", name, i, b)
				}
			}
			memory[0], memory[:cap(memory)][cap(memory)-1] = 1, 1
			TouchPages(memory)
			if memory[0] != 0 {
				t.Error("touched, and not zero")
			}
			if err := UnmapPages(memory); err != nil {
				t.Error(err)
			}
		}
		for _, bytes := range []int64{0, -1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 4000} {
			if memory, err := mapping(bytes); err == nil {
				t.Errorf("%s: %d bytes gave %d", name, bytes, len(memory))
			}
		}
	}
}

func TestUnmapWhatIsNotMapped(t *testing.T) {
	if UnmapPages(make([]byte, 4096)) == nil {
		t.Error("the Go heap was unmapped")
	}
}

// TestLedger: locked buffers count with all their pages until they are freed, once.
func TestLedger(t *testing.T) {
	page := int64(os.Getpagesize())
	start := ReadLedger()
	ResetLedgerPeak()
	var buffers []*HostBuffer
	frees := 0
	for i := range 3 {
		memory, err := MapPages(page + 1)
		if err != nil {
			t.Fatal(err)
		}
		locked := i > 0
		if locked && LockPages(memory) != nil {
			t.Skip("the system locks no pages here")
		}
		buffers = append(buffers, NewHostBuffer(Pinned, locked, memory, func() error {
			frees++
			return UnmapPages(memory)
		}))
	}
	if got := ReadLedger().PinnedBytes - start.PinnedBytes; got != 4*page {
		t.Errorf("%d bytes in the ledger, want %d", got, 4*page)
	}
	for _, b := range append(buffers, buffers...) {
		if err := b.Free(); err != nil {
			t.Error(err)
		}
		if b.Bytes() != nil || b.Size() != 0 {
			t.Error("a freed buffer still has its memory")
		}
	}
	end := ReadLedger()
	if end.PinnedBytes != start.PinnedBytes || end.PeakBytes != start.PinnedBytes+4*page || end.Calls-start.Calls != 4 || frees != 3 {
		t.Errorf("ledger %+v after %+v, freed %d times", end, start, frees)
	}
	if err := (*HostBuffer)(nil).Free(); err != nil {
		t.Error(err)
	}
}

func TestFreeReportsItsError(t *testing.T) {
	want := errors.New("stuck")
	b := NewHostBuffer(Pageable, false, make([]byte, 8), func() error { return want })
	if err := b.Free(); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}
