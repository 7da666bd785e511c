/* Peers: access between devices (core/peer_access.h), copies between them. Codes: CUDA Runtime API, "Peer device memory
 * access" and "Device management".
 */
#include "cuda/core/copy_3d.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/peer_copy.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/runtime_forms.h"

static CUresult enable(struct shim *s, int peer, unsigned flags)
{
  struct board *b = board_at(s, peer);
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (!b || !boards_are_peers(s, board_current(s), b)) return CUDA_ERROR_INVALID_DEVICE;
  return peer_enable(s, context_primary(s, b), 0);
}

CUresult cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, enable(s, peer, flags));
}

static CUresult disable(struct shim *s, int peer)
{
  struct board *b = board_at(s, peer);
  if (!b || b == board_current(s)) return CUDA_ERROR_INVALID_DEVICE;
  return peer_disable(s, context_primary(s, b));
}

CUresult cudaDeviceDisablePeerAccess(int peer)
{
  RUNTIME(NEED_CONTEXT, disable(s, peer));
}

CUresult runtime_peers(struct shim *s, int to, int from)
{
  return board_at(s, to) && board_at(s, from) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult runtime_copy_peers(struct shim *s, const cudaMemcpy3DPeerParms *p, CUstream stream, bool blocking)
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
  if (r == CUDA_SUCCESS) r = runtime_peers(s, p->dst_device, p->src_device);
  return peer_copy(s, r, &c, false, stream, blocking);
}
