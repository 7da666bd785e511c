/* Launches, kernel attributes and occupancy of the driver. */
#include "cuda/core/call.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/green_context.h"
#include "cuda/driver/driver_forms.h"

/* The driver has no name for a bad configuration of its own. */
static CUresult driver_code(CUresult r)
{
  return r == cudaErrorInvalidConfiguration ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult driver_launch(struct shim *s, struct launch_request *q, CUstream stream)
{
  static void *const none[1];
  q->stream = stream_of(s, stream);
  if (!module_is_function(s, q->function) || !q->stream) return CUDA_ERROR_INVALID_HANDLE;
  CUresult r = function_on(s, q->function, q->stream->board, &q->function); /* kernels of libraries are on all */
  if (r != CUDA_SUCCESS) return r;
  if (q->function->kernel->n_params == 0 && !q->packed) q->params = (void **)(uintptr_t)none;
  return driver_code(enqueue_kernel(s, q));
}

static CUresult launch(struct shim *s, CUfunction f, struct launch_request *q, CUstream stream,
                       void **params, void **extra)
{
  if ((params && extra) || !kernel_read_extra(q, extra)) return CUDA_ERROR_INVALID_VALUE;
  q->function = f;
  q->params = params;
  return driver_launch(s, q, stream);
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
  struct launch_request q = { .grid = { gx, gy, gz }, .block = { bx, by, bz }, .shared = shared };
  DRIVER_OF((f, gx, gy, gz, bx, by, bz, shared, stream, params, extra), NEED_CONTEXT,
            launch(s, f, &q, stream, params, extra));
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void **params)
{
  struct launch_request q = { .grid = { gx, gy, gz }, .block = { bx, by, bz }, .shared = shared,
                              .cooperative = true };
  DRIVER_OF((f, gx, gy, gz, bx, by, bz, shared, stream, params), NEED_CONTEXT, launch(s, f, &q, stream, params, NULL));
}

static bool read_config(const CUlaunchConfig *c, struct launch_request *q)
{
  if (!c || (c->n_attrs && !c->attr)) return false;
  *q = (struct launch_request){ .grid = { c->grid[0], c->grid[1], c->grid[2] },
                                .block = { c->block[0], c->block[1], c->block[2] }, .shared = c->shared };
  kernel_read_attributes(q, c->attr, c->n_attrs);
  return true;
}

static CUresult launch_ex(struct shim *s, const CUlaunchConfig *c, CUfunction f, void **params,
                          void **extra)
{
  struct launch_request q;
  return read_config(c, &q) ? launch(s, f, &q, c->stream, params, extra) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
  DRIVER_OF((config, f, params, extra), NEED_CONTEXT, launch_ex(s, config, f, params, extra));
}

static CUresult attribute(struct shim *s, int *value, int which, CUfunction f)
{
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  return value && kernel_attribute(f, which, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncGetAttribute(int *value, int which, CUfunction f)
{
  DRIVER(NEED_CONTEXT, attribute(s, value, which, f));
}

/* The kernel as it is on a device. */
static CUresult on_device(struct shim *s, CUkernel *f, CUdevice device)
{
  struct board *b = board_at(s, device);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  return module_is_function(s, *f) ? function_on(s, *f, b, f) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetAttribute(int *value, int which, CUkernel f, CUdevice device)
{
  CUresult r = CUDA_SUCCESS;
  DRIVER(NEED_CONTEXT, (r = on_device(s, &f, device)) != CUDA_SUCCESS ? r : attribute(s, value, which, f));
}

static CUresult set_attribute(struct shim *s, CUfunction f, int which, int value)
{
  return module_is_function(s, f) ? kernel_set_attribute(f, which, value)
                                  : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncSetAttribute(CUfunction f, int which, int value)
{
  DRIVER(NEED_CONTEXT, set_attribute(s, f, which, value));
}

CUresult cuKernelSetAttribute(int which, int value, CUkernel f, CUdevice device)
{
  CUresult r = CUDA_SUCCESS;
  DRIVER(NEED_CONTEXT, (r = on_device(s, &f, device)) != CUDA_SUCCESS ? r : set_attribute(s, f, which, value));
}

static CUresult set_cache(struct shim *s, CUfunction f, int config)
{
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  f->cache = config; /* a hint: the carve-out follows from the kernel */
  return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction f, int config)
{
  DRIVER(NEED_CONTEXT, set_cache(s, f, config));
}

static CUresult get_module(struct shim *s, CUmodule *out, CUfunction f)
{
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = f->module;
  return CUDA_SUCCESS;
}

static CUresult get_library(struct shim *s, CUlibrary *out, CUkernel f)
{
  CUresult r = get_module(s, out, f);
  if (r == CUDA_SUCCESS && f->module->library) *out = f->module->library->first;
  return r;
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction f)
{
  DRIVER(NEED_CONTEXT, get_module(s, out, f));
}

CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel f)
{
  DRIVER(NEED_CONTEXT, get_library(s, out, f));
}

CUresult cuKernelSetCacheConfig(CUkernel f, int config, CUdevice device)
{
  CUresult r = CUDA_SUCCESS;
  DRIVER(NEED_CONTEXT, (r = on_device(s, &f, device)) != CUDA_SUCCESS ? r : set_cache(s, f, config));
}

static CUresult get_name(struct shim *s, const char **name, CUfunction f)
{
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = f->kernel->name;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction f)
{
  DRIVER(NEED_CONTEXT, get_name(s, name, f));
}

CUresult cuKernelGetName(const char **name, CUkernel f)
{
  DRIVER(NEED_CONTEXT, get_name(s, name, f));
}

static CUresult param_info(struct shim *s, CUfunction f, size_t i, size_t *offset, size_t *bytes)
{
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  if (!offset || i >= f->kernel->n_params) return CUDA_ERROR_INVALID_VALUE;
  *offset = f->kernel->param[i].offset;
  if (bytes) *bytes = f->kernel->param[i].bytes;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *bytes)
{
  DRIVER(NEED_CONTEXT, param_info(s, f, i, offset, bytes));
}

CUresult cuKernelGetParamInfo(CUkernel f, size_t i, size_t *offset, size_t *bytes)
{
  DRIVER(NEED_CONTEXT, param_info(s, f, i, offset, bytes));
}

static CUresult occupancy(struct shim *s, int *ctas, CUfunction f, int threads, size_t shared)
{
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  return ctas ? kernel_occupancy(f, threads, shared, ctas) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, CUfunction f, int threads,
                                                     size_t shared)
{
  DRIVER(NEED_CONTEXT, occupancy(s, ctas, f, threads, shared));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, CUfunction f, int threads,
                                                              size_t shared, unsigned flags)
{
  DRIVER(NEED_CONTEXT,
         flags > 1 ? CUDA_ERROR_INVALID_VALUE : occupancy(s, ctas, f, threads, shared));
}

static CUresult clusters(struct shim *s, int *n, CUfunction f, const CUlaunchConfig *c, bool size)
{
  struct launch_request q;
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  if (!n || !read_config(c, &q)) return CUDA_ERROR_INVALID_VALUE;
  q.function = f;
  q.cores = green_cores(stream_of(s, c->stream));
  return size ? kernel_cluster_size(&q, n) : kernel_active_clusters(&q, n);
}

CUresult cuOccupancyMaxActiveClusters(int *n, CUfunction f, const CUlaunchConfig *config)
{
  DRIVER(NEED_CONTEXT, clusters(s, n, f, config, false));
}

CUresult cuOccupancyMaxPotentialClusterSize(int *ctas, CUfunction f, const CUlaunchConfig *config)
{
  DRIVER(NEED_CONTEXT, clusters(s, ctas, f, config, true));
}

/* The block size, in whole warps, that keeps most threads resident; of several the largest. */
static CUresult best_block(struct shim *s, int *grid, int *block, CUfunction f,
                           size_t (*shared_of)(int), size_t shared, int limit)
{
  int most = 0, ctas;
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  if (!grid || !block) return CUDA_ERROR_INVALID_VALUE;
  int top;
  kernel_attribute(f, FUNC_MAX_THREADS, &top);
  if (limit > 0 && limit < top) top = limit;
  *grid = *block = 0;
  for (int threads = (top + 31) / 32 * 32; threads > 0; threads -= 32) {
    int size = threads < top ? threads : top;
    CUresult r = kernel_occupancy(f, size, shared_of ? shared_of(size) : shared, &ctas);
    if (r != CUDA_SUCCESS) return r;
    if (ctas * size <= most) continue;
    most = ctas * size;
    *block = size;
    *grid = ctas * (int)f->module->board->preset.params.gpu_sms;
  }
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f,
                                          size_t (*shared_of)(int), size_t shared, int limit)
{
  DRIVER(NEED_CONTEXT, best_block(s, grid, block, f, shared_of, shared, limit));
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f,
                                                   size_t (*shared_of)(int), size_t shared, int limit,
                                                   unsigned flags)
{
  DRIVER(NEED_CONTEXT, flags > 1 ? CUDA_ERROR_INVALID_VALUE
                                 : best_block(s, grid, block, f, shared_of, shared, limit));
}

static CUresult available_shared(struct shim *s, size_t *bytes, CUfunction f, int ctas, int threads)
{
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  return bytes ? kernel_available_shared(f, ctas, threads, bytes) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction f, int ctas, int threads)
{
  DRIVER(NEED_CONTEXT, available_shared(s, bytes, f, ctas, threads));
}

static CUresult is_loaded(struct shim *s, int *state, CUfunction f)
{
  if (!module_is_function(s, f)) return CUDA_ERROR_INVALID_HANDLE;
  return state ? (*state = 1, CUDA_SUCCESS) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncIsLoaded(int *state, CUfunction f)
{
  DRIVER(NEED_CONTEXT, is_loaded(s, state, f));
}

CUresult cuFuncLoad(CUfunction f)
{
  DRIVER(NEED_CONTEXT, module_is_function(s, f) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
}
