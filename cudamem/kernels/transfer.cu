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
// of the blocks one stretch of the batch. A read of host memory is a round trip over the
// link (2 us), so a block first fetches the indices it needs into `at`: reading the index
// before each value would make that two round trips in a row.
template <typename T>
__device__ __forceinline__ void collect(T* dst, const T* dataset, const int64* index, unsigned units, int rows,
                                        int block, int blocks, int64* at) {
    const int most = max(1u, min(unsigned(INDICES), 0x7fffffffu / units));  // rows at a time: values are counted in 32 bits
    const int64 total = int64(units) * rows, share = (total + blocks - 1) / blocks;
    const int64 begin = share * block, end = min(total, begin + share);
    for (int64 from = begin; from < end;) {
        const int64 row0 = from / units, base = row0 * units, to = min(end, base + int64(most) * units);
        __syncthreads();
        for (int i = threadIdx.x; i < most && base + int64(i) * units < to; i += GATHER) at[i] = index[row0 + i] * units;
        __syncthreads();
        const unsigned last = to - base;
        for (unsigned u = from - base + threadIdx.x; u < last; u += FLIGHT * GATHER) {
            T v[FLIGHT];
#pragma unroll
            for (int i = 0; i < FLIGHT; i++) {
                const unsigned k = u + i * GATHER, row = k / units;
                if (k < last) v[i] = __ldcg(dataset + at[row] + (k - row * units));
            }
#pragma unroll
            for (int i = 0; i < FLIGHT; i++)
                if (u + i * GATHER < last) dst[base + u + i * GATHER] = v[i];
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

// Two parts of a batch, of which the first `blocks0` blocks take one and the rest the
// other. A part's sample is `units` values of `width` bytes: 16, 8, 4 or 1, the widest
// that divides its length and both addresses.
extern "C" __global__ void __launch_bounds__(GATHER)
gather(const int64* index,
       void* dst0, const void* dataset0, int64 units0, int width0, int rows0, int blocks0,
       void* dst1, const void* dataset1, int64 units1, int width1, int rows1, int blocks1) {
    __shared__ int64 at[INDICES];
    const bool first = int(blockIdx.x) < blocks0;
    void* dst = first ? dst0 : dst1;
    const void* dataset = first ? dataset0 : dataset1;
    const unsigned units = first ? units0 : units1;
    const int rows = first ? rows0 : rows1;
    const int block = first ? blockIdx.x : blockIdx.x - blocks0, blocks = first ? blocks0 : blocks1;
    switch (first ? width0 : width1) {
    case 16: collect((uint4*)dst, (const uint4*)dataset, index, units, rows, block, blocks, at); break;
    case 8: collect((uint2*)dst, (const uint2*)dataset, index, units, rows, block, blocks, at); break;
    case 4: collect((unsigned*)dst, (const unsigned*)dataset, index, units, rows, block, blocks, at); break;
    default: collect((uint8*)dst, (const uint8*)dataset, index, units, rows, block, blocks, at);
    }
}

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
