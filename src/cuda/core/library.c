#include "cuda/core/library.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/shim.h"

static CUresult load(struct shim *s, CUmodule *out, const void *image, size_t room, unsigned n, const int *option,
                     void **value)
{
  struct jit j = {0};
  if (!out || !image || (n && (!option || !value))) return CUDA_ERROR_INVALID_VALUE;
  if (!jit_read(&j, n, option, value, false)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = module_open(s, image, room, &j, out);
  jit_write(&j, n, option, value);
  return r;
}

CUresult module_load_image(struct shim *s, CUmodule *out, const void *image, unsigned n, const int *option,
                           void **value)
{
  return load(s, out, image, IMAGE_UNKNOWN, n, option, value);
}

CUresult module_load_file(struct shim *s, CUmodule *out, const char *path, unsigned n,
                          const int *option, void **value)
{
  CUresult r;
  size_t bytes;
  char *image = module_read_file(path, &bytes, &r);
  if (!image) return r;
  r = load(s, out, image, bytes + 1, n, option, value);
  free(image);
  return r;
}

CUresult module_unload(struct shim *s, CUmodule m)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  parts_settle(s);
  shim_flush_print(s);
  module_close(s, m);
  return CUDA_SUCCESS;
}

CUresult module_count_functions(struct shim *s, unsigned *count, CUmodule m)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = module_kernel_count(m->code.module);
  return CUDA_SUCCESS;
}

CUresult module_list_functions(struct shim *s, CUfunction *out, unsigned n, CUmodule m)
{
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  for (unsigned i = 0; i < n && i < module_kernel_count(m->code.module); i++) {
    CUresult r =
        module_get_function(s, m, module_kernel_at(m->code.module, i)->name, &out[i]);
    if (r != CUDA_SUCCESS) return r;
  }
  return CUDA_SUCCESS;
}
