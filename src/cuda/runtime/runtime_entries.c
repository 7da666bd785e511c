/* The table of the runtime's entry points, and the definitions of those that are not served. */
#include "cuda/runtime/runtime_entries.h"

#define SERVED(symbol)  void symbol(void);
#define MISSING(symbol) DEFINE_MISSING(symbol)
#include "cuda/runtime/runtime.def"
#undef SERVED
#undef MISSING

const struct entry runtime_entries[] = {
#define SERVED(symbol)  { #symbol, #symbol, symbol, 0, true, sizeof #symbol - 1 },
#define MISSING(symbol) { #symbol, #symbol, (void (*)(void))symbol, 0, false, sizeof #symbol - 1 },
#include "cuda/runtime/runtime.def"
#undef SERVED
#undef MISSING
};

const unsigned n_runtime_entries = sizeof runtime_entries / sizeof runtime_entries[0];
