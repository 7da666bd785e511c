/* Programs compiled with --default-stream per-thread: the same entry points under names with _ptsz (those
 * that take a stream) and _ptds (those that use the default stream), where stream 0 is the thread's
 * own (CUDA Runtime API, "Stream synchronization behavior").
 */
#include "cuda/core/api.h"

/* The entry points these stand for. */
CUresult cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, CUstream);
CUresult __cudaLaunchKernel(CUkernel, dim3, dim3, void **, size_t, CUstream);
CUresult cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, CUstream);
CUresult cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
CUresult cudaStreamSynchronize(CUstream);
CUresult cudaMallocAsync(void **, size_t, CUstream);
CUresult cudaMemcpyAsync(void *, const void *, size_t, int, CUstream);
CUresult cudaMemcpyBatchAsync(void *const *, const void *const *, const size_t *, size_t,
                              const CUmemcpyAttributes *, const size_t *, size_t, CUstream);
CUresult cudaMemcpy3DBatchAsync(size_t, const CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);
CUresult cudaMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, int, CUstream);
CUresult cudaMemcpy3DAsync(const cudaMemcpy3DParms *, CUstream);
CUresult cudaMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, int, CUstream);
CUresult cudaMemcpyFromSymbolAsync(void *, const void *, size_t, size_t, int, CUstream);
CUresult cudaMemsetAsync(void *, int, size_t, CUstream);
CUresult cudaMemset2DAsync(void *, size_t, int, size_t, size_t, CUstream);
CUresult cudaMallocFromPoolAsync(void **, size_t, CUmemoryPool, CUstream);
CUresult cudaMemset3DAsync(cudaPitchedPtr, int, cudaExtent, CUstream);
CUresult cudaMemPrefetchAsync(const void *, size_t, uint64_t);
CUresult cudaGetDriverEntryPoint(const char *, void **, unsigned long long, int *);
CUresult cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, unsigned long long, int *);
CUresult cudaMemPrefetchBatchAsync(void **, const size_t *, size_t, const CUmemLocation *, const size_t *, size_t,
                                   unsigned long long, CUstream);
CUresult cudaMemDiscardAndPrefetchBatchAsync(void **, const size_t *, size_t, const CUmemLocation *, const size_t *,
                                             size_t, unsigned long long, CUstream);
CUresult cudaMemDiscardBatchAsync(void **, const size_t *, size_t, unsigned long long, CUstream);

static CUstream own(CUstream stream)
{
  return stream ? stream : STREAM_PER_THREAD;
}

/* name(params) for the program, call(arguments) for us. */
#define PTSZ(name, params, arguments)                                                              \
  CUresult name##_ptsz params                                                                      \
  {                                                                                                \
    return name arguments;                                                                         \
  }
/* A blocking function: the asynchronous one, and the wait. */
#define PTDS(name, params, arguments)                                                              \
  CUresult name##_ptds params                                                                      \
  {                                                                                                \
    CUresult r = name##Async arguments;                                                            \
    return r == CUDA_SUCCESS ? cudaStreamSynchronize(STREAM_PER_THREAD) : r;                       \
  }

PTSZ(cudaLaunchKernel, (const void *f, dim3 g, dim3 b, void **a, size_t n, CUstream st),
     (f, g, b, a, n, own(st)))
PTSZ(__cudaLaunchKernel, (CUkernel f, dim3 g, dim3 b, void **a, size_t n, CUstream st),
     (f, g, b, a, n, own(st)))
PTSZ(cudaLaunchCooperativeKernel, (const void *f, dim3 g, dim3 b, void **a, size_t n, CUstream st),
     (f, g, b, a, n, own(st)))
PTSZ(cudaMallocAsync, (void **p, size_t n, CUstream st), (p, n, own(st)))
PTSZ(cudaMemcpyAsync, (void *d, const void *s, size_t n, int kind, CUstream st),
     (d, s, n, kind, own(st)))
PTSZ(cudaMemcpyBatchAsync, (void *const *d, const void *const *s, const size_t *n, size_t count,
                            const CUmemcpyAttributes *a, const size_t *first, size_t n_a, CUstream st),
     (d, s, n, count, a, first, n_a, own(st)))
PTSZ(cudaMemcpy3DBatchAsync, (size_t n, const CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream st),
     (n, op, flags, own(st)))
PTSZ(cudaMemcpy2DAsync, (void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, int kind,
                         CUstream st), (d, dp, s, sp, w, h, kind, own(st)))
PTSZ(cudaMemcpy3DAsync, (const cudaMemcpy3DParms *p, CUstream st), (p, own(st)))
PTSZ(cudaMemcpyToSymbolAsync, (const void *y, const void *s, size_t n, size_t at, int kind,
                               CUstream st), (y, s, n, at, kind, own(st)))
PTSZ(cudaMemcpyFromSymbolAsync, (void *d, const void *y, size_t n, size_t at, int kind,
                                 CUstream st), (d, y, n, at, kind, own(st)))
PTSZ(cudaMemsetAsync, (void *p, int v, size_t n, CUstream st), (p, v, n, own(st)))
PTSZ(cudaMemset2DAsync, (void *p, size_t pitch, int v, size_t w, size_t h, CUstream st),
     (p, pitch, v, w, h, own(st)))
PTSZ(cudaMallocFromPoolAsync, (void **p, size_t n, CUmemoryPool pool, CUstream st),
     (p, n, pool, own(st)))
PTSZ(cudaMemset3DAsync, (cudaPitchedPtr p, int v, cudaExtent e, CUstream st), (p, v, e, own(st)))
PTSZ(cudaMemPrefetchBatchAsync, (void **p, const size_t *n, size_t count, const CUmemLocation *to,
                                 const size_t *first, size_t n_to, unsigned long long flags, CUstream st),
     (p, n, count, to, first, n_to, flags, own(st)))
PTSZ(cudaMemDiscardAndPrefetchBatchAsync, (void **p, const size_t *n, size_t count, const CUmemLocation *to,
                                           const size_t *first, size_t n_to, unsigned long long flags, CUstream st),
     (p, n, count, to, first, n_to, flags, own(st)))
PTSZ(cudaMemDiscardBatchAsync, (void **p, const size_t *n, size_t count, unsigned long long flags, CUstream st),
     (p, n, count, flags, own(st)))
PTSZ(cudaMemPrefetchAsync, (const void *p, size_t n, uint64_t location), (p, n, location))
/* Entry points whose stream 0 is the thread's own, unless the program says which it wants. */
PTSZ(cudaGetDriverEntryPoint, (const char *name, void **f, unsigned long long flags, int *status),
     (name, f, flags ? flags : 2, status))
PTSZ(cudaGetDriverEntryPointByVersion, (const char *name, void **f, unsigned version,
                                        unsigned long long flags, int *status),
     (name, f, version, flags ? flags : 2, status))

PTDS(cudaMemcpy, (void *d, const void *s, size_t n, int kind), (d, s, n, kind, STREAM_PER_THREAD))
PTDS(cudaMemcpy2D, (void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, int kind),
     (d, dp, s, sp, w, h, kind, STREAM_PER_THREAD))
PTDS(cudaMemcpy3D, (const cudaMemcpy3DParms *p), (p, STREAM_PER_THREAD))
PTDS(cudaMemcpyToSymbol, (const void *y, const void *s, size_t n, size_t at, int kind),
     (y, s, n, at, kind, STREAM_PER_THREAD))
PTDS(cudaMemcpyFromSymbol, (void *d, const void *y, size_t n, size_t at, int kind),
     (d, y, n, at, kind, STREAM_PER_THREAD))

/* Fills do not block. */
CUresult cudaMemset_ptds(void *p, int value, size_t bytes)
{
  return cudaMemsetAsync(p, value, bytes, STREAM_PER_THREAD);
}

CUresult cudaMemset2D_ptds(void *p, size_t pitch, int value, size_t width, size_t height)
{
  return cudaMemset2DAsync(p, pitch, value, width, height, STREAM_PER_THREAD);
}

CUresult cudaMemset3D_ptds(cudaPitchedPtr p, int value, cudaExtent extent)
{
  return cudaMemset3DAsync(p, value, extent, STREAM_PER_THREAD);
}

CUresult cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *f, void **args)
{
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  cudaLaunchConfig_t mine = *config;
  mine.stream = own(config->stream);
  return cudaLaunchKernelExC(&mine, f, args);
}
