#include "probe/emit.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/host_memory.h"
#include "base/output.h"
#include "load/asm_source.h"

/* DIR/NAME.suffix */
static void path_of(char path[PATH_MAX], const char *dir, const char *name, const char *suffix)
{
  int n = snprintf(path, PATH_MAX, "%s/", dir);
  for (; *name && n < PATH_MAX - 16; name++)
    path[n++] = isalnum((unsigned char)*name) || strchr("-_.", *name) ? *name : '_';
  snprintf(path + n, PATH_MAX - (size_t)n, ".%s", suffix);
}

static bool write_file(const char *path, const void *data, size_t bytes, struct err *e)
{
  struct output out;
  FILE *f = output_open(&out, path, e);
  if (f) fwrite(data, 1, bytes, f);
  return f && output_close(&out, true, e);
}

static bool write_launch(const char *dir, const struct window *w, struct err *e)
{
  char path[PATH_MAX], cubin[PATH_MAX], text[PATH_MAX + 512];
  path_of(path, dir, w->name, "launch");
  path_of(cubin, dir, w->name, "cubin");
  int n = snprintf(text, sizeof text,
                   "# %s: clock reads of warp w from word %zu * w on\n"
                   "cubin = \"%s\";\nkernel = \"probe\";\ngrid = [1, 1, 1];\nblock = [%u, 1, 1];\n"
                   "args = ( { buffer = \"out\"; } );\n"
                   "buffers = { out = { type = \"u32\"; count = %zu; fill = \"zero\"; }; };\n",
                   w->name, window_result_bytes(w) / w->warps / 4, strrchr(cubin, '/') + 1,
                   window_threads(w), window_result_bytes(w) / 4);
  return write_file(path, text, (size_t)n, e);
}

bool emit_window(const char *dir, const struct window *w, unsigned sm, struct err *e)
{
  struct arena a = {0};
  char path[PATH_MAX];
  size_t bytes;
  char *text = window_program(w, sm, e);
  if (!text) return false;
  const uint8_t *image = asm_source_assemble(&a, text, strlen(text), w->name, NULL, &bytes, e);
  bool ok = image != NULL;
  if (ok && mkdir(dir, 0777) != 0 && errno != EEXIST)
    ok = err_set(e, "%s: cannot make the folder: %s", dir, host_error());
  path_of(path, dir, w->name, "sass");
  ok = ok && write_file(path, text, strlen(text), e);
  path_of(path, dir, w->name, "cubin");
  ok = ok && write_file(path, image, bytes, e) && write_launch(dir, w, e);
  free(text);
  arena_free(&a);
  return ok;
}
