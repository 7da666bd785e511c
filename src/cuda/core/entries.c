#include "cuda/core/entries.h"

#include "cuda/core/shim.h"

CUresult entry_missing(const char *symbol)
{
  struct shim *s = shim_get();
  shim_lock(s);
  CUresult r = shim_unsupported(s, symbol);
  pthread_mutex_unlock(&s->lock);
  return r;
}
