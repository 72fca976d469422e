// Package cuda is a real GPU as a [cudamem.Device], through gorgonia.org/cu. It is
// empty without the build tag cuda.
//
// [List] names the GPUs there are, [Open] opens one. Everything else is the
// Device that Open gives.
//
// # Building
//
// cuda.h and a libcuda.so to link with are needed, not a GPU. With a toolkit
// below /usr/local/cuda, of CUDA 11.8 or 12.x:
//
//	export CGO_CFLAGS=-I/usr/local/cuda/include
//	export CGO_LDFLAGS=-L/usr/local/cuda/lib64/stubs
//	go build -tags cuda,headless -o pinscope-cuda .
//
// CUDA 13 gave five functions other signatures, under which gorgonia.org/cu
// v0.9.6 does not compile. The header in compat, found before the toolkit's, puts
// the older ones back (drivers still have them):
//
//	export CGO_CFLAGS="-I$PWD/cudamem/cuda/compat -I/usr/local/cuda/include"
//
// It changes nothing for 11.8 and 12.x. On Debian, .ci/cuda-headers fetches both
// files into .build/cuda, and .ci/cuda-test builds with them.
//
// What is built so runs on driver 520 and newer, whatever toolkit it was built with.
//
// # Starting
//
// A program with gorgonia.org/cu in it needs libcuda.so.1 to start at all, and
// calls cuInit before main: when that fails it prints why and exits with 1.
// Nothing here can prevent that, hence the runner is a process of its own.
//
// # Threads
//
// Each device uses its GPU's primary context, which [cudamem.Device.Bind] makes
// current on a thread of the caller's own. Calls are cu's plain functions on that
// thread: a cu.Ctx would cost a channel round trip each. Calls cu lacks, and
// launches, for which it would allocate, are in driver.go.
package cuda
