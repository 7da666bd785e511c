#include "host/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "config/params.h"
#include "host/abi.h"
#include "load/target.h"

enum {
  WARP_LANES = 32,
  MAX_LOCAL = 512 << 10, /* bytes per thread: CUDA programming guide, technical specifications */
  DEFAULT_STACK = 1024, /* bytes per thread: cudaLimitStackSize, CUDA programming guide */
  STACK_ALIGN = 16,
  PARAMS_ALIGN = 128,   /* of tensor maps among them */
  BANK_ALIGN = 16,      /* widest constant load */
};

/* CUDA programming guide, technical specifications: the same for all targets. */
static const uint32_t max_block[3] = { 1024, 1024, 64 };
static const uint32_t max_grid[3] = { 0x7fffffff, 65535, 65535 };
static const char axis[3] = { 'x', 'y', 'z' };

static bool check_dims(const struct launch_desc *l, struct err *e)
{
  for (unsigned i = 0; i < 3; i++) {
    if (l->grid[i] == 0 || l->grid[i] > max_grid[i])
      return err_set(e, "grid dimension %c is %u; choose 1 to %u", axis[i], l->grid[i],
                     max_grid[i]);
    if (l->block[i] == 0 || l->block[i] > max_block[i])
      return err_set(e, "block dimension %c is %u; choose 1 to %u", axis[i], l->block[i],
                     max_block[i]);
  }
  return true;
}

static uint64_t volume(const uint32_t d[3])
{
  return (uint64_t)d[0] * d[1] * d[2];
}

static bool check_threads(const struct device *d, const struct launch_desc *l, struct err *e)
{
  const struct module_kernel *k = l->kernel;
  uint64_t threads = volume(l->block), bound = volume(k->max_threads);
  if (threads > 1024 || (d->config.limits.threads_per_cta &&
                         threads > d->config.limits.threads_per_cta))
    return err_set(e, "block of %llu threads; the GPU allows %u", (unsigned long long)threads,
                   d->config.limits.threads_per_cta ? d->config.limits.threads_per_cta : 1024u);
  if (bound && threads > bound)
    return err_set(e, "block of %llu threads; kernel '%.200s' was compiled for at most %llu "
                   "(__launch_bounds__)", (unsigned long long)threads, k->name,
                   (unsigned long long)bound);
  if (volume(k->req_threads) && memcmp(k->req_threads, l->block, sizeof l->block) != 0)
    return err_set(e, "block is %u x %u x %u; kernel '%.200s' requires %u x %u x %u", l->block[0],
                   l->block[1], l->block[2], k->name, k->req_threads[0], k->req_threads[1],
                   k->req_threads[2]);
  return true;
}

static bool check_resources(const struct device *d, const struct launch_desc *l, struct err *e)
{
  const struct module_kernel *k = l->kernel;
  const struct device_limits *lim = &d->config.limits;
  uint64_t shared = (uint64_t)k->shared_static + l->shared_dynamic;
  if (shared > UINT32_MAX / 2 || (lim->shared_per_cta && shared > lim->shared_per_cta))
    return err_set(e, "kernel '%.200s' with %u bytes of dynamic shared memory needs %llu bytes per "
                   "CTA; the GPU has %u; use less", k->name, l->shared_dynamic,
                   (unsigned long long)shared, lim->shared_per_cta);
  uint32_t stack = k->stack_bytes > k->frame_bytes ? k->stack_bytes : k->frame_bytes;
  if (l->stack_bytes > stack) stack = l->stack_bytes;
  if (stack > MAX_LOCAL)
    return err_set(e, "%u bytes of stack per thread for kernel '%.200s'; the limit is %d; use "
                   "smaller local arrays", stack, k->name, MAX_LOCAL);
  uint64_t lanes = round_up(volume(l->block), WARP_LANES);
  if (lim->regs_per_cta && lanes * k->regs > lim->regs_per_cta)
    return err_set(e, "kernel '%.200s' needs %u registers for each of %llu threads, the GPU has %u "
                   "in all; use smaller blocks", k->name, k->regs, (unsigned long long)lanes,
                   lim->regs_per_cta);
  return true;
}

unsigned launch_sms(const struct launch *l, const struct params *p)
{
  const struct core_set *some = l && l->func ? func_source(l->func)->cores : NULL;
  return some ? core_set_count(some) : p->gpu_sms;
}

static bool check_abi(const struct launch_desc *l, struct err *e)
{
  const struct module *m = module_of(l->code);
  const struct module_kernel *k = l->kernel;
  if (k->tmem_old)
    return err_set(e, "%s: kernel '%.200s' allocates tensor memory as CUDA 12 did (TMEM_CTA1_V1); compile it "
                   "with CUDA 13", module_name(m), k->name);
  if (k->reads_tables)
    return err_set(e, "%s: kernel '%.200s' asks for a format, a number of layers or levels, or a sampler's state (txq, "
                   "suq); drivers do not offer these, pass them as arguments", module_name(m), k->name);
  if (k->param_bytes && !abi_is_param_base(module_sm(m), k->param_base))
    return err_set(e, "%s: kernel '%.200s' expects parameters at 0x%x, known is 0x%x; this cubin "
                   "needs "
                   "another version of warpstep", module_name(m), k->name, k->param_base,
                   abi_param_base(module_sm(m)));
  if (l->param_bytes != k->param_bytes)
    return err_set(e, "%u bytes of arguments; kernel '%.200s' takes %u", l->param_bytes, k->name,
                   k->param_bytes);
  return true;
}

void launch_cluster(const struct module_kernel *k, const uint32_t asked[3], uint32_t cluster[3])
{
  memcpy(cluster, volume(asked) ? asked : k->cluster, 3 * sizeof *cluster);
}

/* The rest is func/'s to say. */
static bool check_cluster(const struct launch_desc *l, struct err *e)
{
  const struct module_kernel *k = l->kernel;
  if (k->explicit_cluster && !volume(k->cluster) && !volume(l->cluster))
    return err_set(e, "kernel '%.200s' must be launched with a cluster size; state one", k->name);
  if (volume(k->cluster) && volume(l->cluster) && memcmp(k->cluster, l->cluster, sizeof l->cluster) != 0)
    return err_set(e, "cluster is %u x %u x %u; kernel '%.200s' requires %u x %u x %u", l->cluster[0], l->cluster[1],
                   l->cluster[2], k->name, k->cluster[0], k->cluster[1], k->cluster[2]);
  return true;
}

bool launch_check(const struct device *d, const struct launch_desc *l, struct err *e)
{
  TRY(check_dims(l, e));
  TRY(check_threads(d, l, e));
  TRY(check_resources(d, l, e));
  TRY(check_cluster(l, e));
  return check_abi(l, e);
}

/* The compiler knows the depth of the stack only without recursion and function pointers, so a
 * kernel that has any stack gets at least what the CUDA runtime gives it. */
static uint32_t local_bytes(const struct launch_desc *l)
{
  const struct module_kernel *k = l->kernel;
  uint32_t least = l->stack_bytes ? l->stack_bytes : DEFAULT_STACK;
  uint32_t need = k->stack_bytes > k->frame_bytes ? k->stack_bytes : k->frame_bytes;
  if (need == 0 && !module_moves_stack(l->code, k)) return 0;
  if (need < least) need = least;
  return (uint32_t)align_up(need, STACK_ALIGN);
}

/* Where the parameter block of a checked launch lies in bank 0. */
static uint32_t param_base(const struct launch_desc *l)
{
  return l->param_bytes ? l->kernel->param_base : abi_param_base(module_sm(module_of(l->code)));
}

/* All system's bytes count, whether or not they are there (reserve_shared). */
static void shared_values(const struct func_params *p, unsigned sm, struct abi_values *v)
{
  const struct target *t = target_find(sm);
  uint64_t own = (uint64_t)p->shared_static + p->shared_dynamic;
  own = align_up(own, FUNC_SHARED_GRANULE);
  v->shared_reserved = t->shared_reserved + t->shared_behind;
  v->reserved_begin = t->shared_behind ? (uint32_t)own : 0;
  v->shared_total = (uint32_t)own + v->shared_reserved;
}

static void build_bank0(struct launch *l, struct device *d, const struct launch_desc *desc)
{
  unsigned sm = module_sm(module_of(desc->code));
  uint32_t base = param_base(desc), bytes = base + desc->param_bytes;
  bytes = (uint32_t)align_up(bytes, BANK_ALIGN);
  struct abi_values v = {
      .shared_window = ABI_SHARED_WINDOW,
      .local_window = ABI_LOCAL_WINDOW,
      .stack_top = (uint32_t)l->params.local_bytes,
      .shared_dynamic = desc->shared_dynamic,
      .grid_id = d->next_grid_id++,
      .graph = desc->graph,
      .constants = module_constants(desc->code),
      .n_smids = d->config.n_smids,
      .cluster = {1, 1, 1},
      .cluster_given = volume(l->params.cluster) != 0,
      .grid_barrier = l->grid_barrier,
      .params_address = l->params_copy ? l->params_copy + base % PARAMS_ALIGN : 0,
      .param_base = base,
      .param_bytes = desc->param_bytes,
  };
  shared_values(&l->params, sm, &v);
  memcpy(v.block, desc->block, sizeof v.block);
  memcpy(v.grid, desc->grid, sizeof v.grid);
  if (v.cluster_given) memcpy(v.cluster, l->params.cluster, sizeof v.cluster);
  l->bank0 = mem_zeroed_aligned(BANK_ALIGN, bytes);
  abi_fill(sm, &v, l->bank0);
  if (desc->param_bytes) memcpy(l->bank0 + base, desc->params, desc->param_bytes);
  l->params.bank[0] = l->bank0;
  l->params.bank_bytes[0] = bytes;
}

/* CTAs of this launch that a worker can hold at once: state is reserved for each. */
static unsigned resident_ctas(const struct device *d, const struct launch_desc *desc)
{
  uint64_t threads = (uint64_t)desc->block[0] * desc->block[1] * desc->block[2];
  uint64_t warps = (threads + 31) / 32, most = d->config.slots_per_worker;
  if (!d->config.warps_per_worker || warps == 0) return (unsigned)most;
  uint64_t fit = d->config.warps_per_worker / warps;
  if (fit < most) most = fit;
  return most ? (unsigned)most : 1;
}

/* An offset of 0: there is no such value. */
static bool names(const void *instance, uint32_t at)
{
  return at && (module_names_bank0(instance, false, at) || module_names_bank0(instance, true, at));
}

/* Shared memory of the system lies in front of the kernel's where this has any; there, and behind the kernel's, it is
 * there when code looks for it. Else an access beyond the kernel's own is a fault. */
static void reserve_shared(struct func_params *p, const struct launch_desc *desc)
{
  const struct target *t = target_find(p->sm);
  bool there = abi_names_reserved(p->sm, names, desc->code);
  p->shared_unused = t->shared_reserved + t->shared_behind - p->shared_reserved;
  if (!there) return;
  p->shared_reserved = t->shared_reserved;
  p->shared_behind = t->shared_behind;
  p->shared_unused = 0;
}

static void fill_params(struct launch *l, struct device *d, const struct launch_desc *desc)
{
  const struct module_kernel *k = desc->kernel;
  struct func_params *p = &l->params;
  *p = (struct func_params){
    .sm = module_sm(module_of(desc->code)),
    .entry_pc = k->entry_pc, .code_bytes = k->code_bytes, .regs_per_thread = k->regs,
    .most_regs = module_most_registers(desc->code, k),
    .shared_reserved = k->shared_reserved, .shared_static = k->shared_static,
    .shared_dynamic = desc->shared_dynamic,
    .local_bytes = local_bytes(desc), .shared_window = ABI_SHARED_WINDOW,
    .local_window = ABI_LOCAL_WINDOW, .image = d->mem, .n_workers = d->config.n_workers,
    .slots_per_worker = resident_ctas(d, desc), .print = d->config.print,
    .n_warpids = d->config.n_warpids, .on_demand = d->config.untimed,
    .kernel_name = k->name, .runtime = desc->runtime,
    .grid_syncs = l->grid_barrier != 0, .tmem_pairs = k->tmem_pairs, .textures = &d->textures.table, .heap = d->heap,
    .rooms = &d->rooms,
  };
  p->code = module_launch_code(desc->code, k, !d->config.untimed, &p->reach);
  memcpy(p->grid, desc->grid, sizeof p->grid);
  memcpy(p->block, desc->block, sizeof p->block);
  launch_cluster(k, desc->cluster, p->cluster);
  reserve_shared(p, desc);
  for (unsigned b = 1; b < MODULE_BANKS; b++)
    p->bank[b] = module_bank(desc->code, k, b, &p->bank_bytes[b]);
  build_bank0(l, d, desc);
}

/* An offset of 0: there is no such value. */
static bool operand_names(const struct module_instance *m, uint32_t at)
{
  return at && module_names_bank0(m, false, at);
}

/* Some code of the module looks for the workspace of grid.sync(). Code that is not optimised may load both words by
 * offsets in registers (CUDA 9.1); one of them alone is more likely a number of the program's. */
static bool syncs_grid(const struct module_instance *m)
{
  const unsigned sm = module_sm(module_of(m));
  const uint32_t low = abi_grid_barrier(sm), high = abi_grid_barrier_high(sm);
  return module_syncs_grid(module_of(m)) || operand_names(m, low) || (names(m, low) && names(m, high));
}

/* CTAs that can run at the same time. Without time a worker gets as many slots as the grid needs. */
static uint64_t grid_room(const struct device *d, const struct launch_desc *desc)
{
  enum { MAX_SLOTS = 4096 };
  const bool some = desc->cores && d->config.n_workers > 1;
  uint64_t room = (uint64_t)(some ? core_set_count(desc->cores) : d->config.n_workers) * resident_ctas(d, desc);
  bool timed = d->config.warps_per_worker || d->config.n_workers > 1;
  return timed || room > MAX_SLOTS ? room : MAX_SLOTS;
}

/* A grid whose CTAs are all resident at once counts as a cooperative launch: its kernel may call
 * grid.sync(), which spins on a word of this workspace. 0 for larger grids, where the kernel then
 * traps as it does on hardware. */
static uint64_t grid_barrier(struct device *d, const struct launch_desc *desc)
{
  enum { WORKSPACE_BYTES = 64 };
  if (desc->not_cooperative || !syncs_grid(desc->code) || volume(desc->grid) > grid_room(d, desc)) return 0;
  return gmem_alloc(d->mem, WORKSPACE_BYTES, "grid barrier");
}

/* Kernels that take the address of a __grid_constant__ parameter look here for the parameters. */
static uint64_t params_copy(struct device *d, const struct launch_desc *desc)
{
  uint32_t at = abi_params_address(module_sm(module_of(desc->code)));
  if (!at || !desc->param_bytes) return 0;
  if (!names(desc->code, at)) return 0;
  uint32_t skew = param_base(desc) % PARAMS_ALIGN;
  uint64_t addr = gmem_alloc(d->mem, desc->param_bytes + skew, "parameters");
  if (addr) gmem_write(d->mem, addr + skew, desc->params, desc->param_bytes);
  return addr;
}

static void release(struct gmem *mem, const struct launch *l)
{
  if (l->grid_barrier) gmem_release(mem, l->grid_barrier);
  if (l->params_copy) gmem_release(mem, l->params_copy);
}

bool launch_init(struct launch *l, struct device *d, const struct launch_desc *desc, struct err *e)
{
  TRY(launch_check(d, desc, e));
  *l = (struct launch){ .grid_barrier = grid_barrier(d, desc), .params_copy = params_copy(d, desc) };
  fill_params(l, d, desc);
  uint64_t ctas = volume(desc->grid);
  uint64_t together = l->grid_barrier ? ctas : volume(l->params.cluster);
  if (d->config.n_workers == 1 && together <= ctas && together > l->params.slots_per_worker)
    l->params.slots_per_worker = (unsigned)together;
  l->func = func_launch_new(&l->params, e);
  if (l->func) {
    func_source(l->func)->window = desc->window;
    func_source(l->func)->shared_share = desc->shared_share;
    func_source(l->func)->cores = desc->cores;
    return true;
  }
  release(d->mem, l);
  mem_free(l->bank0);
  return false;
}

void launch_free(struct launch *l)
{
  func_launch_free(l->func);
  release(l->params.image, l);
  mem_free(l->bank0);
}
