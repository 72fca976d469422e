package pressure

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pinscope/cudamem"
)

func TestWatchdog(t *testing.T) {
	type seen struct {
		at        time.Duration
		available int64
		full      time.Duration // of the system; -1 unknown
		group     time.Duration // of the group; -1 unknown
	}
	rules := Rules{FloorBytes: 1000, FullShare: 0.2, FullWindow: 3 * time.Second}
	cases := []struct {
		name  string
		rules Rules
		seen  []seen
		end   string // part of the reason; empty: it goes on
	}{
		{"plenty", rules, []seen{{0, 5000, 0, 0}, {3 * time.Second, 5000, 0, 0}}, ""},
		{"at the floor", rules, []seen{{0, 1000, 0, 0}}, ""},
		{"under the floor", rules, []seen{{0, 5000, 0, 0}, {time.Second, 999, 0, 0}}, "999 B of memory are available, less than the floor of 1000 B"},
		{"available unknown", rules, []seen{{0, -1, 0, 0}}, ""},
		{"stalled for a fifth", rules, []seen{{0, 5000, 0, 0}, {3 * time.Second, 5000, 600 * time.Millisecond, 0}}, "every task waited for memory 20.0 % of the last 3 s"},
		{"stalled for less", rules, []seen{{0, 5000, 0, 0}, {3 * time.Second, 5000, 599 * time.Millisecond, 0}}, ""},
		{"the group stalled", rules, []seen{{0, 5000, 0, 0}, {3 * time.Second, 5000, 0, time.Second}}, "every task of the control group waited for memory 33.3 %"},
		{"a short stall inside the window", rules, []seen{{0, 5000, 0, 0}, {time.Second, 5000, time.Second, 0}, {5 * time.Second, 5000, 900 * time.Millisecond, 0}}, ""},
		{"stalled in the second window only", rules, []seen{{0, 5000, 0, 0}, {3 * time.Second, 5000, 0, 0}, {6 * time.Second, 5000, time.Second, 0}}, "33.3 %"},
		{"stalled long ago", rules, []seen{{0, 5000, time.Hour, 0}, {3 * time.Second, 5000, time.Hour, 0}}, ""},
		{"stall unknown at first", rules, []seen{{0, 5000, -1, -1}, {3 * time.Second, 5000, time.Hour, -1}}, ""},
		{"no window, twice at one time", Rules{FullShare: 0.2}, []seen{{time.Second, 0, 0, 0}, {time.Second, 0, time.Second, 0}}, ""},
		{"no rules", Rules{}, []seen{{0, 0, 0, 0}, {3 * time.Second, 0, 3 * time.Second, 0}}, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			dog, ctx, release := NewWatchdog(t.Context(), tc.rules)
			defer release()
			for _, v := range tc.seen {
				s := Sample{At: v.at}
				s.set(Available, v.available, true)
				s.set(MemoryFullStall, int64(v.full), true)
				s.set(GroupFullStall, int64(v.group), true)
				dog.Look(&s)
			}
			var short *Short
			ended := errors.As(context.Cause(ctx), &short)
			if ended != (tc.end != "") || ended && !strings.Contains(short.Error(), tc.end) {
				t.Errorf("ended %v: %v; want %q", ended, context.Cause(ctx), tc.end)
			}
		})
	}
}

// The whole way: a machine runs out of memory beside a run.
func TestWatchdogEndsARun(t *testing.T) {
	root := base().root(t)
	synctest.Test(t, func(t *testing.T) {
		dog, ctx, release := NewWatchdog(t.Context(), DefaultRules(ReadLimits(root)))
		defer release()
		s := Start(ctx, cudamem.NewPlainClock(), Options{Root: root, Look: dog.Look})
		time.Sleep(time.Second)
		if ctx.Err() != nil {
			t.Fatalf("ended early: %v", context.Cause(ctx))
		}
		write(t, root, "proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 524287 kB\n") // the floor is 512 MiB
		<-ctx.Done()
		var short *Short
		if !errors.As(context.Cause(ctx), &short) || short.At < time.Second || short.At > time.Second+2*DefaultEvery {
			t.Errorf("ended by %v", context.Cause(ctx))
		}
		if series := s.Stop(); series.Samples < 20 {
			t.Errorf("%d samples were kept", series.Samples)
		}
	})
}
