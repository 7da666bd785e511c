/* The table of the driver's entry points, and the definitions of those that are not served. */
#include "cuda/driver/driver_entries.h"

#define SERVED(name, symbol, version)  void symbol(void);
#define MISSING(name, symbol, version) DEFINE_MISSING(symbol)
#include "cuda/driver/driver.def"
#undef SERVED
#undef MISSING

const struct entry driver_entries[] = {
#define SERVED(name, symbol, version)  { #name, #symbol, symbol, version, true, sizeof #symbol - 1 },
#define MISSING(name, symbol, version) { #name, #symbol, (void (*)(void))symbol, version, false, sizeof #symbol - 1 },
#include "cuda/driver/driver.def"
#undef SERVED
#undef MISSING
};

const unsigned n_driver_entries = sizeof driver_entries / sizeof driver_entries[0];
