package pressure

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// machineOf has so many bytes in total and available.
func machineOf(total, available int64) Limits {
	return Limits{TotalBytes: &total, AvailableBytes: &available, Source: FromSystem}
}

func pinnedRing(bytes int64) Need {
	return Need{{Name: "pinned ring", Bytes: bytes, Pinned: true, Settings: []string{"ring-slots", "batch"}}}
}

// C45: a ring of 256 x 12,582,912 bytes in a container of 2 GiB on a larger host.
func TestContainerLimitIsNotTakenForHostMemory(t *testing.T) {
	const ring = 256 * 12_582_912
	if ring != 3_221_225_472 {
		t.Fatal(ring)
	}
	cases := []struct {
		name string
		tree tree
	}{
		{"cgroup v2", base().with(tree{
			"proc/self/cgroup": "0::/docker/ab12\n", "sys/fs/cgroup/docker/ab12/memory.max": "2147483648\n",
			"sys/fs/cgroup/docker/ab12/memory.current": "104857600\n"})},
		{"cgroup v1", base().with(tree{
			"proc/self/cgroup": "4:memory:/docker/ab12\n", "proc/self/mountinfo": mountProc + mountMemory,
			"sys/fs/cgroup/memory/docker/ab12/memory.limit_in_bytes": "2147483648\n",
			"sys/fs/cgroup/memory/docker/ab12/memory.usage_in_bytes": "104857600\n"})},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			l := ReadLimits(tc.tree.root(t))
			for _, override := range []bool{false, true} {
				d := Guard(pinnedRing(ring), l, override)
				if d.Verdict != Refused || d.Err() == nil || *d.TotalBytes != 2_147_483_648 || d.Source != "container limit" {
					t.Fatalf("override %v: %+v", override, d)
				}
				for _, want := range []string{"3,221,225,472 B", "2,147,483,648 B", "container limit", "lower ring-slots or batch"} {
					if !strings.Contains(d.Err().Error(), want) {
						t.Errorf("%q is not in %q", want, d.Err())
					}
				}
			}
			if whole := Guard(pinnedRing(ring), ReadLimits(base().root(t)), false); whole.Verdict != Fits {
				t.Errorf("without the limit: %+v", whole)
			}
		})
	}
}

// C47 and the numbers on either side of each bound.
func TestGuard(t *testing.T) {
	l := machineOf(16*gib, 10*gib)
	// Reserve: max(10 GiB / 8, min(16 GiB / 20, 1 GiB)) = 1.25 GiB; so 8.75 GiB can be
	// used and 5 GiB pinned.
	const spendable, pinnable = 8*gib + 3*gib/4, 5 * gib
	cases := []struct {
		name     string
		need     Need
		limits   Limits
		override bool
		want     Verdict
		words    []string
	}{
		{"1.2 x available", pinnedRing(12 * gib), l, false, Refused, []string{"12,884,901,888 B", "10,737,418,240 B (10 GiB) available"}},
		{"1.2 x available, override", pinnedRing(12 * gib), l, true, Refused, nil},
		{"0.9 x available", pinnedRing(9 * gib), l, false, Refused, []string{"9,663,676,416 B", "8.75 GiB"}},
		{"0.9 x available, override", pinnedRing(9 * gib), l, true, Refused, nil},
		{"0.6 x available", pinnedRing(6 * gib), l, false, NeedsOverride, []string{"6,442,450,944 B (6 GiB)", "5,368,709,120 B (5 GiB)", "cannot be taken back", "lower ring-slots or batch"}},
		{"0.6 x available, override", pinnedRing(6 * gib), l, true, Risked, []string{"cannot be taken back", "6 GiB"}},
		{"at the cap", pinnedRing(pinnable), l, false, Fits, nil},
		{"a byte above the cap", pinnedRing(pinnable + 1), l, false, NeedsOverride, nil},
		{"all that can be used, with the override", pinnedRing(spendable), l, true, Risked, nil},
		{"a byte more", pinnedRing(spendable + 1), l, true, Refused, nil},
		{"all that can be used, pageable", Need{{Name: "queue", Bytes: spendable}}, l, false, Fits, nil},
		{"a byte more, pageable", Need{{Name: "queue", Bytes: spendable + 1, Settings: []string{"prefetch"}}}, l, false, Refused, []string{"lower prefetch"}},
		{"the largest part first", Need{
			{Name: "queue", Bytes: gib, Settings: []string{"workers"}},
			{Name: "data set", Bytes: 9 * gib, Settings: []string{"samples"}},
			{Name: "staging", Bytes: 0, Settings: []string{"nothing"}},
		}, l, false, Refused, []string{"lower samples or workers"}},
		{"only what is pinned is to be lowered", Need{
			{Name: "pinned ring", Bytes: 6 * gib, Pinned: true, Settings: []string{"ring-slots"}},
			{Name: "data set", Bytes: gib, Settings: []string{"samples"}},
		}, l, false, NeedsOverride, []string{"lower ring-slots;"}},
		{"nothing", nil, l, false, Fits, nil},
		{"nothing left", pinnedRing(1), machineOf(16*gib, gib/2), true, Refused, nil},
		{"available unknown", pinnedRing(gib), Limits{Source: FromNowhere}, false, Unchecked, []string{"unknown"}},
		{"a sum that does not fit", Need{{Bytes: math.MaxInt64}, {Bytes: math.MaxInt64}}, l, true, Refused, []string{"more than 2^63-1 B"}},
		{"negative", Need{{Bytes: -1}}, l, true, Refused, nil},
		{"WSL2 pins half a GiB", pinnedRing(513 << 20), Limits{AvailableBytes: known(10 * gib), TotalBytes: known(16 * gib), WSL2: true}, false, NeedsOverride, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d := Guard(tc.need, tc.limits, tc.override)
			if d.Verdict != tc.want || d.Runs() != (tc.want >= Risked) || (d.Err() == nil) != d.Runs() {
				t.Fatalf("%v, runs %v, error %v; want %v", d.Verdict, d.Runs(), d.Err(), tc.want)
			}
			if (d.Text == "") != (d.Verdict == Fits) {
				t.Errorf("%v says %q", d.Verdict, d.Text)
			}
			for _, want := range tc.words {
				if !strings.Contains(d.Text, want) {
					t.Errorf("%q is not in %q", want, d.Text)
				}
			}
			text, err := json.Marshal(d)
			must(t, err)
			var again Decision
			must(t, json.Unmarshal(text, &again))
			if again.Verdict != d.Verdict || again.NeedBytes != d.NeedBytes {
				t.Errorf("read back %+v", again)
			}
		})
	}
}

func TestReserve(t *testing.T) {
	cases := []struct {
		name             string
		total, available int64
		want             int64
	}{
		{"an eighth of what is available", 24 * gib, 16 * gib, 2 * gib},
		{"a twentieth of the total where little is available", 16 * gib, 2 * gib, 16 * gib / 20},
		{"of that at most 1 GiB", 256 * gib, 2 * gib, gib},
		{"small container", 512 << 20, 400 << 20, 50 << 20},
	}
	for _, tc := range cases {
		l := machineOf(tc.total, tc.available)
		if got := *l.ReserveBytes(); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
		if floor := DefaultRules(l).FloorBytes; floor > *l.ReserveBytes() {
			t.Errorf("%s: a plan that fits falls under the floor of %d", tc.name, floor)
		}
	}
	if got := (Limits{}).ReserveBytes(); got != nil {
		t.Errorf("reserve of the unknown: %d", *got)
	}
}

func TestSafeRing(t *testing.T) {
	const slot = 38_535_168 // 64 x 3 x 224 x 224 float32: 9408 pages
	wsl := machineOf(16*gib, 10*gib)
	wsl.WSL2 = true
	cases := []struct {
		name   string
		limits Limits
		slot   int64
		safe   any
		slots  any
		how    string
		text   string
	}{
		{"half of what is available", machineOf(16*gib, 10*gib), slot, 5 * gib, int64(139), "Half of the 10 GiB available (system memory 16 GiB).", "5 GiB, 139 slots of 36.75 MiB"},
		{"rounded up to pages", machineOf(16*gib, 10*gib), slot - 4095, 5 * gib, int64(139), "Half", ""},
		{"no slot size", machineOf(16*gib, 10*gib), 0, 5 * gib, nil, "Half", "5 GiB"},
		{"little is available", machineOf(16*gib, gib), slot, 16*gib*-1/20 + gib, int64(5), "less 819.2 MiB left to the system", ""},
		{"WSL2", wsl, slot, int64(512 << 20), int64(13), "WSL2", ""},
		{"unknown", Limits{}, slot, nil, nil, "unknown", "n/a"},
		{"slot larger than all", machineOf(16*gib, 10*gib), math.MaxInt64, 5 * gib, nil, "Half", ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := SafeRing(tc.limits, tc.slot)
			if show(r.SafeBytes) != tc.safe || show(r.Slots) != tc.slots {
				t.Errorf("%v bytes, %v slots; want %v, %v", show(r.SafeBytes), show(r.Slots), tc.safe, tc.slots)
			}
			if !strings.Contains(r.How, tc.how) || r.Rule == "" {
				t.Errorf("how %q, want %q", r.How, tc.how)
			}
			if r.Slots != nil && r.SlotBytes != slot {
				t.Errorf("slots of %d bytes, want whole pages: %d", r.SlotBytes, slot)
			}
			if tc.text != "" && r.Text() != tc.text {
				t.Errorf("text %q, want %q", r.Text(), tc.text)
			}
			if r.SafeBytes != nil { // it is what the guard lets through
				if d := Guard(pinnedRing(*r.SafeBytes), tc.limits, false); d.Verdict != Fits {
					t.Errorf("the guard says %v", d.Verdict)
				}
			}
		})
	}
}
