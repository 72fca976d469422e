package doctor

import "pinscope/bench/pressure"

// Driver is the state of the NVIDIA driver.
type Driver uint8

// States of the driver.
const (
	DriverUnknown Driver = iota
	NoDriver
	BadDriver // there, but not working
	NoGPU     // working, without a GPU
	DriverReady
)

// Runner is the state of the CUDA runner, the program that uses a real GPU.
type Runner uint8

// States of the runner.
const (
	RunnerUnknown Runner = iota
	RunnerMissing
	RunnerReady
)

// Facts are what is known of the machine and of the run in question.
type Facts struct {
	Limits pressure.Limits

	Driver       Driver
	DriverReason string // why it is not ready, in words; may be empty
	DriverCure   string // what may help, in words; empty: the doctor's own advice
	GPUs         []GPU
	Runner       Runner
	RunnerPath   string // where it is; may be empty
	BuildRunner  string // the command that builds it

	Run Run
}

// GPU is what the driver tells of a GPU; nil is unknown.
type GPU struct {
	Name          string
	NUMANode      *int
	Generation    *int // of the PCIe link, now
	Width         *int // lanes, now
	MaxGeneration *int
	MaxWidth      *int
	UnderLoad     bool // Generation and Width were read while copies ran: a link slows down when idle
}

// Run is the configuration in question.
type Run struct {
	Workers         int
	BatchBytes      int64 // input of a batch
	SlotBytes       int64 // of a ring's slot; 0: none asked about
	PinnedBytes     int64 // that it would pin in all
	Pinned          bool  // pin thread, direct or dataset
	NonBlocking     bool
	DedicatedStream bool
	CPU             bool // trains on the CPU
	Simulated       bool // on the simulated GPU
	Tokens          bool // samples are token ids
	NUMANode        *int // that workers and ring are bound to; nil: not bound, or unknown

	// Of a run that was measured, as shares of its time; nil: not measured.
	DeviceBusyShare *float64
	WaitShare       *float64 // in which the trainer waited for a batch
}
