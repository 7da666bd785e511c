/* What programs of several GPUs call, with one: device 0 is no peer of itself. Codes: CUDA Runtime API, "Peer
 * device memory access" and "Device management".
 */
#include "cuda/core/copy_3d.h"
#include "cuda/core/enqueue.h"
#include "cuda/runtime/runtime.h"

/* There is no other device that this one could reach. */
CUresult cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
  (void)peer;
  RUNTIME(NEED_CONTEXT, flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE);
}

CUresult cudaDeviceDisablePeerAccess(int peer)
{
  (void)peer;
  RUNTIME(NEED_CONTEXT, CUDA_ERROR_INVALID_DEVICE);
}

static CUresult copy(struct shim *s, struct copy c, int to, int from, CUstream stream,
                     bool blocking)
{
  struct stream *st = stream_of(s, stream);
  if (to || from) return CUDA_ERROR_INVALID_DEVICE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  copy_direct(s, &c, COPY_DEFAULT);
  return enqueue_copy(s, &c, st, blocking);
}

static struct copy linear(void *dst, const void *src, size_t bytes)
{
  return copy_linear((uint64_t)(uintptr_t)dst, (uint64_t)(uintptr_t)src, bytes);
}

CUresult cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t bytes)
{
  RUNTIME(NEED_CONTEXT, copy(s, linear(dst, src, bytes), to, from, NULL, true));
}

CUresult cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t bytes,
                             CUstream stream)
{
  RUNTIME(NEED_CONTEXT, copy(s, linear(dst, src, bytes), to, from, stream, false));
}

static CUresult copy_3d(struct shim *s, const cudaMemcpy3DPeerParms *p, CUstream stream,
                        bool blocking)
{
  struct copy c;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const cudaMemcpy3DParms q = {.src_array = p->src_array,
                               .src_pos = p->src_pos,
                               .src = p->src,
                               .dst_array = p->dst_array,
                               .dst_pos = p->dst_pos,
                               .dst = p->dst,
                               .extent = p->extent,
                               .kind = COPY_DEFAULT};
  CUresult r = copy_from_3d_parms(s, &c, &q);
  return r == CUDA_SUCCESS ? copy(s, c, p->dst_device, p->src_device, stream, blocking) : r;
}

CUresult cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p)
{
  RUNTIME(NEED_CONTEXT, copy_3d(s, p, NULL, true));
}

CUresult cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, copy_3d(s, p, stream, false));
}
