/* Entry points of the runtime for programs compiled with a per-thread default stream (per_thread.h). */
#include "cuda/core/per_thread.h"

/* Twins (twins.def), and what is no row here. */
CUresult cudaStreamSynchronize(CUstream);
CUresult cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);

PTSZ(cudaLaunchKernel, (const void *f, dim3 g, dim3 b, void **a, size_t n, CUstream st),
     (f, g, b, a, n, own(st)))
PTSZ(__cudaLaunchKernel, (CUkernel f, dim3 g, dim3 b, void **a, size_t n, CUstream st),
     (f, g, b, a, n, own(st)))
PTSZ(cudaLaunchCooperativeKernel, (const void *f, dim3 g, dim3 b, void **a, size_t n, CUstream st),
     (f, g, b, a, n, own(st)))
PTSZ(cudaStreamGetDevResource, (CUstream st, CUdevResource *r, int type), (own(st), r, type))
PTSZ(cudaMallocAsync, (void **p, size_t n, CUstream st), (p, n, own(st)))
PTSZ(cudaMemcpyAsync, (void *d, const void *s, size_t n, int kind, CUstream st), (d, s, n, kind, own(st)))
PTSZ(cudaMemcpyBatchAsync,
     (void *const *d, const void *const *s, const size_t *n, size_t count, const CUmemcpyAttributes *a, const
      size_t *first, size_t n_a, CUstream st), (d, s, n, count, a, first, n_a, own(st)))
PTSZ(cudaMemcpy3DBatchAsync,
     (size_t n, const CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream st),
     (n, op, flags, own(st)))
PTSZ(cudaMemcpy2DAsync,
     (void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, int kind, CUstream st),
     (d, dp, s, sp, w, h, kind, own(st)))
PTSZ(cudaMemcpy3DAsync, (const cudaMemcpy3DParms *p, CUstream st), (p, own(st)))
PTSZ(cudaMemcpyToSymbolAsync, (const void *y, const void *s, size_t n, size_t at, int kind, CUstream st),
     (y, s, n, at, kind, own(st)))
PTSZ(cudaMemcpyFromSymbolAsync, (void *d, const void *y, size_t n, size_t at, int kind, CUstream st),
     (d, y, n, at, kind, own(st)))
PTSZ(cudaMemsetAsync, (void *p, int v, size_t n, CUstream st), (p, v, n, own(st)))
PTSZ(cudaMemset2DAsync, (void *p, size_t pitch, int v, size_t w, size_t h, CUstream st),
     (p, pitch, v, w, h, own(st)))
PTSZ(cudaMallocFromPoolAsync, (void **p, size_t n, CUmemoryPool pool, CUstream st), (p, n, pool, own(st)))
PTSZ(cudaMemset3DAsync, (cudaPitchedPtr p, int v, cudaExtent e, CUstream st), (p, v, e, own(st)))
PTSZ(cudaMemPrefetchBatchAsync,
     (void **p, const size_t *n, size_t count, const CUmemLocation *to, const size_t *first, size_t n_to,
      unsigned long long flags, CUstream st), (p, n, count, to, first, n_to, flags, own(st)))
PTSZ(cudaMemDiscardAndPrefetchBatchAsync,
     (void **p, const size_t *n, size_t count, const CUmemLocation *to, const size_t *first, size_t n_to,
      unsigned long long flags, CUstream st), (p, n, count, to, first, n_to, flags, own(st)))
PTSZ(cudaMemDiscardBatchAsync, (void **p, const size_t *n, size_t count, unsigned long long flags, CUstream st),
     (p, n, count, flags, own(st)))
PTSZ(cudaMemPrefetchAsync, (const void *p, size_t n, uint64_t location, uint64_t fourth, uint64_t fifth),
     (p, n, location, fourth ? fourth : (uint64_t)(uintptr_t)STREAM_PER_THREAD,
      fifth ? fifth : (uint64_t)(uintptr_t)STREAM_PER_THREAD))
PTSZ(cudaMemcpy2DToArrayAsync,
     (CUarray d, size_t x, size_t y, const void *s, size_t pitch, size_t w, size_t h, int kind, CUstream st),
     (d, x, y, s, pitch, w, h, kind, own(st)))
PTSZ(cudaMemcpy2DFromArrayAsync,
     (void *d, size_t pitch, CUarray s, size_t x, size_t y, size_t w, size_t h, int kind, CUstream st),
     (d, pitch, s, x, y, w, h, kind, own(st)))
PTSZ(cudaMemcpyToArrayAsync, (CUarray d, size_t x, size_t y, const void *s, size_t n, int kind, CUstream st),
     (d, x, y, s, n, kind, own(st)))
PTSZ(cudaMemcpyFromArrayAsync, (void *d, CUarray s, size_t x, size_t y, size_t n, int kind, CUstream st),
     (d, s, x, y, n, kind, own(st)))
PTSZ(cudaMemcpy3DPeerAsync, (const cudaMemcpy3DPeerParms *p, CUstream st), (p, own(st)))
PTSZ(cudaStreamAttachMemAsync, (CUstream st, void *p, size_t n, unsigned flags), (own(st), p, n, flags))
PTSZ(cudaStreamCopyAttributes, (CUstream to, CUstream from), (own(to), own(from)))
PTSZ(cudaStreamGetAttribute, (CUstream st, int attribute, CUlaunchAttributeValue *v), (own(st), attribute, v))
PTSZ(cudaStreamSetAttribute, (CUstream st, int attribute, const CUlaunchAttributeValue *v), (own(st), attribute, v))
PTSZ(cudaGraphLaunch, (CUgraphExec x, CUstream st), (x, own(st)))
PTSZ(cudaGraphUpload, (CUgraphExec x, CUstream st), (x, own(st)))
/* The stream is in the parameters, which name the one that they mean. */
PTSZ(cudaGraphInstantiateWithParams, (CUgraphExec *x, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p), (x, g, p))
PTSZ(cudaStreamBeginCapture, (CUstream st, int mode), (own(st), mode))
PTSZ(cudaStreamBeginCaptureToGraph,
     (CUstream st, CUgraph g, const CUgraphNode *deps, const CUgraphEdgeData *data, size_t n, int mode),
     (own(st), g, deps, data, n, mode))
PTSZ(cudaStreamEndCapture, (CUstream st, CUgraph *g), (own(st), g))
PTSZ(cudaStreamGetCaptureInfo,
     (CUstream st, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **deps, const CUgraphEdgeData **data,
      size_t *n), (own(st), status, id, g, deps, data, n))
PTSZ(cudaStreamUpdateCaptureDependencies,
     (CUstream st, CUgraphNode *deps, const CUgraphEdgeData *data, size_t n, unsigned flags),
     (own(st), deps, data, n, flags))
/* Entry points whose stream 0 is the thread's own, unless the program says which it wants. */
PTSZ(cudaGetDriverEntryPoint, (const char *name, void **f, unsigned long long flags, int *status),
     (name, f, flags ? flags : 2, status))
PTSZ(cudaGetDriverEntryPointByVersion,
     (const char *name, void **f, unsigned version, unsigned long long flags, int *status),
     (name, f, version, flags ? flags : 2, status))

PTDS_COPY(cudaMemcpy, cudaMemcpyAsync, cudaStreamSynchronize, (void *d, const void *s, size_t n, int kind),
          (d, s, n, kind, STREAM_PER_THREAD))
PTDS_COPY(cudaMemcpy2D, cudaMemcpy2DAsync, cudaStreamSynchronize,
          (void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, int kind),
          (d, dp, s, sp, w, h, kind, STREAM_PER_THREAD))
PTDS_COPY(cudaMemcpy3D, cudaMemcpy3DAsync, cudaStreamSynchronize, (const cudaMemcpy3DParms *p),
          (p, STREAM_PER_THREAD))
PTDS_COPY(cudaMemcpyToSymbol, cudaMemcpyToSymbolAsync, cudaStreamSynchronize,
          (const void *y, const void *s, size_t n, size_t at, int kind), (y, s, n, at, kind, STREAM_PER_THREAD))
PTDS_COPY(cudaMemcpyFromSymbol, cudaMemcpyFromSymbolAsync, cudaStreamSynchronize,
          (void *d, const void *y, size_t n, size_t at, int kind), (d, y, n, at, kind, STREAM_PER_THREAD))

PTDS_COPY(cudaMemcpy2DToArray, cudaMemcpy2DToArrayAsync, cudaStreamSynchronize,
          (CUarray d, size_t x, size_t y, const void *s, size_t pitch, size_t w, size_t h, int kind),
          (d, x, y, s, pitch, w, h, kind, STREAM_PER_THREAD))
PTDS_COPY(cudaMemcpy2DFromArray, cudaMemcpy2DFromArrayAsync, cudaStreamSynchronize,
          (void *d, size_t pitch, CUarray s, size_t x, size_t y, size_t w, size_t h, int kind),
          (d, pitch, s, x, y, w, h, kind, STREAM_PER_THREAD))
PTDS_COPY(cudaMemcpyToArray, cudaMemcpyToArrayAsync, cudaStreamSynchronize,
          (CUarray d, size_t x, size_t y, const void *s, size_t n, int kind), (d, x, y, s, n, kind, STREAM_PER_THREAD))
PTDS_COPY(cudaMemcpyFromArray, cudaMemcpyFromArrayAsync, cudaStreamSynchronize,
          (void *d, CUarray s, size_t x, size_t y, size_t n, int kind), (d, s, x, y, n, kind, STREAM_PER_THREAD))
PTDS_COPY(cudaMemcpy3DPeer, cudaMemcpy3DPeerAsync, cudaStreamSynchronize, (const cudaMemcpy3DPeerParms *p),
          (p, STREAM_PER_THREAD))

PTDS_FILL(cudaMemset, cudaMemsetAsync, (void *p, int value, size_t bytes), (p, value, bytes, STREAM_PER_THREAD))
PTDS_FILL(cudaMemset2D, cudaMemset2DAsync, (void *p, size_t pitch, int value, size_t width, size_t height),
          (p, pitch, value, width, height, STREAM_PER_THREAD))
PTDS_FILL(cudaMemset3D, cudaMemset3DAsync, (cudaPitchedPtr p, int value, cudaExtent extent),
          (p, value, extent, STREAM_PER_THREAD))

CUresult cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *f, void **args)
{
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  cudaLaunchConfig_t mine = *config;
  mine.stream = own(config->stream);
  return cudaLaunchKernelExC(&mine, f, args);
}
