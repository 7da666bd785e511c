#include "cuda/core/kernel.h"

#include <string.h>

#include "base/arith.h"
#include "base/core_set.h"
#include "cuda/core/features.h"
#include "cuda/core/residency.h"
#include "cuda/core/shim.h"
#include "func/tensor_map.h"
#include "time/gpu/occupancy.h"

enum { WARP_LANES = 32, MAX_PER_CENT = 100 };

/* Checks --------------------------------------------------------------------------------------- */

static const struct params *gpu_of(const struct function *f)
{
  return &f->module->board->preset.params;
}

static uint64_t volume(const uint32_t d[3])
{
  return (uint64_t)d[0] * d[1] * d[2];
}

static struct step_source shape(const struct module_kernel *k, uint64_t threads, size_t shared,
                                uint64_t ctas)
{
  return (struct step_source){
    .n_ctas = ctas, .warps_per_cta = (unsigned)div_up(threads, WARP_LANES),
    .threads_per_cta = (unsigned)threads, .lanes = WARP_LANES, .regs_per_thread = k->regs,
    .shared_bytes = (unsigned)(k->shared_static + shared),
  };
}

unsigned kernel_shared_share(const struct function *f, unsigned share)
{
  return share ? share : (unsigned)(f->carveout + 1);
}

/* share: launch_request.shared_share. No CTA where a launch would be refused: with more dynamic shared memory than the
 * program has asked for (cuda_occupancy.h of the toolkit). */
static CUresult occupancy(const struct function *f, int block_threads, size_t shared, unsigned share, int *ctas)
{
  const struct params *p = gpu_of(f);
  struct occupancy o;
  *ctas = 0;
  if (block_threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  if ((unsigned)block_threads > p->sm_max_threads_per_cta || shared > f->max_dynamic_shared)
    return CUDA_SUCCESS;
  struct step_source source = shape(f->kernel, (unsigned)block_threads, shared, UINT32_MAX);
  source.shared_share = (uint8_t)kernel_shared_share(f, share);
  if (occupancy_of(p, &source, &o, NULL)) *ctas = (int)o.ctas;
  return CUDA_SUCCESS;
}

CUresult kernel_occupancy(const struct function *f, int block_threads, size_t shared, int *ctas)
{
  return occupancy(f, block_threads, shared, 0, ctas);
}

CUresult kernel_available_shared(const struct function *f, int ctas,
                                 int block_threads, size_t *bytes)
{
  size_t limit = gpu_of(f)->sm_shared_per_cta_max, lo = 0, hi, mid;
  int held;
  if (ctas <= 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = kernel_occupancy(f, block_threads, 0, &held);
  *bytes = 0;
  if (r != CUDA_SUCCESS || held < ctas) return r;
  hi = limit > f->kernel->shared_static ? limit - f->kernel->shared_static : 0;
  while (lo < hi) { /* occupancy falls with shared memory */
    mid = (lo + hi + 1) / 2;
    r = kernel_occupancy(f, block_threads, mid, &held);
    if (r != CUDA_SUCCESS) return r;
    if (held >= ctas) lo = mid;
    else hi = mid - 1;
  }
  *bytes = lo;
  return CUDA_SUCCESS;
}

/* Limits of the CUDA programming guide, "Technical Specifications per Compute Capability". */
static bool is_configuration(const struct launch_request *q)
{
  static const uint32_t max_block[3] = {1024, 1024, 64}, max_grid[3] = {0x7fffffff, 65535, 65535};
  for (unsigned i = 0; i < 3; i++)
    if (q->grid[i] == 0 || q->grid[i] > max_grid[i] || q->block[i] == 0 ||
        q->block[i] > max_block[i])
      return false;
  return volume(q->block) <= gpu_of(q->function)->sm_max_threads_per_cta;
}

enum { PORTABLE_CLUSTER = 8, LARGEST_CLUSTER = 16 }; /* CTAs: CUDA programming guide, "Thread Block Clusters" */

static unsigned largest_cluster(const struct function *f)
{
  return f->non_portable_cluster ? LARGEST_CLUSTER : PORTABLE_CLUSTER;
}

const struct core_set *kernel_cores(const struct launch_request *q)
{
  return q->cores ? q->cores : q->function->module->board->cores;
}

/* The size, c, must divide the grid and be the one that the kernel was compiled for, where it was. */
static CUresult cluster_shape(const struct launch_request *q, uint32_t c[3])
{
  const struct module_kernel *k = q->function->kernel;
  launch_cluster(k, q->cluster, c);
  if (!volume(c)) return k->explicit_cluster ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
  if (volume(k->cluster) && memcmp(k->cluster, c, 3 * sizeof *c) != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  for (int i = 0; i < 3; i++)
    if (q->grid[i] % c[i]) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return CUDA_SUCCESS;
}

static bool is_too_large(const struct launch_request *q, const uint32_t c[3])
{
  return volume(c) > (gpu_has(gpu_of(q->function), GPU_CLUSTERS) ? largest_cluster(q->function) : 1);
}

static CUresult check_cluster(const struct launch_request *q)
{
  uint32_t c[3];
  CUresult r = cluster_shape(q, c);
  return r == CUDA_SUCCESS && is_too_large(q, c) ? CUDA_ERROR_INVALID_CLUSTER_SIZE : r;
}

/* Those of every GPC together. */
static CUresult active_clusters(const struct launch_request *q, uint64_t size, int *clusters)
{
  const struct params *p = gpu_of(q->function);
  int ctas;
  CUresult r = occupancy(q->function, (int)volume(q->block), q->shared, q->shared_share, &ctas);
  *clusters = 0;
  if (r != CUDA_SUCCESS || !gpu_has(p, GPU_CLUSTERS)) return r;
  for (unsigned gpc = 0, sm = 0; gpc < p->gpu_gpcs; gpc++) {
    uint64_t room = 0;
    for (; sm < p->gpu_sms && params_gpc(p, sm) == gpc; sm++)
      if (!kernel_cores(q) || core_set_has(kernel_cores(q), sm)) room += (unsigned)ctas;
    *clusters += (int)(room / size);
  }
  return CUDA_SUCCESS;
}

/* A kernel that may have any size has no cluster of a size that no GPU has; it is no error to ask (cuTENSOR asks from
 * 32 CTAs downwards and gives up at an error). */
CUresult kernel_active_clusters(const struct launch_request *q, int *clusters)
{
  uint32_t c[3];
  CUresult r = cluster_shape(q, c);
  if (r != CUDA_SUCCESS) return r;
  if (!is_too_large(q, c)) return active_clusters(q, volume(c) ? volume(c) : 1, clusters);
  *clusters = 0;
  return q->function->non_portable_cluster && gpu_has(gpu_of(q->function), GPU_CLUSTERS)
             ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

CUresult kernel_cluster_size(const struct launch_request *q, int *ctas)
{
  int held = 0;
  CUresult r = CUDA_SUCCESS;
  for (*ctas = (int)largest_cluster(q->function); *ctas > 0; --*ctas) {
    r = active_clusters(q, (unsigned)*ctas, &held);
    if (r != CUDA_SUCCESS || held) break;
  }
  return r;
}

/* A kernel of CUDA Tile IR with room for tensor maps behind its parameters: NVIDIA's driver has x86 code in the cubin
 * (.nv.host) make them from the arguments at each launch, by an interface that is not published. */
static bool wants_host_code(const struct module_kernel *k)
{
  uint64_t described = 0;
  for (unsigned i = 0; i < k->n_params; i++)
    if (described < (uint64_t)k->param[i].offset + k->param[i].bytes)
      described = (uint64_t)k->param[i].offset + k->param[i].bytes;
  return k->tile && k->param_bytes >= described + TENSOR_MAP_BYTES;
}

static CUresult refuse_host_code(const struct function *f)
{
  if (shim_first_time(f->module->board->shim, f->kernel->name))
    shim_say("%.200s: its tensor maps are made at launch by x86 code in its cubin (.nv.host, CUDA Tile IR), which is "
             "not run; the launch fails with \"operation not supported\"; take a GPU without tensor maps "
             "(--gpu rtx-3070), or allow_tma=False in ct.load and ct.store", f->kernel->name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult kernel_check(const struct launch_request *q)
{
  const struct module_kernel *k = q->function->kernel;
  uint64_t bound = volume(k->max_threads), threads = volume(q->block);
  int ctas;
  if (wants_host_code(k)) return refuse_host_code(q->function);
  if (!is_configuration(q)) return cudaErrorInvalidConfiguration;
  if (q->shared > q->function->max_dynamic_shared) return CUDA_ERROR_INVALID_VALUE;
  if (bound && threads > bound) return CUDA_ERROR_INVALID_VALUE; /* as Numba's own tests have it of GPUs */
  CUresult r = residency_check(q->function->module->board, &q->window);
  if (r == CUDA_SUCCESS) r = check_cluster(q);
  if (r == CUDA_SUCCESS) r = occupancy(q->function, (int)threads, q->shared, q->shared_share, &ctas);
  if (r != CUDA_SUCCESS) return r;
  if (ctas == 0) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const unsigned sms = kernel_cores(q) ? core_set_count(kernel_cores(q)) : gpu_of(q->function)->gpu_sms;
  if (q->cooperative && volume(q->grid) > (uint64_t)ctas * sms)
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return CUDA_SUCCESS;
}

void kernel_own_block(struct launch_request *q)
{
  const struct module_kernel *k = q->function->kernel;
  if (k->tile && volume(q->block) == 1 && volume(k->req_threads)) memcpy(q->block, k->req_threads, sizeof q->block);
}

bool kernel_read_extra(struct launch_request *q, void **extra)
{
  for (; extra && extra[0] != LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == LAUNCH_PARAM_BUFFER) q->packed = extra[1];
    else if (extra[0] == LAUNCH_PARAM_BUFFER_SIZE) q->packed_bytes = *(const size_t *)extra[1];
    else return false;
  }
  return true;
}

void kernel_read_attributes(struct launch_request *q, const CUlaunchAttribute *a, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    if (a[i].id == LAUNCH_ATTR_COOPERATIVE) q->cooperative = a[i].value.cooperative;
    if (a[i].id == LAUNCH_ATTR_CARVEOUT) q->shared_share = a[i].value.carveout < MAX_PER_CENT ? a[i].value.carveout + 1
                                                                                              : MAX_PER_CENT + 1;
    if (a[i].id == LAUNCH_ATTR_WINDOW) q->window = a[i].value.window, q->has_window = true;
    if (a[i].id != LAUNCH_ATTR_CLUSTER) continue;
    q->cluster[0] = a[i].value.cluster.x;
    q->cluster[1] = a[i].value.cluster.y;
    q->cluster[2] = a[i].value.cluster.z;
  }
}

/* The parameter block, from one pointer per parameter or from the program's own block. NULL: neither
 * fits the kernel. */
static uint8_t *pack(const struct launch_request *q)
{
  const struct module_kernel *k = q->function->kernel;
  if (!q->params && k->n_params && !q->packed) return NULL;
  if (!q->params && q->packed && q->packed_bytes > k->param_bytes) return NULL;
  uint8_t *block = shim_alloc(k->param_bytes);
  if (q->params)
    for (unsigned i = 0; i < k->n_params; i++)
      memcpy(block + k->param[i].offset, q->params[i], k->param[i].bytes);
  else if (q->packed)
    memcpy(block, q->packed, q->packed_bytes);
  return block;
}

CUresult kernel_prepare(const struct launch_request *q, uint8_t **packed)
{
  CUresult r = kernel_check(q);
  if (r != CUDA_SUCCESS) return r;
  *packed = pack(q);
  return *packed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Attributes ----------------------------------------------------------------------------------- */

bool kernel_attribute(const struct function *f, int attribute, int *value)
{
  const struct module_kernel *k = f->kernel;
  unsigned sm = module_sm(f->module->code.module);
  uint64_t bound = volume(k->max_threads);
  const struct params *p = gpu_of(f);
  uint32_t bank_bytes, unit = p->sm_register_granule / WARP_LANES;
  /* Threads whose registers fit a CTA, in whole warps. */
  uint64_t regs = k->regs ? round_up(k->regs, unit) : 1;
  uint64_t threads = p->sm_registers / regs / WARP_LANES * WARP_LANES;
  if (threads > p->sm_max_threads_per_cta) threads = p->sm_max_threads_per_cta;
  module_bank(f->module->code.instance, k, 3, &bank_bytes);
  switch (attribute) {
  case FUNC_MAX_THREADS: *value = (int)(bound && bound < threads ? bound : threads); break;
  case FUNC_SHARED_SIZE: *value = (int)k->shared_static; break;
  case FUNC_CONST_SIZE: *value = (int)bank_bytes; break;
  case FUNC_LOCAL_SIZE: *value = (int)k->frame_bytes; break;
  case FUNC_NUM_REGS: *value = (int)k->regs; break;
  case FUNC_PTX_VERSION:
  case FUNC_BINARY_VERSION: *value = (int)sm; break;
  case FUNC_MAX_DYNAMIC_SHARED: *value = (int)f->max_dynamic_shared; break;
  case FUNC_CARVEOUT: *value = f->carveout; break;
  case FUNC_CLUSTER_MUST_BE_SET: *value = k->explicit_cluster; break;
  case FUNC_CLUSTER_WIDTH:
  case FUNC_CLUSTER_HEIGHT:
  case FUNC_CLUSTER_DEPTH: *value = (int)k->cluster[attribute - FUNC_CLUSTER_WIDTH]; break;
  case FUNC_NON_PORTABLE_CLUSTER: *value = f->non_portable_cluster; break;
  case FUNC_CACHE_MODE_CA: /* how it was compiled is not in the file */
  case FUNC_CLUSTER_POLICY: *value = 0; break;
  default: return false;
  }
  return true;
}

void kernel_attributes(const struct function *f, cudaFuncAttributes *a)
{
  int v[FUNC__N];
  for (int i = 0; i < FUNC__N; i++) kernel_attribute(f, i, &v[i]);
  /* Not a whole assignment: programs of CUDA 12 have a shorter structure. */
  a->shared = (size_t)v[FUNC_SHARED_SIZE];
  a->constant = (size_t)v[FUNC_CONST_SIZE];
  a->local = (size_t)v[FUNC_LOCAL_SIZE];
  a->max_threads = v[FUNC_MAX_THREADS];
  a->regs = v[FUNC_NUM_REGS];
  a->ptx_version = v[FUNC_PTX_VERSION];
  a->binary_version = v[FUNC_BINARY_VERSION];
  a->cache_mode_ca = 0;
  a->max_dynamic_shared = v[FUNC_MAX_DYNAMIC_SHARED];
  a->carveout = v[FUNC_CARVEOUT];
  a->cluster_must_be_set = v[FUNC_CLUSTER_MUST_BE_SET];
  for (int i = 0; i < 3; i++) a->cluster[i] = v[FUNC_CLUSTER_WIDTH + i];
  a->cluster_policy = 0;
  a->non_portable_cluster = v[FUNC_NON_PORTABLE_CLUSTER];
}

CUresult kernel_set_attribute(struct function *f, int attribute, int value)
{
  switch (attribute) {
  case FUNC_MAX_DYNAMIC_SHARED:
    if (value < 0 || f->kernel->shared_static + (uint32_t)value > gpu_of(f)->sm_shared_per_cta_max)
      return CUDA_ERROR_INVALID_VALUE;
    f->max_dynamic_shared = (uint32_t)value;
    return CUDA_SUCCESS;
  case FUNC_CARVEOUT:
    if (value < -1 || value > MAX_PER_CENT) return CUDA_ERROR_INVALID_VALUE;
    f->carveout = value;
    return CUDA_SUCCESS;
  case FUNC_NON_PORTABLE_CLUSTER:
    f->non_portable_cluster = value != 0; /* programs that check the call give the size they want, 16 */
    return CUDA_SUCCESS;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
}
