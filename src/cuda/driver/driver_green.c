/* Green contexts of the driver. */
#include "cuda/core/call.h"
#include "cuda/core/green_context.h"
#include "cuda/core/synchronize.h"

#define OF_GREEN(g, expr) (!green_exists(s, g) ? CUDA_ERROR_INVALID_CONTEXT : (expr))

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *r, int type)
{
  DRIVER(NEED_GPU, !board_at(s, device) ? CUDA_ERROR_INVALID_DEVICE
                                        : sm_resource_give(board_at(s, device), NULL, r, type));
}

CUresult cuCtxGetDevResource(CUcontext c, CUdevResource *r, int type)
{
  DRIVER(NEED_GPU, !context_exists(s, c) ? CUDA_ERROR_INVALID_CONTEXT
                                         : sm_resource_give(c->board, c->green ? c->green->group : NULL, r, type));
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx g, CUdevResource *r, int type)
{
  DRIVER(NEED_GPU, OF_GREEN(g, sm_resource_give(g->board, g->group, r, type)));
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned *n, const CUdevResource *from,
                                     CUdevResource *remaining, unsigned flags, unsigned least)
{
  DRIVER(NEED_GPU, sm_resource_split(s, result, n, from, remaining, flags, least));
}

CUresult cuDevSmResourceSplit(CUdevResource *result, unsigned n, const CUdevResource *from, CUdevResource *rest,
                              unsigned flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groups)
{
  DRIVER(NEED_GPU, sm_resource_split_each(s, result, n, from, rest, flags, groups));
}

CUresult cuStreamGetDevResource(CUstream stream, CUdevResource *r, int type)
{
  DRIVER(NEED_CONTEXT, green_stream_resource(s, stream, r, type));
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *out, CUdevResource *resources, unsigned n)
{
  DRIVER(NEED_GPU, sm_resource_name(s, out, resources, n));
}

CUresult cuGreenCtxCreate(CUgreenCtx *out, CUdevResourceDesc d, CUdevice device, unsigned flags)
{
  DRIVER(NEED_GPU, !board_at(s, device) ? CUDA_ERROR_INVALID_DEVICE
                                        : green_create(s, out, d, board_at(s, device), flags));
}

CUresult cuGreenCtxDestroy(CUgreenCtx g)
{
  DRIVER(NEED_GPU, green_destroy(s, g));
}

CUresult cuCtxFromGreenCtx(CUcontext *out, CUgreenCtx g)
{
  DRIVER(NEED_GPU, OF_GREEN(g, GIVE(out, g->context)));
}

CUresult cuGreenCtxGetId(CUgreenCtx g, unsigned long long *id)
{
  DRIVER(NEED_GPU, green_id(s, g, id));
}

CUresult cuGreenCtxStreamCreate(CUstream *out, CUgreenCtx g, unsigned flags, int priority)
{
  DRIVER(NEED_GPU, green_stream_create(s, out, g, flags, priority));
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx g, CUevent event)
{
  DRIVER(NEED_GPU, OF_GREEN(g, event_record_all(s, g->board, g, event)));
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx g, CUevent event)
{
  DRIVER(NEED_GPU, OF_GREEN(g, stream_wait_event_all(s, g->board, g, event)));
}

CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx *green)
{
  DRIVER(NEED_CONTEXT, !green ? CUDA_ERROR_INVALID_VALUE : green_of_stream(s, stream, NULL, green));
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green)
{
  DRIVER(NEED_CONTEXT, !context || !green ? CUDA_ERROR_INVALID_VALUE : green_of_stream(s, stream, context, green));
}
