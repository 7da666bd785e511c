/* The part of the CUDA driver API that tools/silicon needs, loaded from libcuda.so.1 at run time.
 *
 * Declarations are our own, after the public documentation ("CUDA Driver API Reference"); no CUDA
 * header or toolkit is needed to build. Clocks and the driver's version string come from
 * libnvidia-ml.so.1 (documented NVML entry points) where it exists.
 */
#ifndef WS_SILICON_DRIVER_H
#define WS_SILICON_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct cu_ctx *cu_ctx;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;
typedef struct cu_event *cu_event;
typedef struct cu_stream *cu_stream;
typedef uint64_t cu_ptr; /* CUdeviceptr */
typedef int cu_device;   /* CUdevice: ordinal */

/* CUdevice_attribute and CUfunction_attribute values used here. */
enum {
  CU_ATTR_CLOCK_KHZ = 13,
  CU_ATTR_SM_COUNT = 16,
  CU_ATTR_ECC = 32,
  CU_ATTR_MEMORY_CLOCK_KHZ = 36,
  CU_ATTR_MEMORY_BUS_BITS = 37,
  CU_ATTR_L2_BYTES = 38,
  CU_ATTR_CC_MAJOR = 75,
  CU_ATTR_CC_MINOR = 76,
  CU_FUNC_MAX_DYNAMIC_SHARED = 8,
  CU_LIMIT_STACK_SIZE = 0,
};

/* name, parameter list. Every entry point returns CUresult, 0 = success. */
#define DRIVER_LIST(X)                                                                             \
  X(cuInit, (unsigned flags))                                                                      \
  X(cuDriverGetVersion, (int *version))                                                            \
  X(cuGetErrorName, (int error, const char **text))                                                \
  X(cuGetErrorString, (int error, const char **text))                                              \
  X(cuDeviceGetCount, (int *count))                                                                \
  X(cuDeviceGet, (cu_device * device, int ordinal))                                                \
  X(cuDeviceGetName, (char *name, int len, cu_device device))                                      \
  X(cuDeviceGetAttribute, (int *value, int attribute, cu_device device))                           \
  X(cuDeviceTotalMem_v2, (size_t * bytes, cu_device device))                                       \
  X(cuDeviceGetPCIBusId, (char *id, int len, cu_device device))                                    \
  X(cuDevicePrimaryCtxRetain, (cu_ctx * ctx, cu_device device))                                    \
  X(cuDevicePrimaryCtxRelease_v2, (cu_device device))                                              \
  X(cuCtxSetCurrent, (cu_ctx ctx))                                                                 \
  X(cuCtxSynchronize, (void))                                                                      \
  X(cuCtxSetLimit, (int limit, size_t value))                                                      \
  X(cuModuleLoadData, (cu_module * module, const void *image))                                     \
  X(cuModuleUnload, (cu_module module))                                                            \
  X(cuModuleGetFunction, (cu_function * function, cu_module module, const char *name))             \
  X(cuModuleGetGlobal_v2, (cu_ptr * ptr, size_t * bytes, cu_module module, const char *name))      \
  X(cuFuncSetAttribute, (cu_function function, int attribute, int value))                          \
  X(cuMemAlloc_v2, (cu_ptr * ptr, size_t bytes))                                                   \
  X(cuMemFree_v2, (cu_ptr ptr))                                                                    \
  X(cuMemcpyHtoD_v2, (cu_ptr dst, const void *src, size_t bytes))                                  \
  X(cuMemcpyDtoH_v2, (void *dst, cu_ptr src, size_t bytes))                                        \
  X(cuLaunchKernel,                                                                                \
    (cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,  \
     unsigned shared_bytes, cu_stream stream, void **params, void **extra))                        \
  X(cuEventCreate, (cu_event * event, unsigned flags))                                             \
  X(cuEventDestroy_v2, (cu_event event))                                                           \
  X(cuEventRecord, (cu_event event, cu_stream stream))                                             \
  X(cuEventSynchronize, (cu_event event))                                                          \
  X(cuEventElapsedTime, (float *ms, cu_event start, cu_event end))

/* `extra` of cuLaunchKernel: { POINTER, p, SIZE, &n, END } passes a ready parameter block. */
#define CU_LAUNCH_BUFFER_POINTER ((void *)(uintptr_t)1)
#define CU_LAUNCH_BUFFER_SIZE ((void *)(uintptr_t)2)
#define CU_LAUNCH_END ((void *)(uintptr_t)0)

struct driver {
  void *lib;
#define X(name, params) int(*name) params;
  DRIVER_LIST(X)
#undef X
};

/* Loads the library and initialises the driver; *d keeps the function pointers. Fails with a line
 * that tells what is missing. */
bool driver_load(struct driver *d, struct err *e);
void driver_unload(struct driver *d);

/* Turns a result into an error naming the call. True when result is 0. */
bool driver_ok(const struct driver *d, int result, const char *call, struct err *e);

#define CU_TRY(d, e, name, ...) TRY(driver_ok((d), (d)->name(__VA_ARGS__), #name, (e)))

/* Facts about the machine that a measurement must carry. Unknown strings are empty, unknown
 * numbers 0. */
struct board {
  char name[96], driver_version[96], pci[32];
  int cc_major, cc_minor, sm_count, l2_bytes, bus_bits, ecc;
  int cuda_version;           /* 1000 * major + 10 * minor */
  int clock_khz, mem_clock_khz; /* peak, as the driver reports */
  unsigned sm_mhz, mem_mhz;   /* read now; board_clocks refreshes them */
  uint64_t mem_bytes;
};

bool board_read(const struct driver *d, cu_device device, struct board *b, struct err *e);
/* Reads the present clocks. Call right after work, before the board slows down. */
void board_clocks(struct board *b);

#endif
