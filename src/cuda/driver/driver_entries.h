/* The entry points of the driver as a table (driver.def). */
#ifndef WS_CUDA_DRIVER_ENTRIES_H
#define WS_CUDA_DRIVER_ENTRIES_H

#include "cuda/core/entries.h"

extern const struct entry driver_entries[];
extern const unsigned n_driver_entries;

#endif
