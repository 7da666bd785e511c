/* What programs of several GPUs call, with one: device 0 is no peer of itself. Codes: CUDA Runtime API, "Peer
 * device memory access" and "Device management".
 */
#include "cuda/core/copy_3d.h"
#include "cuda/core/peer_copy.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/runtime_forms.h"

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

CUresult runtime_peers(struct shim *s, int to, int from)
{
  (void)s;
  return to || from ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
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
