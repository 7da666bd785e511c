#include "cuda/core/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/core/context.h"
#include "cuda/core/device_work.h"
#include "cuda/core/launch_watch.h"
#include "cuda/core/memory.h"
#include "cuda/core/sampling.h"
#include "cuda/core/save.h"
#include "cuda/core/stalls.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/together.h"
#include "host/tracing.h"
#include "time/gpu/occupancy.h"

enum { WARP_LANES = 32 };

/* Checks --------------------------------------------------------------------------------------- */

static uint64_t volume(const uint32_t d[3])
{
  return (uint64_t)d[0] * d[1] * d[2];
}

static struct step_source shape(const struct module_kernel *k, uint64_t threads, size_t shared,
                                uint64_t ctas)
{
  return (struct step_source){
    .n_ctas = ctas, .warps_per_cta = (unsigned)((threads + WARP_LANES - 1) / WARP_LANES),
    .threads_per_cta = (unsigned)threads, .lanes = WARP_LANES, .regs_per_thread = k->regs,
    .shared_bytes = (unsigned)(k->shared_static + shared),
  };
}

CUresult kernel_occupancy(struct shim *s, const struct cu_function *f, int block_threads,
                          size_t shared, int *ctas)
{
  const struct params *p = &s->preset.params;
  struct occupancy o;
  *ctas = 0;
  if (block_threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  if ((unsigned)block_threads > p->sm_max_threads_per_cta ||
      f->kernel->shared_static + shared > p->sm_shared_per_cta_max)
    return CUDA_SUCCESS;
  struct step_source source = shape(f->kernel, (unsigned)block_threads, shared, UINT32_MAX);
  if (occupancy_of(p, &source, &o, NULL)) *ctas = (int)o.ctas;
  return CUDA_SUCCESS;
}

CUresult kernel_available_shared(struct shim *s, const struct cu_function *f, int ctas,
                                 int block_threads, size_t *bytes)
{
  size_t limit = s->preset.params.sm_shared_per_cta_max, lo = 0, hi, mid;
  int held;
  if (ctas <= 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = kernel_occupancy(s, f, block_threads, 0, &held);
  *bytes = 0;
  if (r != CUDA_SUCCESS || held < ctas) return r;
  hi = limit > f->kernel->shared_static ? limit - f->kernel->shared_static : 0;
  while (lo < hi) { /* occupancy falls with shared memory */
    mid = (lo + hi + 1) / 2;
    r = kernel_occupancy(s, f, block_threads, mid, &held);
    if (r != CUDA_SUCCESS) return r;
    if (held >= ctas) lo = mid;
    else hi = mid - 1;
  }
  *bytes = lo;
  return CUDA_SUCCESS;
}

/* Limits of the CUDA programming guide, "Technical Specifications per Compute Capability". */
static bool is_configuration(const struct shim *s, const struct launch_request *q)
{
  static const uint32_t max_block[3] = {1024, 1024, 64}, max_grid[3] = {0x7fffffff, 65535, 65535};
  for (unsigned i = 0; i < 3; i++)
    if (q->grid[i] == 0 || q->grid[i] > max_grid[i] || q->block[i] == 0 ||
        q->block[i] > max_block[i])
      return false;
  return volume(q->block) <= s->preset.params.sm_max_threads_per_cta;
}

enum { PORTABLE_CLUSTER = 8, LARGEST_CLUSTER = 16 }; /* CTAs: CUDA programming guide, "Thread Block Clusters" */

/* The size must divide the grid and be the one that the kernel was compiled for, where it was. */
static CUresult check_cluster(const struct shim *s, const struct launch_request *q)
{
  const struct module_kernel *k = q->function->kernel;
  uint32_t c[3];
  launch_cluster(k, q->cluster, c);
  if (!volume(c)) return k->explicit_cluster ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
  if (volume(k->cluster) && memcmp(k->cluster, c, sizeof c) != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  for (int i = 0; i < 3; i++)
    if (q->grid[i] % c[i]) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (s->preset.params.arch_sm < 90 && volume(c) > 1) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return volume(c) > (q->function->non_portable_cluster ? LARGEST_CLUSTER : PORTABLE_CLUSTER) ? CUDA_ERROR_INVALID_CLUSTER_SIZE
                                                                                            : CUDA_SUCCESS;
}

/* Those of every GPC together. */
static CUresult active_clusters(struct shim *s, const struct launch_request *q, uint64_t size, int *clusters)
{
  const struct params *p = &s->preset.params;
  int ctas;
  CUresult r = kernel_occupancy(s, q->function, (int)volume(q->block), q->shared, &ctas);
  *clusters = 0;
  if (r != CUDA_SUCCESS || p->arch_sm < 90) return r;
  for (unsigned gpc = 0, sm = 0; gpc < p->gpu_gpcs; gpc++) {
    uint64_t room = 0;
    for (; sm < p->gpu_sms && params_gpc(p, sm) == gpc; sm++) room += (unsigned)ctas;
    *clusters += (int)(room / size);
  }
  return CUDA_SUCCESS;
}

CUresult kernel_active_clusters(struct shim *s, const struct launch_request *q, int *clusters)
{
  uint32_t c[3];
  launch_cluster(q->function->kernel, q->cluster, c);
  CUresult r = check_cluster(s, q);
  return r == CUDA_SUCCESS ? active_clusters(s, q, volume(c) ? volume(c) : 1, clusters) : r;
}

CUresult kernel_cluster_size(struct shim *s, const struct launch_request *q, int *ctas)
{
  int held = 0;
  CUresult r = CUDA_SUCCESS;
  for (*ctas = q->function->non_portable_cluster ? LARGEST_CLUSTER : PORTABLE_CLUSTER; *ctas > 0; --*ctas) {
    r = active_clusters(s, q, (unsigned)*ctas, &held);
    if (r != CUDA_SUCCESS || held) break;
  }
  return r;
}

CUresult kernel_check(struct shim *s, const struct launch_request *q)
{
  const struct module_kernel *k = q->function->kernel;
  uint64_t bound = volume(k->max_threads), threads = volume(q->block);
  int ctas;
  if (!is_configuration(s, q)) return cudaErrorInvalidConfiguration;
  if (q->shared > q->function->max_dynamic_shared) return CUDA_ERROR_INVALID_VALUE;
  if (bound && threads > bound) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  CUresult r = check_cluster(s, q);
  if (r != CUDA_SUCCESS) return r;
  r = kernel_occupancy(s, q->function, (int)threads, q->shared, &ctas);
  if (r != CUDA_SUCCESS) return r;
  if (ctas == 0) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (q->cooperative && volume(q->grid) > (uint64_t)ctas * s->preset.params.gpu_sms)
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return CUDA_SUCCESS;
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

/* Faults --------------------------------------------------------------------------------------- */

static CUresult code_of(enum fault_kind kind)
{
  static const CUresult codes[] = {
    [FAULT_ILLEGAL_ADDRESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
    [FAULT_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
    [FAULT_SHARED_RANGE] = CUDA_ERROR_ILLEGAL_ADDRESS,
    [FAULT_LOCAL_RANGE] = CUDA_ERROR_HARDWARE_STACK_ERROR,
    [FAULT_ILLEGAL_INST] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
    [FAULT_ILLEGAL_PC] = CUDA_ERROR_INVALID_PC,
    [FAULT_TRAP] = CUDA_ERROR_LAUNCH_FAILED,
    [FAULT_ASSERT] = CUDA_ERROR_ASSERT,
    [FAULT_DEADLOCK] = CUDA_ERROR_LAUNCH_TIMEOUT,
    [FAULT_UNSUPPORTED] = CUDA_ERROR_NOT_SUPPORTED,
  };
  CUresult r = kind < sizeof codes / sizeof codes[0] ? codes[kind] : CUDA_SUCCESS;
  return r == CUDA_SUCCESS ? CUDA_ERROR_LAUNCH_FAILED : r;
}

/* Laid out as compute-sanitizer's reports are, for people and scripts who know those. */
static void tell_fault(struct shim *s, const struct launch_request *q, const struct fault *f)
{
  char where[200], near[200];
  module_where(q->function->module->code.module, f->pc, where, sizeof where);
  fprintf(stderr, "========= %s\n=========     at %s (pc 0x%llx)\n", f->text, where,
          (unsigned long long)f->pc);
  fprintf(stderr, "=========     by thread (%u,%u,%u) in block (%u,%u,%u)\n", f->thread[0],
          f->thread[1], f->thread[2], f->cta[0], f->cta[1], f->cta[2]);
  bool global = f->kind == FAULT_MISALIGNED && gmem_ptr(s->device.mem, f->addr & ~UINT64_C(15), 1);
  if (f->kind == FAULT_ILLEGAL_ADDRESS || global) {
    gmem_describe(s->device.mem, f->addr, near, sizeof near);
    fprintf(stderr, "=========     address 0x%llx is %s\n", (unsigned long long)f->addr, near);
  }
}

/* Where the warps of a launch that ended early are, most first. */
static void tell_where(const struct launch_request *q, const struct sim_result *r, const char *what)
{
  enum { MAX_ROWS = 12 };
  char where[200];
  fprintf(stderr, "========= kernel %s %s\n", q->function->kernel->name, what);
  for (unsigned i = 0; i < r->where->n && i < MAX_ROWS; i++) {
    const struct position *p = &r->where->row[i];
    module_where(q->function->module->code.module, p->pc, where, sizeof where);
    fprintf(stderr, "=========     %llu warp%s at %s (%s)\n", (unsigned long long)p->warps,
            p->warps == 1 ? "" : "s", where, path_wait_name(p->wait));
  }
  if (r->where->n > MAX_ROWS)
    fprintf(stderr, "=========     and at %u more places\n", r->where->n - MAX_ROWS);
}

/* From simulated time `end` on. */
static void keep_fault(struct shim *s, const struct launch_request *q, const struct sim_result *r,
                       uint64_t end)
{
  s->fault_time = end;
  s->fault_waits = !r->timed;
  s->fault = r->end == RUN_FAULT ? code_of(r->fault.kind) : CUDA_ERROR_LAUNCH_TIMEOUT;
  if (r->end == RUN_FAULT) tell_fault(s, q, &r->fault);
  if (r->end != RUN_FAULT)
    tell_where(q, r, r->end == RUN_CYCLE_LIMIT ? "reached the limit of --max-cycles"
                                               : "reached the limit of --max-instructions");
  else if (r->fault.kind == FAULT_DEADLOCK)
    tell_where(q, r, "cannot go on");
  fprintf(stderr, "========= launch %llu: every later call of the CUDA interface fails\n",
          (unsigned long long)s->record.n);
}

/* Running -------------------------------------------------------------------------------------- */

/* Counters of launches that ran together are not told apart. */
static void count_traffic(struct launch_record *l, const struct sim_result *r)
{
  if (r->together > 1) return;
  l->l1_sectors = sim_counter(r, "l1_read_sectors") + sim_counter(r, "l1_write_sectors");
  l->l2_sectors = sim_counter(r, "l2_read_sectors") + sim_counter(r, "l2_write_sectors") +
                  sim_counter(r, "l2_strong_write_sectors");
  l->dram_bytes = sim_counter(r, "dram_read_bytes") + sim_counter(r, "dram_write_bytes");
}

static void keep_record(struct shim *s, const struct launch_request *q, const struct sim_result *r,
                        double estimate, uint64_t start, uint64_t end, uint64_t parent)
{
  struct launch_record l = {
    .kernel = q->function->kernel->name, .shared = q->shared, .stream = q->stream->id,
    .timed = r->timed, .together = r->together, .faulted = r->end != RUN_DONE, .cycles = r->cycles,
    .start_ps = start, .end_ps = end, .parent = parent, .warp_insts = r->warp_insts, .thread_insts = r->thread_insts, .work = r->work,
    .sampled_ctas = r->sampled_ctas, .error_cycles = r->error_cycles,
  };
  if (estimate > 0) {
    l.estimated = true;
    l.cycles = (uint64_t)estimate;
  }
  if (r->timed) count_traffic(&l, r);
  l.stalls = stalls_of(r);
  memcpy(l.grid, q->grid, sizeof l.grid);
  memcpy(l.block, q->block, sizeof l.block);
  record_add(&s->record, &l);
}

static void stop_if_done(struct shim *s)
{
  if (!s->options.stop_after_timed || s->record.n < s->options.choice.last) return;
  shim_report(s);
  fflush(NULL);
  _exit(shim_status(s, 0));
}

/* Group of a launch that sampling decides about; NULL: it is timed, or not, as the options say. */
static struct sample_group *sample_of(struct shim *s, const struct launch_request *q, bool timed)
{
  struct sample_key key = { .kernel = q->function->kernel->name, .shared = q->shared };
  memcpy(key.grid, q->grid, sizeof key.grid);
  memcpy(key.block, q->block, sizeof key.block);
  return timed && s->options.sample ? sampling_group(&s->samples, &key) : NULL;
}

/* With a trace when the options say so. */
static bool simulate_launch(struct shim *s, const struct launch_request *q, struct launch *l,
                            const struct sim_options *o, struct sim_result *r, struct err *e)
{
  const struct module_kernel *k = q->function->kernel;
  if (!s->trace || !choice_has(&s->options.choice, s->record.n + 1, k->name))
    return simulate(s->simulator, l, o, r, e);
  return traced_run(s->trace, s->simulator, l, q->function->module->code.instance, k, q->stream->id,
                    o, r, e);
}

/* How it ended, apart from its record. */
static void keep_end(struct shim *s, const struct launch_request *q, const struct sim_result *r, uint64_t end)
{
  if (r->end == RUN_STOPPED) {
    tell_where(q, r, "was stopped");
    interrupt_end(s);
  }
  bool of_another = r->end == RUN_FAULT && r->fault.kind == FAULT_NONE;
  if (r->end != RUN_DONE && !of_another) keep_fault(s, q, r, end);
}

uint64_t kernel_start(const struct shim *s, const struct launch_request *q)
{
  return timeline_start_kernel(&s->time, &q->stream->clock, volume(q->grid));
}

/* Nominal times add up to hours, which the timing model's clock has not: where it is used they end at half of that. */
static uint64_t end_of(const struct shim *s, const struct sim_result *r, uint64_t start)
{
  const uint64_t limit = SIM_LAST_START_PS / 2;
  if (r->timed || !s->options.timed || start + r->time_ps < limit) return start + r->time_ps;
  return start > limit ? start : limit;
}

static CUresult run(struct shim *s, const struct launch_request *q, struct launch *l, uint64_t start,
                    struct snapshot *saved, const struct device_grid *grid, uint64_t parent)
{
  struct launch_watch watch;
  struct sim_options o = { .threads = s->options.threads, .report = stderr,
                           .slice = s->options.interleave,
                           .max_cycles = s->options.max_cycles, .max_insts = s->options.max_insts,
                           .sample_ctas = s->options.sample_ctas, .poll = launch_watch_poll, .ctx = &watch };
  struct sim_result r;
  struct err e = {""};
  o.timed = exec_options_timed(&s->options, s->record.n + 1, q->function->kernel->name);
  o.start_ps = start;
  o.cold = s->options.cold;
  struct sample_group *group = sample_of(s, q, o.timed);
  if (group) o.timed = sampling_next(group, s->options.sample);
  if (!o.timed) o.max_cycles = 0;
  launch_watch_start(&watch, s, q->function->kernel->name);
  bool ran = simulate_launch(s, q, l, &o, &r, &e);
  launch_watch_end(&watch);
  if (!ran) {
    if (s->trace && !s->lost) shim_cannot_write(s, &e);
    if (!s->trace) shim_say("%s", e.msg);
    snapshot_free(saved);
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  memory_sync_registered(s, false);
  if (saved && grid && grid->first) {
    shim_say("launch %llu launches kernels, which cannot be replayed without its program: not captured",
             (unsigned long long)s->record.n + 1);
    snapshot_free(saved);
    saved = NULL;
  }
  save_after(s, saved, &r);
  if (group && r.timed && r.end == RUN_DONE) sampling_add(group, r.warp_insts, r.cycles);
  double cycles = group && !r.timed && r.end == RUN_DONE ? sampling_guess(group, r.warp_insts) : 0;
  uint64_t end = cycles > 0 ? start + (uint64_t)cycles * params_clock_ps(&s->preset.params) : end_of(s, &r, start);
  timeline_finish_kernel(&s->time, &q->stream->clock, volume(q->grid), end);
  keep_record(s, q, &r, cycles, start, end, parent);
  keep_end(s, q, &r, end);
  stop_if_done(s);
  return CUDA_SUCCESS;
}

CUresult kernel_simulate(struct shim *s, const struct launch_request *q, struct launch *l, uint64_t start)
{
  return run(s, q, l, start, NULL, NULL, 0);
}

void kernel_ended(struct shim *s, const struct launch_request *q, const struct sim_result *r, uint64_t start)
{
  uint64_t end = start + r->time_ps;
  timeline_finish_kernel(&s->time, &q->stream->clock, volume(q->grid), end);
  keep_record(s, q, r, 0, start, end, 0);
  keep_end(s, q, r, end);
}

CUresult kernel_prepare(struct shim *s, const struct launch_request *q, uint8_t **packed)
{
  CUresult r = kernel_check(s, q);
  if (r != CUDA_SUCCESS) return r;
  *packed = pack(q);
  return *packed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static struct launch_desc description(struct shim *s, const struct launch_request *q, struct device_grid *grid)
{
  const struct module_kernel *k = q->function->kernel;
  struct launch_desc desc = {
    .code = q->function->module->code.instance, .kernel = k, .shared_dynamic = q->shared,
    .stack_bytes = (uint32_t)shim_context(s)->limit[LIMIT_STACK_SIZE], .params = q->packed,
    .param_bytes = k->param_bytes, .runtime = grid ? &grid->calls : NULL, .graph = graph_current(s),
  };
  memcpy(desc.grid, q->grid, sizeof desc.grid);
  memcpy(desc.block, q->block, sizeof desc.block);
  memcpy(desc.cluster, q->cluster, sizeof desc.cluster);
  return desc;
}

static bool build(struct shim *s, const struct launch_desc *desc, struct launch *l)
{
  struct err e = {""};
  if (launch_init(l, &s->device, desc, &e)) return true;
  *l = (struct launch){0};
  shim_say("%s", e.msg);
  return false;
}

bool kernel_build(struct shim *s, const struct launch_request *q, struct launch *l)
{
  module_refresh_constants(q->function->module->code.instance);
  struct launch_desc desc = description(s, q, NULL);
  return build(s, &desc, l);
}

CUresult kernel_run(struct shim *s, const struct launch_request *q, struct device_grid *grid, uint64_t parent)
{
  struct launch l;
  shim_flush_print(s);
  if (s->fault != CUDA_SUCCESS) return CUDA_SUCCESS; /* nothing runs behind a fault */
  module_refresh_constants(q->function->module->code.instance);
  struct launch_desc desc = description(s, q, grid);
  memory_sync_registered(s, true);
  struct snapshot *saved = save_before(s, q->function->module, &desc);
  if (!build(s, &desc, &l)) {
    snapshot_free(saved);
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  CUresult r = run(s, q, &l, kernel_start(s, q), saved, grid, parent);
  launch_free(&l);
  return r;
}

/* With all that it queues, and what that queues: only then is it done. */
static CUresult run_with_work(struct shim *s, const struct launch_request *q)
{
  struct device_work work = { .shim = s };
  struct device_grid grid = { .users = 1 };
  for (int i = 0; i < LIMIT__N; i++) context_limit(s, &work.limit[i], i);
  device_grid_begin(&grid, &work, q->function->module);
  CUresult r = kernel_run(s, q, &grid, 0);
  device_grid_end(&grid, s->record.n, q->stream->clock.done);
  device_work_run(&work);
  if (grid.done > q->stream->clock.done)
    timeline_finish(&s->time, &q->stream->clock, TIMELINE_NONE, grid.done);
  device_grid_free(&grid);
  return r;
}

CUresult kernel_execute(struct shim *s, const struct launch_request *q)
{
  bool launches = module_uses_device_runtime(q->function->module->code.module);
  return launches ? run_with_work(s, q) : kernel_run(s, q, NULL, 0);
}

CUresult kernel_launch(struct shim *s, const struct launch_request *q)
{
  uint8_t *packed;
  CUresult r = kernel_prepare(s, q, &packed);
  if (r != CUDA_SUCCESS) return r;
  struct graph_op op = { .type = NODE_KERNEL, .kernel = { .q = *q, .handle = q->named ? q->named : q->function } };
  op.kernel.q.params = NULL;
  op.kernel.q.packed = packed;
  if (!capture_takes(s, q->stream, &op, &r)) {
    timeline_launch_call(&s->time);
    if (!together_takes(s, &op.kernel.q)) r = kernel_execute(s, &op.kernel.q);
  }
  free(packed);
  return r;
}

/* Attributes ----------------------------------------------------------------------------------- */

bool kernel_attribute(struct shim *s, const struct cu_function *f, int attribute, int *value)
{
  const struct module_kernel *k = f->kernel;
  unsigned sm = module_sm(f->module->code.module);
  uint64_t bound = volume(k->max_threads);
  uint32_t bank_bytes, unit = s->preset.params.sm_register_granule / WARP_LANES;
  /* Threads whose registers fit a CTA, in whole warps. */
  uint64_t regs = k->regs ? (k->regs + unit - 1) / unit * unit : 1;
  uint64_t threads = s->preset.params.sm_registers / regs / WARP_LANES * WARP_LANES;
  if (threads > s->preset.params.sm_max_threads_per_cta)
    threads = s->preset.params.sm_max_threads_per_cta;
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
  case FUNC_CACHE_MODE_CA:
  case FUNC_NON_PORTABLE_CLUSTER: *value = f->non_portable_cluster; break;
  case FUNC_CLUSTER_POLICY: *value = 0; break;
  default: return false;
  }
  return true;
}

void kernel_attributes(struct shim *s, const struct cu_function *f, cudaFuncAttributes *a)
{
  int v[FUNC__N];
  for (int i = 0; i < FUNC__N; i++) kernel_attribute(s, f, i, &v[i]);
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

CUresult kernel_set_attribute(struct shim *s, struct cu_function *f, int attribute, int value)
{
  switch (attribute) {
  case FUNC_MAX_DYNAMIC_SHARED:
    if (value < 0 || f->kernel->shared_static + (uint32_t)value >
                         s->preset.params.sm_shared_per_cta_max)
      return CUDA_ERROR_INVALID_VALUE;
    f->max_dynamic_shared = (uint32_t)value;
    return CUDA_SUCCESS;
  case FUNC_CARVEOUT: /* the carve-out follows from the kernel (time/gpu/occupancy.h) */
    if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
    f->carveout = value;
    return CUDA_SUCCESS;
  case FUNC_NON_PORTABLE_CLUSTER:
    if (value < 0 || value > 1) return CUDA_ERROR_INVALID_VALUE;
    f->non_portable_cluster = value;
    return CUDA_SUCCESS;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
}
