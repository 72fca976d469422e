package bench

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pinscope/bench/loader"
	"pinscope/bench/source"
	"pinscope/cudamem"
)

var (
	simulated = cudamem.Info{ID: "sim:test", Simulated: true}
	roomy     = limitsOf(1 << 50)
)

func limitsOf(available int64) Limits {
	return Limits{AvailableBytes: &available, TotalBytes: &available, Source: "system memory", UsableCPUs: 64}
}

// specOf is what a source with class labels says of a configuration's data set.
func specOf(c Config) source.Spec {
	sample, _ := c.sampleBytes()
	spec := source.Spec{Samples: c.Samples, Shape: c.Shape, DType: c.DType, SampleBytes: sample, LabelBytes: 8}
	switch c.Source {
	case "tokens":
		spec.LabelBytes = sample
	case "cached":
		spec.HostBytes = c.Samples * (sample + 8)
	}
	return spec
}

func planOf(t *testing.T, change func(*Config)) Plan {
	t.Helper()
	c := DefaultConfig()
	c.Source, c.Workers, c.Epochs = "randn", 4, 1
	change(&c)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(c, specOf(c), simulated, roomy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Figures that the cases give, in bytes of the input tensors.
func TestPlanOfCases(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Config)
		want   map[string]int64
	}{
		{"C09", func(c *Config) { c.Samples, c.Batch, c.Workers = 700, 128, 16 },
			map[string]int64{"batches": 6, "last": 60, "dropped": 0, "idle": 10}},
		{"C09 drop_last", func(c *Config) { c.Samples, c.Batch, c.Workers, c.DropLast = 700, 128, 16, true },
			map[string]int64{"batches": 5, "last": 128, "dropped": 60, "idle": 11}},
		{"C09 batch 4", func(c *Config) { c.Samples, c.Batch, c.Workers = 700, 4, 16 },
			map[string]int64{"batches": 175, "last": 4, "idle": 0}},
		{"C24", func(c *Config) { c.Samples, c.Shape = 1000, Shape{3, 32, 32} },
			map[string]int64{"batches": 16, "last": 40, "batch bytes": 786432, "last bytes": 491520, "link": 1000 * (12288 + 8)}},
		{"C24 drop_last", func(c *Config) { c.Samples, c.Shape, c.DropLast = 1000, Shape{3, 32, 32}, true },
			map[string]int64{"batches": 15, "last": 64, "dropped": 40, "link": 960 * (12288 + 8)}},
		{"C24 1025", func(c *Config) { c.Samples, c.Shape, c.Epochs = 1025, Shape{3, 32, 32}, 2 },
			map[string]int64{"batches": 17, "total": 34, "last": 1}},
		{"C26 off", func(c *Config) { c.Samples = 50 }, map[string]int64{"batches": 1, "last": 50}},
		{"C26 64", func(c *Config) { c.Samples, c.DropLast = 64, true }, map[string]int64{"batches": 1, "last": 64, "dropped": 0}},
		{"C27", func(c *Config) { c.Samples, c.Batch, c.Shape, c.Epochs = 11, 1, Shape{1}, 2 },
			map[string]int64{"batches": 11, "total": 22}},
		{"C30", func(c *Config) { c.Samples, c.Shape, c.Workers = 23425, Shape{3, 128, 128}, 300 },
			map[string]int64{"batches": 367, "batch bytes": 12582912, "queue": 600, "queue bytes": 7549747200, "ring": 4}},
		{"C38", func(c *Config) { c.Batch, c.Shape, c.DType, c.RingSlots = 18944, Shape{3584}, cudamem.Float16, 4 },
			map[string]int64{"batch bytes": 135790592, "ring": 4, "ring bytes": 543162368, "pytorch": 1073741824}},
		{"C38 second", func(c *Config) { c.Batch, c.Shape, c.DType, c.RingSlots = 14336, Shape{4096}, cudamem.Float16, 4 },
			map[string]int64{"batch bytes": 117440512, "pytorch": 4 * 128 << 20}},
		{"C40", func(c *Config) { c.Batch, c.Shape, c.Workers = 8, Shape{3, 1024, 1024}, 16 },
			map[string]int64{"batch bytes": 100663296, "queue": 32, "queue bytes": 3221225472, "ring": 4, "ring bytes": 402653184}},
		{"C40 prefetch 8", func(c *Config) { c.Batch, c.Shape, c.Workers, c.Prefetch = 8, Shape{3, 1024, 1024}, 16, 8 },
			map[string]int64{"queue": 128, "queue bytes": 12884901888, "ring": 4, "ring bytes": 402653184}},
		{"C97", func(c *Config) { c.Batch, c.Shape = 1, Shape{65536, 65536} }, map[string]int64{"batch bytes": 17179869184}},

		{"pin off", func(c *Config) { c.Pin = loader.PinOff }, map[string]int64{"queue": 9, "ring": 0, "pinned": 0, "pytorch": 0}},
		{"direct", func(c *Config) { c.Pin = loader.PinDirect }, map[string]int64{"queue": 0, "ring": 10}},
		{"no workers, pin off", func(c *Config) { c.Workers, c.Pin = 0, loader.PinOff }, map[string]int64{"queue": 1, "ring": 0}},
		{"no workers, thread", func(c *Config) { c.Workers = 0 }, map[string]int64{"queue": 1, "ring": 4}},
		{"no workers, direct", func(c *Config) { c.Workers, c.Pin = 0, loader.PinDirect }, map[string]int64{"queue": 0, "ring": 2}},
		{"mapped", func(c *Config) { c.HostMemory = cudamem.Mapped }, map[string]int64{"device": 0}},
		{"managed is not locked", func(c *Config) { c.HostMemory, c.Pin = cudamem.Managed, loader.PinDirect },
			map[string]int64{"device": 0, "pinned": 0, "ring": 10}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			p := planOf(t, tc.change)
			got := map[string]int64{
				"batches": p.EpochBatches, "total": p.TotalBatches, "last": p.LastRows, "dropped": p.DroppedSamples,
				"idle": int64(p.IdleWorkers), "batch bytes": p.BatchBytes, "last bytes": p.LastBatchBytes,
				"queue": int64(p.QueueSlots), "queue bytes": p.QueueInputBytes, "ring": int64(p.RingSlots),
				"ring bytes": p.RingInputBytes, "pytorch": p.PyTorchInputBytes, "pinned": p.PinnedBytes,
				"device": int64(p.DeviceSlots), "link": p.EpochLinkBytes,
			}
			for name, want := range tc.want {
				if got[name] != want {
					t.Errorf("%s is %d, want %d", name, got[name], want)
				}
			}
		})
	}
}

// A slot is 64*8 bytes of labels, 64*602112 of inputs, rounded up to pages.
func TestPlanMemory(t *testing.T) {
	slot := wholePages(512 + 64*602112)
	p := planOf(t, func(c *Config) {})
	if want := 8 * slot; p.QueueBytes != want {
		t.Errorf("queue: %d bytes, want %d", p.QueueBytes, want)
	}
	if want := 4 * slot; p.PinnedBytes != want || p.RingBytes != want {
		t.Errorf("ring: %d bytes, %d pinned, want %d", p.RingBytes, p.PinnedBytes, want)
	}
	device := int64(2 * (512 + 64*602112))
	if want := device + 150528*10*4; p.DeviceBytes != want {
		t.Errorf("device: %d bytes, want %d", p.DeviceBytes, want)
	}
	if want := 12*slot + device/(cudamem.LineStride/pageBytes); p.HostBytes != want {
		t.Errorf("host: %d bytes, want %d", p.HostBytes, want)
	}

	dataset := planOf(t, func(c *Config) { c.Pin, c.Source, c.Samples = loader.PinDataset, "cached", 1000 })
	data := wholePages(1000*602112) + wholePages(1000*8)
	if want := data + 10*wholePages(64*8); dataset.PinnedBytes != want || dataset.DatasetBytes != data || dataset.DeviceSlots != 2 || dataset.RingKind != "mapped" {
		t.Errorf("data set: %+v, want %d pinned", dataset, want)
	}
}

func TestPlanOnCPU(t *testing.T) {
	c := DefaultConfig()
	p, err := NewPlan(c, specOf(c), cudamem.Info{ID: "cpu", InPlace: true}, roomy)
	if err != nil || p.DeviceSlots != 0 || p.EpochLinkBytes != 0 {
		t.Errorf("%+v, %v: nothing is copied on the CPU", p, err)
	}
}

func TestPlanNotes(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Config)
		want   string // notes and warnings; "" for none
	}{
		{"nothing to say", func(c *Config) {}, ""},
		{"C09", func(c *Config) { c.Samples, c.Batch, c.Workers, c.DropLast = 700, 128, 16, true },
			"60 samples at the end of each epoch are dropped: they do not fill a batch of 128.\n" +
				"Nothing to do for 11 of 16 workers: an epoch has 5 batches."},
		{"C24", func(c *Config) { c.Samples = 1000 }, "The last batch of an epoch holds 40 samples instead of 64."},
		{"C33", func(c *Config) { c.Workers, c.Prefetch = 0, 4 },
			"Without workers, prefetch and keep-workers are ignored: the training loop loads by itself."},
		{"C33 nothing given", func(c *Config) { c.Workers = 0 }, ""},
		{"C34, as many as CPUs", func(c *Config) { c.Workers, c.Samples = 64, 6400 }, ""},
		{"C34", func(c *Config) { c.Workers, c.Samples = 65, 6400 },
			"workers 65, usable CPUs 64: workers take turns, and the trainer with them."},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			p := planOf(t, tc.change)
			if got := strings.Join(append(p.Notes, p.Warnings...), "\n"); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestPlanRefusals(t *testing.T) {
	c := DefaultConfig()
	c.Samples, c.DropLast = 50, true
	if _, err := NewPlan(c, specOf(c), simulated, roomy); errorText(err) != nothingLeft(50, 64).Error() {
		t.Errorf("C26: %v", err)
	}
	// 2^62 bytes a batch: one fits into 63 bits, the queue does not.
	c = DefaultConfig()
	c.Source, c.Samples, c.Shape, c.Batch, c.Workers = "randn", 1, Shape{1 << 30, 1 << 30}, 1, 1
	_, err := NewPlan(c, specOf(c), simulated, roomy)
	var input *InputError
	if !errors.As(err, &input) || input.Field != "batch" {
		t.Errorf("C97: %v", err)
	}
	c.Samples, c.Shape = math.MaxInt64, Shape{1}
	if _, err := NewPlan(c, specOf(c), simulated, roomy); !errors.As(err, &input) || input.Field != "samples" {
		t.Errorf("C97, samples: %v", err)
	}
	// No page can be added to a batch of 2^63-1 bytes.
	spec := source.Spec{Samples: 1, SampleBytes: math.MaxInt64 - 8, LabelBytes: 8, DType: cudamem.Uint8}
	c.Batch = 1
	if _, err := NewPlan(c, spec, simulated, roomy); !errors.As(err, &input) || !strings.Contains(input.Problem, "are too large") {
		t.Errorf("C97, largest: %v", err)
	}
}

func TestCheckPlans(t *testing.T) {
	// 12,582,912 bytes a batch, as in C45; labels add a page.
	ring := func(slots int) Plan {
		return planOf(t, func(c *Config) {
			c.Pin, c.Shape, c.Workers, c.RingSlots, c.OutFeatures = loader.PinDirect, Shape{3, 128, 128}, 1, slots, 1
		})
	}
	container := limitsOf(2147483648)
	container.Source = "container limit"
	plan := ring(100)
	// The data set, 1 GiB, is shared: the second side adds only its ring.
	dataset := planOf(t, func(c *Config) {
		c.Source, c.Samples, c.Pin, c.Shape, c.Workers = "cached", 1<<18, loader.PinDataset, Shape{1024}, 1
	})
	capped := ring(4)
	capped.MaxPinned = 4 << 20
	cases := []struct {
		name   string
		plans  []Plan
		limits Limits
		risk   bool
		want   []string // parts of the refusal; nil: none
	}{
		{"C45", []Plan{ring(256)}, container, false,
			[]string{"ring-slots: 3,22", "1,879,048,192 B (1.75 GiB) can be used", "2,147,483,648 B (2 GiB) available (container limit 2,147,483,648 B (2 GiB))", "lower ring-slots, batch"}},
		{"C47 1.2x", []Plan{plan}, limitsOf(plan.HostBytes * 10 / 12), false, []string{"ring-slots: 1,2", "can be used"}},
		{"C47 1.2x, risked", []Plan{plan}, limitsOf(plan.HostBytes * 10 / 12), true, []string{"ring-slots: 1,2", "can be used"}},
		{"C47 0.9x", []Plan{plan}, limitsOf(plan.HostBytes * 10 / 9), false, []string{"can be used"}},
		{"C47 0.9x, risked", []Plan{plan}, limitsOf(plan.HostBytes * 10 / 9), true, []string{"can be used"}},
		{"C47 0.6x", []Plan{plan}, limitsOf(plan.PinnedBytes * 10 / 6), false, []string{"would be pinned, the cap is", "cannot be taken back", "lower ring-slots, batch", "--risk-memory overrides it"}},
		{"C47 0.6x, risked", []Plan{plan}, limitsOf(plan.PinnedBytes * 10 / 6), true, nil},
		{"half", []Plan{plan}, limitsOf(plan.PinnedBytes * 2), false, nil},
		{"both sides", []Plan{plan, plan}, limitsOf(plan.PinnedBytes * 2), true, []string{"can be used"}},
		{"shared data set", []Plan{dataset, dataset}, limitsOf(2*dataset.PinnedBytes + 1<<20), false, nil},
		{"unknown", []Plan{plan}, Limits{UsableCPUs: 1}, false, nil},
		{"max-pinned", []Plan{capped}, roomy, true, []string{"max-pinned: 50,", "are allowed; lower ring-slots"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			err := CheckPlans(tc.plans, tc.limits, tc.risk)
			if (err == nil) != (tc.want == nil) {
				t.Fatalf("got %v", err)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func TestPlanText(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			p.Config.Workers = min(p.Config.Workers, 2)
			plan, err := NewPlan(p.Config, specOf(p.Config), simulated, roomy)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := plan.Text(&text); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(text.String()) {
				if len(line) > 81 {
					t.Errorf("%d columns: %s", len(line)-1, line)
				}
			}
		})
	}
}

func TestSystemLimits(t *testing.T) {
	l := SystemLimits()
	if l.UsableCPUs < 1 {
		t.Errorf("usable CPUs %d", l.UsableCPUs)
	}
	if l.AvailableBytes != nil && (*l.AvailableBytes < 0 || *l.AvailableBytes > *l.TotalBytes) {
		t.Errorf("%d of %d bytes are available", *l.AvailableBytes, *l.TotalBytes)
	}
	if d := DefaultWorkers(); d < 1 || d > min(4, l.UsableCPUs) {
		t.Errorf("default workers %d with %d usable CPUs", d, l.UsableCPUs)
	}
}
