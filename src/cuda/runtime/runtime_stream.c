/* Streams and events of the runtime. */
#include "cuda/runtime/runtime.h"

CUresult cudaStreamCreate(CUstream *out)
{
  RUNTIME_OF((out), NEED_CONTEXT, stream_create(s, out, 0, 0));
}

CUresult cudaEventCreate(CUevent *out)
{
  RUNTIME_OF((out), NEED_CONTEXT, event_create(s, out, 0));
}

