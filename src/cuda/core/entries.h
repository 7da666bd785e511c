/* An entry point of an interface in the table of all (driver.def, runtime.def). */
#ifndef WS_CUDA_ENTRIES_H
#define WS_CUDA_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/core/api.h"

struct entry {
  const char *name;   /* without version suffix */
  const char *symbol; /* as exported */
  void (*address)(void);
  int since;          /* driver: first CUDA version that gives this symbol; runtime: 0 */
  bool served;
  uint8_t symbol_bytes; /* of symbol, without its end */
};

/* What an entry point does that is not served: names itself, once. */
CUresult entry_missing(const char *symbol);

/* Defines one. The caller's arguments are of no interest: the calling convention leaves them to the caller. */
#define DEFINE_MISSING(symbol)                                                                     \
  CUresult symbol(void);                                                                           \
  CUresult symbol(void)                                                                            \
  {                                                                                                \
    return entry_missing(#symbol);                                                                 \
  }

#endif
