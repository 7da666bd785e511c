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

typedef CUresult variable_in(struct shim *, CUlibrary, const char *name, CUdeviceptr *, size_t *bytes);

static CUresult get_variable(struct shim *s, variable_in *find, void **p, size_t *bytes, CUlibrary library,
                             const char *name)
{
  CUdeviceptr addr = 0;
  CUresult r = find(s, library, name, &addr, bytes);
  if (r == CUDA_SUCCESS && p) *p = (void *)(uintptr_t)addr;
  return r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : r;
}

CUresult cudaLibraryGetGlobal(void **p, size_t *bytes, CUlibrary library, const char *name)
{
  RUNTIME(NEED_CONTEXT, get_variable(s, library_variable, p, bytes, library, name));
}

CUresult cudaLibraryGetManaged(void **p, size_t *bytes, CUlibrary library, const char *name)
{
  RUNTIME(NEED_CONTEXT, get_variable(s, library_managed, p, bytes, library, name));
}
