/* Streams and events of the runtime. */
#include "cuda/runtime/runtime.h"

CUresult cudaStreamCreate(CUstream *out)
{
  RUNTIME(NEED_CONTEXT, stream_create(s, out, 0, 0));
}

CUresult cudaEventCreate(CUevent *out)
{
  RUNTIME(NEED_CONTEXT, event_create(s, out, 0));
}

