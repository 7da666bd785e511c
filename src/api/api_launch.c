/* Launches: checked arguments, one run, a result that stands alone. */
#include <string.h>

#include "api/api_internal.h"
#include "base/arith.h"

/* What a run needs to call back. */
struct caller {
  ws_progress_fn *fn;
  void *context;
};

static bool poll(void *ctx, const struct run_progress *p)
{
  const struct caller *c = ctx;
  struct ws_progress out = {sizeof out, p->cycles, p->insts, p->ctas_done, p->ctas_total};

  return c->fn(c->context, &out) == 0;
}

/* The parameter block; sizes and places from the compiler's records. */
static bool pack(const struct module_kernel *k, void *const *arguments, uint8_t *block,
                 struct err *e)
{
  for (unsigned i = 0; i < k->n_params; i++) {
    if (!arguments || !arguments[i])
      return err_set(e, "argument %u of kernel '%.200s' is missing", i + 1, k->name);
    memcpy(block + k->param[i].offset, arguments[i], k->param[i].bytes);
  }
  return true;
}

static enum sim_hazards hazards(unsigned flags)
{
  const bool check = flags & WS_CHECK_HAZARDS, emulate = flags & WS_EMULATE_HAZARDS;
  if (check && emulate) return SIM_HAZARDS_BOTH;
  return check ? SIM_HAZARDS_CHECK : emulate ? SIM_HAZARDS_EMULATE : SIM_HAZARDS_OFF;
}

static bool run(const ws_kernel *k, const struct ws_launch *l, struct launch *launch,
                struct sim_result *result, struct err *e)
{
  ws_device *d = k->module->device;
  struct caller caller = {l->progress, l->progress_context};
  struct sim_options o = {
    .timed = l->mode == WS_TIMED, .threads = l->threads ? l->threads : 1,
    .hazards = hazards(l->flags), .max_cycles = l->max_cycles,
    .max_insts = l->max_instructions, .poll = l->progress ? poll : NULL, .ctx = &caller,
    .start_ps = d->clock_ps,
  };

  if (l->flags & WS_COOPERATIVE)
    TRY(simulate_fits_at_once(&d->preset.params, launch, e));
  bool ok = simulate(d->simulator, launch, &o, result, e);
  if (d->memory_fn && ok) d->clock_ps = later(result->start_ps + result->time_ps, simulator_now(d->simulator));
  if (d->print) fflush(d->print);
  return ok;
}

int ws_launch_check(const ws_kernel *k, const struct ws_launch *given, struct ws_launch *l, ws_error *error)
{
  const unsigned known = WS_COOPERATIVE | WS_CHECK_HAZARDS | WS_JSON | WS_EMULATE_HAZARDS | WS_PROFILE;
  const unsigned hazards = WS_CHECK_HAZARDS | WS_EMULATE_HAZARDS;

  if (!k || !given) return ws_fail(error, WS_BAD_ARGUMENT, "kernel or launch is NULL");
  if (!ws_struct_in(l, sizeof *l, given))
    return ws_fail(error, WS_BAD_ARGUMENT, "ws_launch has a size this library does not know");
  if (l->mode != WS_TIMED && l->mode != WS_FUNCTIONAL)
    return ws_fail(error, WS_BAD_ARGUMENT, "mode %d is neither timed nor functional", l->mode);
  if (l->flags & ~known)
    return ws_fail(error, WS_BAD_ARGUMENT, "flags 0x%x are unknown", l->flags & ~known);
  if (l->threads > WATCH_MAX_THREADS)
    return ws_fail(error, WS_BAD_ARGUMENT, "threads is %u; choose 1 to %d", l->threads, WATCH_MAX_THREADS);
  if (l->mode == WS_FUNCTIONAL && (l->max_cycles || l->flags & hazards))
    return ws_fail(error, WS_BAD_ARGUMENT, "a functional launch has no cycles and no hazards");
  return WS_OK;
}

struct launch_call {
  const ws_kernel *kernel;
  const struct ws_launch *l;
  ws_result *result; /* NULL: no memory for it */
};

bool ws_launch_init(ws_device *d, const ws_kernel *kernel, const struct ws_launch *l, uint8_t *block,
                    struct launch *launch, struct err *e)
{
  const struct module_kernel *k = kernel->kernel;
  struct launch_desc desc = {
    .code = kernel->part->instance, .kernel = k, .shared_dynamic = l->shared_bytes,
    .stack_bytes = l->stack_bytes, .params = block, .param_bytes = k->param_bytes,
  };

  memcpy(desc.grid, l->grid, sizeof desc.grid);
  memcpy(desc.block, l->block, sizeof desc.block);
  memcpy(desc.cluster, l->cluster, sizeof desc.cluster);
  device_shape(&d->device, &d->preset.params, l->mode == WS_TIMED);
  return pack(k, l->arguments, block, e) && launch_init(launch, &d->device, &desc, e);
}

static bool launch_with(ws_device *d, struct launch_call *c, uint8_t *block, struct err *e)
{
  const struct ws_launch *l = c->l;
  struct launch launch;
  struct sim_result result;

  TRY(ws_launch_init(d, c->kernel, l, block, &launch, e));
  bool ok = run(c->kernel, l, &launch, &result, e);
  if (ok) c->result = ws_result_new(c->kernel, &launch, &result, l);
  launch_free(&launch);
  return ok;
}

static int launch(ws_device *d, void *call, ws_error *error)
{
  struct launch_call *c = call;
  struct err e = {0};
  struct arena arena = {0};
  bool ok = launch_with(d, c, arena_alloc(&arena, c->kernel->kernel->param_bytes + 1u, 16), &e);

  arena_free(&arena);
  if (!ok) return ws_fail_err(error, WS_BAD_LAUNCH, &e);
  return c->result ? WS_OK : ws_fail_memory(error);
}

int ws_launch(const ws_kernel *k, const struct ws_launch *given, ws_result **out, ws_error *error)
{
  struct ws_launch l;
  int status = ws_launch_check(k, given, &l, error);

  if (status) return status;
  if (!out) return ws_fail(error, WS_BAD_ARGUMENT, "output is NULL");
  struct launch_call c = {.kernel = k, .l = &l};
  status = ws_device_change(k->module->device, launch, &c, error);
  if (!status) *out = c.result;
  return status;
}
