package whatif

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"pinscope/bench"
	"pinscope/bench/source"
	"pinscope/bench/trace"
	"pinscope/cudamem"
	"pinscope/cudamem/sim"
)

// settings is a configuration on the simulated GPU whose host work costs no
// virtual time: one repeat, no warm-up, data that takes a given time to load.
func settings(t testing.TB, given ...string) bench.Config {
	t.Helper()
	base := bench.DefaultConfig()
	base.Device, base.Source, base.Repeats, base.Warmup, base.Epochs, base.Shuffle = "sim", "delay:0s", 1, 0, 1, false
	c, err := bench.ParseSettings(base, given...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inBubble measures the real pipeline in virtual time.
func inBubble(t *testing.T, c bench.Config) (result *bench.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if result, err = bench.Run(context.Background(), c, bench.RunOptions{Clock: cudamem.NewPlainClock()}); err != nil {
			t.Fatalf("%v: %v", c.Args(), err)
		}
	})
	return result
}

// modelInput is what the model needs to know of a configuration, put together
// here by hand so that the test does not stand on the code that it tests.
func modelInput(t testing.TB, c bench.Config) Input {
	t.Helper()
	model, err := sim.Lookup("laptop")
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range c.Sim {
		if err := model.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	spec, err := source.Probe(sourceOptions(c))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := bench.NewPlan(c, spec, cudamem.Info{Simulated: true}, bench.Limits{UsableCPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Pipeline: NewPipeline(c, plan, spec, false), Device: model}
	if strings.HasPrefix(c.Source, "delay:") {
		opened, err := source.Open(sourceOptions(c))
		if err != nil {
			t.Fatal(err)
		}
		in.Fill = Paced(opened.NewFiller(false).(source.Pacer))
	}
	return in
}

// pick is one of some values.
func pick[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

// anyConfig draws a configuration out of all that take no host time.
func anyConfig(t testing.TB, random *rand.Rand) bench.Config {
	t.Helper()
	set := []string{
		"batch=" + pick(random, "1", "3", "8"), "samples=" + fmt.Sprint(8+random.IntN(120)),
		"shape=" + pick(random, "16", "1000", "20000", "600000"), "workers=" + pick(random, "0", "1", "2", "3", "7"),
		"prefetch=" + pick(random, "1", "2", "5"), "epochs=" + pick(random, "1", "2", "3"),
		"keep-workers=" + pick(random, "true", "false"), "drop-last=" + pick(random, "true", "false"),
		"non-blocking=" + pick(random, "true", "false"), "copy-stream=" + pick(random, "shared", "dedicated"),
		"steps-per-batch=" + pick(random, "1", "1", "3"), "sync-steps=" + pick(random, "false", "false", "true"),
		"seed=" + fmt.Sprint(random.IntN(100)), "dtype=" + pick(random, "float32", "uint8", "int64"),
		"source=delay:" + pick(random, "0s", "100us", "1ms", "1ms±1ms", "5ms±3ms"),
	}
	switch pin := pick(random, "off", "thread", "direct", "direct", "pageable-thread", "dataset"); pin {
	case "dataset":
		set[3] = "workers=" + pick(random, "0", "1") // their host work is real, and small
		set = append(set, "pin=dataset", "source=cached", "ring-slots="+pick(random, "0", "1", "2"))
	case "off", "pageable-thread":
		set = append(set, "pin="+pin)
	default:
		set = append(set, "pin="+pin, "ring-slots="+pick(random, "0", "1", "2", "5"),
			"host-memory="+pick(random, "pinned", "registered", "write-combined", "mapped"))
	}
	c := settings(t, set...)
	c.Sim = map[string]string{
		"latency": pick(random, "0s", "6us"), "launch": pick(random, "0s", "6us"), "link-gbps": pick(random, "inf", "12", "0.5"),
		"pageable-gbps": pick(random, "0", "6", "0.7"), "compute": pick(random, "0s", "50us", "1ms", "roofline"),
		"jitter": pick(random, "0", "0.2"), "ramp": pick(random, "0", "0", "0.2:0.4:3"), "copy-engines": pick(random, "1", "2"),
		"tflops": pick(random, "0.01", "10"),
	}
	return c
}

// TestEqualsTheRealPipeline: whatever the settings, the goroutines, rings and
// streams of the real pipeline take the same virtual time, to the nanosecond, and
// leave the same spans.
func TestEqualsTheRealPipeline(t *testing.T) {
	count := 150
	if testing.Short() {
		count = 40
	}
	random := rand.New(rand.NewPCG(7, 7))
	for range count {
		c := anyConfig(t, random)
		if c.Validate() != nil { // such as fewer samples than a batch, all dropped
			continue
		}
		real := inBubble(t, c)
		got, err := Predict(modelInput(t, c))
		if err != nil {
			t.Fatalf("%v: %v", c.Args(), err)
		}
		repeat := real.Sides[0].Repeats[0]
		if got.Wall != repeat.Wall || got.Batches != repeat.Batches || got.Samples != repeat.Samples || got.InputBytes != repeat.InputBytes {
			t.Errorf("%s:\npredicted %v, %d batches; in fact %v, %d", c.CommandLine("run"), got.Wall, got.Batches, repeat.Wall, repeat.Batches)
			continue
		}
		if repeat.Wall == 0 { // then there is no throughput, and no trace is kept
			continue
		}
		sameStages(t, c, got.Trace, real.Sides[0].Trace)
		disjoint(t, got.Trace)
	}
}

// sameStages compares count, total and bytes of every stage. How long workers
// wait for slots depends on who is first where several want one at the same moment.
func sameStages(t *testing.T, c bench.Config, got, want *trace.Trace) {
	t.Helper()
	for stage := range trace.Stage(trace.Stages) {
		a, b := got.Stage(stage), want.Stage(stage)
		if stage == trace.WaitSlot && c.Workers > 1 {
			b.Total = a.Total
		}
		if a.Count != b.Count || a.Total != b.Total || a.Bytes != b.Bytes {
			t.Errorf("%s:\n%s: predicted %d spans, %v, %d bytes; in fact %d, %v, %d", c.CommandLine("run"), stage,
				a.Count, a.Total, a.Bytes, b.Count, b.Total, b.Bytes)
		}
	}
	if got.CopyTime != want.CopyTime || got.HiddenCopyTime != want.HiddenCopyTime || len(got.Lanes) != len(want.Lanes) {
		t.Errorf("%s:\npredicted copies %v, hidden %v, %d lanes; in fact %v, %v, %d", c.CommandLine("run"),
			got.CopyTime, got.HiddenCopyTime, len(got.Lanes), want.CopyTime, want.HiddenCopyTime, len(want.Lanes))
	}
}
