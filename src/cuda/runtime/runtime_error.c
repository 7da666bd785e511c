/* Errors of the runtime. */
#include "cuda/core/errors.h"
#include "cuda/runtime/runtime.h"

static CUresult last_error(bool clear)
{
  struct shim *s = shim_get();
  shim_lock(s);
  struct thread *t = shim_thread(s);
  CUresult r = t->last;
  if (clear) t->last = CUDA_SUCCESS;
  if (shim_fault_visible(s)) r = s->fault.code;
  pthread_mutex_unlock(&s->lock);
  return r;
}

CUresult cudaGetLastError(void)
{
  return last_error(true);
}

CUresult cudaPeekAtLastError(void)
{
  return last_error(false);
}

const char *cudaGetErrorName(CUresult code)
{
  const char *name = error_runtime_name((int)code);
  return name ? name : "unrecognized error code";
}

const char *cudaGetErrorString(CUresult code)
{
  const char *text = error_text((int)code);
  return text ? text : "unrecognized error code";
}
