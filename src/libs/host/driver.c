/* Calls of the driver by a thread that has asked the runtime for nothing yet: it has no context then, where cuBLAS and
 * the others, which call the runtime, work on the thread's device (CUDA Runtime API, "Interactions with the CUDA Driver
 * API"). The linker puts these in the place of the calls of all our libraries (--wrap, mk/libs.mk, which reads the
 * names here). */
#include "libs/host/driver.h"

enum { NO_CONTEXT = 201 };

#define IN_CONTEXT(name, params, args)                                                             \
  int __real_##name params;                                                                        \
  int __wrap_##name params;                                                                        \
  int __wrap_##name params                                                                         \
  {                                                                                                \
    const int r = __real_##name args;                                                              \
    return r == NO_CONTEXT && cudaFree(NULL) == DRIVER_OK ? __real_##name args : r;                \
  }

IN_CONTEXT(cuCtxGetDevice, (int *device), (device))
IN_CONTEXT(cuCtxSynchronize, (void), ())
IN_CONTEXT(cuLibraryLoadData,
           (driver_image *out, const void *code, void *jit_options, void **jit_values, unsigned n_jit, void *options,
            void **values, unsigned n), (out, code, jit_options, jit_values, n_jit, options, values, n))
IN_CONTEXT(cuLibraryGetKernel, (driver_kernel *out, driver_image image, const char *name), (out, image, name))
IN_CONTEXT(cuKernelSetAttribute, (int attribute, int value, driver_kernel kernel, int device),
           (attribute, value, kernel, device))
IN_CONTEXT(cuLaunchKernel,
           (driver_kernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
            unsigned block_z, unsigned shared, driver_stream stream, void **args, void **extra),
           (kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, args, extra))
IN_CONTEXT(cuMemAlloc_v2, (uint64_t *out, size_t bytes), (out, bytes))
IN_CONTEXT(cuMemFree_v2, (uint64_t at), (at))
IN_CONTEXT(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes), (to, from, bytes))
IN_CONTEXT(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, driver_stream stream),
           (to, from, bytes, stream))
IN_CONTEXT(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, driver_stream stream),
           (to, from, bytes, stream))
IN_CONTEXT(cuMemsetD32Async, (uint64_t at, unsigned value, size_t n, driver_stream stream), (at, value, n, stream))
IN_CONTEXT(cuStreamSynchronize, (driver_stream stream), (stream))
IN_CONTEXT(cuThreadExchangeStreamCaptureMode, (int *mode), (mode))
