package sim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pinscope/cudamem"
)

// TestTimelineIsTheDevice: the schedule alone ends the same operations at the same
// times as the device that does them.
func TestTimelineIsTheDevice(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"staged":  {"latency": "6us", "jitter": "0.3", "ramp": "1:2:12"},
		"paced":   {"latency": "6us", "pageable-gbps": "3", "jitter": "0.3"},
		"endless": {"link-gbps": "inf", "compute": "20us", "launch": "3us"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, settings, func(r *rig) {
				line, err := NewTimeline(model(t, settings))
				r.must(err)
				s, q := r.stream(), line.NewQueue()
				layer, err := r.d.NewLinear(cudamem.LinearSpec{Features: 8, Classes: 2, MaxRows: 4, Cells: 1, Input: cudamem.Uint8})
				r.must(err)
				pinned, pageable, slot := r.host(cudamem.Pinned, 8<<20), r.host(cudamem.Pageable, 8<<20), r.memory(8<<20)
				random := rand.New(rand.NewPCG(1, 1))
				for i := range 1000 {
					now, bytes := r.clock.Now(), int64(1+random.IntN(64<<random.IntN(18)))
					switch random.IntN(4) {
					case 0:
						r.must(s.CopyHtoD(slot, 0, pinned, 0, bytes))
						q.Copy(now, bytes, ByModel)
					case 1:
						r.must(s.CopyHtoD(slot, 0, pageable, 0, bytes))
						if back := q.CopyPageable(now, bytes, ByModel, math.Inf(1)); back != r.clock.Now() {
							t.Fatalf("operation %d, %d pageable bytes: returns at %v, in fact %v", i, bytes, back, r.clock.Now())
						}
					case 2:
						r.must(layer.Step(s, slot, 8, 0, 8, 1, 0))
						q.Step(now, line.StepNanos(1, 8, 2, 8, false))
					default:
						r.clock.SleepUntil(now + time.Duration(random.IntN(int(time.Millisecond))))
					}
					if got, want := q.Record(r.clock.Now()), max(s.(*stream).end(), r.clock.Now()); got != want {
						t.Fatalf("operation %d: done at %v, in fact %v", i, got, want)
					}
				}
				r.must(s.Synchronize())
				r.must(layer.Close())
				r.free(pinned, pageable, slot)
			})
		})
	}
}

// TestTimelineTakesGivenTimes: 5 us are 5 us, whatever the model says; a small
// pageable copy lets its caller go on, a staged one holds it up by the host's rate.
func TestTimelineTakesGivenTimes(t *testing.T) {
	line, err := NewTimeline(model(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	q := line.NewQueue()
	q.Copy(0, 1<<20, 5000)
	if got := q.Record(0); got != 5*time.Microsecond {
		t.Errorf("a copy that takes 5 us was done at %v", got)
	}
	if back := q.CopyPageable(0, 64<<10, 1000, 1); back != 0 {
		t.Errorf("a small pageable copy holds its caller up until %v", back)
	}
	if back := q.CopyPageable(0, 65<<10, 1000, 1); back != 7*time.Microsecond {
		t.Errorf("a large one, behind 6 us, lets its caller go on at %v", back)
	}
	// Two chunks of 2 MiB at 2 GB/s each; the link, at 12 GB/s, is done in between.
	if back := q.CopyPageable(7*time.Microsecond, 4<<20, ByModel, 2); back != 7*time.Microsecond+2*1048576 {
		t.Errorf("a staged one of 4 MiB lets its caller go on at %v", back)
	}
	if _, err := NewTimeline(Model{LinkGBps: -1}); err == nil {
		t.Error("a model that is not allowed was taken")
	}
}
