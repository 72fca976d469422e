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
//	float32, batch 64, 150,528 features       34 to 36 us (38 to 39 between events
//	                                          around one step; PyTorch 270)
//	float32, batch 1,024, 150,528 features    323 us
//	float16 and uint8, batch 64, 150,528      36 and 40 us
//	uint8, batch 1,024, 3,072 features        179 us
//
// At batch 1,024 a step moves 1,251 MB (the batch twice, weights in, in and out): 3.9
// TB/s, which is 81 % of the 4.8 TB/s of the data sheet and 90 % of the 4.3 TB/s that
// a device-to-device copy reaches. 151 us are the forward pass, 170 the gradient. What
// bounds the gradient there is not known: more loads under way (8 rows a warp,
// prefetching further) made it slower, and so did fewer warps. With few features it is
// latency: 3,072 are 24 blocks.
//
//	gather of 64 x 602,112 bytes     50.4 GB/s     83,700 samples/s
//	gather of 64 x 147 KiB           49.3 GB/s    328,000 samples/s
//	gather of 64 x 48 KiB            46.3 GB/s    942,000 samples/s
//	gather of 256 x 12 KiB           45.8 GB/s    3.7 million samples/s
//	gather of 1,024 x 3 KiB          46.4 GB/s   15.1 million samples/s
//	gather of 1,024 x 3,074 bytes     7.5 GB/s    2.5 million samples/s (a byte at a time)
//	digest of 38.5 MB                14.5 us
//	copies of 64 MiB, pinned         55.3 GB/s HtoD, 55.2 DtoH
//
// compute-sanitizer's memcheck and racecheck found nothing. go test -bench in package
// cuda measures all this again.
package kernels
