/* What programs of several GPUs call, with one: no peer can be reached (cuDeviceCanAccessPeer says so), and
 * copies between contexts are copies inside the device. Codes: CUDA Driver API, "Peer context memory access" and
 * "Memory management".
 */
#include "cuda/core/call.h"
#include "cuda/core/copy_3d.h"
#include "cuda/core/peer_copy.h"
#include "cuda/driver/driver_forms.h"

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

CUresult driver_peers(struct shim *s, CUcontext to, CUcontext from)
{
  return context_exists(s, to) && context_exists(s, from) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* CUDA_MEMCPY3D_PEER: the contexts lie where CUDA_MEMCPY3D has something reserved. An array has its own. */
CUresult driver_copy_peers(struct shim *s, const CUDA_MEMCPY3D *p, CUstream stream, bool blocking)
{
  struct copy c;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if ((p->src_type != MEM_ARRAY && !context_exists(s, p->reserved0)) ||
      (p->dst_type != MEM_ARRAY && !context_exists(s, p->reserved1)))
    return CUDA_ERROR_INVALID_CONTEXT;
  return peer_copy(s, copy_from_3d(s, &c, p), &c, true, stream, blocking);
}
