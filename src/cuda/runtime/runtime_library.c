/* Libraries of the runtime: code that the program loads itself. */
#include "cuda/core/library.h"
#include "cuda/runtime/runtime.h"

/* The runtime has codes of its own for names that are not there. */
static CUresult get_kernel(struct shim *s, CUkernel *out, CUlibrary library, const char *name)
{
  CUresult r = module_get_function(s, library, name, out);
  return r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : r;
}

CUresult cudaLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name)
{
  RUNTIME(NEED_CONTEXT, get_kernel(s, out, library, name));
}

static CUresult get_global(struct shim *s, void **p, size_t *bytes, CUlibrary library, const char *name)
{
  CUdeviceptr addr = 0;
  CUresult r = library_variable(s, library, name, &addr, bytes);
  if (r == CUDA_SUCCESS && p) *p = (void *)(uintptr_t)addr;
  return r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : r;
}

CUresult cudaLibraryGetGlobal(void **p, size_t *bytes, CUlibrary library, const char *name)
{
  RUNTIME(NEED_CONTEXT, get_global(s, p, bytes, library, name));
}
