#include "study/sweep_build.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/host_memory.h"

/* The checksum so far and that of the file. */
static bool add_file(uint64_t *sum, const char *path, struct err *e)
{
  enum { CHUNK = 1 << 16 };
  FILE *f = fopen(path, "rb");
  if (!f) return err_set(e, "%s: %s", path, host_error());
  uint8_t *chunk = mem_alloc(CHUNK + sizeof *sum);
  for (size_t n; (n = fread(chunk + sizeof *sum, 1, CHUNK, f)) > 0;) {
    memcpy(chunk, sum, sizeof *sum);
    *sum = checksum64(chunk, sizeof *sum + n);
  }
  const bool ok = !ferror(f);
  fclose(f);
  mem_free(chunk);
  return ok || err_set(e, "%s: %s", path, host_error());
}

static int is_preset(const struct dirent *d)
{
  const size_t n = strlen(d->d_name);
  return n > 4 && strcmp(d->d_name + n - 4, ".cfg") == 0;
}

bool sweep_build(const char *program, const char *presets, char *text, size_t size, struct err *e)
{
  struct dirent **entry;
  uint64_t sum = 0;
  const int n = scandir(presets, &entry, is_preset, alphasort);
  if (n < 0) return err_set(e, "%s: %s", presets, host_error());
  bool ok = add_file(&sum, program, e);
  for (int i = 0; i < n; i++) {
    char path[PATH_MAX + 256];
    snprintf(path, sizeof path, "%s/%s", presets, entry[i]->d_name);
    ok = ok && add_file(&sum, path, e);
    free(entry[i]);
  }
  free(entry);
  snprintf(text, size, "%016" PRIx64, sum);
  return ok;
}
