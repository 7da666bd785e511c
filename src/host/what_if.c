#include "host/what_if.h"

#include <string.h>

#include "base/bug.h"
#include "base/nearest.h"
#include "time/gpu/occupancy.h"
#include "time/msg.h"
#include "time/sm/mem_class.h"
#include "time/sm/warp_state.h"

_Static_assert(WHAT_IF_N <= 64, "a bit for each");

/* --- is there such a cost? ---------------------------------------------------------------------- */

static uint64_t element(const struct sim_result *r, const char *row, unsigned n, unsigned i)
{
  return sim_counters(r, row, n)[i];
}

static uint64_t pipe(const struct sim_result *r, enum pipe p)
{
  return element(r, "pipe", PIPE__N, p);
}

/* Products and copies of tensor memory pass the pipe without being issued to it. */
static uint64_t tensor(const struct sim_result *r)
{
  return pipe(r, PIPE_TENSOR) + sim_counter(r, "tmem_pipe_cycles");
}

static uint64_t state(const struct sim_result *r, enum warp_state s)
{
  return element(r, "warp_state", WARP_STATE__N, s);
}

/* Of loads and stores: those of atomics are `atomics`. */
static uint64_t bank_conflicts(const struct sim_result *r)
{
  return sim_counter(r, "shared_conflicts") - element(r, "class_conflicts", MEM_CLASS__N, MEM_CLASS_SHARED_ATOM);
}

static uint64_t atomics(const struct sim_result *r)
{
  const uint64_t *n = sim_counters(r, "mem_class", MEM_CLASS__N);
  return n[MEM_CLASS_GLOBAL_ATOM] + n[MEM_CLASS_GLOBAL_RED] + n[MEM_CLASS_SHARED_ATOM];
}

static bool limited_by_size(const struct sim_result *r)
{
  return !strcmp(r->limiter, "registers") || !strcmp(r->limiter, "shared memory");
}

/* --- the rows ----------------------------------------------------------------------------------- */

static void widen_tensor(struct params *p)
{
  for (unsigned i = 0; i < MMA__N; i++) p->mma_interval[i] = 1;
  p->ideal_tensor = true;
}

#define WHAT_IF(name, text, seen, ...)                                                             \
  static bool seen_##name(const struct sim_result *r)                                              \
  {                                                                                                \
    (void)r;                                                                                       \
    return (seen) != 0;                                                                            \
  }                                                                                                \
  static void without_##name(struct params *p)                                                     \
  {                                                                                                \
    __VA_ARGS__;                                                                                   \
  }
#include "host/what_if.def"
#undef WHAT_IF

static bool always(const struct sim_result *r)
{
  (void)r;
  return true;
}

static void same_machine(struct params *p)
{
  (void)p;
}

const struct what_if what_ifs[WHAT_IF_N] = {
#define WHAT_IF(name, text, seen, ...) {#name, text, seen_##name, without_##name, false},
#include "host/what_if.def"
#undef WHAT_IF
  {"tail", "the last wave of CTAs as full as the others", always, same_machine, true},
};

/* --- choice ------------------------------------------------------------------------------------- */

static int find(const char *name, size_t length)
{
  for (unsigned i = 0; i < WHAT_IF_N; i++)
    if (strlen(what_ifs[i].name) == length && !memcmp(what_ifs[i].name, name, length)) return (int)i;
  return -1;
}

static bool unknown(const char *name, size_t length, struct err *e)
{
  char given[64], hint[NEAREST_HINT];
  struct nearest n;
  snprintf(given, sizeof given, "%.*s", (int)length, name);
  nearest_start(&n, given);
  for (unsigned i = 0; i < WHAT_IF_N; i++) nearest_offer(&n, what_ifs[i].name);
  return err_set(e, "--what-if: there is no cost '%s'%s", given, nearest_hint(&n, hint));
}

bool what_if_choose(const char *list, uint64_t *rows, struct err *e)
{
  *rows = 0;
  for (const char *at = list; *at;) {
    size_t n = strcspn(at, ",");
    int i = find(at, n);
    if (n == 3 && !memcmp(at, "all", 3))
      *rows |= UINT64_MAX >> (64 - WHAT_IF_N);
    else if (i < 0)
      return unknown(at, n, e);
    else
      *rows |= (uint64_t)1 << i;
    at += n + (at[n] == ',');
  }
  return *rows || err_set(e, "--what-if: no cost named; give all, or names of 'warpstep help run'");
}

/* --- runs --------------------------------------------------------------------------------------- */

/* CTAs of the waves in which all SMs are full; 0: there is none, or nothing behind them. */
static uint64_t whole_waves(const struct params *p, struct launch *l)
{
  struct step_source *s = func_source(l->func);
  struct occupancy o;
  if (l->grid_barrier || step_cluster_ctas(s) > 1 || !occupancy_of(p, s, &o, NULL)) return 0;
  uint64_t wave = (uint64_t)o.most * launch_sms(l, p);
  return s->n_ctas % wave ? s->n_ctas / wave * wave : 0;
}

bool what_if_idle(const struct what_if *w, const struct params *p, struct launch *l, const struct sim_result *base)
{
  return !w->seen(base) || (w->whole_waves && !whole_waves(p, l));
}

/* A kernel whose work depends on its timing (locks, queues), or on what the cost protects, may do other work without
 * it. */
static bool same_work(const struct sim_result *a, uint64_t before)
{
  uint64_t now = 0;
  for (unsigned i = 0; i < a->isa->n_mnemonics(); i++) now += a->mix[i];
  uint64_t apart = now > before ? now - before : before - now;
  return apart <= before / 100;
}

static const char *why_not(const struct sim_result *r)
{
  switch (r->end) {
  case RUN_DONE: return "its warps execute other instructions then";
  case RUN_FAULT: return "it faults then";
  case RUN_CYCLE_LIMIT: return "it does not end then";
  default: return "stopped";
  }
}

bool what_if_run(const struct what_if *w, struct simulator *s, const struct params *p, struct launch *l,
                 const struct sim_options *o, const struct sim_result *base, struct what_if_result *out, struct err *e)
{
  enum { PATIENCE = 4 };
  struct sim_options options = *o;
  struct sim_result r;
  *out = (struct what_if_result){.what = w, .seen = true};
  uint64_t all = func_source(l->func)->n_ctas;
  if (w->whole_waves) options.first_ctas = whole_waves(p, l);
  options.max_cycles = PATIENCE * base->cycles + p->launch_latency_cycles;
  TRY(simulate(s, l, &options, &r, e));
  if (r.end != RUN_DONE || (!w->whole_waves && !same_work(&r, base->warp_insts))) {
    out->why = why_not(&r);
    return true;
  }
  out->cycles = r.cycles;
  if (!w->whole_waves) return true;
  uint64_t start = p->launch_latency_cycles < r.cycles ? p->launch_latency_cycles : 0;
  out->cycles = start + (uint64_t)((double)(r.cycles - start) * (double)all / (double)options.first_ctas);
  return true;
}
