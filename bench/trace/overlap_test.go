package trace

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestOverlap(t *testing.T) {
	type spans []interval
	for _, c := range []struct {
		name          string
		copies, steps spans
		copy, hidden  time.Duration
	}{
		{"none", nil, nil, 0, 0},
		{"steps only", nil, spans{{0, 5}}, 0, 0},
		{"copies only", spans{{0, 5}, {6, 8}}, nil, 7, 0},
		{"touching", spans{{0, 5}}, spans{{5, 9}}, 5, 0},
		{"within", spans{{2, 4}}, spans{{0, 9}}, 2, 2},
		{"around", spans{{0, 9}}, spans{{2, 4}}, 9, 2},
		{"one step over two copies", spans{{0, 4}, {6, 10}}, spans{{2, 8}}, 8, 4},
		{"one copy over two steps", spans{{2, 8}}, spans{{0, 4}, {6, 10}}, 6, 4},
		{"equal ends", spans{{0, 4}, {4, 8}}, spans{{1, 4}, {4, 7}}, 8, 6},
		{"empty ones", spans{{3, 3}, {4, 6}}, spans{{3, 3}, {5, 5}, {5, 6}}, 2, 1},
		{"copies that overlap each other count once", spans{{0, 10}, {5, 12}}, spans{{0, 20}}, 12, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			var o Overlap
			for _, i := range c.copies {
				o.AddCopy(i.start, i.end)
			}
			for _, i := range c.steps {
				o.AddStep(i.start, i.end)
			}
			if o.Copy() != c.copy || o.Hidden() != c.hidden {
				t.Errorf("copy %d hidden %d, want %d and %d", o.Copy(), o.Hidden(), c.copy, c.hidden)
			}
			share, ok := o.Share()
			if ok != (c.copy > 0) || (ok && share != float64(c.hidden)/float64(c.copy)) {
				t.Errorf("share %v, %v", share, ok)
			}
		})
	}
}

// However the two sides interleave, the result is that of comparing each with each.
func TestOverlapIsExactInAnyInterleaving(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		sides := [2][]interval{}
		for s := range sides {
			at := time.Duration(0)
			for range rng.IntN(200) {
				start := at + time.Duration(rng.IntN(20))
				at = start + time.Duration(rng.IntN(20))
				sides[s] = append(sides[s], interval{start, at})
			}
		}
		var want time.Duration
		for _, c := range sides[0] {
			for _, s := range sides[1] {
				want += max(0, min(c.end, s.end)-max(c.start, s.start))
			}
		}
		var o Overlap
		for len(sides[0])+len(sides[1]) > 0 {
			s := rng.IntN(2)
			if len(sides[s]) == 0 {
				s = 1 - s
			}
			i := sides[s][0]
			sides[s] = sides[s][1:]
			[]func(start, end time.Duration){o.AddCopy, o.AddStep}[s](i.start, i.end)
		}
		if o.Hidden() != want {
			t.Fatalf("hidden %d, want %d", o.Hidden(), want)
		}
	}
}

func TestOverlapStaysBounded(t *testing.T) {
	run := func(lag int) *Overlap {
		o := new(Overlap)
		for i := range time.Duration(5000) {
			o.AddCopy(10*i, 10*i+4)
			if j := i - time.Duration(lag); j >= 0 {
				o.AddStep(10*j+2, 10*j+8)
			}
		}
		return o
	}
	// 1,024 copies wait at most; the steps of the last ones never come.
	if o := run(1000); o.Hidden() != 2*4000 {
		t.Errorf("hidden %d, want 8000", o.Hidden())
	} else if _, ok := o.Share(); !ok {
		t.Error("the share is undefined at a distance of 1000")
	}
	if share, ok := run(1100).Share(); ok {
		t.Errorf("share %v although copies were given up before their steps came", share)
	}
	var o Overlap
	for i := range time.Duration(5000) {
		o.AddCopy(2*i, 2*i+1)
	}
	if share, ok := o.Share(); !ok || share != 0 {
		t.Errorf("copies without any step: share %v, %v; want 0, true", share, ok)
	}
}
