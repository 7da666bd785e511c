/* The entry points of the runtime as a table (runtime.def). */
#ifndef WS_CUDA_RUNTIME_ENTRIES_H
#define WS_CUDA_RUNTIME_ENTRIES_H

#include "cuda/core/entries.h"

extern const struct entry runtime_entries[];
extern const unsigned n_runtime_entries;

#endif
