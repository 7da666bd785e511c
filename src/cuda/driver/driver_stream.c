/* Streams and events of the driver. */
#include "cuda/core/call.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/synchronize.h"

static CUresult context_of(struct shim *s, CUstream stream, CUcontext *context)
{
  const struct stream *st = stream_of(s, stream);
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  *context = st->context ? st->context : context_current(s);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
  DRIVER(NEED_CONTEXT, context_of(s, stream, context));
}

/* Events --------------------------------------------------------------------------------------------- */

/* Events of all that a context does: contexts of a GPU share its streams here. */
CUresult cuCtxRecordEvent(CUcontext c, CUevent event)
{
  DRIVER(NEED_GPU, context_exists(s, c) ? event_record_all(s, c->board, c->green, event) : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult cuCtxWaitEvent(CUcontext c, CUevent event)
{
  DRIVER(NEED_GPU, context_exists(s, c) ? stream_wait_event_all(s, c->board, c->green, event)
                                        : CUDA_ERROR_INVALID_CONTEXT);
}

/* Memory operations ---------------------------------------------------------------------------------- */

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned n, CUstreamBatchMemOpParams *op, unsigned flags)
{
  DRIVER(NEED_CONTEXT, enqueue_mem_ops(s, stream, op, n, flags));
}

static CUresult word_op(CUstream stream, int operation, CUdeviceptr p, uint64_t value, unsigned flags)
{
  CUstreamBatchMemOpParams op = {.word = {.operation = operation, .address = p, .value64 = value, .flags = flags}};
  return cuStreamBatchMemOp_v2(stream, 1, &op, 0);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr p, uint32_t value, unsigned flags)
{
  return word_op(stream, MEM_OP_WAIT_32, p, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr p, uint64_t value, unsigned flags)
{
  return word_op(stream, MEM_OP_WAIT_64, p, value, flags);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr p, uint32_t value, unsigned flags)
{
  return word_op(stream, MEM_OP_WRITE_32, p, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr p, uint64_t value, unsigned flags)
{
  return word_op(stream, MEM_OP_WRITE_64, p, value, flags);
}
