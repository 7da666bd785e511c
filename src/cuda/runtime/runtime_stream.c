/* Streams and events of the runtime. */
#include "cuda/core/advice.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/synchronize.h"
#include "cuda/runtime/runtime.h"

CUresult cudaStreamCreate(CUstream *out)
{
  RUNTIME(NEED_CONTEXT, stream_create(s, out, 0, 0));
}

CUresult cudaStreamCreateWithFlags(CUstream *out, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, stream_create(s, out, flags, 0));
}

CUresult cudaStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
  RUNTIME(NEED_CONTEXT, stream_create(s, out, flags, priority));
}

CUresult cudaStreamDestroy(CUstream stream)
{
  RUNTIME(NEED_CONTEXT, stream_destroy(s, stream));
}

CUresult cudaStreamSynchronize(CUstream stream)
{
  RUNTIME(NEED_CONTEXT, stream_wait(s, stream));
}

CUresult cudaStreamQuery(CUstream stream)
{
  RUNTIME(NEED_CONTEXT, stream_query(s, stream));
}

CUresult cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, flags > 1 ? CUDA_ERROR_INVALID_VALUE : enqueue_wait_event(s, stream, event, flags));
}

CUresult cudaLaunchHostFunc(CUstream stream, void (*fn)(void *), void *data)
{
  RUNTIME(NEED_CONTEXT, enqueue_host(s, stream, fn, data));
}

CUresult cudaStreamAddCallback(CUstream stream, void (*fn)(CUstream, CUresult, void *), void *data,
                               unsigned flags)
{
  RUNTIME(NEED_CONTEXT, enqueue_callback(s, stream, fn, data, flags));
}

static CUresult stream_flags(struct shim *s, CUstream stream, unsigned *flags)
{
  const struct stream *st = stream_of(s, stream);
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  *flags = st->flags;
  return CUDA_SUCCESS;
}

CUresult cudaStreamGetFlags(CUstream stream, unsigned *flags)
{
  RUNTIME(NEED_CONTEXT, stream_flags(s, stream, flags));
}

static CUresult stream_priority(struct shim *s, CUstream stream, int *priority)
{
  const struct stream *st = stream_of(s, stream);
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  *priority = st->priority;
  return CUDA_SUCCESS;
}

CUresult cudaStreamGetPriority(CUstream stream, int *priority)
{
  RUNTIME(NEED_CONTEXT, stream_priority(s, stream, priority));
}

static CUresult stream_number(struct shim *s, CUstream stream, unsigned long long *id, int *device)
{
  const struct stream *st = stream_of(s, stream);
  if (!id && !device) return CUDA_ERROR_INVALID_VALUE;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (id) *id = st->id;
  if (device) *device = 0;
  return CUDA_SUCCESS;
}

CUresult cudaStreamGetId(CUstream stream, unsigned long long *id)
{
  RUNTIME(NEED_CONTEXT, stream_number(s, stream, id, NULL));
}

CUresult cudaStreamGetDevice(CUstream stream, int *device)
{
  RUNTIME(NEED_CONTEXT, stream_number(s, stream, NULL, device));
}

CUresult cudaEventCreate(CUevent *out)
{
  RUNTIME(NEED_CONTEXT, event_create(s, out, 0));
}

CUresult cudaEventCreateWithFlags(CUevent *out, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, event_create(s, out, flags));
}

CUresult cudaEventDestroy(CUevent event)
{
  RUNTIME(NEED_CONTEXT, event_destroy(s, event));
}

CUresult cudaEventRecord(CUevent event, CUstream stream)
{
  RUNTIME(NEED_CONTEXT, enqueue_record(s, event, stream, 0));
}

CUresult cudaEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, flags > 1 ? CUDA_ERROR_INVALID_VALUE : enqueue_record(s, event, stream, flags));
}

CUresult cudaEventQuery(CUevent event)
{
  RUNTIME(NEED_CONTEXT, event_query(s, event));
}

CUresult cudaEventSynchronize(CUevent event)
{
  RUNTIME(NEED_CONTEXT, event_wait(s, event));
}

CUresult cudaEventElapsedTime(float *ms, CUevent from, CUevent to)
{
  RUNTIME(NEED_CONTEXT, event_elapsed(s, ms, from, to));
}

CUresult cudaStreamSetAttribute(CUstream stream, int attribute, const CUlaunchAttributeValue *v)
{
  RUNTIME(NEED_CONTEXT, stream_set_attribute(s, stream, attribute, v));
}

CUresult cudaStreamGetAttribute(CUstream stream, int attribute, CUlaunchAttributeValue *v)
{
  RUNTIME(NEED_CONTEXT, stream_attribute(s, stream, attribute, v));
}

CUresult cudaStreamCopyAttributes(CUstream to, CUstream from)
{
  RUNTIME(NEED_CONTEXT, stream_copy_attributes(s, to, from));
}

/* Nothing persists in L2. */
CUresult cudaCtxResetPersistingL2Cache(void)
{
  RUNTIME(NEED_CONTEXT, CUDA_SUCCESS);
}

CUresult cudaStreamAttachMemAsync(CUstream stream, void *p, size_t bytes, unsigned flags)
{
  RUNTIME(NEED_CONTEXT, advice_attach(s, stream, (uint64_t)(uintptr_t)p, bytes, flags));
}
