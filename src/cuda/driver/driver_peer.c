/* Peers: access between contexts (core/peer_access.h), copies between them. Codes: CUDA Driver API, "Peer context
 * memory access" and "Memory management".
 */
#include "cuda/core/call.h"
#include "cuda/core/copy_3d.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/peer_copy.h"
#include "cuda/driver/driver_forms.h"

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
  DRIVER(NEED_CONTEXT, peer_enable(s, peer, flags));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
  DRIVER(NEED_CONTEXT, peer_disable(s, peer));
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
