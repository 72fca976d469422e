//go:build cuda

package cuda

/*
#cgo LDFLAGS: -lcuda
#include <cuda.h>
#include <stdlib.h>
#include <time.h>

// CUDA 13's header makes this the name of the _v2 call, which tells a MIG
// instance's UUID and not its GPU's.
#undef cuDeviceGetUuid
extern CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);

#define LAUNCHES 4
#define ARGUMENTS 13

// A queue of launches made in one crossing from Go, with its arguments in C
// memory, so that nothing is allocated and no Go pointer is passed.
typedef struct {
	int count;
	struct {
		CUfunction function;
		unsigned int gridX, gridY, gridZ, block;
		void *pointers[ARGUMENTS];
		unsigned long long values[ARGUMENTS];
	} launch[LAUNCHES];
} pinscope_work;

static pinscope_work *pinscope_work_new(void) {
	pinscope_work *w = calloc(1, sizeof *w);
	if (w == NULL) return NULL;
	for (int i = 0; i < LAUNCHES; i++)
		for (int k = 0; k < ARGUMENTS; k++) w->launch[i].pointers[k] = &w->launch[i].values[k];
	return w;
}

static CUresult pinscope_work_launch(pinscope_work *w, CUstream stream) {
	for (int i = 0; i < w->count; i++) {
		CUresult r = cuLaunchKernel(w->launch[i].function, w->launch[i].gridX, w->launch[i].gridY, w->launch[i].gridZ,
			w->launch[i].block, 1, 1, 0, stream, w->launch[i].pointers, NULL);
		if (r != CUDA_SUCCESS) return r;
	}
	return CUDA_SUCCESS;
}

// Queues a copy of each of some samples, whose indices are in host memory now.
static CUresult pinscope_copy_samples(CUdeviceptr to, const char *dataset, size_t bytes, long long samples,
	const long long *index, int rows, CUstream stream) {
	for (int i = 0; i < rows; i++) {
		if (index[i] < 0 || index[i] >= samples) return CUDA_ERROR_INVALID_VALUE;
		CUresult r = cuMemcpyHtoDAsync(to + i * bytes, dataset + index[i] * bytes, bytes, stream);
		if (r != CUDA_SUCCESS) return r;
	}
	return CUDA_SUCCESS;
}

// Makes what is queued on a stream from now on wait for all that is on another.
static CUresult pinscope_order(CUstream first, CUevent event, CUstream then) {
	CUresult r = cuEventRecord(event, first);
	return r == CUDA_SUCCESS ? cuStreamWaitEvent(then, event, 0) : r;
}

// Waits for an event: asking again and again for spin nanoseconds, then asleep.
static CUresult pinscope_event_wait(CUevent event, long long spin) {
	struct timespec began, now;
	clock_gettime(CLOCK_MONOTONIC, &began);
	do {
		CUresult r = cuEventQuery(event);
		if (r != CUDA_ERROR_NOT_READY) return r;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - began.tv_sec) * 1000000000LL + now.tv_nsec - began.tv_nsec < spin);
	return cuEventSynchronize(event);
}

// By value: a result to write to would be allocated on the Go heap for each call.
typedef struct { CUresult result; float ms; } pinscope_time;

static pinscope_time pinscope_elapsed(CUevent from, CUevent to) {
	pinscope_time t = {CUDA_SUCCESS, 0};
	t.result = cuEventElapsedTime(&t.ms, from, to);
	return t;
}

static const char *pinscope_error_name(CUresult r) {
	const char *name = NULL;
	return cuGetErrorName(r, &name) == CUDA_SUCCESS ? name : NULL;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"gorgonia.org/cu"
)

// code is a CUresult that is not CUDA_SUCCESS. cu's own errors hold the same
// number, but not the driver's name of it.
type code int

// The codes that something is decided on, from cuda.h.
const (
	outOfMemory     code = C.CUDA_ERROR_OUT_OF_MEMORY
	invalidContext  code = C.CUDA_ERROR_INVALID_CONTEXT
	operatingSystem code = C.CUDA_ERROR_OPERATING_SYSTEM
	notReady        code = C.CUDA_ERROR_NOT_READY
	contextActive   code = C.CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE
	notPermitted    code = C.CUDA_ERROR_NOT_PERMITTED
	notSupported    code = C.CUDA_ERROR_NOT_SUPPORTED
	invalidPTX      code = C.CUDA_ERROR_INVALID_PTX
	oldDriver       code = C.CUDA_ERROR_UNSUPPORTED_PTX_VERSION
	launchFailed    code = C.CUDA_ERROR_LAUNCH_FAILED
	illegalAddress  code = C.CUDA_ERROR_ILLEGAL_ADDRESS
)

func (c code) Error() string { return fmt.Sprintf("%s (%d)", c.name(), int(c)) }

// name is the driver's: "CUDA_ERROR_OUT_OF_MEMORY".
func (c code) name() string {
	if name := C.pinscope_error_name(C.CUresult(c)); name != nil {
		return C.GoString(name)
	}
	return "unknown error"
}

// codeOf is the CUresult inside an error of this file or of cu, whose type is
// an unexported integer; 0 if it holds none.
func codeOf(err error) code {
	for ; err != nil; err = errors.Unwrap(err) {
		if v := reflect.ValueOf(err); v.CanInt() {
			return code(v.Int())
		}
	}
	return 0
}

func result(r C.CUresult) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return code(r)
}

// hostAlloc allocates page-locked host memory. It must be freed by cu.MemFreeHost.
func hostAlloc(bytes int64, flags uint) (p unsafe.Pointer, err error) {
	err = result(C.cuMemHostAlloc(&p, C.size_t(bytes), C.uint(flags)))
	return p, err
}

// Flags of hostAlloc.
const (
	hostPlain         = 0
	hostMapped        = C.CU_MEMHOSTALLOC_DEVICEMAP
	hostWriteCombined = C.CU_MEMHOSTALLOC_WRITECOMBINED
)

// hostRegister page-locks memory that is there, and lets the device address it.
func hostRegister(p unsafe.Pointer, bytes int64) error {
	return result(C.cuMemHostRegister(p, C.size_t(bytes), C.CU_MEMHOSTREGISTER_DEVICEMAP))
}

func hostUnregister(p unsafe.Pointer) error { return result(C.cuMemHostUnregister(p)) }

// hostDevicePointer is where the device sees page-locked host memory.
func hostDevicePointer(p unsafe.Pointer) (cu.DevicePtr, error) {
	var d C.CUdeviceptr
	err := result(C.cuMemHostGetDevicePointer(&d, p, 0))
	return cu.DevicePtr(d), err
}

// deviceUUID is "GPU-…", or "MIG-…" of a MIG instance. The driver tells no type:
// an instance is what has another UUID than the GPU that it is on.
func deviceUUID(d cu.Device) (string, error) {
	var gpu, self C.CUuuid
	if err := result(C.cuDeviceGetUuid(&gpu, C.CUdevice(d))); err != nil {
		return "", err
	}
	if err := result(C.cuDeviceGetUuid_v2(&self, C.CUdevice(d))); err != nil {
		return "", err
	}
	kind := "GPU"
	if gpu != self {
		kind = "MIG"
	}
	b := *(*[16]byte)(unsafe.Pointer(&self))
	return fmt.Sprintf("%s-%x-%x-%x-%x-%x", kind, b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// devicePCI is "0000:3b:00.0", in lower case as in /sys.
func devicePCI(d cu.Device) (string, error) {
	var text [32]C.char
	if err := result(C.cuDeviceGetPCIBusId(&text[0], C.int(len(text)), C.CUdevice(d))); err != nil {
		return "", err
	}
	return strings.ToLower(C.GoString(&text[0])), nil
}

// waitEvent blocks until an event is done, spinning at first.
func waitEvent(e cu.Event, spin time.Duration) error {
	return result(C.pinscope_event_wait(*(*C.CUevent)(unsafe.Pointer(&e)), C.longlong(spin)))
}

// eventDone tells whether an event is done. cu's own query would allocate an
// error for each "not yet".
func eventDone(e cu.Event) (bool, error) {
	switch r := C.cuEventQuery(*(*C.CUevent)(unsafe.Pointer(&e))); r {
	case C.CUDA_SUCCESS:
		return true, nil
	case C.CUDA_ERROR_NOT_READY:
		return false, nil
	default:
		return false, code(r)
	}
}

// elapsed is the time from one event to another. cu's own would allocate.
func elapsed(from, to cu.Event) (time.Duration, error) {
	t := C.pinscope_elapsed(*(*C.CUevent)(unsafe.Pointer(&from)), *(*C.CUevent)(unsafe.Pointer(&to)))
	// cuEventElapsedTime tells milliseconds, as a float32.
	return time.Duration(float64(t.ms) * float64(time.Millisecond)), result(t.result)
}

// copySamples queues a copy of each of rows samples of bytes, to lie one behind the
// other. dataset is page-locked and holds so many samples; index are int64 values that
// are read now. None of it is on the Go heap. It allocates nothing.
func copySamples(to cu.DevicePtr, dataset unsafe.Pointer, bytes, samples int64, index unsafe.Pointer, rows int, s cu.Stream) error {
	return result(C.pinscope_copy_samples(C.CUdeviceptr(to), (*C.char)(dataset), C.size_t(bytes), C.longlong(samples),
		(*C.longlong)(index), C.int(rows), *(*C.CUstream)(unsafe.Pointer(&s))))
}

// order makes what is queued on a stream from now on wait for all that is on another.
// The event can be used again at once.
func order(first cu.Stream, e cu.Event, then cu.Stream) error {
	return result(C.pinscope_order(*(*C.CUstream)(unsafe.Pointer(&first)), *(*C.CUevent)(unsafe.Pointer(&e)),
		*(*C.CUstream)(unsafe.Pointer(&then))))
}

// work is a few launches with their arguments, made ready once and launched
// many times. It belongs to one goroutine at a time.
type work struct{ c *C.pinscope_work }

// newWork prepares launches of functions, in order.
func newWork(functions ...cu.Function) (work, error) {
	c := C.pinscope_work_new()
	if c == nil {
		return work{}, errors.New("no memory for launch arguments")
	}
	for i, f := range functions {
		c.launch[i].function = *(*C.CUfunction)(unsafe.Pointer(&f))
	}
	return work{c}, nil
}

// grid is how many blocks a launch has, and the threads in each.
type grid struct{ x, y, z, threads int }

// size sets the grid of launch i.
func (w work) size(i int, g grid) {
	l := &w.c.launch[i]
	l.gridX, l.gridY, l.gridZ, l.block = C.uint(g.x), C.uint(g.y), C.uint(g.z), C.uint(g.threads)
}

// setAll gives launch i all of its arguments, as their bits: of a pointer or an int64
// all 64, of an int or a float32 the lower 32.
func (w work) setAll(i int, arguments ...uint64) {
	for k, bits := range arguments {
		w.c.launch[i].values[k] = C.ulonglong(bits)
	}
}

// function replaces the kernel of launch i.
func (w work) function(i int, f cu.Function) {
	w.c.launch[i].function = *(*C.CUfunction)(unsafe.Pointer(&f))
}

// launch queues the first count launches. It allocates nothing.
func (w work) launch(s cu.Stream, count int) error {
	w.c.count = C.int(count)
	return result(C.pinscope_work_launch(w.c, *(*C.CUstream)(unsafe.Pointer(&s))))
}

// free may be called twice.
func (w *work) free() {
	C.free(unsafe.Pointer(w.c))
	w.c = nil
}
