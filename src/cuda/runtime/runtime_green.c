/* Execution contexts of the runtime: green ones, and the primary one of a device. A handle is the context. */
#include "cuda/core/green_context.h"
#include "cuda/core/synchronize.h"
#include "cuda/runtime/runtime.h"

#define OF_CONTEXT(c, expr) (!(c) || !context_exists(s, c) ? CUDA_ERROR_INVALID_VALUE : (expr))

CUresult cudaDeviceGetDevResource(int device, CUdevResource *r, int type)
{
  RUNTIME(NEED_GPU, !board_at(s, device) ? CUDA_ERROR_INVALID_DEVICE
                                         : sm_resource_give(board_at(s, device), NULL, r, type));
}

CUresult cudaDevSmResourceSplitByCount(CUdevResource *result, unsigned *n, const CUdevResource *from,
                                       CUdevResource *remaining, unsigned flags, unsigned least)
{
  RUNTIME(NEED_GPU, sm_resource_split(s, result, n, from, remaining, flags, least));
}

CUresult cudaDevSmResourceSplit(CUdevResource *result, unsigned n, const CUdevResource *from, CUdevResource *rest,
                                unsigned flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groups)
{
  RUNTIME(NEED_GPU, sm_resource_split_each(s, result, n, from, rest, flags, groups));
}

CUresult cudaDevResourceGenerateDesc(CUdevResourceDesc *out, CUdevResource *resources, unsigned n)
{
  RUNTIME(NEED_GPU, sm_resource_name(s, out, resources, n));
}

/* No flags are known; a default stream is always made. */
static CUresult create(struct shim *s, CUcontext *out, CUdevResourceDesc d, int device, unsigned flags)
{
  enum { DEFAULT_STREAM = 1 };
  CUgreenCtx g;
  if (!board_at(s, device)) return CUDA_ERROR_INVALID_DEVICE;
  if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = green_create(s, &g, d, board_at(s, device), DEFAULT_STREAM);
  if (r == CUDA_SUCCESS) *out = g->context;
  return r;
}

CUresult cudaGreenCtxCreate(CUcontext *out, CUdevResourceDesc d, int device, unsigned flags)
{
  RUNTIME(NEED_GPU, create(s, out, d, device, flags));
}

CUresult cudaExecutionCtxDestroy(CUcontext c)
{
  RUNTIME(NEED_GPU, OF_CONTEXT(c, c->green ? green_destroy(s, c->green) : CUDA_ERROR_INVALID_VALUE));
}

CUresult cudaDeviceGetExecutionCtx(CUcontext *out, int device)
{
  RUNTIME(NEED_GPU, !board_at(s, device) ? CUDA_ERROR_INVALID_DEVICE
                                         : GIVE(out, context_primary(s, board_at(s, device))));
}

CUresult cudaExecutionCtxGetDevResource(CUcontext c, CUdevResource *r, int type)
{
  RUNTIME(NEED_GPU, OF_CONTEXT(c, sm_resource_give(c->board, c->green ? c->green->group : NULL, r, type)));
}

CUresult cudaExecutionCtxGetDevice(int *device, CUcontext c)
{
  RUNTIME(NEED_GPU, OF_CONTEXT(c, GIVE(device, (int)c->board->number)));
}

CUresult cudaExecutionCtxGetId(CUcontext c, unsigned long long *id)
{
  RUNTIME(NEED_GPU, OF_CONTEXT(c, GIVE(id, c->id)));
}

/* Streams of green contexts never wait for the default stream. */
static CUresult create_stream(struct shim *s, CUstream *out, CUcontext c, unsigned flags, int priority)
{
  if (flags & ~(unsigned)STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  return stream_create_in(s, out, c, c->green ? STREAM_NON_BLOCKING : flags, priority);
}

CUresult cudaExecutionCtxStreamCreate(CUstream *out, CUcontext c, unsigned flags, int priority)
{
  RUNTIME(NEED_GPU, OF_CONTEXT(c, create_stream(s, out, c, flags, priority)));
}

CUresult cudaExecutionCtxSynchronize(CUcontext c)
{
  RUNTIME(NEED_GPU, OF_CONTEXT(c, stream_wait_context(s, c)));
}

CUresult cudaExecutionCtxRecordEvent(CUcontext c, CUevent event)
{
  RUNTIME(NEED_GPU, OF_CONTEXT(c, event_record_all(s, c->board, c->green, event)));
}

CUresult cudaExecutionCtxWaitEvent(CUcontext c, CUevent event)
{
  RUNTIME(NEED_GPU, OF_CONTEXT(c, stream_wait_event_all(s, c->board, c->green, event)));
}

CUresult cudaStreamGetDevResource(CUstream stream, CUdevResource *r, int type)
{
  RUNTIME(NEED_CONTEXT, green_stream_resource(s, stream, r, type));
}
