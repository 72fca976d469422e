package bench

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"pinscope/bench/loader"
	"pinscope/bench/pressure"
	"pinscope/bench/source"
	"pinscope/bench/units"
	"pinscope/cudamem"
)

// Plan is what a configuration comes to, worked out before anything is
// allocated. Sizes are bytes. "Input" is the input tensors alone, without
// labels and without what rounding up to whole pages adds.
type Plan struct {
	Shape Shape         `json:"shape,omitempty"` // of one sample: the source's, which npy files bring themselves
	DType cudamem.DType `json:"dtype"`           // of one value, likewise

	Samples        int64 `json:"samples"`         // in the data set
	EpochBatches   int64 `json:"epoch_batches"`   // in an epoch
	TotalBatches   int64 `json:"total_batches"`   // in a repeat: over all epochs
	LastRows       int64 `json:"last_rows"`       // samples in the last batch of an epoch
	DroppedSamples int64 `json:"dropped_samples"` // left out of each epoch by drop_last
	UsableCPUs     int   `json:"usable_cpus"`     // by affinity and quota
	IdleWorkers    int   `json:"idle_workers"`    // that have no batch to fill in an epoch

	BatchBytes      int64 `json:"batch_bytes"`       // input of a full batch
	BatchLabelBytes int64 `json:"batch_label_bytes"` // labels of a full batch
	LastBatchBytes  int64 `json:"last_batch_bytes"`  // input of the last batch
	SlotBytes       int64 `json:"slot_bytes"`        // a slot: labels, inputs, rounded up to whole pages

	QueueSlots      int   `json:"queue_slots"`       // pageable slots that workers fill; 0 if they fill the ring
	QueueBytes      int64 `json:"queue_bytes"`       // all of them
	QueueInputBytes int64 `json:"queue_input_bytes"` //

	RingSlots      int    `json:"ring_slots"`       // of HostKind memory; 0 with pin off
	RingBytes      int64  `json:"ring_bytes"`       // all of them
	RingInputBytes int64  `json:"ring_input_bytes"` //
	RingKind       string `json:"ring_kind"`        // kind of memory

	DatasetBytes int64 `json:"dataset_bytes"` // memory that the source holds
	PinnedBytes  int64 `json:"pinned_bytes"`  // page-locked in all

	// What PyTorch's allocator, which rounds each tensor up to a power of two,
	// would take for the inputs of as many pinned slots. For comparison only.
	PyTorchInputBytes int64 `json:"pytorch_input_bytes"`

	DeviceSlots int   `json:"device_slots"` // 0 where steps read host memory in place
	DeviceBytes int64 `json:"device_bytes"` // slots and weights
	HostBytes   int64 `json:"host_bytes"`   // host memory in all: queue, ring, data set, scratch, what simulated device memory takes

	EpochLinkBytes int64 `json:"epoch_link_bytes"` // inputs and labels sent to the device in an epoch

	MaxPinned Size     `json:"max_pinned"` // as configured
	Notes     []string `json:"notes"`      // what follows from the settings, in sentences
	Warnings  []string `json:"warnings"`   // what casts a doubt on them

	data string // names the data set, so that sides that share it count it once
}

// deviceSlots is how many batches the device holds: one that a step reads and
// one that is being copied.
const deviceSlots = 2

// NewPlan works out what a valid configuration comes to with a data set on a
// device. The error is an *InputError: something does not fit into 63 bits, or
// nothing is left to train on.
func NewPlan(c Config, spec source.Spec, info cudamem.Info, limits Limits) (Plan, error) {
	p := Plan{Shape: spec.Shape, DType: spec.DType, Samples: spec.Samples, UsableCPUs: limits.UsableCPUs, MaxPinned: c.MaxPinned, Notes: []string{}, Warnings: []string{}}
	p.data = strings.Join([]string{c.Source, fmt.Sprint(spec.Samples), fmt.Sprint(spec.Shape), spec.DType.String(),
		fmt.Sprint(c.Seed)}, "|")
	m := &meter{}
	if err := p.countBatches(m, c, spec); err != nil {
		return Plan{}, err
	}
	if err := p.sizeBatches(m, c, spec); err != nil {
		return Plan{}, err
	}
	p.countSlots(c, info)
	p.sizeHost(m, c, spec)
	p.sizeDevice(m, c, spec, info)
	if m.overflow {
		return Plan{}, &InputError{Field: "batch", Value: fmt.Sprint(c.Batch), Problem: fmt.Sprintf(
			"%d queue slots and %d ring slots of %d bytes are more than 2^63-1 bytes; lower batch, workers or prefetch",
			p.QueueSlots, p.RingSlots, p.SlotBytes)}
	}
	p.note(c, limits)
	return p, nil
}

func (p *Plan) countBatches(m *meter, c Config, spec source.Spec) error {
	order := loader.Sampler{Samples: spec.Samples, Batch: c.Batch, DropLast: c.DropLast}
	p.EpochBatches = order.EpochBatches()
	if p.EpochBatches == 0 {
		return nothingLeft(spec.Samples, c.Batch)
	}
	if m.times(spec.Samples, m.plus(spec.SampleBytes, spec.LabelBytes)); m.overflow {
		return &InputError{Field: "samples", Value: fmt.Sprint(spec.Samples), Problem: fmt.Sprintf(
			"%d samples of %d bytes and %d bytes of label are too many; allowed is up to 2^63-1 bytes in an epoch",
			spec.Samples, spec.SampleBytes, spec.LabelBytes)}
	}
	p.TotalBatches = m.times(p.EpochBatches, int64(c.Epochs))
	p.LastRows = c.Batch
	if short := spec.Samples % c.Batch; short > 0 {
		if c.DropLast {
			p.DroppedSamples = short
		} else {
			p.LastRows = short
		}
	}
	p.IdleWorkers = int(max(0, int64(c.Workers)-p.EpochBatches))
	return nil
}

func (p *Plan) sizeBatches(m *meter, c Config, spec source.Spec) error {
	p.BatchBytes = m.times(c.Batch, spec.SampleBytes)
	p.BatchLabelBytes = m.times(c.Batch, spec.LabelBytes)
	// Rounding labels up to a line and the slot up to a page adds less than two pages.
	if m.plus(m.plus(p.BatchBytes, p.BatchLabelBytes), 2*pageBytes); m.overflow {
		return &InputError{Field: "batch", Value: fmt.Sprint(c.Batch), Problem: fmt.Sprintf(
			"%d samples of %d bytes and %d bytes of label are too large; allowed is up to 2^63-1 bytes",
			c.Batch, spec.SampleBytes, spec.LabelBytes)}
	}
	p.LastBatchBytes = p.LastRows * spec.SampleBytes
	p.SlotBytes = wholePages(loader.SlotBytes(spec, c.Batch))
	if c.Pin == loader.PinDataset {
		const indexBytes = 8
		p.SlotBytes = wholePages(c.Batch * indexBytes)
	}
	return nil
}

// countSlots says how many slots there are of each kind.
func (p *Plan) countSlots(c Config, info cudamem.Info) {
	ahead := c.Workers * c.Prefetch
	switch c.Pin {
	case loader.PinOff:
		p.QueueSlots = ahead + 1 // one in the trainer's hands
	case loader.PinThread, loader.PageableThread:
		p.QueueSlots = max(ahead, 1)
		p.RingSlots = 4
	default: // one in the trainer's hands, one that the copy engine still reads
		p.RingSlots = ahead + 2
	}
	if c.Pin != loader.PinOff {
		p.RingKind = c.HostKind().String()
		if c.RingSlots > 0 {
			p.RingSlots = c.RingSlots
		}
	}
	inPlace := info.InPlace || c.HostKind().DeviceReadable() && c.Pin != loader.PinDataset
	if !inPlace {
		p.DeviceSlots = deviceSlots
	}
}

func (p *Plan) sizeHost(m *meter, c Config, spec source.Spec) {
	p.QueueBytes = m.times(int64(p.QueueSlots), p.SlotBytes)
	p.QueueInputBytes = m.times(int64(p.QueueSlots), p.BatchBytes)
	p.RingBytes = m.times(int64(p.RingSlots), p.SlotBytes)
	p.DatasetBytes = spec.HostBytes
	pinned := c.HostKind().PageLocked()
	if pinned {
		p.PinnedBytes = p.RingBytes
	}
	if c.Pin != loader.PinDataset {
		p.RingInputBytes = m.times(int64(p.RingSlots), p.BatchBytes)
		if c.Pin.Pins() {
			p.PyTorchInputBytes = m.times(int64(p.RingSlots), m.powerOfTwo(p.BatchBytes))
		}
	} else if pinned {
		// Samples and labels are two allocations.
		dataset := m.plus(wholePages(m.times(spec.Samples, spec.SampleBytes)), wholePages(m.times(spec.Samples, spec.LabelBytes)))
		p.DatasetBytes = max(p.DatasetBytes, dataset)
		p.PinnedBytes = m.plus(p.PinnedBytes, dataset)
	}
	p.HostBytes = m.plus(m.plus(p.QueueBytes, p.RingBytes), p.DatasetBytes)
	if c.HostKind() == cudamem.WriteCombined && c.Pin == loader.PinDirect {
		// Workers fill a slot's worth of ordinary memory first, where batches are checked.
		p.HostBytes = m.plus(p.HostBytes, m.times(int64(max(c.Workers, 1)), p.SlotBytes))
	}
}

func (p *Plan) sizeDevice(m *meter, c Config, spec source.Spec, info cudamem.Info) {
	const weightBytes = 4
	slots := m.times(int64(p.DeviceSlots), loader.SlotBytes(spec, c.Batch))
	weights := m.times(m.times(spec.SampleBytes/spec.DType.Size(), int64(c.OutFeatures)), weightBytes)
	p.DeviceBytes = m.plus(slots, weights)
	switch {
	case info.InPlace:
		p.HostBytes = m.plus(p.HostBytes, weights)
	case info.Simulated && c.Verify:
		p.HostBytes = m.plus(p.HostBytes, slots)
	case info.Simulated: // only the pages that hold sampled lines are ever touched
		p.HostBytes = m.plus(p.HostBytes, slots/(cudamem.LineStride/pageBytes))
	}
	if !info.InPlace {
		sent := p.Samples - p.DroppedSamples
		p.EpochLinkBytes = m.times(sent, spec.SampleBytes+spec.LabelBytes)
	}
}

// note puts into words what follows from the settings.
func (p *Plan) note(c Config, limits Limits) {
	say := func(format string, args ...any) { p.Notes = append(p.Notes, fmt.Sprintf(format, args...)) }
	if p.DroppedSamples > 0 {
		say("%s samples at the end of each epoch are dropped: they do not fill a batch of %s.",
			units.Count(p.DroppedSamples), units.Count(c.Batch))
	}
	if p.LastRows < c.Batch {
		say("The last batch of an epoch holds %s samples instead of %s.", units.Count(p.LastRows), units.Count(c.Batch))
	}
	if p.IdleWorkers > 0 {
		say("Nothing to do for %d of %d workers: an epoch has %s.", p.IdleWorkers, c.Workers, batches(p.EpochBatches))
	}
	if c.Workers == 0 && (c.Prefetch != defaultPrefetch || c.KeepWorkers) {
		say("Without workers, prefetch and keep-workers are ignored: the training loop loads by itself.")
	}
	if c.Workers > limits.UsableCPUs {
		p.Warnings = append(p.Warnings, fmt.Sprintf("workers %d, usable CPUs %d: workers take turns, and the trainer with them.",
			c.Workers, limits.UsableCPUs))
	}
}

// CheckPlans says whether the plans of a measurement, all of which are held in
// memory at once, fit: nil, or an *InputError that names what is needed, what
// there is and which settings to lower. See [pressure.Guard]; risk is its override.
func CheckPlans(plans []Plan, limits Limits, risk bool) error {
	return refusal(plans, guard(plans, limits, risk))
}

// Check is CheckPlans for one plan.
func (p Plan) Check(limits Limits, risk bool) error { return CheckPlans([]Plan{p}, limits, risk) }

// guard holds what the plans need against what there is.
func guard(plans []Plan, limits Limits, risk bool) pressure.Decision {
	return pressure.Guard(needs(plans), limits, risk)
}

// refusal is the error that a decision amounts to, and the plans' own limits.
func refusal(plans []Plan, d pressure.Decision) error {
	refuse := func(bytes int64, more string) error {
		field := "batch"
		if len(d.Settings) > 0 {
			field = d.Settings[0]
		}
		return &InputError{Field: field, Value: fmt.Sprint(bytes), Problem: d.Text + more}
	}
	if d.Verdict == pressure.Refused {
		return refuse(d.NeedBytes, "")
	}
	for _, p := range plans {
		if p.MaxPinned > 0 && d.PinnedBytes > int64(p.MaxPinned) {
			return &InputError{Field: "max-pinned", Value: p.MaxPinned.String(), Problem: fmt.Sprintf(
				"%s would be pinned, %s are allowed; lower ring-slots or batch, or raise max-pinned", exact(d.PinnedBytes), exact(int64(p.MaxPinned)))}
		}
	}
	if !d.Runs() {
		return refuse(d.PinnedBytes, "; --risk-memory overrides it")
	}
	return nil
}

// needs is all that the plans hold at once; a data set that several share counts once.
func needs(plans []Plan) pressure.Need {
	var need pressure.Need
	data := map[string]Plan{}
	for _, p := range plans {
		need = append(need,
			pressure.Part{Name: "queue", Bytes: p.QueueBytes, Settings: []string{"prefetch", "workers", "batch"}},
			pressure.Part{Name: "ring", Bytes: p.RingBytes, Pinned: p.ringPinned(), Settings: []string{"ring-slots", "batch", "workers", "prefetch"}},
			pressure.Part{Name: "scratch and device memory", Bytes: max(0, p.HostBytes-p.QueueBytes-p.RingBytes-p.DatasetBytes),
				Settings: []string{"batch", "out-features"}})
		shared := data[p.data]
		shared.DatasetBytes = max(shared.DatasetBytes, p.DatasetBytes)
		shared.PinnedBytes = max(shared.PinnedBytes, p.datasetPinned())
		data[p.data] = shared
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		shared, settings := data[name], []string{"samples", "shape"}
		need = append(need, pressure.Part{Name: "pinned data set", Bytes: shared.PinnedBytes, Pinned: true, Settings: settings},
			pressure.Part{Name: "data set", Bytes: max(0, shared.DatasetBytes-shared.PinnedBytes), Settings: settings})
	}
	return need
}

// ringPinned says whether the ring is page-locked.
func (p Plan) ringPinned() bool { return p.PinnedBytes > 0 }

// datasetPinned is the part of PinnedBytes that is the data set.
func (p Plan) datasetPinned() int64 {
	return max(0, p.PinnedBytes-p.RingBytes)
}

// exact is a size in bytes, and in a unit that reads easily.
func exact(bytes int64) string {
	if bytes < 1024 {
		return units.Count(bytes) + " B"
	}
	return fmt.Sprintf("%s B (%s)", units.Count(bytes), units.Bytes(bytes))
}

// meter does arithmetic on sizes (>= 0) and notes when 63 bits are not enough;
// results are then MaxInt64.
type meter struct{ overflow bool }

func (m *meter) times(a, b int64) int64 {
	product, ok := times(a, b)
	if !ok {
		m.overflow = true
		return math.MaxInt64
	}
	return product
}

func (m *meter) plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		m.overflow = true
		return math.MaxInt64
	}
	return a + b
}

// powerOfTwo is the least power of two that is >= n.
func (m *meter) powerOfTwo(n int64) int64 {
	width := bits.Len64(uint64(max(n, 1) - 1))
	if width > 62 {
		m.overflow = true
		return math.MaxInt64
	}
	return 1 << width
}

// wholePages rounds up to whole pages; what is too large for that stays as it is.
func wholePages(bytes int64) int64 {
	if bytes > math.MaxInt64-pageBytes {
		return bytes
	}
	return (bytes + pageBytes - 1) / pageBytes * pageBytes
}
