#include "cli/default_gpu.h"

#include <stddef.h>
#include <string.h>

#include "host/gpu_advice.h"
#include "load/file.h"

static const struct {
  unsigned sm;
  const char *preset;
} defaults[] = {
#define DEFAULT_GPU(sm, preset) {sm, preset},
#include "cli/default_gpus.def"
#undef DEFAULT_GPU
};
enum { N_DEFAULTS = sizeof defaults / sizeof defaults[0] };

const char *default_gpu_any(void)
{
  return defaults[0].preset;
}

const char *default_gpu_of(unsigned sm)
{
  for (unsigned i = 0; i < N_DEFAULTS; i++)
    if (defaults[i].sm == sm) return defaults[i].preset;
  return NULL;
}

bool default_gpu(const char *path, const char *presets, const char **name, struct err *e)
{
  char targets[200], advice[240];
  const struct code_image *first;
  *name = strstr(path, "%d") ? default_gpu_any() : NULL;
  if (*name) return true;
  struct code_file *f = code_file_open(path, e);
  if (!f) return false;
  for (unsigned i = 0; i < 2 * N_DEFAULTS && !*name; i++)
    if (code_file_has(f, defaults[i % N_DEFAULTS].sm, i < N_DEFAULTS))
      *name = defaults[i % N_DEFAULTS].preset;
  code_file_targets(f, targets, sizeof targets);
  first = code_file_image(f, 0);
  if (!*name)
    err_fill(e, "%s: its code is for %s, which no default GPU runs: %s", path, targets,
             gpu_advice(presets, first->sm, first->form, advice, sizeof advice));
  code_file_free(f);
  return *name != NULL;
}
