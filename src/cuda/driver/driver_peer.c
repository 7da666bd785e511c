/* What programs of several GPUs call, with one: no peer can be reached (cuDeviceCanAccessPeer says so), and
 * copies between contexts are copies inside the device. Codes: CUDA Driver API, "Peer context memory access" and
 * "Memory management".
 */
#include "cuda/core/call.h"
#include "cuda/core/copy_3d.h"
#include "cuda/core/enqueue.h"

static CUresult enable(struct shim *s, CUcontext peer, unsigned flags)
{
  if (!context_exists(s, peer) || peer == context_current(s)) return CUDA_ERROR_INVALID_CONTEXT;
  return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
  DRIVER(NEED_CONTEXT, enable(s, peer, flags));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
  DRIVER(NEED_CONTEXT,
         context_exists(s, peer) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_CONTEXT);
}

static CUresult copy(struct shim *s, struct copy c, CUcontext to, CUcontext from, CUstream stream,
                     bool blocking)
{
  struct stream *st = stream_of(s, stream);
  if (!context_exists(s, to) || !context_exists(s, from)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  copy_direct(s, &c, COPY_DEFAULT);
  return enqueue_copy(s, &c, st, blocking);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes)
{
  DRIVER(NEED_CONTEXT, copy(s, copy_linear(dst, src, bytes), to, from, NULL, true));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                           size_t bytes, CUstream stream)
{
  DRIVER(NEED_CONTEXT, copy(s, copy_linear(dst, src, bytes), to, from, stream, false));
}

/* CUDA_MEMCPY3D_PEER: the contexts lie where CUDA_MEMCPY3D has something reserved. An array has its own. */
static CUresult copy_3d(struct shim *s, const CUDA_MEMCPY3D *p, CUstream stream, bool blocking)
{
  struct stream *st = stream_of(s, stream);
  struct copy c;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if ((p->src_type != MEM_ARRAY && !context_exists(s, p->reserved0)) ||
      (p->dst_type != MEM_ARRAY && !context_exists(s, p->reserved1)))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = copy_from_3d(s, &c, p);
  return r == CUDA_SUCCESS ? enqueue_copy(s, &c, st, blocking) : r;
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D *p)
{
  DRIVER(NEED_CONTEXT, copy_3d(s, p, NULL, true));
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D *p, CUstream stream)
{
  DRIVER(NEED_CONTEXT, copy_3d(s, p, stream, false));
}
