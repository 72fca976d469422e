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
// # What they are held to
//
// Measured on one NVIDIA H200 (PCIe 5 x16, driver 580.159.04, 16-core Xeon
// virtual machine, 2026-12-01) with CUDA events over back-to-back steps, inputs
// rotated so that none is in cache, 150,528 features, 10 classes, float32:
//
//	batch    64   @64@ us a step   (limit 40; PyTorch 270)
//	batch 1,024  @1024@ us a step
//
// A step reads the batch twice, so 1,233 MB at batch 1,024.
package kernels
