/* What the runtime's entry points share: code registered by the program's constructors. */
#ifndef WS_CUDA_RUNTIME_H
#define WS_CUDA_RUNTIME_H

#include "cuda/core/call.h"
#include "cuda/core/copy.h"
#include "cuda/core/kernel.h"

/* A host function that stands for a kernel, or a host variable that stands for a device variable. */
struct rt_symbol {
  struct rt_symbol *next;
  struct rt_binary *binary;
  const void *host;
  const char *name;             /* on the device; the program's */
  struct function *function[BOARDS_MAX]; /* by device; NULL: not looked up yet. Programs keep one (nvcc 13: in every
                                          * <<<…>>>), for all devices, so they outlive a reset */
  void **managed;               /* pointer of the program to a __managed__ variable */
};

/* One fat binary of the program. Its module is loaded on a device when something of it is first used there. */
struct rt_binary {
  struct rt_binary *next;
  const void *image;
  struct loaded_module *module[BOARDS_MAX];
  CUresult broken[BOARDS_MAX]; /* why it cannot be loaded; CUDA_SUCCESS: not known yet */
  struct rt_symbol *functions, *variables;
  uint64_t managed_at; /* where its __managed__ variables lie, or lay before a reset; 0: it has not been loaded */
};

/* The host function that `func`, itself or a handle of it, stands for; anything else as it is. */
const void *rt_host_function(struct shim *, const void *func);
/* The kernel on the current device of a host function, or of a handle that cudaGetKernel or the driver gave out.
 * cudaErrorInvalidDeviceFunction: neither. */
CUresult rt_function(struct shim *, const void *host, struct function **out);
/* … on this one. */
CUresult rt_function_on(struct shim *, const void *host, struct board *, struct function **out);
/* Address and size, on the current device, of the variable that a host variable stands for. */
CUresult rt_variable(struct shim *, const void *host, CUdeviceptr *addr, size_t *bytes);
/* A copy between host or device memory and a part of a variable; its sides' kinds are not set yet (copy_direct). */
CUresult rt_symbol_copy(struct shim *, struct copy *, const void *symbol, void *other, size_t bytes, size_t offset,
                        bool to_symbol, int kind);

#endif
