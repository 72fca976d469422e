// Collecting a batch out of host memory over the link, and the checksum of what
// arrived. See doc.go for how they are built and what they are held to.

typedef unsigned char uint8;
typedef long long int64;
typedef unsigned long long uint64;

namespace {

const int GATHER = 256;    // threads of a block, by kernel
const int DIGEST = 256;
const int INDICES = 1024;  // held in shared memory at a time: 8 KiB
const int FLIGHT = 4;      // loads of a thread under way at once

// Copies rows samples of `units` values of T each, sample after sample, to dst; each
// block one stretch of the batch. A read of host memory is a round trip over the
// link (2 us), so the block first fetches the indices it needs: reading the index
// before each value would make that two round trips in a row.
template <typename T>
__device__ __forceinline__ void gather(T* dst, const T* dataset, const int64* index, int64 units, int rows) {
    __shared__ int64 at[INDICES];
    const int64 total = units * rows, share = (total + gridDim.x - 1) / gridDim.x;
    const int64 begin = share * blockIdx.x, end = min(total, begin + share);
    for (int64 from = begin; from < end;) {
        const int64 row0 = from / units, to = min(end, (row0 + INDICES) * units);
        __syncthreads();
        for (int i = threadIdx.x; i < INDICES && (row0 + i) * units < to; i += GATHER) at[i] = index[row0 + i] * units;
        __syncthreads();
        for (int64 u = from + threadIdx.x; u < to; u += FLIGHT * GATHER) {
            T v[FLIGHT];
#pragma unroll
            for (int i = 0; i < FLIGHT; i++) {
                const int64 k = u + i * GATHER, row = k / units;
                if (k < to) v[i] = __ldcg(dataset + at[row - row0] + (k - row * units));
            }
#pragma unroll
            for (int i = 0; i < FLIGHT; i++)
                if (u + i * GATHER < to) dst[u + i * GATHER] = v[i];
        }
        from = to;
    }
}

// mix of cudamem.Digest.
__device__ __forceinline__ uint64 mix(uint64 x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

}  // namespace

// By the widest value that divides a sample's length and every address.
#define GATHERS(BYTES, T)                                                                   \
    extern "C" __global__ void __launch_bounds__(GATHER)                                    \
    gather_##BYTES(T* dst, const T* dataset, const int64* index, int64 units, int rows) {   \
        gather(dst, dataset, index, units, rows);                                           \
    }
GATHERS(16, uint4)
GATHERS(8, uint2)
GATHERS(4, unsigned)
GATHERS(1, uint8)

// cudamem.Digest of bytes at m (8-byte aligned), whose first word is number `first`.
// The blocks add up in scratch[0]; the last to arrive, by the count in scratch[1],
// writes the cell and leaves both 0. Integer sums: any order gives the same.
extern "C" __global__ void __launch_bounds__(DIGEST)
digest(const uint8* m, int64 bytes, int64 first, uint64* scratch, uint64* cell, int add) {
    const uint64 step = 0x9e3779b97f4a7c15ull;
    const int64 words = bytes / 8, stride = int64(gridDim.x) * DIGEST, start = int64(blockIdx.x) * DIGEST + threadIdx.x;
    uint64 sum = 0;
#pragma unroll 4
    for (int64 i = start; i < words; i += stride)
        sum += mix(__ldcs(reinterpret_cast<const uint64*>(m) + i) + uint64(first + i + 1) * step);
    if (start == 0 && bytes % 8) {
        uint64 tail = 0;
        for (int64 i = words * 8; i < bytes; i++) tail |= uint64(m[i]) << (i % 8 * 8);
        sum += mix(tail + uint64(first + words + 1) * step);
    }
    for (int mask = 16; mask; mask >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    __shared__ uint64 each[DIGEST / 32];
    if ((threadIdx.x & 31) == 0) each[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < DIGEST / 32; i++) sum += each[i];
    atomicAdd(scratch, sum);
    __threadfence();
    if (atomicAdd(scratch + 1, 1ull) + 1 < gridDim.x) return;
    __threadfence();
    const uint64 all = atomicExch(scratch, 0ull);
    scratch[1] = 0;
    *cell = add ? *cell + all : all;
}
