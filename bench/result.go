package bench

import (
	"time"

	"pinscope/bench/gpuwatch"
	"pinscope/bench/pressure"
	"pinscope/bench/stats"
	"pinscope/bench/trace"
	"pinscope/bench/verdict"
	"pinscope/cudamem"
)

// SchemaVersion is that of the result files written by this program. Reading
// takes this version and older ones.
const SchemaVersion = 1

// Result is everything one invocation measured: a file of it alone can be
// understood, drawn and repeated. What is not known is nil (null in JSON), never 0.
type Result struct {
	Schema    int       `json:"schema"`
	Kind      Kind      `json:"kind"`
	Simulated bool      `json:"simulated"` // times come from a model of a GPU
	Tool      Tool      `json:"tool"`
	Started   time.Time `json:"started"`
	Command   string    `json:"command"` // that repeats it
	Host      Host      `json:"host"`
	Device    Device    `json:"device"`
	Limits    *Limits   `json:"limits"` // found before anything was allocated

	Complete  bool   `json:"complete"`  // all that was asked for was measured
	Cancelled bool   `json:"cancelled"` // by the user
	Error     string `json:"error,omitempty"`

	Sides      []Side            `json:"sides"`
	GPU        *gpuwatch.Series  `json:"gpu"`        // what NVML saw during the repeats, link under load included; nil: no real GPU, or no NVML
	Pressure   *pressure.Series  `json:"pressure"`   // memory during all of it, on the clock of the repeats; nil: not sampled
	Comparison *stats.Comparison `json:"comparison"` // of B with A; nil for a single run
	Ladder     *Ladder           `json:"ladder,omitempty"`
	Sweep      *Sweep            `json:"sweep,omitempty"`
	NotValid   []string          `json:"not_valid"` // why the comparison does not count; empty if it does
	Findings   []string          `json:"findings"`  // what the figures show beside the speed-up
	Warnings   []string          `json:"warnings"`  // doubts about them, settings that were ignored
	Sentence   string            `json:"sentence"`  // the answer, in words
}

// Kind is what was asked for.
type Kind string

// The kinds of result.
const (
	KindRun     Kind = "run"
	KindCompare Kind = "compare"
	KindLadder  Kind = "ladder"
	KindSweep   Kind = "sweep"
)

// Device is the device of a result.
type Device struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Simulated   bool              `json:"simulated"`
	Why         string            `json:"why,omitempty"` // this one, where it was chosen automatically
	UUID        string            `json:"uuid,omitempty"`
	PCIAddress  string            `json:"pci_address,omitempty"`
	Driver      string            `json:"driver,omitempty"`
	NUMANode    *int              `json:"numa_node"`
	MemoryBytes int64             `json:"memory_bytes,omitempty"`
	CopyEngines int               `json:"copy_engines,omitempty"`
	LinkGBps    *float64          `json:"link_gbps"`
	EventClock  string            `json:"event_clock"`
	Model       map[string]string `json:"model,omitempty"` // of the simulated GPU, as --sim spells it
}

// Side is one configuration and what was measured with it.
type Side struct {
	Label   string `json:"label"`          // "A", "B"; "1", "2" in a sweep; empty for a single run
	Name    string `json:"name,omitempty"` // what sets it apart, in a ladder or a sweep
	Config  Config `json:"config"`
	Command string `json:"command"` // that runs this side alone
	Plan    Plan   `json:"plan"`
	Setup   Setup  `json:"setup"`

	Repeats []Repeat `json:"repeats"` // in the order they were run, warm-up first

	SamplesPerS stats.Summary `json:"samples_per_s"` // of the repeats that count

	// The repeat whose throughput is the median of those that count (the lower
	// of two), or with many repeats one next to it, in full; nil when none counts.
	Typical *int         `json:"typical_repeat"`
	Trace   *trace.Trace `json:"trace"`

	Verdict *verdict.Verdict `json:"verdict"` // what limits it; nil when no repeat counts
}

// Setup is what was done before the clock started.
type Setup struct {
	SlotsDuration   time.Duration `json:"slots_ns"`         // allocating all host slots
	PinDuration     time.Duration `json:"pin_ns"`           // page-locking, within that and for the data set
	SourceDuration  time.Duration `json:"source_ns"`        // opening the source, drawing its samples
	SourceShared    bool          `json:"source_shared"`    // with the side before
	PinCalls        int           `json:"pin_calls"`        // page-locked allocations
	PinRequested    bool          `json:"pin_requested"`    // page-locked slots were asked for
	PinEffective    PinState      `json:"pin_effective"`    // what was got
	PinnedBytes     int64         `json:"pinned_bytes"`     // locked in fact for this side, whole pages
	RingSlotsAsked  int           `json:"ring_slots_asked"` //
	RingSlotsGot    int           `json:"ring_slots_got"`   //
	RingSlotsLocked int           `json:"ring_slots_locked"`
	Refused         string        `json:"refused,omitempty"` // why the ring is short
	NUMANode        *int          `json:"numa_node"`         // that workers and slots were bound to; nil: not bound
}

// PinState is how much of what should be page-locked is.
type PinState string

// The pin states.
const (
	PinnedNone PinState = "off"      // nothing was asked for
	PinnedAll  PinState = "on"       // everything is page-locked
	PinnedPart PinState = "part"     // some slots were refused
	PinnedSim  PinState = "modelled" // the simulated GPU treats it as pinned; the system let it lock no or not all pages
)

// Repeat is one run over all epochs.
type Repeat struct {
	Warmup      bool          `json:"warmup"` // kept, but left out of all summaries
	Position    int           `json:"position"`
	Start       time.Duration `json:"start_ns"` // on the run's clock
	Wall        time.Duration `json:"wall_ns"`
	Batches     int64         `json:"batches"`
	Samples     int64         `json:"samples"`
	InputBytes  int64         `json:"input_bytes"`
	SamplesPerS *float64      `json:"samples_per_s"` // nil when nothing was finished
	Complete    bool          `json:"complete"`
	Error       string        `json:"error,omitempty"`

	Stages       []trace.StageSummary `json:"stages"`
	OverlapShare *float64             `json:"overlap_share"`
	PinCalls     int64                `json:"pin_calls"` // page-locked allocations during the repeat: 0
	Fallbacks    int64                `json:"fallbacks"` // slower ways taken without being asked: 0

	FirstLoss    *float64 `json:"first_loss"` // nil where the device computes none
	LastLoss     *float64 `json:"last_loss"`
	SeriesDigest string   `json:"series_digest,omitempty"` // of all that the device read, in order
	Checked      int64    `json:"checked"`                 // batches compared with what was written
	Mismatches   int64    `json:"mismatches"`
	BadSamples   int64    `json:"bad_samples"` // skipped so far
}

// counts says whether a repeat enters the summaries.
func (r Repeat) counts() bool { return r.Complete && !r.Warmup && r.SamplesPerS != nil }

func newDevice(info cudamem.Info, why string) Device {
	d := Device{
		ID: info.ID, Name: info.Name, Simulated: info.Simulated, Why: why, UUID: info.UUID,
		PCIAddress: info.PCIAddress, Driver: info.Driver, MemoryBytes: info.MemoryBytes,
		CopyEngines: info.CopyEngines, EventClock: info.EventClock, Model: info.Model,
	}
	if info.NUMANode >= 0 {
		d.NUMANode = &info.NUMANode
	}
	if info.LinkGBps > 0 && info.LinkGBps < 1e9 {
		d.LinkGBps = &info.LinkGBps
	}
	return d
}
