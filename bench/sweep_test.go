package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pinscope/cudamem"
)

func axes(t *testing.T, texts ...string) []Axis {
	t.Helper()
	var out []Axis
	for _, text := range texts {
		axis, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, axis)
	}
	return out
}

// sweepInBubble measures a sweep in virtual time; stop says after which save it is
// stopped, 0: never.
func sweepInBubble(t *testing.T, sweep *Sweep, stop int) (r *Result, saved []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		saves := 0
		var err error
		r, err = RunSweep(ctx, sweep, RunOptions{Clock: cudamem.NewPlainClock()}, func(r *Result) error {
			saves++
			if stop == 0 || saves > stop {
				return nil
			}
			var file bytes.Buffer
			if err := r.WriteJSON(&file); err != nil {
				return err
			}
			if saved = file.Bytes(); saves == stop {
				cancel(ErrCancelled)
			}
			return nil
		})
		if stop == 0 && err != nil || stop > 0 && !errors.Is(err, ErrCancelled) {
			t.Fatal(err)
		}
	})
	if got := cudamem.ReadLedger().PinnedBytes; got != 0 {
		t.Errorf("%d bytes are still pinned", got)
	}
	return r, saved
}

// A batch of 1 takes 1 ms from pinned and 2 ms from pageable memory and 0.25 ms to
// compute; a batch of 4 takes four times as long to copy.
func sweepOf(t *testing.T, texts ...string) *Sweep {
	t.Helper()
	base := settings(t, "source=cached", "samples=40", "shape=1000000", "dtype=uint8", "workers=1", "repeats=6", "non-blocking=false", "ring-slots=2")
	sweep, err := NewSweep(withSim(base, append(still, "link-gbps=1", "pageable-gbps=0.5", "compute=250us")...), axes(t, texts...))
	if err != nil {
		t.Fatal(err)
	}
	return sweep
}

func TestSweep(t *testing.T) {
	r, _ := sweepInBubble(t, sweepOf(t, "batch=1,4", "pin=off,thread,direct"), 0)
	var got strings.Builder
	w := &textWriter{bufio.NewWriter(&got)}
	r.textSweep(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `Sweep      2 of batch x 3 of pin: 6 cells, 6 rounds

batch pin      samples/s  95 % interval        by best     pinned
1     off            444  444..444              0.472x        0 B
1     thread         800  800..800              0.850x   1.91 MiB *
1     direct         800  800..800              0.850x   1.91 MiB
4     off            485  485..485              0.515x        0 B *
4     thread         941  941..941              1.000x   7.63 MiB =*
4     direct         941  941..941              1.000x   7.63 MiB =

= not told apart from the best; * on the Pareto front: nothing is faster with as
little pinned memory
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	if want := "the best of 6 cells is batch=4 pin=thread with 941 samples/s (95 % interval 941..941); it costs 7.63 MiB that nothing can reclaim"; !strings.Contains(r.Sentence, want) ||
		!strings.Contains(r.Sentence, "1 other cell cannot be told apart from it") {
		t.Error(r.Sentence)
	}
	var all strings.Builder
	if err := errors.Join(r.Text(&all), r.WriteCSV(&all), r.WriteTrace(&all), r.WriteJSON(&all)); err != nil {
		t.Error(err)
	}
	if !strings.Contains(all.String(), "\r\n2,batch=1 pin=thread,sim:laptop,true,thread,") {
		t.Error("the CSV does not name its cells")
	}
	var labels []string
	for _, s := range r.Sides {
		labels = append(labels, s.Label)
	}
	if !slices.Equal(labels, []string{"1", "2", "3", "4", "5", "6"}) || r.Sides[0].Config.RingSlots != 0 || r.Sides[1].Config.RingSlots != 2 {
		t.Errorf("labels %q", labels)
	}
}

// TestSweepGoesOn: a sweep that was stopped, and read back from its file, comes to
// what it would have come to, in the same order.
func TestSweepGoesOn(t *testing.T) {
	cells := []string{"batch=1,4", "pin=off,direct"}
	whole, _ := sweepInBubble(t, sweepOf(t, cells...), 0)
	stopped, saved := sweepInBubble(t, sweepOf(t, cells...), 2)
	if stopped.Complete || stopped.Sweep.Best < 0 {
		t.Errorf("the stopped one: complete %v, best %d", stopped.Complete, stopped.Sweep.Best)
	}
	var cancelled bytes.Buffer // the same rounds, and what was begun of the next
	if err := stopped.WriteJSON(&cancelled); err != nil {
		t.Fatal(err)
	}
	uneven := *whole // two rounds, and a turn of the third
	uneven.Sides, uneven.Complete = slices.Clone(whole.Sides), false
	for i := range uneven.Sides {
		uneven.Sides[i].Repeats = uneven.Sides[i].Repeats[:2+i%2]
		uneven.Sides[i].Typical, uneven.Sides[i].Trace = nil, nil // they may be of the repeat cut off
	}
	var begun bytes.Buffer
	if err := uneven.WriteJSON(&begun); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"killed": saved, "cancelled": cancelled.Bytes(), "in a round": begun.Bytes()} {
		prior, err := ReadResult(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if rounds := prior.Sides[0].SamplesPerS.Count; rounds != 2 && name == "killed" || prior.Complete {
			t.Errorf("%s: %d rounds, complete %v", name, rounds, prior.Complete)
		}
		sweep, err := ResumeSweep(prior)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := sweepInBubble(t, sweep, 0)
		if !r.Complete || r.Command != whole.Command || r.Error != "" {
			t.Errorf("%s: complete %v, %s", name, r.Complete, r.Command)
		}
		for i, s := range r.Sides {
			var at, want []int
			for j := range s.Repeats {
				at, want = append(at, s.Repeats[j].Position), append(want, whole.Sides[i].Repeats[j].Position)
			}
			if !slices.Equal(at, want) || s.Name != whole.Sides[i].Name || s.SamplesPerS.Count != 6 {
				t.Errorf("%s: %s at %v, want %v", name, s.Name, at, want)
			}
			near(t, s.Name, *s.SamplesPerS.Median, *whole.Sides[i].SamplesPerS.Median, 1e-9)
		}
	}
	again, err := ResumeSweep(whole)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := sweepInBubble(t, again, 0)
	if a, b := sidesOf(t, r), sidesOf(t, whole); a != b {
		t.Error("a sweep that is over changes when it is gone on with")
	}
}

func sidesOf(t *testing.T, r *Result) string {
	t.Helper()
	text, err := json.Marshal(r.Sides)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSweepLeavesOut: what cannot be, and what does not fit.
func TestSweepLeavesOut(t *testing.T) {
	r, _ := sweepInBubble(t, sweepOf(t, "batch=1,4", "host-memory=pinned,pageable", "pin=off,direct", "max-pinned=4MiB"), 0)
	if len(r.Sides) != 4 || len(r.Sweep.LeftOut) != 4 {
		t.Fatalf("%d cells, left out %+v", len(r.Sides), r.Sweep.LeftOut)
	}
	why := map[string]string{}
	for _, cell := range r.Sweep.LeftOut {
		why[strings.Join(cell.Settings, " ")] = cell.Why
	}
	for name, want := range map[string]string{
		"batch=1 host-memory=pinned pin=off max-pinned=4MiB":      "host-memory: pinned is not allowed with pin off",
		"batch=4 host-memory=pageable pin=direct max-pinned=4MiB": "max-pinned: ",
	} {
		if !strings.Contains(why[name], want) {
			t.Errorf("%s: %q, want %q", name, why[name], want)
		}
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if len(line) > textWidth+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestSweepRefuses(t *testing.T) {
	for _, c := range []struct {
		axes []string
		want string
	}{
		{nil, "vary: nothing is varied; give --vary NAME=VALUE,VALUE,... at least once"},
		{[]string{"batch"}, `vary: "batch" is not allowed; allowed is NAME=VALUE,VALUE,..., such as batch=16,32,64`},
		{[]string{"batch="}, `vary: "batch=" is not allowed; allowed is NAME=VALUE,VALUE,..., such as batch=16,32,64`},
		{[]string{"batch=8,8"}, `vary: batch has the value "8" twice`},
		{[]string{"batch=8", "batch=16"}, "vary: batch is varied twice"},
		{[]string{"device=sim,cpu"}, "vary: device cannot be varied: cells of different devices cannot take turns"},
		{[]string{"repeats=1,2"}, "vary: repeats cannot be varied: each round runs each cell once"},
		{[]string{"batch=8,0"}, "batch: 0 is not allowed; allowed is 1 to 2147483647"},
		{[]string{"batch=8,x"}, `batch: "x" is not allowed; allowed is 1 to 2147483647`},
		{[]string{"bach=8"}, `vary: bach=8: there is no setting bach, did you mean "batch"?`},
		{[]string{"seed=" + numbersTo(40), "workers=" + numbersTo(40)}, "vary: the grid has more than 1000 cells; give fewer values"},
	} {
		var parsed []Axis
		var err error
		for _, text := range c.axes {
			var axis Axis
			if axis, err = ParseAxis(text); err != nil {
				break
			}
			parsed = append(parsed, axis)
		}
		if err == nil {
			_, err = NewSweep(settings(t), parsed)
		}
		var input *InputError
		if !errors.As(err, &input) || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.axes, err, c.want)
		}
	}
	if _, err := ResumeSweep(&Result{Kind: KindRun}); err == nil || err.Error() != "resume: the file holds a run, not a sweep" {
		t.Error(err)
	}
}

func numbersTo(n int) string {
	var out []string
	for i := range n {
		out = append(out, spell(i+1))
	}
	return strings.Join(out, ",")
}

// TestSweepOnAnotherDevice does not go on.
func TestSweepOnAnotherDevice(t *testing.T) {
	_, saved := sweepInBubble(t, sweepOf(t, "batch=1,4"), 1)
	prior, err := ReadResult(bytes.NewReader(saved))
	if err != nil {
		t.Fatal(err)
	}
	prior.Device.Model["link-gbps"] = "2"
	sweep, err := ResumeSweep(prior)
	if err != nil {
		t.Fatal(err)
	}
	var input *InputError
	if _, err := RunSweep(context.Background(), sweep, RunOptions{}, nil); !errors.As(err, &input) || !strings.HasPrefix(err.Error(), "resume: the file was measured on sim:laptop") {
		t.Error(err)
	}
}

// TestEstimate: 2 cells of 40 MB, 6 rounds, at 1 GB/s are 0.48 s; the model's steps
// take less. 40 MB of data, and 2 slots of 1 and of 4 MB in each queue and ring.
func TestEstimate(t *testing.T) {
	got := estimated(t, sweepOf(t, "batch=1,4"))
	near(t, "least duration, s", got.LeastDuration.Seconds(), 0.48, 0.001)
	if got.Sides != 2 || got.Repeats != 12 || got.Turns || got.PinnedBytes < 10e6 || got.PinnedBytes > 10.1e6 || got.HostBytes < 60e6 || got.HostBytes > 61e6 {
		t.Errorf("%+v", got)
	}
	// Rings of 2 and of 8 MB do not fit into 9 MB at once.
	if got := estimated(t, sweepOf(t, "batch=1,4", "pin=direct", "max-pinned=9000000")); !got.Turns || got.PinnedBytes < 8e6 || got.PinnedBytes > 8.1e6 {
		t.Errorf("%+v", got)
	}
}

// estimated is what is told before the first round.
func estimated(t *testing.T, sweep *Sweep) (got Estimate) {
	t.Helper()
	_, err := RunSweep(context.Background(), sweep, RunOptions{Events: func(e Event) {
		if e.Type == "estimate" {
			got = *e.Estimate
		}
	}}, func(*Result) error { return ErrCancelled })
	if !errors.Is(err, ErrCancelled) {
		t.Fatal(err)
	}
	return got
}

// TestSweepOfDataSets: two pinned data sets, of 2 and 4 MB, do not fit into 5 MB at
// once; each has its turn.
func TestSweepOfDataSets(t *testing.T) {
	given := []string{"samples=2,4", "pin=dataset", "ring-slots=2", "max-pinned=5000000", "warmup=1", "repeats=6"}
	base := settings(t, append(given[1:], "source=cached", "shape=1000000", "dtype=uint8", "batch=1", "workers=1")...)
	sweep, err := NewSweep(withSim(base, append(still, "link-gbps=1", "compute=250us", "pin-limit=5000000")...), axes(t, given[0]))
	if err != nil {
		t.Fatal(err)
	}
	if got := estimated(t, sweep); !got.Turns || got.Repeats != 14 || got.PinnedBytes < 4e6 || got.PinnedBytes > 4.1e6 || got.HostBytes > 5e6 {
		t.Errorf("%+v", got)
	}
	r, _ := sweepInBubble(t, sweep, 0)
	for _, s := range r.Sides {
		if s.SamplesPerS.Count != 6 || s.Setup.SourceShared || s.Repeats[6].Mismatches != 0 || s.Setup.PinEffective == PinnedPart {
			t.Errorf("%s: %d repeats, %+v", s.Name, s.SamplesPerS.Count, s.Setup)
		}
	}
}
