#include "cuda/core/notify.h"

#include <stdlib.h>

#include "cuda/core/shim.h"

struct notify {
  struct notify *next;
};

CUresult notify_add(struct shim *s, const void *callback, struct notify **out)
{
  if (!callback) return CUDA_ERROR_INVALID_VALUE;
  struct notify *n = shim_alloc(sizeof *n);
  n->next = s->notifies;
  s->notifies = n;
  if (out) *out = n;
  return CUDA_SUCCESS;
}

CUresult notify_remove(struct shim *s, struct notify *n)
{
  for (struct notify **at = &s->notifies; *at; at = &(*at)->next) {
    if (*at != n) continue;
    *at = n->next;
    free(n);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult log_current(unsigned *iterator, unsigned flags)
{
  if (!iterator || flags) return CUDA_ERROR_INVALID_VALUE;
  *iterator = 0;
  return CUDA_SUCCESS;
}

CUresult log_to_file(unsigned *iterator, const char *path, unsigned flags)
{
  (void)iterator;
  FILE *f = path && !flags ? fopen(path, "w") : NULL;
  return f && fclose(f) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult log_to_memory(unsigned *iterator, char *buffer, size_t *size, unsigned flags)
{
  (void)iterator;
  if (!buffer || !size || flags) return CUDA_ERROR_INVALID_VALUE;
  if (*size) *buffer = '\0';
  *size = 0;
  return CUDA_SUCCESS;
}
