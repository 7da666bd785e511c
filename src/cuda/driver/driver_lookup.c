/* Look-up of the driver's entry points by name: itself one of them. */
#include <stdint.h>
#include <string.h>

#include "cuda/driver/driver_entries.h"

/* CUdriverProcAddressQueryResult */
enum { PROC_FOUND, PROC_NOT_FOUND, PROC_NEEDS_NEWER };
enum { PROC_PER_THREAD = 2 };

/* The form of an entry point whose stream 0 is the thread's own, if it has one. */
static void find_per_thread(const char *symbol, void **fn)
{
  size_t n = strlen(symbol);
  for (unsigned i = 0; i < n_driver_entries; i++) {
    const char *other = driver_entries[i].symbol;
    if (strncmp(other, symbol, n) == 0 &&
        (strcmp(other + n, "_ptsz") == 0 || strcmp(other + n, "_ptds") == 0))
      memcpy(fn, &driver_entries[i].address, sizeof *fn);
  }
}

/* The newest symbol of this name that a program of `version` may get. Entry points that are not served
 * are found, too, and say so when they are called. */
static CUresult find_entry(const char *name, void **fn, int version, uint64_t flags, int *status)
{
  const struct entry *best = NULL;
  bool known = false;
  if (!name || !fn) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < n_driver_entries; i++) {
    const struct entry *e = &driver_entries[i];
    if (strcmp(e->name, name) != 0) continue;
    known = true;
    if (e->since <= version && (!best || e->since > best->since)) best = e;
  }
  *fn = NULL;
  if (best) memcpy(fn, &best->address, sizeof *fn);
  if (status) *status = best ? PROC_FOUND : known ? PROC_NEEDS_NEWER : PROC_NOT_FOUND;
  if (best && (flags & PROC_PER_THREAD)) find_per_thread(best->symbol, fn);
  return best ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status)
{
  return find_entry(name, fn, version, flags, status);
}

CUresult cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags)
{
  return find_entry(name, fn, version, flags, NULL);
}
