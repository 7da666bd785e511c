#include "cuda/core/library.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/shim.h"

/* Of a library (whole) all GPUs can have an instance. */
static CUresult load(struct shim *s, CUmodule *out, const void *image, size_t room, bool whole, unsigned n,
                     const int *option, void **value)
{
  struct jit j = {0};
  if (!out || !image || (n && (!option || !value))) return CUDA_ERROR_INVALID_VALUE;
  if (!jit_read(&j, n, option, value, false)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = module_open(s, board_current(s), image, room, &j, out);
  if (r == CUDA_SUCCESS && whole) module_make_library(*out, image, room);
  jit_write(&j, n, option, value);
  return r;
}

CUresult module_load_image(struct shim *s, CUmodule *out, const void *image, unsigned n, const int *option,
                           void **value)
{
  return load(s, out, image, IMAGE_UNKNOWN, false, n, option, value);
}

CUresult library_load_image(struct shim *s, CUlibrary *out, const void *image, unsigned n, const int *option,
                            void **value)
{
  return load(s, out, image, IMAGE_UNKNOWN, true, n, option, value);
}

static CUresult load_file(struct shim *s, CUmodule *out, const char *path, bool whole, unsigned n, const int *option,
                          void **value)
{
  CUresult r;
  size_t bytes;
  char *image = module_read_file(path, &bytes, &r);
  if (!image) return r;
  r = load(s, out, image, bytes + 1, whole, n, option, value);
  free(image);
  return r;
}

CUresult module_load_file(struct shim *s, CUmodule *out, const char *path, unsigned n, const int *option, void **value)
{
  return load_file(s, out, path, false, n, option, value);
}

CUresult library_load_file(struct shim *s, CUlibrary *out, const char *path, unsigned n, const int *option,
                           void **value)
{
  return load_file(s, out, path, true, n, option, value);
}

CUresult library_function(struct shim *s, CUfunction *out, CUkernel kernel)
{
  if (!module_is_function(s, kernel)) return CUDA_ERROR_INVALID_HANDLE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return function_on(s, kernel, board_current(s), out);
}

CUresult library_module(struct shim *s, CUmodule *out, CUlibrary library)
{
  if (!module_is_open(s, library)) return CUDA_ERROR_INVALID_HANDLE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return module_on(s, library, board_current(s), out);
}

CUresult library_variable(struct shim *s, CUlibrary library, const char *name, CUdeviceptr *addr, size_t *bytes)
{
  struct loaded_module *m;
  if (!module_is_open(s, library)) return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = module_on(s, library, board_current(s), &m);
  return r == CUDA_SUCCESS ? module_get_variable(s, m, name, addr, bytes) : r;
}

CUresult library_managed(struct shim *s, CUlibrary library, const char *name, CUdeviceptr *addr, size_t *bytes)
{
  if (!module_is_open(s, library)) return CUDA_ERROR_INVALID_HANDLE;
  const struct module_symbol *y = name ? module_variable(library->code.module, name) : NULL;
  if (y && !y->managed) return CUDA_ERROR_NOT_FOUND;
  return library_variable(s, library, name, addr, bytes);
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
