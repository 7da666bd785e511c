/* What programs do with modules by their own will, under either of their names (module, library) in both
 * interfaces: load with options, list, unload.
 */
#ifndef WS_CUDA_LIBRARY_H
#define WS_CUDA_LIBRARY_H

#include "cuda/core/modules.h"

/* n pairs of CUjit_option and value; sizes of logs are written back. */
CUresult module_load_image(struct shim *, CUmodule *out, const void *image, unsigned n, const int *option,
                           void **value);
CUresult library_load_image(struct shim *, CUlibrary *out, const void *image, unsigned n, const int *option,
                            void **value);
CUresult module_load_file(struct shim *, CUmodule *out, const char *path, unsigned n, const int *option,
                          void **value);
CUresult library_load_file(struct shim *, CUlibrary *out, const char *path, unsigned n, const int *option,
                           void **value);
/* A library's instance on the current device: a function, a variable, all of it. */
CUresult library_function(struct shim *, CUfunction *out, CUkernel);
CUresult library_variable(struct shim *, CUlibrary, const char *name, CUdeviceptr *addr, size_t *bytes);
/* The same of a __managed__ variable, of which there is one for all devices. */
CUresult library_managed(struct shim *, CUlibrary, const char *name, CUdeviceptr *addr, size_t *bytes);
CUresult library_module(struct shim *, CUmodule *out, CUlibrary);
CUresult module_unload(struct shim *, CUmodule);
CUresult module_count_functions(struct shim *, unsigned *count, CUmodule);
/* At most n of them. */
CUresult module_list_functions(struct shim *, CUfunction *out, unsigned n, CUmodule);

#endif
