/* Launches and kernel attributes of the runtime. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/attributes.h"
#include "cuda/core/enqueue.h"
#include "cuda/core/green_context.h"
#include "cuda/runtime/runtime.h"

/* <<<…>>> ---------------------------------------------------------------------------------------- */

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream stream)
{
  struct shim *s = shim_get();
  shim_lock(s);
  struct thread *t = shim_thread(s);
  bool room = t->n_configurations < MAX_CONFIGURATIONS;
  if (room)
    t->configuration[t->n_configurations++] = (struct configuration){ grid, block, shared, stream };
  pthread_mutex_unlock(&s->lock);
  return !room;
}

static CUresult pop(struct shim *s, dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
  struct thread *t = shim_thread(s);
  if (t->n_configurations == 0) return cudaErrorMissingConfiguration;
  const struct configuration *c = &t->configuration[--t->n_configurations];
  *grid = c->grid;
  *block = c->block;
  *shared = c->shared;
  memcpy(stream, &c->stream, sizeof c->stream);
  return CUDA_SUCCESS;
}

CUresult __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
  RUNTIME(NEED_NOTHING, pop(s, grid, block, shared, stream));
}

/* Launch ----------------------------------------------------------------------------------------- */

static struct launch_request request(dim3 grid, dim3 block, size_t shared)
{
  return (struct launch_request){ .grid = { grid.x, grid.y, grid.z }, .block = { block.x, block.y, block.z },
                                  .shared = (uint32_t)shared };
}

static CUresult launch_as(struct shim *s, const void *func, struct launch_request *q, void **args, size_t shared,
                               CUstream stream)
{
  static void *const no_args[1];
  q->stream = stream_of(s, stream);
  q->named = rt_host_function(s, func);
  q->params = args ? args : (void **)(uintptr_t)no_args;
  CUresult r = rt_function(s, func, &q->function);
  if (r != CUDA_SUCCESS) return r;
  if (!q->stream) return CUDA_ERROR_INVALID_HANDLE;
  if (shared > UINT32_MAX / 2) return CUDA_ERROR_INVALID_VALUE;
  if (!args && q->function->kernel->n_params) return CUDA_ERROR_INVALID_VALUE;
  return enqueue_kernel(s, q);
}

static CUresult launch(struct shim *s, const void *func, dim3 grid, dim3 block, void **args,
                       size_t shared, CUstream stream, bool cooperative)
{
  struct launch_request q = request(grid, block, shared);
  q.cooperative = cooperative;
  return launch_as(s, func, &q, args, shared, stream);
}

CUresult cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                          CUstream stream)
{
  RUNTIME_OF((func, grid, block, args, shared, stream), NEED_CONTEXT,
             launch(s, func, grid, block, args, shared, stream, false));
}

CUresult __cudaLaunchKernel(CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared,
                            CUstream stream)
{
  RUNTIME_OF((kernel, grid, block, args, shared, stream), NEED_CONTEXT,
             launch(s, kernel, grid, block, args, shared, stream, false));
}

CUresult cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args,
                                     size_t shared, CUstream stream)
{
  RUNTIME_OF((func, grid, block, args, shared, stream), NEED_CONTEXT,
             launch(s, func, grid, block, args, shared, stream, true));
}

static CUresult launch_ex(struct shim *s, const cudaLaunchConfig_t *c, const void *func, void **args)
{
  if (!c || (c->n_attrs && !c->attr)) return CUDA_ERROR_INVALID_VALUE;
  struct launch_request q = request(c->grid, c->block, c->shared);
  kernel_read_attributes(&q, c->attr, c->n_attrs);
  return launch_as(s, func, &q, args, c->shared, c->stream);
}

CUresult cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
  RUNTIME_OF((config, func, args), NEED_CONTEXT, launch_ex(s, config, func, args));
}

/* Kernels ---------------------------------------------------------------------------------------- */

static CUresult get_kernel(struct shim *s, CUkernel *out, const void *func)
{
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = rt_function(s, func, out);
  /* The program keeps the answer: without code, keep what tells the launch why. */
  if (r != CUDA_SUCCESS) *out = (CUkernel)(uintptr_t)func;
  return r;
}

/* Part of every <<<…>>>. */
CUresult __cudaGetKernel(CUkernel *out, const void *func)
{
  RUNTIME(NEED_CONTEXT, get_kernel(s, out, func));
}

CUresult cudaGetKernel(CUkernel *out, const void *func)
{
  RUNTIME(NEED_GPU, get_kernel(s, out, func));
}

CUresult cudaGetFuncBySymbol(CUfunction *out, const void *func)
{
  RUNTIME(NEED_GPU, get_kernel(s, out, func));
}

static CUresult attributes(struct shim *s, cudaFuncAttributes *a, const void *func)
{
  struct function *f;
  if (!a) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = rt_function(s, func, &f);
  if (r == CUDA_SUCCESS) kernel_attributes(f, a);
  return r;
}

CUresult cudaFuncGetAttributes(cudaFuncAttributes *a, const void *func)
{
  RUNTIME(NEED_CONTEXT, attributes(s, a, func));
}

static CUresult set_attribute(struct shim *s, const void *func, int attribute, int value)
{
  struct function *f;
  CUresult r = rt_function(s, func, &f);
  return r == CUDA_SUCCESS ? kernel_set_attribute(f, attribute, value) : r;
}

CUresult cudaFuncSetAttribute(const void *func, int attribute, int value)
{
  RUNTIME(NEED_CONTEXT, set_attribute(s, func, attribute, value));
}

static CUresult set_cache(struct shim *s, const void *func, int config)
{
  struct function *f;
  CUresult r = rt_function(s, func, &f);
  if (r == CUDA_SUCCESS) f->cache = config; /* a hint: the carve-out follows from the kernel */
  return r;
}

CUresult cudaFuncSetCacheConfig(const void *func, int config)
{
  RUNTIME(NEED_CONTEXT, set_cache(s, func, config));
}

static CUresult set_banks(struct shim *s, const void *func, int config)
{
  struct function *f;
  return bank_config_exists(config) ? rt_function(s, func, &f) : CUDA_ERROR_INVALID_VALUE;
}

/* Without effect: banks of shared memory are four bytes wide. */
CUresult cudaFuncSetSharedMemConfig(const void *func, int config)
{
  RUNTIME(NEED_CONTEXT, set_banks(s, func, config));
}

static CUresult occupancy(struct shim *s, int *ctas, const void *func, int threads, size_t shared)
{
  struct function *f;
  if (!ctas) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = rt_function(s, func, &f);
  return r == CUDA_SUCCESS ? kernel_occupancy(f, threads, shared, ctas) : r;
}

CUresult cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, const void *func, int threads,
                                                       size_t shared)
{
  RUNTIME(NEED_CONTEXT, occupancy(s, ctas, func, threads, shared));
}

CUresult cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, const void *func,
                                                                int threads, size_t shared,
                                                                unsigned flags)
{
  RUNTIME(NEED_CONTEXT,
          flags > 1 ? CUDA_ERROR_INVALID_VALUE : occupancy(s, ctas, func, threads, shared));
}

static CUresult clusters(struct shim *s, int *n, const void *func, const cudaLaunchConfig_t *c, bool size)
{
  if (!n || !c || (c->n_attrs && !c->attr)) return CUDA_ERROR_INVALID_VALUE;
  struct launch_request q = request(c->grid, c->block, c->shared);
  CUresult r = rt_function(s, func, &q.function);
  if (r != CUDA_SUCCESS) return r;
  kernel_read_attributes(&q, c->attr, c->n_attrs);
  q.cores = green_cores(stream_of(s, c->stream));
  return size ? kernel_cluster_size(&q, n) : kernel_active_clusters(&q, n);
}

CUresult cudaOccupancyMaxActiveClusters(int *n, const void *func, const cudaLaunchConfig_t *config)
{
  RUNTIME(NEED_CONTEXT, clusters(s, n, func, config, false));
}

CUresult cudaOccupancyMaxPotentialClusterSize(int *ctas, const void *func, const cudaLaunchConfig_t *config)
{
  RUNTIME(NEED_CONTEXT, clusters(s, ctas, func, config, true));
}

static CUresult available_shared(struct shim *s, size_t *bytes, const void *func, int ctas, int threads)
{
  struct function *f;
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = rt_function(s, func, &f);
  return r == CUDA_SUCCESS ? kernel_available_shared(f, ctas, threads, bytes) : r;
}

CUresult cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *func, int ctas, int threads)
{
  RUNTIME(NEED_CONTEXT, available_shared(s, bytes, func, ctas, threads));
}

static CUresult name_of(struct shim *s, const char **name, const void *func)
{
  struct function *f;
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = rt_function(s, func, &f);
  if (r == CUDA_SUCCESS) *name = f->kernel->name;
  return r;
}

CUresult cudaFuncGetName(const char **name, const void *func)
{
  RUNTIME(NEED_CONTEXT, name_of(s, name, func));
}

static CUresult param_info(struct shim *s, const void *func, size_t i, size_t *offset, size_t *bytes)
{
  struct function *f;
  CUresult r = rt_function(s, func, &f);
  if (r != CUDA_SUCCESS) return r;
  if (!offset || i >= f->kernel->n_params) return CUDA_ERROR_INVALID_VALUE;
  *offset = f->kernel->param[i].offset;
  if (bytes) *bytes = f->kernel->param[i].bytes;
  return CUDA_SUCCESS;
}

CUresult cudaFuncGetParamInfo(const void *func, size_t i, size_t *offset, size_t *bytes)
{
  RUNTIME(NEED_CONTEXT, param_info(s, func, i, offset, bytes));
}

static CUresult set_attribute_on(struct shim *s, CUkernel kernel, int attribute, int value, struct board *b)
{
  struct function *f;
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  CUresult r = rt_function_on(s, kernel, b, &f);
  return r == CUDA_SUCCESS ? kernel_set_attribute(f, attribute, value) : r;
}

CUresult cudaKernelSetAttributeForDevice(CUkernel kernel, int attribute, int value, int device)
{
  RUNTIME(NEED_CONTEXT, set_attribute_on(s, kernel, attribute, value, board_at(s, device)));
}
