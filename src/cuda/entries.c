/* Definitions of the entry points that are not served, and the tables of all. */
#include "cuda/core/entries.h"

#include "cuda/core/shim.h"

static CUresult missing(const char *name)
{
  struct shim *s = shim_get();
  pthread_mutex_lock(&s->lock);
  CUresult r = shim_unsupported(s, name);
  pthread_mutex_unlock(&s->lock);
  return r;
}

/* The caller's arguments are of no interest: the calling convention leaves them to the caller. */
#define SERVED(name, symbol, version)  void symbol(void);
#define MISSING(name, symbol, version)                                                             \
  CUresult symbol(void);                                                                           \
  CUresult symbol(void)                                                                            \
  {                                                                                                \
    return missing(#symbol);                                                                       \
  }
#include "cuda/driver/driver.def"
#undef SERVED
#undef MISSING

#define SERVED(symbol)  void symbol(void);
#define MISSING(symbol)                                                                            \
  CUresult symbol(void);                                                                           \
  CUresult symbol(void)                                                                            \
  {                                                                                                \
    return missing(#symbol);                                                                       \
  }
#include "cuda/runtime/runtime.def"
#undef SERVED
#undef MISSING

const struct entry driver_entries[] = {
#define SERVED(name, symbol, version)  { #name, #symbol, symbol, version, true },
#define MISSING(name, symbol, version) { #name, #symbol, (void (*)(void))symbol, version, false },
#include "cuda/driver/driver.def"
#undef SERVED
#undef MISSING
};

const struct entry runtime_entries[] = {
#define SERVED(symbol)  { #symbol, #symbol, symbol, 0, true },
#define MISSING(symbol) { #symbol, #symbol, (void (*)(void))symbol, 0, false },
#include "cuda/runtime/runtime.def"
#undef SERVED
#undef MISSING
};

const unsigned n_driver_entries = sizeof driver_entries / sizeof driver_entries[0];
const unsigned n_runtime_entries = sizeof runtime_entries / sizeof runtime_entries[0];
