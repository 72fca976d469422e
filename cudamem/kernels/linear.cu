// A training step of the linear layer y = xW + b: mean softmax cross entropy and SGD.
// Compiled once for each VALUE (the C type of a value of a sample) and TILE (the
// classes that a thread holds in registers). See doc.go for how it is built and
// what it is held to.
//
// A step is three launches, four where features are few:
//
//   forward   partial logits: each block owns a slice of the features, keeps its
//             part of the weights in shared memory and streams all rows past it
//   loss      sums the partials; softmax cross entropy and its gradient
//   gradient  each warp owns 128 features, streams the rows once more and
//             updates its weights in place: no gradient of W is in memory
//   update    behind parts, which takes the place of gradient there: adds up the sums of its blocks
//
// So the batch is read twice, and nothing else of that size moves. No floating
// point atomics: the same input gives the same bits.
//
// Words: a column is 4 features, a chunk 32 columns (one a lane), a group 4 rows, a
// tile TILE classes (blockIdx.y). Weights are float32 [class][feature], each class
// padded to a multiple of 4 features, so that both passes move them 16 bytes a lane.

typedef unsigned char uint8;
typedef unsigned short half16;  // the bits of a float16
typedef long long int64;

#define JOIN2(KERNEL, VALUE, TILE) KERNEL##_##VALUE##_##TILE
#define JOIN(KERNEL, VALUE, TILE) JOIN2(KERNEL, VALUE, TILE)
#define ENTRY(KERNEL) JOIN(KERNEL, VALUE, TILE)  // forward_float_10

namespace {

const int GROUP = 4;
const int WIDTH = (TILE + 3) / 4;  // float4 of a row of delta
const int FORWARD = 512;           // threads of a block, by kernel
const int LOSS = 128;
const int GRADIENT = 64;
const int UPDATE = 128;
const int SHARED4 = 3072;  // float4 of weights in shared memory: 48 KiB, all that needs no opt-in
const unsigned ALL = 0xffffffffu;

__device__ __forceinline__ float number(float v) { return v; }
__device__ __forceinline__ float number(uint8 v) { return float(v) * (1.0f / 255.0f); }
__device__ __forceinline__ float number(int64 v) { return float(v) * (1.0f / 65536.0f); }
__device__ __forceinline__ float number(half16 v) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v));
    return f;
}

// Four values in a row by the widest load there is. Each is used once a pass, so the
// loads are marked evict-first (.cs): weights and partials stay in L2. A step of
// 1,024 rows took 333 us on the H200 so, 345 with .cg and 353 with plain loads.
__device__ __forceinline__ float4 four(const float* p) { return __ldcs(reinterpret_cast<const float4*>(p)); }
__device__ __forceinline__ float4 four(const half16* p) {
    const uint2 v = __ldcs(reinterpret_cast<const uint2*>(p));
    return make_float4(number(half16(v.x)), number(half16(v.x >> 16)), number(half16(v.y)), number(half16(v.y >> 16)));
}
__device__ __forceinline__ float4 four(const uint8* p) {
    const unsigned v = __ldcs(reinterpret_cast<const unsigned*>(p));
    return make_float4(number(uint8(v)), number(uint8(v >> 8)), number(uint8(v >> 16)), number(uint8(v >> 24)));
}
__device__ __forceinline__ float4 four(const int64* p) {
    const longlong2 a = __ldcs(reinterpret_cast<const longlong2*>(p));
    const longlong2 b = __ldcs(reinterpret_cast<const longlong2*>(p) + 1);
    return make_float4(number(int64(a.x)), number(int64(a.y)), number(int64(b.x)), number(int64(b.y)));
}

// Column `col` of the row at x; 0 where there is no such row or feature. WIDE says
// that every row starts where a wide load may, and that features is a multiple of 4.
template <bool WIDE>
__device__ __forceinline__ float4 column(const VALUE* x, bool there, int col, int features) {
    const VALUE* p = x + 4 * ptrdiff_t(col);
    const int left = there ? features - 4 * col : 0;
    if (WIDE) return left > 0 ? four(p) : make_float4(0, 0, 0, 0);
    return make_float4(left > 0 ? number(p[0]) : 0, left > 1 ? number(p[1]) : 0,
                       left > 2 ? number(p[2]) : 0, left > 3 ? number(p[3]) : 0);
}

// Asks for one chunk of 4 rows from x on, into L2 and no further.
__device__ __forceinline__ void prefetch(const VALUE* x, int rows, int chunk, int features, int lane) {
    const int r = lane / 8, at = chunk * 128 + lane % 8 * 16;
    if (r < rows && at < features) asm volatile("prefetch.global.L2 [%0];" ::"l"(x + ptrdiff_t(r) * features + at));
}

// Exchanges half of 2*HALF values with the lane `mask` away for its other half, and
// says where the half kept, now v[0..HALF-1], began.
template <int HALF, int N>
__device__ __forceinline__ int fold(float (&v)[N], int lane, int mask) {
    const bool upper = lane & mask;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        const float keep = upper ? v[i + HALF] : v[i], give = upper ? v[i] : v[i + HALF];
        v[i] = keep + __shfl_xor_sync(ALL, give, mask);
    }
    return upper ? HALF : 0;
}

// Sums each of N values over the warp, by N/2 + N/4 + 3*N/8 shuffles instead of 5*N.
// Afterwards the four lanes of a quad hold, in v[0..N/8-1], the sums of the values
// from the returned index on.
template <int N>
__device__ __forceinline__ int reduce(float (&v)[N], int lane) {
    int first = fold<N / 2>(v, lane, 16);
    first += fold<N / 4>(v, lane, 8);
    first += fold<N / 8>(v, lane, 4);
#pragma unroll
    for (int i = 0; i < N / 8; i++) {
        v[i] += __shfl_xor_sync(ALL, v[i], 2);
        v[i] += __shfl_xor_sync(ALL, v[i], 1);
    }
    return first;
}

}  // namespace

// blockIdx.x: slice of sliceChunks chunks. The 16 warps of a block are rowWarps (a
// power of two) that share the groups, times 16/rowWarps parts that share the
// slice's chunks, so that a small batch fills the block too.
// Where the features give too few blocks, several share a slice: blockIdx.z of gridDim.z
// takes every so-manieth round of rows.
// partial is [row][slice * parts + part][class].
// wide: see column.
extern "C" __global__ void __launch_bounds__(FORWARD)
ENTRY(forward)(const VALUE* x, const float* w, float* partial, int rows, int features, int classes,
        int sliceChunks, int rowWarps, int wide) {
    __shared__ float4 weights[SHARED4];
    const int room = SHARED4 / 32 / TILE;  // chunks that fit at a time
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int columns = (features + 3) / 4, chunks = (columns + 31) / 32;
    const int begin = blockIdx.x * sliceChunks, count = min(sliceChunks, chunks - begin);
    const int parts = FORWARD / 32 / rowWarps, part = warp / rowWarps, rowWarp = warp % rowWarps;
    const int rounds = (rows + GROUP * rowWarps - 1) / (GROUP * rowWarps);
    const int tile = blockIdx.y * TILE;

    auto firstRow = [&](int round) { return (round * rowWarps + rowWarp) * GROUP; };
    auto take = [&](float4 (&v)[GROUP], int round, int chunk) {
        const int row = firstRow(round), there = chunk < count ? rows - row : 0, col = (begin + chunk) * 32 + lane;
        const VALUE* from = x + ptrdiff_t(row) * features;
        // The branch is around the four loads, not within, so that all four are under way at once.
        if (wide) {
#pragma unroll
            for (int r = 0; r < GROUP; r++) v[r] = column<true>(from + ptrdiff_t(r) * features, r < there, col, features);
        } else {
#pragma unroll
            for (int r = 0; r < GROUP; r++) v[r] = column<false>(from + ptrdiff_t(r) * features, r < there, col, features);
        }
    };

    float4 now[GROUP], next[GROUP];
    const int first = blockIdx.z, step = gridDim.z;
    take(now, first, part);
    for (int round = first; round < rounds; round += step) {
        float sum[GROUP * TILE];
#pragma unroll
        for (int i = 0; i < GROUP * TILE; i++) sum[i] = 0;

        int chunk = part;
        for (int staged = 0; staged < count; staged += room) {
            const int held = min(room, count - staged), width = held * 32;
            if (round == first || count > room) {
                __syncthreads();
                for (int i = threadIdx.x; i < TILE * width; i += FORWARD) {
                    const int c = tile + i / width, col = (begin + staged) * 32 + i % width;
                    weights[i] = c < classes && col < columns
                        ? reinterpret_cast<const float4*>(w)[ptrdiff_t(c) * columns + col] : make_float4(0, 0, 0, 0);
                }
                __syncthreads();
            }
            for (; chunk < staged + held; chunk += parts) {
                const bool more = chunk + parts < count;
                take(next, more ? round : round + step, more ? chunk + parts : part);
                const float4* v = weights + (chunk - staged) * 32 + lane;
#pragma unroll
                for (int c = 0; c < TILE; c++) {
                    const float4 k = v[c * width];
#pragma unroll
                    for (int r = 0; r < GROUP; r++) {
                        float& s = sum[r * TILE + c];
                        s = fmaf(now[r].x, k.x, s);
                        s = fmaf(now[r].y, k.y, s);
                        s = fmaf(now[r].z, k.z, s);
                        s = fmaf(now[r].w, k.w, s);
                    }
                }
#pragma unroll
                for (int r = 0; r < GROUP; r++) now[r] = next[r];
            }
        }

        const int held = reduce<GROUP * TILE>(sum, lane), row = firstRow(round);
#pragma unroll
        for (int i = 0; i < GROUP * TILE / 8; i++) {
            const int r = row + (held + i) / TILE, c = tile + (held + i) % TILE;
            if ((lane & 3) == (i & 3) && r < rows && c < classes)
                partial[(ptrdiff_t(r) * gridDim.x * parts + blockIdx.x * parts + part) * classes + c] = sum[i];
        }
    }
}

namespace {

// What a block of loss works with: up to 32 classes by its first warp alone, which
// then meets nobody at a barrier; more by all warps.
template <bool LARGEST>
__device__ __forceinline__ float all(float v, bool alone) {
    for (int mask = 16; mask; mask >>= 1) {
        const float other = __shfl_xor_sync(ALL, v, mask);
        v = LARGEST ? fmaxf(v, other) : v + other;
    }
    if (alone) return v;
    __shared__ float each[LOSS / 32];
    __syncthreads();
    if ((threadIdx.x & 31) == 0) each[threadIdx.x >> 5] = v;
    __syncthreads();
    v = each[0];
    for (int i = 1; i < LOSS / 32; i++) v = LARGEST ? fmaxf(v, each[i]) : v + each[i];
    return v;
}

// Where delta, [tile][row][class in tile, padded to whole float4], holds a row of a tile.
__device__ __forceinline__ float* deltaAt(float* delta, int tile, int rows, int row) {
    return delta + (ptrdiff_t(tile) * ((rows + GROUP - 1) / GROUP * GROUP) + row) * WIDTH * 4;
}

}  // namespace

// One block a row, of rows rounded up to whole groups: delta of a row past the end is 0.
// labels are int64, labelStride bytes apart. rowLoss is what each row loses.
extern "C" __global__ void __launch_bounds__(LOSS)
ENTRY(loss)(const float* partial, int partials, const float* bias, const char* labels, int64 labelStride,
     float* delta, float* rowLoss, int rows, int classes) {
    __shared__ float parts[LOSS], logits[LOSS];
    const int row = blockIdx.x, t = threadIdx.x, tiles = (classes + TILE - 1) / TILE;
    for (int i = t; i < tiles * WIDTH * 4; i += LOSS) {
        const int tile = i / (WIDTH * 4), c = i % (WIDTH * 4);
        if (row >= rows || c >= TILE || tile * TILE + c >= classes) deltaAt(delta, tile, rows, row)[c] = 0;
    }
    if (row >= rows) return;

    const int64 given = *reinterpret_cast<const int64*>(labels + row * labelStride) % classes;
    const int label = int(given < 0 ? given + classes : given);
    const float* p = partial + ptrdiff_t(row) * partials * classes;
    auto place = [&](int c) { return deltaAt(delta, c / TILE, rows, row) + c % TILE; };
    const bool alone = classes <= 32;
    if (classes <= LOSS) {
        // Several threads to a class, each summing every so-manieth partial.
        const int shares = LOSS / classes, c = t % classes, share = t / classes;
        float sum = share == 0 ? bias[c] : 0;
        if (share < shares) {
#pragma unroll 8
            for (int i = share; i < partials; i += shares) sum += p[ptrdiff_t(i) * classes + c];
        }
        parts[t] = sum;
        __syncthreads();
        if (alone && t >= 32) return;
        if (t < classes) {
            sum = 0;
            for (int i = 0; i < shares; i++) sum += parts[i * classes + t];
            logits[t] = sum;
        }
    } else {
        for (int c = t; c < classes; c += LOSS) {
            float sum = bias[c];
            for (int i = 0; i < partials; i++) sum += p[ptrdiff_t(i) * classes + c];
            *place(c) = sum;
        }
    }
    if (alone) __syncwarp();
    else __syncthreads();
    auto logit = [&](int c) { return classes <= LOSS ? logits[c] : *place(c); };

    float v = __int_as_float(0xff800000);  // minus infinity
    for (int c = t; c < classes; c += LOSS) v = fmaxf(v, logit(c));
    const float largest = all<true>(v, alone);
    v = 0;
    for (int c = t; c < classes; c += LOSS) v += expf(logit(c) - largest);
    const float sum = all<false>(v, alone);

    if (t == 0) rowLoss[row] = logf(sum) + largest - logit(label);
    if (!alone) __syncthreads();  // logits that lie in delta are overwritten next
    for (int c = t; c < classes; c += LOSS)
        *place(c) = (expf(logit(c) - largest) / sum - (c == label ? 1.0f : 0.0f)) / float(rows);
}

namespace {

// Adds to sum[c] the products of this lane's column and delta over every second group
// of ROWS rows, the last group first: the end of the batch is what the forward pass
// has left in L2. A row's registers take their next load as soon as they are used.
template <bool WIDE, int ROWS>
__device__ __forceinline__ void accumulate(float4 (&sum)[TILE], const VALUE* x, const float4* delta, int rows,
                                           int features, int col, int warp) {
    int group = (rows + ROWS - 1) / ROWS - 1 - warp;
    const ptrdiff_t turn = 2 * ROWS * ptrdiff_t(features);  // from one group of this warp to the next
    x += ptrdiff_t(group) * ROWS * features;
    float4 v[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        v[r] = column<WIDE>(x + ptrdiff_t(r) * features, group >= 0 && group * ROWS + r < rows, col, features);

    const int chunk = col / 32, lane = col & 31;
    for (; group >= 0; group -= 2) {
        // All that this turn is going to load, at once: 322 us a step of 1,024 rows on the
        // H200 instead of 333. Two or three turns ahead took longer again.
        prefetch(x - turn, group < 2 ? 0 : ROWS, chunk, features, lane);
        x -= turn;
        const float4* d = delta + ptrdiff_t(group) * ROWS * WIDTH;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float k[WIDTH * 4];
#pragma unroll
            for (int i = 0; i < WIDTH; i++) reinterpret_cast<float4*>(k)[i] = __ldg(d + r * WIDTH + i);
#pragma unroll
            for (int c = 0; c < TILE; c++) {
                sum[c].x = fmaf(v[r].x, k[c], sum[c].x);
                sum[c].y = fmaf(v[r].y, k[c], sum[c].y);
                sum[c].z = fmaf(v[r].z, k[c], sum[c].z);
                sum[c].w = fmaf(v[r].w, k[c], sum[c].w);
            }
            v[r] = column<WIDE>(x + ptrdiff_t(r) * features, group >= 2, col, features);
        }
    }
}

// Bias c < classes, or the mean loss at c == classes, by one warp.
__device__ __forceinline__ void biasOrLoss(int c, float* bias, float* delta, const float* rowLoss, float* loss,
                                           int rows, int classes, float rate) {
    const int lane = threadIdx.x & 31;
    if (c > classes || blockIdx.y > 0 || blockIdx.z > 0) return;
    const float* d = c == classes ? rowLoss : deltaAt(delta, c / TILE, rows, 0) + c % TILE;
    const int stride = c == classes ? 1 : WIDTH * 4;
    float sum = 0;
#pragma unroll 8
    for (int r = lane; r < rows; r += 32) sum += d[ptrdiff_t(r) * stride];
    for (int mask = 16; mask; mask >>= 1) sum += __shfl_xor_sync(ALL, sum, mask);
    if (lane > 0) return;
    if (c == classes) *loss = sum / float(rows);
    else bias[c] -= rate * sum;
}

// One step down a gradient.
__device__ __forceinline__ void descend(float4* w, float4 gradient, float rate) {
    float4 v = *w;
    v.x -= rate * gradient.x;
    v.y -= rate * gradient.y;
    v.z -= rate * gradient.z;
    v.w -= rate * gradient.w;
    *w = v;
}

// A block of gradient. Its two warps take turns with the groups and then finish one half
// of the classes each: update the weights or, of PARTS, leave the sums of its rows. One
// kernel for both, which asked gridDim.z, took 10 % longer without parts (H200, 1,024 x 150,528).
template <bool PARTS>
__device__ __forceinline__ void descent(const VALUE* x, float* w, float* sums, float* bias, float* delta, const float* rowLoss,
                                        float* loss, int rows, int features, int classes, float rate, int wide) {
    const int extra = (classes + 2) / 2, chunk = int(blockIdx.x) - extra;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (chunk < 0) {
        biasOrLoss(blockIdx.x * 2 + warp, bias, delta, rowLoss, loss, rows, classes, rate);
        return;
    }
    const int columns = (features + 3) / 4, col = chunk * 32 + lane, tile = blockIdx.y * TILE;
    const int each = PARTS ? ((rows + GROUP - 1) / GROUP + gridDim.z - 1) / gridDim.z * GROUP : rows;
    const int begin = PARTS ? blockIdx.z * each : 0, own = PARTS ? max(0, min(each, rows - begin)) : rows;
    const float4* d = reinterpret_cast<const float4*>(deltaAt(delta, blockIdx.y, rows, begin));
    x += ptrdiff_t(begin) * features;

    float4 sum[TILE];
#pragma unroll
    for (int c = 0; c < TILE; c++) sum[c] = make_float4(0, 0, 0, 0);
    if (wide) accumulate<true, GROUP>(sum, x, d, own, features, col, warp);
    else accumulate<false, 1>(sum, x, d, own, features, col, warp);

    __shared__ float4 other[2][TILE / 2][32];
#pragma unroll
    for (int c = 0; c < TILE / 2; c++) other[warp][c][lane] = warp ? sum[c] : sum[c + TILE / 2];
    __syncthreads();
    if (col >= columns) return;
#pragma unroll
    for (int c = 0; c < TILE / 2; c++) {
        const int at = tile + warp * (TILE / 2) + c;
        if (at >= classes) break;
        const float4 mine = warp ? sum[c + TILE / 2] : sum[c], theirs = other[1 - warp][c][lane];
        const float4 both = make_float4(mine.x + theirs.x, mine.y + theirs.y, mine.z + theirs.z, mine.w + theirs.w);
        if (PARTS) reinterpret_cast<float4*>(sums)[(ptrdiff_t(blockIdx.z) * classes + at) * columns + col] = both;
        else descend(reinterpret_cast<float4*>(w) + ptrdiff_t(at) * columns + col, both, rate);
    }
}

}  // namespace

// The first (classes+2)/2 blocks sum biases and loss, the others own a chunk each.
// 9 blocks a multiprocessor hold the 1176 chunks of the article's sample in one wave on 132
// multiprocessors (8 took 1.2 to 1.3 times as long); 16 classes do not leave the registers for it.
extern "C" __global__ void __launch_bounds__(GRADIENT, TILE > 10 ? 8 : 9)
ENTRY(gradient)(const VALUE* x, float* w, float* sums, float* bias, float* delta, const float* rowLoss, float* loss,
         int rows, int features, int classes, float rate, int wide) {
    descent<false>(x, w, sums, bias, delta, rowLoss, loss, rows, features, classes, rate, wide);
}

// Where the features give too few blocks, several share a chunk: blockIdx.z of gridDim.z
// takes that part of the rows and leaves its sum in sums, [part][class][feature] laid out
// as the weights, for update.
extern "C" __global__ void __launch_bounds__(GRADIENT, TILE > 10 ? 8 : 9)
ENTRY(parts)(const VALUE* x, float* w, float* sums, float* bias, float* delta, const float* rowLoss, float* loss,
      int rows, int features, int classes, float rate, int wide) {
    descent<true>(x, w, sums, bias, delta, rowLoss, loss, rows, features, classes, rate, wide);
}

// Adds up what parts left, in their order, for each of `columns` columns of
// all classes, and updates the weights.
extern "C" __global__ void __launch_bounds__(UPDATE)
ENTRY(update)(float* w, const float* sums, int parts, int columns, float rate) {
    const int col = blockIdx.x * UPDATE + threadIdx.x;
    if (col >= columns) return;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
    for (int part = 0; part < parts; part++) {
        const float4 v = __ldcg(reinterpret_cast<const float4*>(sums) + ptrdiff_t(part) * columns + col);
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
    descend(reinterpret_cast<float4*>(w) + col, sum, rate);
}
