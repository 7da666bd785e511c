#include "cuda/core/toolkit.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct search {
  const char *tool;
  char *path;
  size_t size;
};

static bool is_compiler(const char *base)
{
  static const char *const libraries[] = {"libnvrtc.so", "libnvrtc-builtins.so", "libnvJitLink.so", "libnvvm.so"};
  for (unsigned i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (!strncmp(base, libraries[i], strlen(libraries[i]))) return true;
  return false;
}

static int look(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
  struct search *s = ctx;
  const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  (void)bytes;
  if (!slash || !is_compiler(slash + 1)) return 0;
  int n = snprintf(s->path, s->size, "%.*s/../bin/%s", (int)(slash - info->dlpi_name), info->dlpi_name, s->tool);
  return n > 0 && (size_t)n < s->size && access(s->path, X_OK) == 0;
}

bool toolkit_beside(const char *tool, char *path, size_t size)
{
  struct search s = {tool, path, size};
  return dl_iterate_phdr(look, &s) != 0;
}
