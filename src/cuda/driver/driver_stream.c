/* Streams of the driver. */
#include "cuda/core/advice.h"
#include "cuda/core/call.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/mem_op.h"
#include "cuda/core/synchronize.h"

CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
  DRIVER(NEED_CONTEXT, stream_create(s, out, flags, 0));
}

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
  DRIVER(NEED_CONTEXT, stream_create(s, out, flags, priority));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
  DRIVER(NEED_CONTEXT, stream_destroy(s, stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
  DRIVER(NEED_CONTEXT, stream_wait(s, stream));
}

CUresult cuStreamQuery(CUstream stream)
{
  DRIVER(NEED_CONTEXT, stream_query(s, stream));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
  DRIVER(NEED_CONTEXT, flags > 1 ? CUDA_ERROR_INVALID_VALUE : enqueue_wait_event(s, stream, event, flags));
}

CUresult cuStreamAddCallback(CUstream stream, void (*fn)(CUstream, CUresult, void *), void *data,
                             unsigned flags)
{
  DRIVER(NEED_CONTEXT, enqueue_callback(s, stream, fn, data, flags));
}

static CUresult describe(struct shim *s, CUstream stream, unsigned *flags, int *priority,
                         CUcontext *context, unsigned long long *id)
{
  const struct stream *st = stream_of(s, stream);
  if (!flags && !priority && !context && !id) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (flags) *flags = st->flags;
  if (priority) *priority = st->priority;
  if (context) *context = st->context ? st->context : context_current(s);
  if (id) *id = st->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
  DRIVER(NEED_CONTEXT, describe(s, stream, flags, NULL, NULL, NULL));
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
  DRIVER(NEED_CONTEXT, describe(s, stream, NULL, priority, NULL, NULL));
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
  DRIVER(NEED_CONTEXT, describe(s, stream, NULL, NULL, context, NULL));
}

/* There are no green contexts. */
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, void **green)
{
  if (green) *green = NULL;
  return cuStreamGetCtx(stream, context);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
  DRIVER(NEED_CONTEXT, describe(s, stream, NULL, NULL, NULL, id));
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *device)
{
  unsigned flags;
  DRIVER(NEED_CONTEXT, device ? (*device = 0, describe(s, stream, &flags, NULL, NULL, NULL))
                              : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuStreamSetAttribute(CUstream stream, int attribute, const CUlaunchAttributeValue *v)
{
  DRIVER(NEED_CONTEXT, stream_set_attribute(s, stream, attribute, v));
}

CUresult cuStreamGetAttribute(CUstream stream, int attribute, CUlaunchAttributeValue *v)
{
  DRIVER(NEED_CONTEXT, stream_attribute(s, stream, attribute, v));
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from)
{
  DRIVER(NEED_CONTEXT, stream_copy_attributes(s, to, from));
}

/* Nothing persists in L2. */
CUresult cuCtxResetPersistingL2Cache(void)
{
  DRIVER(NEED_CONTEXT, CUDA_SUCCESS);
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr p, size_t bytes, unsigned flags)
{
  DRIVER(NEED_CONTEXT, advice_attach(s, stream, p, bytes, flags));
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
