/* The entry points of the CUDA driver interface that our libraries call, declared from its reference. They are those of
 * the library beside them (src/cuda), so a library of ours works wherever `warpstep exec` does.
 */
#ifndef WS_LIBS_DRIVER_H
#define WS_LIBS_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct driver_stream *driver_stream;
typedef struct driver_kernel *driver_kernel;
typedef struct driver_image *driver_image;

int cudaFree(void *p);                            /* of 0: the runtime's device gets its context */
int cudaGetDevice(int *device);
int cudaSetDevice(int device);
int cuCtxGetDevice(int *device);
int cuCtxSynchronize(void);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuLibraryLoadData(driver_image *out, const void *code, void *jit_options, void **jit_values, unsigned n_jit,
                      void *options, void **values, unsigned n);
int cuLibraryUnload(driver_image image);
int cuLibraryGetKernel(driver_kernel *out, driver_image image, const char *name);
int cuKernelSetAttribute(int attribute, int value, driver_kernel kernel, int device);
int cuLaunchKernel(driver_kernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, driver_stream stream, void **args,
                   void **extra);
int cuMemAlloc_v2(uint64_t *out, size_t bytes);
int cuMemFree_v2(uint64_t at);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, driver_stream stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, driver_stream stream);
int cuMemsetD32Async(uint64_t at, unsigned value, size_t n, driver_stream stream);
int cuStreamSynchronize(driver_stream stream);
int cuThreadExchangeStreamCaptureMode(int *mode);
int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                      int kind, driver_stream stream);
int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind);

/* What needs a context gets one (driver.c). */
int lib_cuCtxGetDevice(int *device);
int lib_cuCtxSynchronize(void);
int lib_cuLibraryLoadData(driver_image *out, const void *code, void *jit_options, void **jit_values, unsigned n_jit,
                      void *options, void **values, unsigned n);
int lib_cuLibraryGetKernel(driver_kernel *out, driver_image image, const char *name);
int lib_cuKernelSetAttribute(int attribute, int value, driver_kernel kernel, int device);
int lib_cuLaunchKernel(driver_kernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, driver_stream stream, void **args,
                   void **extra);
int lib_cuMemAlloc_v2(uint64_t *out, size_t bytes);
int lib_cuMemFree_v2(uint64_t at);
int lib_cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int lib_cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, driver_stream stream);
int lib_cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, driver_stream stream);
int lib_cuMemsetD32Async(uint64_t at, unsigned value, size_t n, driver_stream stream);
int lib_cuStreamSynchronize(driver_stream stream);
int lib_cuThreadExchangeStreamCaptureMode(int *mode);
#ifndef LIBS_DRIVER_AS_IT_IS
#define cuCtxGetDevice        lib_cuCtxGetDevice
#define cuCtxSynchronize      lib_cuCtxSynchronize
#define cuLibraryLoadData     lib_cuLibraryLoadData
#define cuLibraryGetKernel    lib_cuLibraryGetKernel
#define cuKernelSetAttribute  lib_cuKernelSetAttribute
#define cuLaunchKernel        lib_cuLaunchKernel
#define cuMemAlloc_v2         lib_cuMemAlloc_v2
#define cuMemFree_v2          lib_cuMemFree_v2
#define cuMemcpyHtoD_v2       lib_cuMemcpyHtoD_v2
#define cuMemcpyHtoDAsync_v2  lib_cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync_v2  lib_cuMemcpyDtoHAsync_v2
#define cuMemsetD32Async      lib_cuMemsetD32Async
#define cuStreamSynchronize   lib_cuStreamSynchronize
#define cuThreadExchangeStreamCaptureMode lib_cuThreadExchangeStreamCaptureMode
#endif

enum { DRIVER_OK = 0, DRIVER_COPY_DEFAULT = 4 };
enum { DRIVER_CAPTURE_RELAXED = 2 };
enum { DRIVER_ATTR_SMS = 16, DRIVER_ATTR_MAJOR = 75, DRIVER_ATTR_MINOR = 76 };
enum { DRIVER_KERNEL_SHARED = 8 }; /* bytes of dynamic shared memory that a launch may ask for */

#endif
