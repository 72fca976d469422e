// Package kernels holds what runs on a real GPU: the training step of a linear
// layer (linear.cu), and the gather over the link and the checksum
// (transfer.cu), as PTX that any driver since CUDA 11.8's (520) compiles for
// any GPU since Maxwell.
//
// The PTX is committed. To renew it, with CUDA 11.8's nvcc (Debian's
// nvidia-cuda-toolkit, component non-free) on PATH, since a newer nvcc writes
// PTX that older drivers refuse: go generate ./cudamem/kernels. A test compares
// it with a fresh build where that nvcc is found.
//
// There is one module for each type of value and tile of classes, because the
// driver compiles a whole module when it first sees it: all in one took 3.6 s,
// one takes 0.35 s (the driver keeps the result in ~/.nv).
//
// # What was measured
//
// On one NVIDIA H200 (PCIe 5 x16, driver 580.159.04, 16-core Xeon virtual machine,
// 2026-12-01), device time by CUDA events over back-to-back launches, inputs in turn
// out of several buffers so that none is in the cache. A step of 10 classes:
//
//	float32, batch 64, 150,528 features       36 to 38 us (PyTorch 270)
//	float32, batch 1,024, 150,528 features    327 us
//	float16 and uint8, batch 64, 150,528      36 and 41 us
//	uint8, batch 1,024, 3,072 features        32 us (179 before blocks shared chunks)
//	uint8, batch 256, 12,288 features         30 us (57)
//	uint8, batch 64, 3,072 features           19 us (22)
//
// At batch 1,024 a step moves 1,251 MB (the batch twice, weights in, in and out): 3.8
// TB/s, which is 80 % of the 4.8 TB/s of the data sheet and 89 % of the 4.3 TB/s that
// a device-to-device copy reaches. 150 us are the forward pass, 6 the loss, 171 the
// gradient. What bounds the gradient there is not known: more loads under way (8 rows a
// warp, prefetching further) made it slower, and so did fewer warps. Loading the last 16
// to 80 rows of the forward pass without the evict-first mark, for the gradient to find
// them in L2, changed nothing.
//
// Gathers, launched back to back:
//
//	64 x 602,112 bytes               52.0 GB/s     86,400 samples/s (24 of them copied, see below)
//	64 x 602,112 bytes               50.6 GB/s     84,000 samples/s (by the kernel alone)
//	64 x 147 KiB                     49.3 GB/s    328,000 samples/s
//	64 x 48 KiB                      46.7 GB/s    950,000 samples/s
//	1,024 x 3 KiB                    46.7 GB/s   15.2 million samples/s
//	1,024 x 3,074 bytes               7.5 GB/s    2.5 million samples/s (a byte at a time)
//
// No kernel passed 51 GB/s, with 8 to 64 blocks, 2 to 8 loads of a thread under way, blocks
// of 128 to 1,024 threads, stretches or interleaved pieces, loads .cg, .cs, .nc, volatile or
// L2::256B, stores .cs, and two kernels at once. The copy engine reaches 55.3, so the link
// seems to carry no more in answers of 128 bytes. With 8, 16 and 24 of 64 samples copied
// beside 8 blocks it carried 51.0, 51.5 and 52.0 GB/s; with 32, 50.7. At 48 KiB there was
// nothing to gain, at 147 KiB 1 %, for twice the caller's time.
//
// The whole loop with the step, pin=dataset on a stream of its own, 2 workers:
//
//	batch 64, 602,112 bytes     85,700 samples/s (by the kernel alone 83,300; in two launches 82,000)
//	batch 64, 150,528 bytes    318,000 samples/s
//	batch 1,024, 3 KiB        13.3 million samples/s (5.4 before the step was shared out)
//
//	digest of 38.5 MB                14.5 us
//	copies of 64 MiB, pinned         55.3 GB/s HtoD, 55.2 DtoH
//
// All tests of package cuda passed (with a quarter of long samples copied, not yet 3/8).
// compute-sanitizer's memcheck and racecheck found
// nothing in the kernels forward, loss, gradient and digest as they were before gather
// took two parts and gradient was shared out; on these they have not run to the end yet.
// go test -bench in package cuda measures steps and gathers again.
package kernels
