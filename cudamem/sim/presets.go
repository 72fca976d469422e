package sim

import "time"

// presets are the models by name. Where no source is given for a value it is an
// estimate, and the comment says from what.
//
// PageableGBps, PinSecPerGiB and Jitter are 0 in all but one of them: staging a
// pageable copy and locking memory are the host's work, so they take what they
// take on the machine this runs on.
//
// TFLOPS of GeForce cards are 2 operations x CUDA cores x boost clock, from the
// specification pages named. Memory is what the product is sold with, in GiB.
var presets = []Model{
	{
		// GeForce RTX 4060 Laptop GPU, a common one in the laptops of 2023 to 2026.
		// nvidia.com/geforce/laptops/compare: 3072 cores, boost up to 2370 MHz, 8 GB GDDR6, 128 bit.
		// Its memory runs at 16 Gbit/s a pin (notebook reviews; x 128 bit = 256 GB/s). PCIe 4.0 with
		// 8 lanes is what the desktop card with this chip, AD107, is sold with.
		Name:     "laptop",
		LinkGBps: 12.4, // half of the 24.8 measured on 16 lanes, see a100-pcie4
		Latency:  geForceLatency, CopyEngines: geForceCopyEngines, Launch: launch,
		TFLOPS: 14.6, MemGBps: 256, MemoryBytes: 8 << 30, Seed: 1,
	},
	{
		// NVIDIA H200 (PCIe 5 x16, driver 580, 16-core Xeon virtual machine), measured 2026-12:
		// HtoD of pinned memory 55.4 GB/s at 1 GB; 62.5 kB at 11.4, 1 MB at 43.9 and 9.6 MB at
		// 54.0 GB/s, which leaves 4.4 to 4.7 us beside bytes/55.4; three copy engines.
		Name: "h200", LinkGBps: 55.4, Latency: 4400 * time.Nanosecond, CopyEngines: 3, Launch: launch,
		// A pageable copy of a batch that workers have just written, inside a loader: 38.5 MB in 4.8
		// to 6.2 ms; bandwidth alone gave 6.2 to 6.7 GB/s at 64 MiB, 12 to 14 from 1 to 16 MiB, where
		// the same bytes are copied again and again. Paced, since staging with this machine's CPU
		// would say nothing of that one: really staged there, runs with pin off came out 14 to 20 %
		// too fast (2026-12-01); paced, 4 to 5 % too slow.
		PageableGBps: 6.5,
		// cuMemHostAlloc there, slots of 36.75 MiB: 16 to 19 ms each (2026-12-01); on another day 29
		// to 58 ms, and 1.4 to 1.6 s at 1 GB. The driver's own part of it (it maps the pages for the
		// GPU) is missing from what mlock takes here.
		PinSecPerGiB: 0.5,
		// NVIDIA H200 data sheet: 67 TFLOPS float32, 4.8 TB/s; about 139 GiB of its 141 GB were usable.
		TFLOPS: 67, MemGBps: 4800, MemoryBytes: 139 << 30, Seed: 1,
	},
	{
		// NVIDIA A100 80GB PCIe, data sheet: 19.5 TFLOPS float32, 1,935 GB/s, PCIe 4.0 x16.
		Name: "a100-pcie4",
		// 24.81 GB/s: nvbandwidth 0.8, host_to_device_memcpy_ce on an A100 (SXM4, also PCIe 4.0
		// x16), forums.developer.nvidia.com/t/352186.
		LinkGBps: 24.8,
		Latency:  serverLatency, CopyEngines: 3, Launch: launch, // engines: as on the H200
		TFLOPS: 19.5, MemGBps: 1935, MemoryBytes: 80 << 30, Seed: 1,
	},
	{
		// nvidia.com GeForce RTX 4090: 16384 cores, boost 2.52 GHz, 24 GB GDDR6X, 384 bit; 21 Gbit/s
		// a pin = 1,008 GB/s (Ada architecture whitepaper, appendix A), PCIe 4.0 x16.
		Name:     "rtx4090",
		LinkGBps: 24.8, // the same link as a100-pcie4
		Latency:  geForceLatency, CopyEngines: geForceCopyEngines, Launch: launch,
		TFLOPS: 82.6, MemGBps: 1008, MemoryBytes: 24 << 30, Seed: 1,
	},
	{
		// nvidia.com GeForce RTX 3060: 3584 cores, boost 1.78 GHz, 12 GB GDDR6, 192 bit; at a memory
		// clock of 1,875 MHz (board makers' sheets; x 8) 15 Gbit/s a pin = 360 GB/s; PCIe 4.0 x16.
		Name:     "rtx3060",
		LinkGBps: 24.8, // the same link as a100-pcie4
		Latency:  geForceLatency, CopyEngines: geForceCopyEngines, Launch: launch,
		TFLOPS: 12.8, MemGBps: 360, MemoryBytes: 12 << 30, Seed: 1,
	},
	{
		// GeForce GTX 1080 whitepaper: 2560 cores, boost 1733 MHz (8,873 GFLOPS), 8 GB GDDR5X,
		// 320 GB/s, PCIe 3.0 x16.
		Name: "gtx1080-pcie3",
		// Half of a100-pcie4's: half the rate a lane, the same coding and packets. pytorch/pytorch#16901
		// (2019) has 11.0 GB/s from pinned memory.
		LinkGBps: 12.4,
		Latency:  geForceLatency, CopyEngines: geForceCopyEngines, Launch: launch,
		TFLOPS: 8.87, MemGBps: 320, MemoryBytes: 8 << 30, Seed: 1,
	},
	{
		// NVIDIA GH200 data sheet: 67 TFLOPS float32, 96 GB HBM3, up to 4 TB/s, NVLink-C2C 450 GB/s
		// a direction.
		Name: "gh200",
		// 375 GB/s host to device measured: Schieffer and others, Harnessing Integrated CPU-GPU System
		// Memory for HPC: a first look into Grace Hopper, ICPP 2024.
		LinkGBps: 375,
		Latency:  serverLatency, CopyEngines: 3, Launch: launch, // engines: as on the H200
		TFLOPS: 67, MemGBps: 4000, MemoryBytes: 96 << 30, Seed: 1,
	},
}

const (
	// serverLatency is the H200's, taken over for want of better.
	serverLatency = 4400 * time.Nanosecond

	// geForceLatency is an estimate: the middle of the 5 to 7 us that are reported for a
	// small cudaMemcpyAsync (emergentmind.com/open-problems/breakdown-of-cudamemcpyasync-overhead).
	geForceLatency = 6 * time.Microsecond

	// geForceCopyEngines is an estimate: what CUDA's deviceQuery sample shows for such
	// cards is 1 to 5, and one for each direction is all that matters here.
	geForceCopyEngines = 2

	// launch is an estimate: the three kernels of a step, 2 us each from one to the
	// next. On the H200 an asynchronous call returned in 2 to 3 us.
	launch = 6 * time.Microsecond
)
