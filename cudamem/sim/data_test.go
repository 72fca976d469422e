package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"pinscope/cudamem"
)

// TestSlotReuse: a digest of what arrived is right when slots are filled again only
// after the event that says so, and wrong when it was not waited for (C16).
func TestSlotReuse(t *testing.T) {
	const size = 1_200_000 // 0.1 ms
	for _, c := range []struct {
		name  string
		kind  cudamem.HostKind
		early bool // overwrite the host slot before the copy's event
		skip  bool // overwrite the device slot before the step's event
		right bool
	}{
		{"pinned, waited for", cudamem.Pinned, false, false, true},
		{"pinned, host slot filled too early", cudamem.Pinned, true, false, false},
		{"pinned, device slot copied to too early", cudamem.Pinned, false, true, false},
		{"write-combined, host slot filled too early", cudamem.WriteCombined, true, false, false},
		{"pageable, waited for", cudamem.Pageable, false, false, true},
		{"pageable, filled when the call is back", cudamem.Pageable, true, false, true},
		{"pageable, device slot copied to too early", cudamem.Pageable, false, true, false},
	} {
		for _, full := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, every byte %v", c.name, full), func(t *testing.T) {
				inBubble(t, map[string]string{"compute": "10ms"}, func(r *rig) {
					digests := r.digester(full)
					host, slot := r.filled(c.kind, size), r.memory(size)
					copies, compute, copied, stepped := r.stream(), r.stream(), r.event(), r.event()
					want := digestOf(host.Bytes(), 0, full)
					r.htod(copies, slot, host)
					r.must(copies.Record(copied))
					r.must(compute.WaitFor(copied))
					r.step(r.linear(), compute, slot)
					r.must(digests.Digest(compute, slot, 0, size, 2, false))
					r.must(compute.Record(stepped))
					if !c.early {
						r.must(copied.Wait())
					}
					fill(host.Bytes(), 2)
					if !c.skip {
						r.must(copies.WaitFor(stepped))
					}
					r.htod(copies, slot, host)
					r.must(stepped.Wait())
					if got := digests.Value(2); (got == want) != c.right {
						t.Errorf("digest right: %v, want %v", got == want, c.right)
					}
					r.free(host, slot)
				})
			})
		}
	}
}

func digestOf(b []byte, base int64, full bool) uint64 {
	if full {
		return cudamem.Digest(b, base)
	}
	return cudamem.DigestLines(b, base)
}

// sizes are lengths around a line, a stride and a chunk of staging memory.
var sizes = []int64{1, 63, 64, 65, 4000, cudamem.LineStride, cudamem.LineStride + 1, 3*cudamem.LineStride - 1,
	chunkBytes, chunkBytes + 1, 2*chunkBytes + 63, 3*chunkBytes - 1}

// TestDataArrives: there and back, at odd offsets; all of it where every byte is
// moved, else the lines and nothing outside the range.
func TestDataArrives(t *testing.T) {
	for _, paced := range []string{"0", "6"} {
		for _, kinds := range [][2]cudamem.HostKind{{cudamem.Pageable, cudamem.Pageable}, {cudamem.Pinned, cudamem.Pageable}, {cudamem.Pageable, cudamem.Pinned}} {
			for _, full := range []bool{false, true} {
				t.Run(fmt.Sprintf("pageable-gbps %s, %v, every byte %v", paced, kinds, full), func(t *testing.T) {
					inBubble(t, map[string]string{"pageable-gbps": paced}, func(r *rig) {
						digests := r.digester(full)
						for _, size := range sizes {
							src, dst, slot, s := r.filled(kinds[0], size+7), r.host(kinds[1], size+9), r.memory(size+128), r.stream()
							r.must(s.CopyHtoD(slot, 64, src, 7, size))
							r.must(digests.Digest(s, slot, 64, size, 0, false))
							r.must(s.CopyDtoH(dst, 5, slot, 64, size))
							r.must(s.Synchronize())
							sent, got := src.Bytes()[7:], dst.Bytes()[5:5+size]
							if digests.Value(0) != digestOf(sent, 64, full) {
								t.Errorf("%d bytes: digest on the device is wrong", size)
							}
							if digestOf(got, 0, full) != digestOf(sent, 0, full) || full && !bytes.Equal(got, sent) {
								t.Errorf("%d bytes: not what was sent came back", size)
							}
							staged := paced == "0" && kinds[0] == kinds[1] // all of it went through the same buffers
							if !full && !staged && size > 4096 && bytes.Equal(got, sent) {
								t.Errorf("%d bytes: every byte was moved", size)
							}
							if outside := append(slices.Clone(dst.Bytes()[:5]), dst.Bytes()[5+size:]...); !bytes.Equal(outside, make([]byte, 9)[:len(outside)]) {
								t.Errorf("%d bytes: written outside the range: %v", size, outside)
							}
							r.free(src, dst, slot)
						}
					})
				})
			}
		}
	}
}

// TestSmallPageableCopyTakesItsBytesAlong: the source may change when the call is back.
func TestSmallPageableCopyTakesItsBytesAlong(t *testing.T) {
	for _, full := range []bool{false, true} {
		inBubble(t, map[string]string{"latency": "1ms"}, func(r *rig) {
			digests := r.digester(full)
			host, slot, s := r.filled(cudamem.Pageable, inlineBytes), r.memory(inlineBytes), r.stream()
			want := digestOf(host.Bytes(), 0, full)
			r.htod(s, slot, host)
			fill(host.Bytes(), 2)
			r.must(digests.Digest(s, slot, 0, inlineBytes, 0, false))
			r.must(s.Synchronize())
			if digests.Value(0) != want {
				t.Errorf("every byte %v: the copy saw what was written after the call", full)
			}
			r.free(host, slot)
		})
	}
}

// TestEveryByteStays: a digester of lines does not undo what one of every byte asked for.
func TestEveryByteStays(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		full, lines := r.digester(true), r.digester(false)
		host, slot, s := r.filled(cudamem.Pinned, 100_000), r.memory(100_000), r.stream()
		r.htod(s, slot, host)
		r.must(full.Digest(s, slot, 0, 100_000, 0, false))
		r.must(lines.Digest(s, slot, 0, 100_000, 0, false))
		r.must(s.Synchronize())
		if full.Value(0) != digestOf(host.Bytes(), 0, true) || lines.Value(0) != digestOf(host.Bytes(), 0, false) {
			t.Error("wrong digests")
		}
		r.free(host, slot)
	})
}

func TestDigestsAddUp(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		digests := r.digester(true)
		host, s := r.filled(cudamem.Mapped, 1000), r.stream()
		r.must(digests.Digest(s, host, 0, 640, 1, false))
		r.must(digests.Digest(s, host, 640, 360, 1, true))
		r.must(s.Synchronize())
		if digests.Value(1) != cudamem.Digest(host.Bytes(), 0) {
			t.Error("the digests of two parts are not that of the whole")
		}
		r.must(digests.Digest(s, host, 0, 640, 1, false))
		r.must(s.Synchronize())
		if digests.Value(1) != cudamem.Digest(host.Bytes()[:640], 0) {
			t.Error("a digest did not replace the last one")
		}
		r.must(digests.Close())
		r.free(host)
	})
}

// of is a part of a gather.
func of(dataset *cudamem.HostBuffer, bytes, at int64) cudamem.GatherPart {
	return cudamem.GatherPart{Dataset: dataset, Bytes: bytes, DstOffset: at}
}

func TestGather(t *testing.T) {
	for _, full := range []bool{false, true} {
		for _, sample := range []int64{1, 8, 63, 64, 3000, 70_001} {
			t.Run(fmt.Sprintf("samples of %d bytes, every byte %v", sample, full), func(t *testing.T) {
				inBubble(t, map[string]string{"latency": "6us"}, func(r *rig) {
					const samples, rows = 50, 37
					digests := r.digester(full)
					dataset, indices := r.filled(cudamem.Registered, samples*sample), r.filled(cudamem.Mapped, 8*(rows+1))
					// A second part, one value of a sample each, behind the first.
					const label, labelsAt = 9, 64
					labels := r.filled(cudamem.Mapped, samples*label)
					inputs := int64(labelsAt+rows*label+63) / 64 * 64
					slot, s := r.memory(inputs+rows*sample), r.stream()
					var want, wantLabels []byte
					random := rand.New(rand.NewPCG(1, 2))
					for row := range int64(rows) {
						index := random.Int64N(samples)
						binary.LittleEndian.PutUint64(indices.Bytes()[8+8*row:], uint64(index))
						want = append(want, dataset.Bytes()[index*sample:(index+1)*sample]...)
						wantLabels = append(wantLabels, labels.Bytes()[index*label:(index+1)*label]...)
					}
					parts := []cudamem.GatherPart{of(labels, label, labelsAt), of(dataset, sample, inputs)}
					r.must(r.d.Gather(s, slot, indices, 8, rows, parts...))
					// One operation: one latency, then all bytes.
					r.want("gather", r.end(s), 6*time.Microsecond+duration(float64(rows*(sample+label))/12))
					r.must(digests.Digest(s, slot, inputs, rows*sample, 0, false))
					r.must(digests.Digest(s, slot, labelsAt, rows*label, 0, true))
					r.must(s.Synchronize())
					if digests.Value(0) != digestOf(want, inputs, full)+digestOf(wantLabels, labelsAt, full) {
						t.Error("not the samples asked for")
					}
					r.must(r.d.Gather(s, slot, indices, 8, rows, parts[1]))
					r.must(s.Synchronize())
					binary.LittleEndian.PutUint64(indices.Bytes()[8:], samples) // undefined, but no crash
					r.must(r.d.Gather(s, slot, indices, 8, rows, parts...))
					r.must(s.Synchronize())
					r.free(dataset, indices, labels, slot)
				})
			})
		}
	}
}

// TestManyGoroutines: workers with a stream each, while others poll and settle. It is for -race.
func TestManyGoroutines(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		digests := r.digester(true)
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				kind := []cudamem.HostKind{cudamem.Pinned, cudamem.Pageable}[worker%2]
				host, slot, s, e := r.filled(kind, 100_000), r.memory(100_000), r.stream(), r.event()
				for i := range 50 {
					fill(host.Bytes(), uint64(worker*1000+i))
					r.htod(s, slot, host)
					if err := digests.Digest(s, slot, 0, host.Size(), worker, false); err != nil {
						t.Error(err)
					}
					if err := s.Record(e); err != nil {
						t.Error(err)
					}
					for done := false; !done; done, _ = e.Done() {
						r.clock.SleepUntil(r.clock.Now() + time.Microsecond)
					}
					if digests.Value(worker) != cudamem.Digest(host.Bytes(), 0) {
						t.Errorf("worker %d, copy %d: changed on the way", worker, i)
					}
				}
				r.free(host, slot)
			})
		}
		all.Wait()
	})
}

// TestQueueOrder: out by end, then by order of queueing, whatever the order in.
func TestQueueOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var q queue
		n := random.IntN(30)
		for range n {
			a := q.get()
			a.end = time.Duration(random.IntN(8))
			q.push(a)
		}
		var last *action
		for range n {
			a := q.pop(8)
			if a == nil || last != nil && a.before(last) {
				t.Fatal("out of order")
			}
			last = a
		}
		if q.pop(8) != nil {
			t.Fatal("more came out than went in")
		}
	}
	var q queue
	a := q.get()
	a.end = 5
	q.push(a)
	if q.pop(4) != nil || q.pop(5) != a {
		t.Error("not due when it should be")
	}
}
