#include "study/sweep_build.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/host_memory.h"

/* The checksum so far and that of the next bytes, chunk by chunk. */
bool sweep_build(const char *program, char *text, size_t size, struct err *e)
{
  enum { CHUNK = 1 << 16 };
  uint64_t sum = 0;
  FILE *f = fopen(program, "rb");
  if (!f) return err_set(e, "%s: %s", program, host_error());
  uint8_t *chunk = mem_alloc(CHUNK + sizeof sum);
  for (size_t n; (n = fread(chunk + sizeof sum, 1, CHUNK, f)) > 0;) {
    memcpy(chunk, &sum, sizeof sum);
    sum = checksum64(chunk, sizeof sum + n);
  }
  const bool ok = !ferror(f);
  fclose(f);
  mem_free(chunk);
  snprintf(text, size, "%016" PRIx64, sum);
  return ok || err_set(e, "%s: %s", program, host_error());
}
