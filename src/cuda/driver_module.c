/* Modules and libraries of the driver. */
#include <stdlib.h>
#include <string.h>

#include "cuda/kernel.h"

static CUresult load(struct shim *s, CUmodule *out, const void *image, unsigned n, const int *option,
                     void **value)
{
  struct jit j = {0};
  if (!out || !image || (n && (!option || !value))) return CUDA_ERROR_INVALID_VALUE;
  if (!jit_read(&j, n, option, value, false)) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = module_open(s, image, &j, out);
  jit_write(&j, n, option, value);
  return r;
}

CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
  DRIVER(NEED_CONTEXT, load(s, out, image, 0, NULL, NULL));
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, int *option, void **value)
{
  DRIVER(NEED_CONTEXT, load(s, out, image, n, option, value));
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
  DRIVER(NEED_CONTEXT, load(s, out, image, 0, NULL, NULL));
}

static CUresult load_file(struct shim *s, CUmodule *out, const char *path, unsigned n,
                          const int *option, void **value)
{
  CUresult r;
  size_t bytes;
  char *image = module_read_file(path, &bytes, &r);
  if (!image) return r;
  r = load(s, out, image, n, option, value);
  free(image);
  return r;
}

CUresult cuModuleLoad(CUmodule *out, const char *path)
{
  DRIVER(NEED_CONTEXT, load_file(s, out, path, 0, NULL, NULL));
}

static CUresult unload(struct shim *s, CUmodule m)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  shim_flush_print(s);
  module_close(s, m);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule m)
{
  DRIVER(NEED_CONTEXT, unload(s, m));
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_function(s, m, name, out));
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *addr, size_t *bytes, CUmodule m, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_variable(s, m, name, addr, bytes));
}

static CUresult count_functions(struct shim *s, unsigned *count, CUmodule m)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = module_kernel_count(m->code.module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule m)
{
  DRIVER(NEED_CONTEXT, count_functions(s, count, m));
}

static CUresult list_functions(struct shim *s, CUfunction *out, unsigned n, CUmodule m)
{
  if (!module_is_open(s, m)) return CUDA_ERROR_INVALID_HANDLE;
  for (unsigned i = 0; i < n && i < module_kernel_count(m->code.module); i++) {
    CUresult r =
        module_get_function(s, m, module_kernel_at(m->code.module, i)->name, &out[i]);
    if (r != CUDA_SUCCESS) return r;
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned n, CUmodule m)
{
  DRIVER(NEED_CONTEXT, out ? list_functions(s, out, n, m) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuModuleGetLoadingMode(int *mode)
{
  DRIVER(NEED_GPU, mode ? (*mode = 1 /* eager */, CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE);
}

/* Libraries: a module by another name ------------------------------------------------------------- */

CUresult cuLibraryLoadData(CUlibrary *out, const void *image, int *option, void **value, unsigned n,
                           int *library_option, void **library_value, unsigned n_library)
{
  (void)library_option, (void)library_value, (void)n_library;
  DRIVER(NEED_CONTEXT, load(s, out, image, n, option, value));
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, int *option, void **value, unsigned n,
                               int *library_option, void **library_value, unsigned n_library)
{
  (void)library_option, (void)library_value, (void)n_library;
  DRIVER(NEED_CONTEXT, load_file(s, out, path, n, option, value));
}

CUresult cuLibraryUnload(CUlibrary library)
{
  DRIVER(NEED_CONTEXT, unload(s, library));
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_function(s, library, name, out));
}

CUresult cuLibraryGetGlobal(CUdeviceptr *addr, size_t *bytes, CUlibrary library, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_variable(s, library, name, addr, bytes));
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
  DRIVER(NEED_CONTEXT, count_functions(s, count, library));
}

CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned n, CUlibrary library)
{
  DRIVER(NEED_CONTEXT, out ? list_functions(s, out, n, library) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult same_module(struct shim *s, CUmodule *out, CUlibrary library)
{
  if (!module_is_open(s, library)) return CUDA_ERROR_INVALID_HANDLE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = library;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library)
{
  DRIVER(NEED_CONTEXT, same_module(s, out, library));
}

static CUresult same_function(struct shim *s, CUfunction *out, CUkernel kernel)
{
  if (!module_is_function(s, kernel)) return CUDA_ERROR_INVALID_HANDLE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = kernel;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel)
{
  DRIVER(NEED_CONTEXT, same_function(s, out, kernel));
}
