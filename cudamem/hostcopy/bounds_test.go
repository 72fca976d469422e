//go:build unix

package hostcopy

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// fenced is whole pages of memory, at least so many bytes, between two pages that
// nobody may touch: reading or writing beyond either end kills the test.
func fenced(t testing.TB, bytes int) []byte {
	t.Helper()
	page := os.Getpagesize()
	inside := (bytes + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, inside+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(all); err != nil {
			t.Error(err)
		}
	})
	for _, fence := range [][]byte{all[:page], all[page+inside:]} {
		if err := unix.Mprotect(fence, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return all[page : page+inside : page+inside]
}

// TestStreamStaysInside copies between the very ends of fenced memory: all short
// lengths, and all remainders of a block at the length from which Stream streams.
func TestStreamStaysInside(t *testing.T) {
	const streams = max(threshold, 8<<10) // 0 where nothing streams
	const most = streams + 600
	source, target := fenced(t, most), fenced(t, most)
	for i := range source {
		source[i] = byte(i*7%251 + 1) // nowhere 0
	}
	ends := map[string]func(memory []byte, n int) []byte{
		"first": func(memory []byte, n int) []byte { return memory[:n] },
		"last":  func(memory []byte, n int) []byte { return memory[len(memory)-n:] },
	}
	check := func(n int) {
		for from, sourceEnd := range ends {
			for to, targetEnd := range ends {
				src, dst := sourceEnd(source, n), targetEnd(target, n)
				clear(target)
				Stream(dst, src)
				if !bytes.Equal(dst, src) {
					t.Fatalf("the %s %d bytes to the %s: not what was there", from, n, to)
				}
				if written := len(target) - bytes.Count(target, []byte{0}); written != n {
					t.Fatalf("the %s %d bytes to the %s: wrote %d", from, n, to, written)
				}
			}
		}
	}
	for n := range 600 {
		check(n)
	}
	for n := streams - 1; n <= streams+300; n++ {
		check(n)
	}
}

// FuzzStream compares with copy, wherever source and target begin and end.
func FuzzStream(f *testing.F) {
	f.Add(uint32(0), uint8(0), uint8(0))
	f.Add(uint32(8<<10-1), uint8(1), uint8(63))
	f.Add(uint32(8<<10), uint8(0), uint8(0))
	f.Add(uint32(602112), uint8(8), uint8(40))
	const most, guard = 1 << 20, 255
	source := make([]byte, most+guard)
	for i := range source {
		source[i] = byte(i ^ i>>8)
	}
	target, want := make([]byte, most+2*guard), make([]byte, most+2*guard)
	f.Fuzz(func(t *testing.T, length uint32, from, to uint8) {
		n := int(length % (most + 1))
		clear(target)
		clear(want)
		copy(want[to:], source[from:][:n])
		Stream(target[to:][:n], source[from:][:n])
		if !bytes.Equal(target, want) {
			t.Errorf("%d bytes from +%d to +%d differ from a copy", n, from, to)
		}
	})
}
