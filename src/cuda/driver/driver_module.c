/* Modules and libraries of the driver. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/call.h"
#include "cuda/core/library.h"

CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
  DRIVER(NEED_CONTEXT, module_load_image(s, out, image, 0, NULL, NULL));
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, int *option, void **value)
{
  DRIVER(NEED_CONTEXT, module_load_image(s, out, image, n, option, value));
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
  DRIVER(NEED_CONTEXT, module_load_image(s, out, image, 0, NULL, NULL));
}

CUresult cuModuleLoad(CUmodule *out, const char *path)
{
  DRIVER(NEED_CONTEXT, module_load_file(s, out, path, 0, NULL, NULL));
}

CUresult cuModuleUnload(CUmodule m)
{
  DRIVER_OF((m), NEED_CONTEXT, module_unload(s, m));
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_function(s, m, name, out));
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *addr, size_t *bytes, CUmodule m, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_variable(s, m, name, addr, bytes));
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule m)
{
  DRIVER(NEED_CONTEXT, module_count_functions(s, count, m));
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned n, CUmodule m)
{
  DRIVER(NEED_CONTEXT, module_list_functions(s, out, n, m));
}

CUresult cuModuleGetLoadingMode(int *mode)
{
  DRIVER(NEED_GPU, mode ? (*mode = 1 /* eager */, CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE);
}

/* Libraries: modules that are on all GPUs ------------------------------------------------------------- */

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
  DRIVER(NEED_CONTEXT, module_get_function(s, library, name, out));
}

CUresult cuLibraryGetGlobal(CUdeviceptr *addr, size_t *bytes, CUlibrary library, const char *name)
{
  DRIVER(NEED_CONTEXT, library_variable(s, library, name, addr, bytes));
}

CUresult cuLibraryGetManaged(CUdeviceptr *addr, size_t *bytes, CUlibrary library, const char *name)
{
  DRIVER(NEED_CONTEXT, library_managed(s, library, name, addr, bytes));
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library)
{
  DRIVER(NEED_CONTEXT, library_module(s, out, library));
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel)
{
  DRIVER(NEED_CONTEXT, library_function(s, out, kernel));
}
