/* Launches that go on as far as their caller says, and answers of a memory outside. */
#include <string.h>

#include "api/api_internal.h"
#include "base/arith.h"
#include "base/host_memory.h"
#include "host/live_gpu.h"

struct ws_run {
  ws_device *device;
  const ws_kernel *kernel;
  struct ws_launch l;
  struct launch launch;
  uint8_t *block; /* its parameters */
  bool ended;
  ws_result *result; /* then; NULL: taken, or there was no memory for it */
};

/* ---- begin -------------------------------------------------------------------------------------- */

static bool poll(void *ctx, const struct run_progress *p)
{
  const struct ws_run *r = ctx;
  struct ws_progress out = {sizeof out, p->cycles, p->insts, p->ctas_done, p->ctas_total};

  return r->l.progress(r->l.progress_context, &out) == 0;
}

static int check(const struct ws_launch *l, ws_error *error)
{
  if (l->mode != WS_TIMED) return ws_fail(error, WS_BAD_ARGUMENT, "a run in steps is timed");
  if (l->max_cycles || l->max_instructions)
    return ws_fail(error, WS_BAD_ARGUMENT, "a run in steps has no limits: end it when it is far enough");
  if (l->flags & (WS_CHECK_HAZARDS | WS_EMULATE_HAZARDS | WS_COOPERATIVE))
    return ws_fail(error, WS_BAD_ARGUMENT, "a run in steps is neither cooperative nor looks at hazards");
  return WS_OK;
}

struct begin_call {
  const ws_kernel *kernel;
  const struct ws_launch *l;
  uint64_t start_ps;
};

static bool begin_at(ws_device *d, struct ws_run *r, uint64_t start_ps, struct err *e)
{
  const struct sim_options o = {.timed = true, .threads = r->l.threads ? r->l.threads : 1,
                                .poll = r->l.progress ? poll : NULL, .ctx = r};
  const struct live_launch l = {.launch = &r->launch, .start_ps = start_ps, .who = r};

  TRY(ws_launch_init(d, r->kernel, &r->l, r->block, &r->launch, e));
  if (live_open(d->simulator, &l, &o, e)) return true;
  launch_free(&r->launch);
  return false;
}

static int begin(ws_device *d, void *call, ws_error *error)
{
  const struct begin_call *c = call;
  const uint32_t clock = (uint32_t)params_clock_ps(&d->preset.params);
  const uint64_t start = later(later(c->start_ps, d->clock_ps), simulator_now(d->simulator));
  struct err e = {0};
  struct ws_run *r = mem_zeroed(1, sizeof *r);

  *r = (struct ws_run){.device = d, .kernel = c->kernel, .l = *c->l};
  r->block = mem_zeroed(c->kernel->kernel->param_bytes + 1u, 1);
  if (begin_at(d, r, round_up(start, clock), &e)) {
    d->run = r;
    return WS_OK;
  }
  mem_free(r->block);
  mem_free(r);
  return ws_fail_err(error, WS_BAD_LAUNCH, &e);
}

int ws_run_begin(const ws_kernel *k, const struct ws_launch *given, uint64_t start_ps, ws_run **out, ws_error *error)
{
  struct ws_launch l;
  int status = ws_launch_check(k, given, &l, error);

  if (!status) status = check(&l, error);
  if (status) return status;
  if (!out) return ws_fail(error, WS_BAD_ARGUMENT, "output is NULL");
  if (start_ps > SIM_LAST_START_PS)
    return ws_fail(error, WS_BAD_ARGUMENT, "start_ps is %llu; the device's clock goes to %llu",
                   (unsigned long long)start_ps, (unsigned long long)SIM_LAST_START_PS);
  struct begin_call c = {k, &l, start_ps};
  ws_device *d = k->module->device;
  status = ws_device_change(d, begin, &c, error);
  if (!status) *out = d->run;
  return status;
}

/* ---- go on -------------------------------------------------------------------------------------- */

static void take(struct ws_run *r)
{
  ws_device *d = r->device;
  struct live_end end;

  while (live_take(d->simulator, &end)) {
    d->clock_ps = later(d->clock_ps, later(end.end_ps, simulator_now(d->simulator)));
    r->result = ws_result_new(r->kernel, &r->launch, &end.result, &r->l);
    r->ended = true;
  }
  if (r->ended && d->print) fflush(d->print);
}

static int go_on(ws_device *d, void *call, ws_error *error)
{
  const uint64_t *until = call;
  struct ws_run *r = d->run;

  (void)error;
  while (!r->ended && live_run(d->simulator, *until) == LIVE_ENDED) take(r);
  return WS_OK;
}

int ws_run_until(ws_run *r, uint64_t time_ps, int *ended, ws_error *error)
{
  if (!r) return ws_fail(error, WS_BAD_ARGUMENT, "run is NULL");
  int status = ws_run_change(r->device, go_on, &time_ps, error);
  if (!status && ended) *ended = r->ended;
  return status;
}

uint64_t ws_run_now(const ws_run *r)
{
  return r ? later(live_now(r->device->simulator), r->device->clock_ps) : 0;
}

uint64_t ws_run_window(const ws_run *r)
{
  return r ? params_request_ps(&r->device->preset.params) : 0;
}

/* ---- end ---------------------------------------------------------------------------------------- */

static int end(ws_device *d, void *call, ws_error *error)
{
  ws_result **result = call;
  struct ws_run *r = d->run;

  (void)error;
  if (!r->ended) live_cut(d->simulator), take(r);
  *result = r->result;
  r->result = NULL;
  launch_free(&r->launch);
  mem_free(r->block);
  mem_free(r);
  d->run = NULL;
  return WS_OK;
}

int ws_run_end(ws_run *r, ws_result **out, ws_error *error)
{
  ws_result *result = NULL;

  if (!r) return ws_fail(error, WS_BAD_ARGUMENT, "run is NULL");
  int status = ws_run_change(r->device, end, &result, error);
  if (!status && out && !result) status = ws_fail_memory(error);
  if (!status && out) *out = result;
  else ws_result_destroy(result);
  return status;
}

void ws_run_drop(ws_run *r)
{
  ws_result_destroy(r->result);
}

int ws_memory_answer(ws_device *d, uint64_t id, uint64_t time_ps, ws_error *error)
{
  if (!d || d->lost) return d ? ws_fail_memory(error) : ws_fail(error, WS_BAD_ARGUMENT, "device is NULL");
  if (simulator_answer(d->simulator, id, time_ps)) return WS_OK;
  return ws_fail(error, WS_NOT_FOUND, "no read 0x%llx waits for an answer", (unsigned long long)id);
}
