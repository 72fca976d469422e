/* A stand-in for the CUDA driver, for tests on machines without a GPU: the entry
 * points that package cuda uses, on host memory, with the kernels written again in C.
 * What runs over it says nothing about a GPU.
 *
 * It keeps the driver's promises that programs get wrong: each stream is a thread
 * that works through its queue in its own time, a copy from or to pageable memory
 * blocks its caller, device memory starts as rubbish, a thread needs a current
 * context, and copies and kernels reach only memory that is there.
 *
 * PINSCOPE_STANDIN_FAIL=CALL:N:CODE makes the N-th call of an entry point, counted
 * since the variable was set so, return CODE; of several, separated by commas, each.
 * PINSCOPE_STANDIN_COPY_US is how long each copy takes at least, in microseconds.
 * PINSCOPE_STANDIN_DEVICES is how many devices there are, 2 if it is not set.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#undef cuDeviceGetUuid

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of everything below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* ---- failing on demand ---- */

static CUresult demanded(const char *call) {
	static char seen[512];
	static int calls[16];
	const char *wish = getenv("PINSCOPE_STANDIN_FAIL");
	const char *version = strstr(call, "_v"); /* cuMemAlloc, not cuMemAlloc_v2 */
	size_t length = version ? (size_t)(version - call) : strlen(call);
	CUresult result = CUDA_SUCCESS;
	if (!wish) wish = "";
	pthread_mutex_lock(&lock);
	if (strcmp(seen, wish)) {
		snprintf(seen, sizeof seen, "%s", wish);
		memset(calls, 0, sizeof calls);
	}
	int i = 0;
	for (const char *at = seen; *at && i < 16; i++) {
		char name[64];
		int nth, code;
		if (sscanf(at, "%63[^:]:%d:%d", name, &nth, &code) == 3 && strlen(name) == length &&
			!strncmp(name, call, length) && ++calls[i] == nth) result = code;
		at += strcspn(at, ",");
		if (*at) at++;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

static int number(const char *name, int otherwise) {
	const char *text = getenv(name);
	return text && *text ? atoi(text) : otherwise;
}

/* ---- devices and contexts ---- */

struct CUctx_st { CUdevice device; int used; };
static struct CUctx_st primary[8] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}};
static __thread CUcontext current;

#define DEMANDED do { CUresult r_ = demanded(__func__); if (r_) return r_; } while (0)
#define CONTEXT  do { DEMANDED; if (!current || !current->used) return CUDA_ERROR_INVALID_CONTEXT; } while (0)
#define DEVICE(d) do { DEMANDED; if ((d) < 0 || (d) >= number("PINSCOPE_STANDIN_DEVICES", 2)) return CUDA_ERROR_INVALID_DEVICE; } while (0)

CUresult cuInit(unsigned int flags) { DEMANDED; return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int *version) { DEMANDED; *version = 11080; return CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *count) { DEMANDED; *count = number("PINSCOPE_STANDIN_DEVICES", 2); return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { DEVICE(ordinal); *device = ordinal; return CUDA_SUCCESS; }
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice d) { DEVICE(d); *bytes = 1 << 30; return CUDA_SUCCESS; }

CUresult cuDeviceGetName(char *name, int length, CUdevice d) {
	DEVICE(d);
	snprintf(name, length, "stand-in %d, not a GPU", d);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice d) {
	DEVICE(d);
	snprintf(text, length, "0000:%02X:00.0", 0x3b + d);
	return CUDA_SUCCESS;
}

/* Device 1 is a MIG instance: it has another UUID than its GPU. */
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice d) {
	DEVICE(d);
	memset(uuid, 0x10 + d, sizeof *uuid);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice d) {
	DEVICE(d);
	memset(uuid, d == 1 ? 0xab : 0x10 + d, sizeof *uuid);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice d) {
	DEVICE(d);
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: *value = 2; break;
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: *value = 1; break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 4; break;
	default: *value = 0;
	}
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice d, unsigned int flags) {
	DEVICE(d);
	return flags & ~CU_CTX_SCHED_MASK ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; /* MAP_HOST is refused, seen on driver 580 */
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice d) {
	DEVICE(d);
	primary[d].used++;
	*context = &primary[d];
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice d) {
	DEVICE(d);
	if (!primary[d].used) return CUDA_ERROR_INVALID_CONTEXT;
	primary[d].used--;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) { DEMANDED; *context = current; return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext context) { DEMANDED; current = context; return CUDA_SUCCESS; }

CUresult cuGetErrorName(CUresult code, const char **name) {
	switch ((int)code) {
	case CUDA_ERROR_INVALID_VALUE: *name = "CUDA_ERROR_INVALID_VALUE"; break;
	case CUDA_ERROR_OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
	case CUDA_ERROR_NO_DEVICE: *name = "CUDA_ERROR_NO_DEVICE"; break;
	case CUDA_ERROR_INVALID_CONTEXT: *name = "CUDA_ERROR_INVALID_CONTEXT"; break;
	case CUDA_ERROR_LAUNCH_FAILED: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
	case CUDA_ERROR_ILLEGAL_ADDRESS: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
	case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: *name = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"; break;
	case CUDA_ERROR_UNKNOWN: *name = "CUDA_ERROR_UNKNOWN"; break;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

/* ---- memory ---- */

enum { ON_DEVICE = 1, PINNED = 2, REGISTERED = 4, MANAGED = 8 };
#define ADDRESSABLE (ON_DEVICE | PINNED | REGISTERED | MANAGED)

struct range { char *at; size_t bytes; int kind; struct range *next; };
static struct range *ranges;

static void add(void *at, size_t bytes, int kind) {
	struct range *r = malloc(sizeof *r);
	pthread_mutex_lock(&lock);
	*r = (struct range){at, bytes, kind, ranges};
	ranges = r;
	pthread_mutex_unlock(&lock);
}

static int inside(const void *p, size_t bytes, int kinds) {
	int found = 0;
	pthread_mutex_lock(&lock);
	for (struct range *r = ranges; r; r = r->next)
		found |= (r->kind & kinds) && (char *)p >= r->at && (char *)p + bytes <= r->at + r->bytes;
	pthread_mutex_unlock(&lock);
	return found;
}

/* Forgets the range that starts at p, and gives its length, 0 if there is none. */
static size_t drop(void *p, int kinds) {
	size_t bytes = 0;
	pthread_mutex_lock(&lock);
	for (struct range **at = &ranges; *at; at = &(*at)->next) {
		struct range *r = *at;
		if (r->at != p || !(r->kind & kinds)) continue;
		bytes = r->bytes;
		*at = r->next;
		free(r);
		break;
	}
	pthread_mutex_unlock(&lock);
	return bytes;
}

static void *rubbish(size_t bytes) {
	void *p = bytes ? aligned_alloc(4096, (bytes + 4095) / 4096 * 4096) : NULL;
	if (p) memset(p, 0xa5, bytes);
	return p;
}

static CUresult allocate(void **at, size_t bytes, int kind) {
	if (!bytes) return CUDA_ERROR_INVALID_VALUE;
	if (bytes > 1 << 30 || !(*at = rubbish(bytes))) return CUDA_ERROR_OUT_OF_MEMORY;
	add(*at, bytes, kind);
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *p, size_t bytes) { CONTEXT; return allocate((void **)p, bytes, ON_DEVICE); }
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t bytes, unsigned int flags) {
	CONTEXT;
	(void)flags;
	return allocate((void **)p, bytes, MANAGED);
}
CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned int flags) { CONTEXT; (void)flags; return allocate(p, bytes, PINNED); }

static void settle(void);

/* Like the driver's, freeing waits for the work that may use the memory. */
static CUresult release(void *p, int kinds) {
	settle();
	if (!drop(p, kinds)) return CUDA_ERROR_INVALID_VALUE;
	free(p);
	return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr p) { CONTEXT; return release((void *)p, ON_DEVICE | MANAGED); }
CUresult cuMemFreeHost(void *p) { CONTEXT; return release(p, PINNED); }

CUresult cuMemHostRegister(void *p, size_t bytes, unsigned int flags) {
	CONTEXT;
	(void)flags;
	add(p, bytes, REGISTERED);
	return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *p) {
	CONTEXT;
	settle();
	return drop(p, REGISTERED) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *seen, void *p, unsigned int flags) {
	CONTEXT;
	(void)flags;
	*seen = (CUdeviceptr)p;
	return inside(p, 1, PINNED | REGISTERED) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- streams and events ---- */

struct CUevent_st { uint64_t recorded, done; int held; struct timespec at; };

#define MOST 13 /* arguments of a kernel */
typedef union { void *p; int i; float f; long long l; } value;
struct grid { int x, y, z; };
struct CUfunc_st {
	const char *name, *arguments; /* p pointer, i int, l 64 bits, f float */
	void (*run)(const struct CUfunc_st *, struct grid, const value *);
};

struct op {
	enum { COPY, RECORD, WAIT, KERNEL } kind;
	void *to;
	const void *from;
	size_t bytes;
	CUevent event;
	uint64_t number;
	CUfunction kernel;
	struct grid grid;
	value v[MOST];
	struct op *next;
};

struct CUstream_st { pthread_t worker; struct op *first, **last; int busy, closing; };
static CUstream streams[256];

static void slow(void) {
	int us = number("PINSCOPE_STANDIN_COPY_US", 0);
	if (us > 0) usleep(us);
}

static void letGo(CUevent e) { /* with the lock held */
	if (--e->held == 0) free(e);
}

static void *work(void *of) {
	CUstream s = of;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!s->first && !s->closing) pthread_cond_wait(&changed, &lock);
		struct op *o = s->first;
		if (!o) break;
		if (!(s->first = o->next)) s->last = &s->first;
		s->busy = 1;
		switch (o->kind) {
		case RECORD:
			clock_gettime(CLOCK_MONOTONIC, &o->event->at);
			o->event->done = o->number;
			letGo(o->event);
			break;
		case WAIT:
			while (o->event->done < o->number) pthread_cond_wait(&changed, &lock);
			letGo(o->event);
			break;
		default:
			pthread_mutex_unlock(&lock);
			if (o->kind == COPY) {
				slow();
				memcpy(o->to, o->from, o->bytes);
			} else {
				o->kernel->run(o->kernel, o->grid, o->v);
			}
			pthread_mutex_lock(&lock);
		}
		s->busy = 0;
		free(o);
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* The default stream is none of ours, and package cuda must not use it. */
static CUresult push(CUstream s, struct op o) {
	struct op *copy = malloc(sizeof o);
	if (!s || !copy) return CUDA_ERROR_INVALID_HANDLE;
	*copy = o;
	copy->next = NULL;
	pthread_mutex_lock(&lock);
	if (o.event) {
		o.event->held++;
		copy->number = o.kind == RECORD ? ++o.event->recorded : o.event->recorded;
	}
	*s->last = copy;
	s->last = &copy->next;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

static void drain(CUstream s) {
	pthread_mutex_lock(&lock);
	while (s->first || s->busy) pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
	CONTEXT;
	if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
	CUstream s = calloc(1, sizeof *s);
	s->last = &s->first;
	if (pthread_create(&s->worker, NULL, work, s)) return CUDA_ERROR_OPERATING_SYSTEM;
	pthread_mutex_lock(&lock);
	int i = 0;
	while (i < 255 && streams[i]) i++;
	streams[i] = s;
	pthread_mutex_unlock(&lock);
	*stream = s;
	return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream s) {
	CONTEXT;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 256; i++)
		if (streams[i] == s) streams[i] = NULL;
	s->closing = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(s->worker, NULL);
	free(s);
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream s) { CONTEXT; drain(s); return CUDA_SUCCESS; }

static void settle(void) { /* until all streams are idle */
	for (int i = 0; i < 256; i++) {
		pthread_mutex_lock(&lock);
		while (streams[i] && (streams[i]->first || streams[i]->busy)) pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
}

CUresult cuCtxSynchronize(void) { CONTEXT; settle(); return CUDA_SUCCESS; }

CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned int flags) {
	CONTEXT;
	(void)flags;
	return push(s, (struct op){.kind = WAIT, .event = e});
}

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
	CONTEXT;
	if (flags & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_VALUE;
	*event = calloc(1, sizeof **event);
	(*event)->held = 1;
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent e) {
	CONTEXT;
	pthread_mutex_lock(&lock);
	letGo(e);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent e, CUstream s) { CONTEXT; return push(s, (struct op){.kind = RECORD, .event = e}); }

CUresult cuEventQuery(CUevent e) {
	CONTEXT;
	pthread_mutex_lock(&lock);
	int done = e->done == e->recorded;
	pthread_mutex_unlock(&lock);
	return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent e) {
	CONTEXT;
	pthread_mutex_lock(&lock);
	uint64_t wanted = e->recorded;
	while (e->done < wanted) pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) {
	CONTEXT;
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	if (!a->recorded || !b->recorded) result = CUDA_ERROR_INVALID_HANDLE;
	else if (a->done < a->recorded || b->done < b->recorded) result = CUDA_ERROR_NOT_READY;
	else *ms = (b->at.tv_sec - a->at.tv_sec) * 1e3 + (b->at.tv_nsec - a->at.tv_nsec) / 1e6;
	pthread_mutex_unlock(&lock);
	return result;
}

/* ---- copies ---- */

static CUresult copy(CUstream s, void *to, const void *from, size_t bytes, const void *host) {
	if (inside(host, bytes, PINNED | REGISTERED | MANAGED))
		return push(s, (struct op){.kind = COPY, .to = to, .from = from, .bytes = bytes});
	drain(s); /* pageable: after what was queued before, and by the caller */
	slow();
	memcpy(to, from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream s) {
	CONTEXT;
	if (!inside((void *)to, bytes, ON_DEVICE)) return CUDA_ERROR_INVALID_VALUE;
	return copy(s, (void *)to, from, bytes, from);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream s) {
	CONTEXT;
	if (!inside((void *)from, bytes, ON_DEVICE)) return CUDA_ERROR_INVALID_VALUE;
	return copy(s, to, (void *)from, bytes, to);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
	CONTEXT;
	if (!inside((void *)to, bytes, ON_DEVICE)) return CUDA_ERROR_INVALID_VALUE;
	memcpy((void *)to, from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
	CONTEXT;
	if (!inside((void *)from, bytes, ON_DEVICE)) return CUDA_ERROR_INVALID_VALUE;
	memcpy(to, (void *)from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char byte, size_t bytes) {
	CONTEXT;
	if (!inside((void *)to, bytes, ON_DEVICE)) return CUDA_ERROR_INVALID_VALUE;
	memset((void *)to, byte, bytes);
	return CUDA_SUCCESS;
}

/* ---- kernels, with the arguments that cudamem/kernels declares ---- */

static float half(uint16_t h) {
	int sign = h >> 15, exponent = h >> 10 & 31, fraction = h & 1023;
	float f = exponent == 0 ? ldexpf(fraction, -24)
		: exponent == 31 ? (fraction ? NAN : INFINITY) : ldexpf(1024 + fraction, exponent - 25);
	return sign ? -f : f;
}

static double at(const struct CUfunc_st *f, const void *x, size_t i) {
	if (strstr(f->name, "_float_")) return ((const float *)x)[i];
	if (strstr(f->name, "_half16_")) return half(((const uint16_t *)x)[i]);
	if (strstr(f->name, "_uint8_")) return ((const uint8_t *)x)[i] / 255.0;
	return ((const int64_t *)x)[i] / 65536.0;
}

static int tileOf(const struct CUfunc_st *f) { return atoi(strrchr(f->name, '_') + 1); }

static float *deltaAt(float *delta, int tile, int rows, int row, int class_) {
	int width = (tile + 3) / 4 * 4;
	return delta + ((size_t)(class_ / tile) * ((rows + 3) / 4 * 4) + row) * width + class_ % tile;
}

/* x w partial rows features classes sliceChunks rowWarps wide: all in the first partial. */
static void forward(const struct CUfunc_st *f, struct grid g, const value *v) {
	const void *x = v[0].p;
	const float *w = v[1].p;
	float *partial = v[2].p;
	int rows = v[3].i, features = v[4].i, classes = v[5].i, partials = g.x * (16 / v[7].i);
	size_t stride = (features + 3) / 4 * 4;
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < classes; c++) {
			double sum = 0;
			for (int i = 0; i < features; i++) sum += at(f, x, (size_t)r * features + i) * w[c * stride + i];
			for (int p = 0; p < partials; p++) partial[((size_t)r * partials + p) * classes + c] = p ? 0 : sum;
		}
}

/* partial partials bias labels labelStride delta rowLoss rows classes */
static void loss(const struct CUfunc_st *f, struct grid g, const value *v) {
	const float *partial = v[0].p, *bias = v[2].p;
	float *delta = v[5].p, *rowLoss = v[6].p;
	int partials = v[1].i, rows = v[7].i, classes = v[8].i, tile = tileOf(f);
	double *logit = malloc(classes * sizeof *logit);
	for (int r = 0; r < g.x; r++) {
		double largest = -INFINITY, sum = 0;
		for (int c = 0; c < classes; c++) {
			if (r >= rows) {
				*deltaAt(delta, tile, rows, r, c) = 0;
				continue;
			}
			logit[c] = bias[c];
			for (int p = 0; p < partials; p++) logit[c] += partial[((size_t)r * partials + p) * classes + c];
			largest = fmax(largest, logit[c]);
		}
		if (r >= rows) continue;
		for (int c = 0; c < classes; c++) sum += exp(logit[c] - largest);
		int64_t label = *(int64_t *)((char *)v[3].p + r * v[4].l) % classes;
		if (label < 0) label += classes;
		rowLoss[r] = log(sum) + largest - logit[label];
		for (int c = 0; c < classes; c++)
			*deltaAt(delta, tile, rows, r, c) = (exp(logit[c] - largest) / sum - (c == label)) / rows;
	}
	free(logit);
}

/* x w sums bias delta rowLoss loss rows features classes rate wide: as parts, all in the first sum. */
static void gradient(const struct CUfunc_st *f, struct grid grid, const value *v) {
	const void *x = v[0].p;
	float *w = v[1].p, *sums = v[2].p, *bias = v[3].p, *delta = v[4].p, *rowLoss = v[5].p;
	int rows = v[7].i, features = v[8].i, classes = v[9].i, tile = tileOf(f);
	size_t stride = (features + 3) / 4 * 4;
	double total = 0;
	int parts = !strncmp(f->name, "parts", 5);
	if (parts) memset(sums, 0, grid.z * classes * stride * sizeof *sums);
	for (int r = 0; r < rows; r++) total += rowLoss[r];
	*(float *)v[6].p = total / rows;
	for (int c = 0; c < classes; c++) {
		double b = 0;
		for (int r = 0; r < rows; r++) b += *deltaAt(delta, tile, rows, r, c);
		bias[c] -= v[10].f * b;
		for (int i = 0; i < features; i++) {
			double g = 0;
			for (int r = 0; r < rows; r++) g += at(f, x, (size_t)r * features + i) * *deltaAt(delta, tile, rows, r, c);
			if (parts) sums[c * stride + i] = g;
			else w[c * stride + i] -= v[10].f * g;
		}
	}
}

/* w sums parts columns rate */
static void update(const struct CUfunc_st *f, struct grid grid, const value *v) {
	(void)f, (void)grid;
	float *w = v[0].p, *sums = v[1].p;
	size_t n = (size_t)v[3].i * 4;
	for (size_t i = 0; i < n; i++)
		for (int part = 0; part < v[2].i; part++) w[i] -= v[4].f * sums[part * n + i];
}

/* index, and of each of two parts dst dataset units width rows blocks */
static void gather(const struct CUfunc_st *f, struct grid g, const value *v) {
	(void)f, (void)g;
	for (const value *part = v + 1; part <= v + 7; part += 6) {
		size_t bytes = part[2].l * part[3].i;
		for (int r = 0; part[5].i && r < part[4].i; r++)
			memcpy((char *)part[0].p + r * bytes, (char *)part[1].p + ((int64_t *)v[0].p)[r] * bytes, bytes);
	}
}

/* m bytes first scratch cell add */
static void digest(const struct CUfunc_st *f, struct grid g, const value *v) {
	(void)f, (void)g;
	uint64_t sum = 0;
	for (long long i = 0; i < v[1].l; i += 8) {
		uint64_t x = 0;
		memcpy(&x, (char *)v[0].p + i, v[1].l - i < 8 ? v[1].l - i : 8);
		x += (v[2].l + i / 8 + 1) * 0x9e3779b97f4a7c15ull;
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
		x = (x ^ x >> 27) * 0x94d049bb133111ebull;
		sum += x ^ x >> 31;
	}
	uint64_t *cell = v[4].p;
	*cell = v[5].i ? *cell + sum : sum;
}

#define LAYER(TYPE, TILE) \
	{"forward_" TYPE "_" TILE, "pppiiiiii", forward}, {"loss_" TYPE "_" TILE, "pipplppii", loss}, \
	{"gradient_" TYPE "_" TILE, "pppppppiiifi", gradient}, \
	{"parts_" TYPE "_" TILE, "pppppppiiifi", gradient}, \
	{"update_" TYPE "_" TILE, "ppiif", update}
static struct CUfunc_st functions[] = {
	LAYER("float", "10"), LAYER("float", "16"), LAYER("half16", "10"), LAYER("half16", "16"),
	LAYER("uint8", "10"), LAYER("uint8", "16"), LAYER("int64", "10"), LAYER("int64", "16"),
	{"gather", "p" "ppliii" "ppliii", gather}, {"digest", "pllppi", digest},
};

struct CUmod_st { char *image; };

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
	CONTEXT;
	if (!strstr(image, ".version ")) return CUDA_ERROR_INVALID_IMAGE;
	*module = malloc(sizeof **module);
	(*module)->image = strdup(image);
	return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
	CONTEXT;
	free(module->image);
	free(module);
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
	CONTEXT;
	char entry[128];
	snprintf(entry, sizeof entry, ".entry %s(", name);
	if (!strstr(module->image, entry)) return CUDA_ERROR_NOT_FOUND;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(functions[i].name, name)) {
			*function = &functions[i];
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,
	unsigned int blockY, unsigned int blockZ, unsigned int shared, CUstream s, void **arguments, void **extra) {
	CONTEXT;
	if (!gridX || !gridY || !gridZ || blockX < 32 || blockX > 1024 || blockX % 32 || blockY != 1 || blockZ != 1 || shared || extra)
		return CUDA_ERROR_INVALID_VALUE;
	struct op o = {.kind = KERNEL, .kernel = f, .grid = {gridX, gridY, gridZ}};
	for (int i = 0; f->arguments[i]; i++) {
		int wide = f->arguments[i] == 'p' || f->arguments[i] == 'l';
		memcpy(&o.v[i], arguments[i], wide ? 8 : 4);
		if (f->arguments[i] == 'p' && !inside(o.v[i].p, 1, ADDRESSABLE)) return CUDA_ERROR_ILLEGAL_ADDRESS;
	}
	return push(s, o);
}
