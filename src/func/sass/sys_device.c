/* The device runtime's functions: arguments out of registers and stack (device_call.h).
 * Arguments lie in R4 to R15, 64-bit ones in even pairs; from the first that does not fit, on the stack at R1
 * (compiler output, CUDA 13.0).
 */
#include "base/arith.h"
#include "base/bits.h"
#include "func/device_call.h"
#include "func/sass/func_launch.h"
#include "func/sass/guest.h"
#include "func/sass/guest_fault.h"
#include "func/sass/lanes.h"
#include "func/sass/sys.h"
#include "isa/sass/syscall.h"

enum { REG_STACK = 1, REG_FIRST = 4, REG_END = 16 };

struct row {
  const char *name, *arguments;
};

static const struct row rows[] = {
#define DEVICE_RUNTIME(number, name, arguments) { name, arguments },
#include "isa/sass/device_runtime.def"
};

/* Where the next argument is. */
struct argument_place {
  struct guest *g;
  unsigned reg;
  uint64_t stack; /* offset from R1, once registers are used up */
};

static bool next(struct argument_place *p, unsigned words, uint64_t *value)
{
  uint32_t w[2] = { 0, 0 };
  unsigned reg = (unsigned)round_up(p->reg, words);
  if (reg + words <= REG_END) {
    for (unsigned i = 0; i < words; i++) w[i] = warp_reg(p->g->w, reg + i)[p->g->lane];
    p->reg = reg + words;
  } else {
    p->reg = REG_END;
    p->stack = (unsigned)round_up(p->stack, 4 * words);
    if (!guest_read_local(p->g, warp_reg(p->g->w, REG_STACK)[p->g->lane] + p->stack, w, 4 * (size_t)words))
      return false;
    p->stack += 4 * (uint64_t)words;
  }
  *value = lane_join(w[0], w[1]);
  return true;
}

static bool read_arguments(struct guest *g, const char *arguments, uint64_t *arg)
{
  struct argument_place p = { g, REG_FIRST, 0 };
  for (; *arguments; arguments++)
    for (unsigned n = *arguments == 'd' ? 3 : 1; n; n--)
      if (!next(&p, *arguments == 'l' ? 2 : 1, arg++)) return false;
  return true;
}

bool device_call_write(const struct device_call *c, uint64_t addr, const void *buf, size_t bytes)
{
  if (c->thread) return c->thread->write(c->thread->ctx, addr, buf, bytes);
  return guest_write(c->guest, addr, buf, bytes);
}

uint64_t device_call_take(const struct device_call *c, uint64_t bytes)
{
  return c->thread ? c->thread->take(c->thread->ctx, bytes) : func_heap_take(c->heap, bytes);
}

bool device_call_give(const struct device_call *c, uint64_t addr)
{
  return c->thread ? c->thread->give(c->thread->ctx, addr) : func_heap_give(c->heap, addr);
}

uint64_t device_call_unanswered(unsigned number)
{
  enum { RPC_FAILURE = 806 }; /* cudaErrorMpsRpcFailure */
  return number == DEVICE_GET_PARAMETER_BUFFER || number == DEVICE_GET_PARAMETER_BUFFER_V2 ? 0 : RPC_FAILURE;
}

enum { SCOPE_GRID = 1 }; /* cudaCGScopeGrid: the handle, too */

/* Handles and places of threads in their grid, which are answered here. False: another function. */
static bool grid_call(struct func_warp *w, const struct device_call *c, unsigned lane, uint64_t *result)
{
  const struct step_source *s = &w->launch->source;
  uint32_t none = 0, size = (uint32_t)(s->n_ctas * s->threads_per_cta);
  uint32_t rank = (uint32_t)(c->cta * s->threads_per_cta + w->warp_id * LANES + lane);
  uint32_t value = c->number == DEVICE_GRID_SIZE ? size : rank;
  switch ((unsigned)c->number) {
  case DEVICE_GRID_HANDLE:
    *result = c->arg[0] == SCOPE_GRID && w->launch->p.grid_syncs ? SCOPE_GRID : 0;
    return true;
  case DEVICE_GRID_SIZE:
  case DEVICE_GRID_RANK: {
    bool ok = (!c->arg[0] || device_call_write(c, c->arg[0], &value, sizeof value)) &&
              (!c->arg[1] || device_call_write(c, c->arg[1], &none, sizeof none));
    *result = ok ? 0 : 1 /* cudaErrorInvalidValue */;
    return true;
  }
  default: return false;
  }
}

/* A thread that waits keeps its phase, and that it has arrived, where its handle was. */
bool sys_grid_sync(struct func_warp *w, uint32_t m, struct effect *e, struct fault *f, bool *done)
{
  struct func_launch *l = (struct func_launch *)w->cta->step.source;
  uint32_t *handle = warp_reg(w, REG_FIRST), *waits = warp_reg(w, REG_FIRST + 1);
  *done = true;
  if (m != w->mactive) /* the timing model would ask for the same threads again and again */
    return func_fault(w, e, f, FAULT_UNSUPPORTED, bits_first(m), 0, "cudaCGSynchronize: the threads of a warp arrive "
                      "apart from each other, which is not simulated; call __syncthreads() before");
  for (uint32_t r = m; r; r &= r - 1) {
    unsigned i = bits_first(r);
    if (waits[i]) continue;
    if (handle[i] != SCOPE_GRID || !l->p.grid_syncs)
      return func_fault(w, e, f, FAULT_TRAP, i, 0, "cudaCGSynchronize: not a handle of this grid, or its CTAs are "
                        "not all resident; launch it as a cooperative kernel");
    waits[i] = 1;
    handle[i] = l->sync.phase;
    if (++l->sync.arrived < l->source.n_ctas * l->source.threads_per_cta) continue;
    l->sync.arrived = 0;
    l->sync.phase++;
  }
  for (uint32_t r = m; r; r &= r - 1) *done &= handle[bits_first(r)] != l->sync.phase;
  for (uint32_t r = *done ? m : 0; r; r &= r - 1) handle[bits_first(r)] = waits[bits_first(r)] = 0;
  return true;
}

bool sys_device(struct func_warp *w, unsigned number, unsigned lane, struct effect *e, struct fault *f)
{
  const struct row *r = &rows[number - SYSCALL__COMMON];
  const struct func_params *p = &w->launch->p;
  struct guest g = { w, lane };
  if (r->arguments[0] == '?')
    return func_fault(w, e, f, FAULT_UNSUPPORTED, lane, 0, "cuda%s of the device runtime is not simulated",
                      r->name);
  w->rare_set = true;
  struct device_call c = { .number = number, .cta = w->cta->step.id, .heap = p->heap,
                           .last_error = &w->last_error[lane], .guest = &g };
  if (!read_arguments(&g, r->arguments, c.arg))
    return func_fault(w, e, f, FAULT_LOCAL_RANGE, lane, 0, "cuda%s: its arguments are not on the stack", r->name);
  uint64_t result;
  if (!grid_call(w, &c, lane, &result)) {
    if (!p->runtime)
      return func_fault(w, e, f, FAULT_UNSUPPORTED, lane, 0,
                        "cuda%s: kernels that launch kernels run in their program only; use 'warpstep exec'", r->name);
    result = p->runtime->call(p->runtime->ctx, &c);
  }
  warp_reg(w, REG_FIRST)[lane] = (uint32_t)result;
  if (number == DEVICE_GET_PARAMETER_BUFFER || number == DEVICE_GET_PARAMETER_BUFFER_V2 ||
      number == DEVICE_GRID_HANDLE)
    warp_reg(w, REG_FIRST + 1)[lane] = (uint32_t)(result >> 32);
  return true;
}
