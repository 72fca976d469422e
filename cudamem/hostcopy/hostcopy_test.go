package hostcopy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// TestStream copies every alignment of source and target at lengths around the
// places where the way of copying changes, with guards on both sides.
func TestStream(t *testing.T) {
	const guard, most = 128, 40 << 10
	source := make([]byte, most+2*guard)
	for i := range source {
		source[i] = byte(rand.Uint32() | 1)
	}
	lengths := []int{0, 1, 63, 64, 65, 255, 256, 257}
	for _, around := range []int{threshold, threshold + 256, most - 300} {
		for d := -2; d <= 2; d++ {
			lengths = append(lengths, max(0, around+d))
		}
	}
	target := make([]byte, most+2*guard)
	for _, n := range lengths {
		for from := range 3 {
			for to := range 65 {
				clear(target)
				Stream(target[to+1:][:n], source[from:][:n])
				if !bytes.Equal(target[to+1:][:n], source[from:][:n]) {
					t.Fatalf("%d bytes from +%d to +%d: not what was there", n, from, to+1)
				}
				if target[to] != 0 || target[to+1+n] != 0 {
					t.Fatalf("%d bytes from +%d to +%d: wrote outside", n, from, to+1)
				}
			}
		}
	}
}

func TestStreamWantsEqualLengths(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Stream(make([]byte, 1), make([]byte, 2))
}

// BenchmarkStream against copy, into slots that are only written: a ring of 12,
// larger than the caches, as a loader fills them.
func BenchmarkStream(b *testing.B) {
	for _, n := range []int{4 << 10, 8 << 10, 16 << 10, 48 << 10, 602112, 9633792, 38535168} {
		for _, goroutines := range []int{1, 2} {
			for _, way := range []struct {
				name string
				copy func(dst, src []byte)
			}{{"copy", func(dst, src []byte) { copy(dst, src) }}, {"stream", Stream}} {
				b.Run(fmt.Sprintf("%d/goroutines=%d/%s", n, goroutines, way.name), func(b *testing.B) {
					slots := max(12, (256<<20)/n)
					source, target := make([]byte, slots*n), make([]byte, slots*n)
					for i := range source {
						source[i] = byte(i)
						target[i] = byte(i)
					}
					b.SetBytes(int64(n))
					b.ResetTimer()
					var all sync.WaitGroup
					for g := range goroutines {
						all.Go(func() {
							for i := g; i < b.N; i += goroutines {
								at := i * 7 % slots * n
								way.copy(target[at:][:n], source[at:][:n])
							}
						})
					}
					all.Wait()
				})
			}
		}
	}
}
