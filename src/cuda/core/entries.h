/* The entry points as a table: name, address, version (driver.def, runtime.def). */
#ifndef WS_CUDA_ENTRIES_H
#define WS_CUDA_ENTRIES_H

#include <stdbool.h>

struct entry {
  const char *name;   /* without version suffix */
  const char *symbol; /* as exported */
  void (*address)(void);
  int since;          /* driver: first CUDA version that gives this symbol; runtime: 0 */
  bool served;
};

extern const struct entry driver_entries[], runtime_entries[];
extern const unsigned n_driver_entries, n_runtime_entries;

#endif
