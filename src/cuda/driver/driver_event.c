/* Events of the driver. */
#include "cuda/core/call.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/synchronize.h"

CUresult cuEventCreate(CUevent *out, unsigned flags)
{
  DRIVER(NEED_CONTEXT, event_create(s, out, flags));
}

CUresult cuEventDestroy_v2(CUevent event)
{
  DRIVER(NEED_CONTEXT, event_destroy(s, event));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
  DRIVER(NEED_CONTEXT, enqueue_record(s, event, stream, 0));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
  DRIVER(NEED_CONTEXT, flags > 1 ? CUDA_ERROR_INVALID_VALUE : enqueue_record(s, event, stream, flags));
}

CUresult cuEventQuery(CUevent event)
{
  DRIVER(NEED_CONTEXT, event_query(s, event));
}

CUresult cuEventSynchronize(CUevent event)
{
  DRIVER(NEED_CONTEXT, event_wait(s, event));
}

/* Both names that the interface has had for it behave alike for recorded events. */
CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
  DRIVER(NEED_CONTEXT, event_elapsed(s, ms, from, to));
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to)
{
  DRIVER(NEED_CONTEXT, event_elapsed(s, ms, from, to));
}

/* Events of all that a context does: contexts share their streams' clock here. */
CUresult cuCtxRecordEvent(CUcontext c, CUevent event)
{
  DRIVER(NEED_GPU, context_exists(s, c) ? event_record_all(s, event) : CUDA_ERROR_INVALID_CONTEXT);
}

CUresult cuCtxWaitEvent(CUcontext c, CUevent event)
{
  DRIVER(NEED_GPU, context_exists(s, c) ? stream_wait_event_all(s, event) : CUDA_ERROR_INVALID_CONTEXT);
}
