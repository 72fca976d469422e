package verdict

import (
	"strings"
	"testing"
	"time"

	"pinscope/bench/loader"
)

const ms = time.Millisecond

// steady is a run with a pin thread whose batches all take 4 ms: the step is the limit.
func steady(change func(*Figures)) Figures {
	f := Figures{Workers: 2, Prefetch: 2, UsableCPUs: 8, QueueSlots: 4, RingSlots: 4, Batches: 1000, StartBatches: 1000,
		Pin: loader.PinThread, NonBlocking: true, Dedicated: true, Rows: 64, BatchBytes: 12e6, LinkGBps: 12,
		Period: 4 * ms, Load: 4 * ms, PinCopy: 1 * ms, Copy: 1 * ms, Step: 4 * ms, BusyShare: 1}
	change(&f)
	return f
}

func TestJudge(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Figures)
		limit  Limit
		says   string
		try    string
	}{
		{"step", func(f *Figures) {}, Compute, "compute: without it a batch would take 50.0 % less", "nothing before the device"},
		{"pin thread", func(f *Figures) { f.PinCopy, f.Period = 8*ms, 8*ms }, PinCopy, "pin copy: without it a batch would take 50.0 % less", "pin=direct: +100.0 %"},
		{"thread and step alike", func(f *Figures) { f.PinCopy = 4 * ms }, CannotTell, "within 2 %", ""},
		{"thread without pinning", func(f *Figures) { f.Pin, f.PinCopy, f.Copy, f.Period = loader.PageableThread, 5*ms, 6*ms, 6*ms }, Transfer, "transfer", "pin=direct: +50.1 %"},
		{"memory is paged in", func(f *Figures) { f.Stall, f.Period = 16*ms, 20*ms }, Memory, "memory: without it a batch would take 80.0 % less", "less memory"},
		{"a little paging", func(f *Figures) { f.Stall = 1 * ms }, Compute, "next is memory, 25.0 %", "nothing before"},
		{"no CPUs left", func(f *Figures) { f.Load, f.LoadCPU, f.UsableCPUs, f.Period = 20*ms, 20*ms, 2, 10*ms }, Loading, "loading", "a cheaper way"},
		{"CPUs for one more", func(f *Figures) { f.Load, f.LoadCPU, f.UsableCPUs, f.Period = 20*ms, 20*ms, 3, 10*ms }, Loading, "loading", "workers=3: +49.7 %"},
		{"workers take turns", func(f *Figures) {
			f.Workers, f.Load, f.LoadCPU, f.UsableCPUs, f.Period = 4, 100*ms, 25*ms, 2, 25*ms
		}, Loading, "loading", "a cheaper way"},
		{"workers wait for disks", func(f *Figures) {
			f.Workers, f.Load, f.LoadCPU, f.UsableCPUs, f.Period = 4, 100*ms, 5*ms, 2, 25*ms
		}, Loading, "loading", "workers=25: +5"},
		{"half explained", func(f *Figures) { f.Period = 8 * ms }, CannotTell, "a batch took 8 ms, its stages come to 4.0", ""},
		{"just explained", func(f *Figures) { f.Period = 5900 * time.Microsecond }, Compute, "compute", "nothing before"},
		{"nothing takes time", func(f *Figures) { f.Load, f.PinCopy, f.Copy, f.Step = 0, 0, 0, 0 }, CannotTell, "no stage took any time", ""},
		{"no period", func(f *Figures) { f.Period = 0 }, CannotTell, "", ""},
		{"data set in memory", func(f *Figures) {
			f.InMemory, f.PinCopy, f.Load, f.Period, f.UsableCPUs, f.LoadCPU = true, 0, 16*ms, 8*ms, 2, 16*ms
		}, Loading, "loading", "pin=dataset: +"},
		{"CPU", func(f *Figures) {
			f.NoDevice, f.InPlace, f.Pin, f.PinCopy, f.Copy, f.Dedicated, f.NonBlocking = true, true, loader.PinOff, 0, 0, false, false
			f.Period = 4 * ms
		}, Compute, "compute", "nothing before"},
		// A pageable copy keeps the training loop from queueing the next step: 2 + 2.
		{"calls beside pageable copies", func(f *Figures) {
			f.Pin, f.PinCopy, f.Calls, f.Copy, f.Step, f.Load, f.Period = loader.PinOff, 0, 2*ms, 2*ms, ms, ms, 4*ms
		}, CannotTell, "within 2 %", "pin=direct: +99."},
		{"no link known", func(f *Figures) { f.LinkGBps, f.Copy, f.Period, f.Pin = 0, 8*ms, 8*ms, loader.PinOff }, Transfer, "transfer", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := Judge(steady(c.change))
			if v.Limit != c.limit || !strings.Contains(v.String(), c.says) {
				t.Errorf("%q, want %s and %q (%+v)", v, c.limit, c.says, v.Savings)
			}
			if c.try == "" && v.Advice != nil || !strings.Contains(v.Try(), c.try) {
				t.Errorf("try %q, want %q", v.Try(), c.try)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	v := Judge(steady(func(f *Figures) { f.Period, f.Copy, f.BusyShare = 5*ms, 1*ms, 0.8 }))
	// 64 samples by 5 ms and by 4 ms; 12 GB/s by 187,500 bytes.
	if want := "12,800 samples/s; with data always there 16,000 samples/s; the link would carry 64,000 samples/s"; v.Bounds() != want {
		t.Errorf("%q, want %q", v.Bounds(), want)
	}
	slow := Judge(steady(func(f *Figures) { f.Rows, f.Period, f.Step, f.LinkGBps = 1, 211*ms, 20*ms, 0 }))
	if want := "4.74 samples/s; with data always there 50.0 samples/s"; slow.Bounds() != want {
		t.Errorf("%q, want %q", slow.Bounds(), want)
	}
	if want := "the device computes 80.0 % of the time (first step left out); transfers take 20.0 %, above the 20 % from which they are heavy"; v.Use() != want {
		t.Errorf("%q, want %q", v.Use(), want)
	}
	for copied, want := range map[time.Duration]TransferLine{399 * time.Microsecond: TransferLow, 400 * time.Microsecond: TransferSeen,
		799 * time.Microsecond: TransferSeen, 800 * time.Microsecond: TransferHeavy} {
		if got := Judge(steady(func(f *Figures) { f.Copy = copied })).TransferLine; got != want {
			t.Errorf("copies of %v in 4 ms: %s, want %s", copied, got, want)
		}
	}
	none := Judge(steady(func(f *Figures) { f.BusyShare, f.LinkGBps, f.Copy, f.Step = -1, 0, 0, 0 }))
	if none.BusyShare != nil || none.LinkSamplesPerS != nil || none.TransferShare != nil || none.IdealSamplesPerS != nil || none.Use() != "" {
		t.Errorf("%+v", none)
	}
}

// What keeps workers from being enough is told by its name: link or compute.
func TestStarvedNamesWhatWorks(t *testing.T) {
	for name, c := range map[string]struct {
		copied, step time.Duration
		want         string
	}{
		"copies are longer":   {3 * ms, 2 * ms, "and the link is busy 3 ms of it"},
		"steps are longer":    {2 * ms, 3 * ms, "and the device computes 3 ms of it"},
		"nothing is copied":   {0, 3 * ms, "and the device computes 3 ms of it"},
		"one as long as both": {3 * ms, 3 * ms, "and the device computes 3 ms of it"},
	} {
		got := strings.Join(Findings(steady(func(f *Figures) {
			f.Workers, f.Load, f.Period, f.WaitBatch, f.Copy, f.Step = 1, 10*ms, 10*ms, 7*ms, c.copied, c.step
		})), " ")
		if !strings.Contains(got, "loading is the limit, not pinning: the trainer waits 7 ms of 10 ms a batch for data "+c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestPinningCannotMatter(t *testing.T) {
	for copied, want := range map[time.Duration]bool{39 * time.Microsecond: true, 41 * time.Microsecond: false} {
		if got := Judge(steady(func(f *Figures) { f.PinCopy, f.Copy = 0, copied })).PinningCannotMatter; got != want {
			t.Errorf("copies of %v in 4 ms: %v", copied, got)
		}
	}
	if Judge(steady(func(f *Figures) { f.NoDevice, f.Copy, f.PinCopy = true, 0, 0 })).PinningCannotMatter {
		t.Error("said of a CPU, which has no copies")
	}
}
