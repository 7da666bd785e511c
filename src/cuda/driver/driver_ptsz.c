/* Entry points of the driver for programs compiled with a per-thread default stream (per_thread.h). */
#include "cuda/core/per_thread.h"

/* Twins (twins.def), and what is no row here. */
CUresult cuStreamSynchronize(CUstream);
CUresult cuLaunchKernelEx(const CUlaunchConfig *, CUfunction, void **, void **);

PTSZ(cuLaunchKernel,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned
      shared, CUstream st, void **p, void **x), (f, gx, gy, gz, bx, by, bz, shared, own(st), p, x))
PTSZ(cuLaunchCooperativeKernel,
     (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned
      shared, CUstream st, void **p), (f, gx, gy, gz, bx, by, bz, shared, own(st), p))
PTSZ(cuMemAllocAsync, (CUdeviceptr *p, size_t n, CUstream st), (p, n, own(st)))
PTSZ(cuMemAllocFromPoolAsync, (CUdeviceptr *p, size_t n, CUmemoryPool pool, CUstream st), (p, n, pool, own(st)))
PTSZ(cuMemcpyAsync, (CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st), (d, s, n, own(st)))
PTSZ(cuMemcpyBatchAsync,
     (const CUdeviceptr *d, const CUdeviceptr *s, const size_t *n, size_t count, const CUmemcpyAttributes *a,
      const size_t *first, size_t n_a, size_t *bad, CUstream st), (d, s, n, count, a, first, n_a, bad, own(st)))
PTSZ(cuMemcpyBatchAsync_v2,
     (const CUdeviceptr *d, const CUdeviceptr *s, const size_t *n, size_t count, const CUmemcpyAttributes *a,
      const size_t *first, size_t n_a, CUstream st), (d, s, n, count, a, first, n_a, own(st)))
PTSZ(cuMemcpy3DBatchAsync,
     (size_t n, const CUDA_MEMCPY3D_BATCH_OP *op, size_t *bad, unsigned long long flags, CUstream st),
     (n, op, bad, flags, own(st)))
PTSZ(cuMemcpy3DBatchAsync_v2,
     (size_t n, const CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream st),
     (n, op, flags, own(st)))
PTSZ(cuMemcpyHtoDAsync_v2, (CUdeviceptr d, const void *s, size_t n, CUstream st), (d, s, n, own(st)))
PTSZ(cuMemcpyDtoHAsync_v2, (void *d, CUdeviceptr s, size_t n, CUstream st), (d, s, n, own(st)))
PTSZ(cuMemcpyDtoDAsync_v2, (CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st), (d, s, n, own(st)))
PTSZ(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *p, CUstream st), (p, own(st)))
PTSZ(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *p, CUstream st), (p, own(st)))
PTSZ(cuMemsetD8Async, (CUdeviceptr p, unsigned char v, size_t n, CUstream st), (p, v, n, own(st)))
PTSZ(cuMemsetD16Async, (CUdeviceptr p, unsigned short v, size_t n, CUstream st), (p, v, n, own(st)))
PTSZ(cuMemsetD32Async, (CUdeviceptr p, unsigned v, size_t n, CUstream st), (p, v, n, own(st)))
PTSZ(cuMemsetD2D8Async, (CUdeviceptr p, size_t pitch, unsigned char v, size_t w, size_t h, CUstream st),
     (p, pitch, v, w, h, own(st)))
PTSZ(cuMemsetD2D16Async, (CUdeviceptr p, size_t pitch, unsigned short v, size_t w, size_t h, CUstream st),
     (p, pitch, v, w, h, own(st)))
PTSZ(cuMemsetD2D32Async, (CUdeviceptr p, size_t pitch, unsigned v, size_t w, size_t h, CUstream st),
     (p, pitch, v, w, h, own(st)))
PTSZ(cuMemPrefetchBatchAsync,
     (const CUdeviceptr *p, const size_t *n, size_t count, const CUmemLocation *to, const size_t *first, size_t
      n_to, unsigned long long flags, CUstream st), (p, n, count, to, first, n_to, flags, own(st)))
PTSZ(cuMemDiscardAndPrefetchBatchAsync,
     (const CUdeviceptr *p, const size_t *n, size_t count, const CUmemLocation *to, const size_t *first, size_t
      n_to, unsigned long long flags, CUstream st), (p, n, count, to, first, n_to, flags, own(st)))
PTSZ(cuMemDiscardBatchAsync,
     (const CUdeviceptr *p, const size_t *n, size_t count, unsigned long long flags, CUstream st),
     (p, n, count, flags, own(st)))
PTSZ(cuMemPrefetchAsync_v2, (CUdeviceptr p, size_t n, CUmemLocation l, unsigned flags, CUstream st),
     (p, n, l, flags, own(st)))
PTSZ(cuStreamWaitValue32, (CUstream st, CUdeviceptr p, uint32_t v, unsigned flags), (own(st), p, v, flags))
PTSZ(cuStreamWaitValue32_v2, (CUstream st, CUdeviceptr p, uint32_t v, unsigned flags), (own(st), p, v, flags))
PTSZ(cuStreamWaitValue64, (CUstream st, CUdeviceptr p, uint64_t v, unsigned flags), (own(st), p, v, flags))
PTSZ(cuStreamWaitValue64_v2, (CUstream st, CUdeviceptr p, uint64_t v, unsigned flags), (own(st), p, v, flags))
PTSZ(cuStreamWriteValue32, (CUstream st, CUdeviceptr p, uint32_t v, unsigned flags), (own(st), p, v, flags))
PTSZ(cuStreamWriteValue32_v2, (CUstream st, CUdeviceptr p, uint32_t v, unsigned flags), (own(st), p, v, flags))
PTSZ(cuStreamWriteValue64, (CUstream st, CUdeviceptr p, uint64_t v, unsigned flags), (own(st), p, v, flags))
PTSZ(cuStreamWriteValue64_v2, (CUstream st, CUdeviceptr p, uint64_t v, unsigned flags), (own(st), p, v, flags))
PTSZ(cuStreamBatchMemOp, (CUstream st, unsigned n, CUstreamBatchMemOpParams *op, unsigned flags),
     (own(st), n, op, flags))
PTSZ(cuStreamBatchMemOp_v2, (CUstream st, unsigned n, CUstreamBatchMemOpParams *op, unsigned flags),
     (own(st), n, op, flags))
PTSZ(cuStreamGetDevResource, (CUstream st, CUdevResource *r, int type), (own(st), r, type))
PTSZ(cuStreamGetCtx, (CUstream st, CUcontext *c), (own(st), c))
PTSZ(cuStreamGetCtx_v2, (CUstream st, CUcontext *c, CUgreenCtx *green), (own(st), c, green))
PTSZ(cuStreamAttachMemAsync, (CUstream st, CUdeviceptr p, size_t n, unsigned flags), (own(st), p, n, flags))
PTSZ(cuStreamCopyAttributes, (CUstream to, CUstream from), (own(to), own(from)))
PTSZ(cuStreamGetAttribute, (CUstream st, int attribute, CUlaunchAttributeValue *v), (own(st), attribute, v))
PTSZ(cuStreamSetAttribute, (CUstream st, int attribute, const CUlaunchAttributeValue *v), (own(st), attribute, v))
PTSZ(cuMemPrefetchAsync, (CUdeviceptr p, size_t n, CUdevice d, CUstream st), (p, n, d, own(st)))
PTSZ(cuMemcpyPeerAsync,
     (CUdeviceptr d, CUcontext to, CUdeviceptr s, CUcontext from, size_t n, CUstream st),
     (d, to, s, from, n, own(st)))
PTSZ(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D *p, CUstream st), (p, own(st)))
PTSZ(cuMemcpyAtoHAsync_v2, (void *d, CUarray s, size_t from, size_t n, CUstream st), (d, s, from, n, own(st)))
PTSZ(cuMemcpyHtoAAsync_v2, (CUarray d, size_t to, const void *s, size_t n, CUstream st), (d, to, s, n, own(st)))
PTSZ(cuGraphLaunch, (CUgraphExec x, CUstream st), (x, own(st)))
PTSZ(cuGraphUpload, (CUgraphExec x, CUstream st), (x, own(st)))
/* An upload takes no time, in whatever stream. */
PTSZ(cuGraphInstantiateWithParams, (CUgraphExec *x, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p), (x, g, p))
PTSZ(cuStreamBeginCapture, (CUstream st), (own(st)))
PTSZ(cuStreamBeginCapture_v2, (CUstream st, int mode), (own(st), mode))
PTSZ(cuStreamBeginCaptureToGraph,
     (CUstream st, CUgraph g, const CUgraphNode *from, const CUgraphEdgeData *data, size_t n, int mode),
     (own(st), g, from, data, n, mode))
PTSZ(cuStreamEndCapture, (CUstream st, CUgraph *g), (own(st), g))
PTSZ(cuStreamGetCaptureInfo, (CUstream st, int *status, uint64_t *id), (own(st), status, id))
PTSZ(cuStreamGetCaptureInfo_v2,
     (CUstream st, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **from, size_t *n),
     (own(st), status, id, g, from, n))
PTSZ(cuStreamGetCaptureInfo_v3,
     (CUstream st, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **from, const CUgraphEdgeData **data,
      size_t *n), (own(st), status, id, g, from, data, n))
PTSZ(cuStreamUpdateCaptureDependencies, (CUstream st, CUgraphNode *from, size_t n, unsigned flags),
     (own(st), from, n, flags))
PTSZ(cuStreamUpdateCaptureDependencies_v2,
     (CUstream st, CUgraphNode *from, const CUgraphEdgeData *data, size_t n, unsigned flags),
     (own(st), from, data, n, flags))

PTDS_COPY(cuMemcpy, cuMemcpyAsync, cuStreamSynchronize, (CUdeviceptr d, CUdeviceptr s, size_t n),
          (d, s, n, STREAM_PER_THREAD))
PTDS_COPY(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, cuStreamSynchronize, (CUdeviceptr d, const void *s, size_t n),
          (d, s, n, STREAM_PER_THREAD))
PTDS_COPY(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, cuStreamSynchronize, (void *d, CUdeviceptr s, size_t n),
          (d, s, n, STREAM_PER_THREAD))
PTDS_COPY(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, cuStreamSynchronize, (CUdeviceptr d, CUdeviceptr s, size_t n),
          (d, s, n, STREAM_PER_THREAD))
PTDS_COPY(cuMemcpy2D_v2, cuMemcpy2DAsync_v2, cuStreamSynchronize, (const CUDA_MEMCPY2D *p),
          (p, STREAM_PER_THREAD))
PTDS_COPY(cuMemcpy2DUnaligned_v2, cuMemcpy2DAsync_v2, cuStreamSynchronize, (const CUDA_MEMCPY2D *p),
          (p, STREAM_PER_THREAD))
PTDS_COPY(cuMemcpy3D_v2, cuMemcpy3DAsync_v2, cuStreamSynchronize, (const CUDA_MEMCPY3D *p),
          (p, STREAM_PER_THREAD))

PTDS_COPY(cuMemcpyPeer, cuMemcpyPeerAsync, cuStreamSynchronize,
          (CUdeviceptr d, CUcontext to, CUdeviceptr s, CUcontext from, size_t n),
          (d, to, s, from, n, STREAM_PER_THREAD))
PTDS_COPY(cuMemcpy3DPeer, cuMemcpy3DPeerAsync, cuStreamSynchronize, (const CUDA_MEMCPY3D *p), (p, STREAM_PER_THREAD))
PTDS_COPY(cuMemcpyAtoH_v2, cuMemcpyAtoHAsync_v2, cuStreamSynchronize, (void *d, CUarray s, size_t from, size_t n),
          (d, s, from, n, STREAM_PER_THREAD))
PTDS_COPY(cuMemcpyHtoA_v2, cuMemcpyHtoAAsync_v2, cuStreamSynchronize,
          (CUarray d, size_t to, const void *s, size_t n), (d, to, s, n, STREAM_PER_THREAD))
PTDS_FILL(cuMemsetD8_v2, cuMemsetD8Async, (CUdeviceptr p, unsigned char v, size_t n),
          (p, v, n, STREAM_PER_THREAD))
PTDS_FILL(cuMemsetD16_v2, cuMemsetD16Async, (CUdeviceptr p, unsigned short v, size_t n),
          (p, v, n, STREAM_PER_THREAD))
PTDS_FILL(cuMemsetD32_v2, cuMemsetD32Async, (CUdeviceptr p, unsigned v, size_t n), (p, v, n, STREAM_PER_THREAD))
PTDS_FILL(cuMemsetD2D8_v2, cuMemsetD2D8Async,
          (CUdeviceptr p, size_t pitch, unsigned char v, size_t w, size_t h),
          (p, pitch, v, w, h, STREAM_PER_THREAD))
PTDS_FILL(cuMemsetD2D16_v2, cuMemsetD2D16Async,
          (CUdeviceptr p, size_t pitch, unsigned short v, size_t w, size_t h),
          (p, pitch, v, w, h, STREAM_PER_THREAD))
PTDS_FILL(cuMemsetD2D32_v2, cuMemsetD2D32Async, (CUdeviceptr p, size_t pitch, unsigned v, size_t w, size_t h),
          (p, pitch, v, w, h, STREAM_PER_THREAD))

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  CUlaunchConfig mine = *config;
  mine.stream = own(config->stream);
  return cuLaunchKernelEx(&mine, f, params, extra);
}
