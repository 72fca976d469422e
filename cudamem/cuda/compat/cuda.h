/* A wrapper around CUDA's own cuda.h, for gorgonia.org/cu v0.9.6 and CUDA 13.
 *
 * CUDA 13 made these names mean newer calls with other arguments. Drivers keep the
 * older calls, and here the names mean those again. Put this folder before the
 * toolkit's with CGO_CFLAGS=-I; with older toolkits it changes nothing.
 */
#ifndef PINSCOPE_CUDA_H
#define PINSCOPE_CUDA_H

#include_next <cuda.h>

#if CUDA_VERSION >= 13000

#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges

#define cuCtxCreate cuCtxCreate_v2

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr ptr, size_t count, CUmem_advise advice, CUdevice device);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr ptr, size_t count, CUdevice device, CUstream stream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);

#endif
#endif
