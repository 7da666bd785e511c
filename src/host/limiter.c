#include "host/limiter.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "host/speed.h"
#include "time/gpu/occupancy.h"
#include "time/msg.h"
#include "time/sm/mem_class.h"
#include "time/sm/warp_state.h"

/* Thresholds, each of 1: docs/limiter.md says why. */
static const double busy_unit = 0.7, loaded_unit = 0.5, avoidable = 1.0 / 3, idle_sms = 0.2, mostly_launch = 0.4,
                    handing_out = 0.7, long_queue = 0.05, few_warps = 0.5, half = 0.5;

const char *limiter_key(enum limiter_id id)
{
  static const char *const keys[] = {
#define LIMITER(id, key, name, costs) key,
#include "host/limiter.def"
#undef LIMITER
  };
  return keys[id];
}

const char *limiter_name(enum limiter_id id)
{
  static const char *const names[] = {
#define LIMITER(id, key, name, costs) name,
#include "host/limiter.def"
#undef LIMITER
  };
  return names[id];
}

const char *limiter_costs(enum limiter_id id)
{
  static const char *const costs[] = {
#define LIMITER(id, key, name, costs) costs,
#include "host/limiter.def"
#undef LIMITER
  };
  return costs[id];
}

/* What the rules look at. Shares of 1. */
struct facts {
  const struct params *p;
  const struct sim_result *r;
  unsigned sms; /* that the kernel may use */
  struct speed speed[SPEED__N];
  double slot[SLOT__N];          /* of slots with a warp */
  double launch, hand_out, idle; /* of the kernel */
  double conflicts, updates;     /* of the memory unit's cycles: bank conflicts; atomics of one shared word */
  double excess, local;          /* of sectors at L1: beyond the fewest; of local memory */
  double lanes_off;              /* of the lanes of warp instructions: without a true guard or path */
  double atomic_wait;            /* of the kernel: a mean atomic at its slice */
  double atomics;                /* how many */
  double to_links;               /* of requests to memory behind L1: those that went over links */
  double links;                  /* of the time that their answers took: those that came over links */
  double warps;                  /* of the SM's: resident on average */
};

static double share(double a, double b)
{
  return b > 0 ? a / b : 0;
}

static double counter(const struct facts *f, const char *name)
{
  return (double)sim_counter(f->r, name);
}

static void see_time(struct facts *f)
{
  const struct params *p = f->p;
  double cycles = (double)f->r->cycles, fixed = counter(f, "launch_cycles") + (double)p->launch_cta_latency;
  double fence = share(p->membar_gpu_cycles, cycles); /* behind the last CTA of any kernel: not the grid's fault */
  f->launch = share(fixed, cycles);
  f->hand_out = share(counter(f, "ctas") * p->launch_cta_interval_x100 / 100, cycles);
  f->idle = 1 - share(counter(f, "active_cycles"), cycles * f->sms) - f->launch - fence;
  f->warps = share(counter(f, "warp_cycles"), counter(f, "active_cycles") * p->sm_max_warps);
}

static void see_slots(struct facts *f)
{
  const uint64_t *slot = sim_counters(f->r, "slot", SLOT__N);
  double whole = (double)(stat_sum(slot, SLOT__N) - slot[SLOT_NO_WARP]);
  for (unsigned i = 0; i < SLOT__N; i++) f->slot[i] = i == SLOT_NO_WARP ? 0 : share((double)slot[i], whole);
}

/* Lanes that update one word, or arrive at one mbarrier, take a pass each; no other layout would spare those. */
static void see_passes(struct facts *f)
{
  const double per_pass = (double)div_up(LINE_BYTES, f->p->l1_bytes_per_cycle);
  const double updates = (double)sim_counters(f->r, "class_conflicts", MEM_CLASS__N)[MEM_CLASS_SHARED_ATOM];
  f->updates = share(updates * per_pass, counter(f, "mem_busy"));
  f->conflicts = share((counter(f, "shared_conflicts") - updates) * per_pass, counter(f, "mem_busy"));
}

static void see_memory(struct facts *f)
{
  const uint64_t *sectors = sim_counters(f->r, "class_sectors", MEM_CLASS__N);
  double all = (double)stat_sum(sectors, MEM_CLASS__N);
  f->excess = share(counter(f, "excess_sectors"), all);
  f->local = share((double)(sectors[MEM_CLASS_LOCAL_LD] + sectors[MEM_CLASS_LOCAL_ST]), all);
  f->lanes_off = 1 - share(counter(f, "thread_insts"), 32 * counter(f, "warp_insts"));
  if (counter(f, "divergences") <= 0) f->lanes_off = 0;
  const uint64_t *ops = sim_counters(f->r, "op_requests", L2_OP__N);
  f->atomics = (double)(ops[L2_OP_ATOM] + ops[L2_OP_RED]);
  f->atomic_wait = share(share(counter(f, "atomic_wait"), f->atomics), (double)f->r->time_ps);
}

/* Answers of this GPU's memory take what an L2 hit does, and what their reads of DRAM waited there. */
static void see_links(struct facts *f)
{
  const struct link_use *u = &f->r->links;
  if (!u->requests) return;
  const double own = counter(f, "requests"), l2_ps = f->p->l2_latency * (double)params_clock_ps(f->p);
  const double far = (double)u->read_wait_ps;
  f->to_links = share((double)u->requests, (double)u->requests + own);
  f->links = share(far, far + own * l2_ps + counter(f, "dram_read_wait"));
}

double limiter_links(const struct params *p, const struct sim_result *r)
{
  struct facts f = {.p = p, .r = r};
  see_links(&f);
  return f.links;
}

static struct facts facts_of(const struct params *p, const struct sim_result *r, const struct launch *l)
{
  struct facts f = {.p = p, .r = r, .sms = launch_sms(l, p)};
  speed_of(p, r, l, f.speed);
  see_time(&f);
  see_slots(&f);
  see_memory(&f);
  see_passes(&f);
  see_links(&f);
  return f;
}

__attribute__((format(printf, 3, 4))) static struct limiter says(enum limiter_id id, double of_time, const char *fmt,
                                                                 ...)
{
  struct limiter l = {.id = id, .share = of_time};
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(l.evidence, sizeof l.evidence, fmt, ap);
  va_end(ap);
  return l;
}

/* --- units -------------------------------------------------------------------------------------- */

static const enum limiter_id limiter_of_unit[SPEED__N] = {
  [SPEED_ISSUE] = LIMITER_ISSUE,   [SPEED_ALU] = LIMITER_ALU,       [SPEED_FMA] = LIMITER_FMA,
  [SPEED_HALF] = LIMITER_HALF,     [SPEED_FP64] = LIMITER_FP64,     [SPEED_TENSOR] = LIMITER_TENSOR,
  [SPEED_SFU] = LIMITER_SFU,       [SPEED_UNIFORM] = LIMITER_UNIFORM, [SPEED_L1] = LIMITER_L1,
  [SPEED_TO_L2] = LIMITER_L2,      [SPEED_FROM_L2] = LIMITER_L2,    [SPEED_L2] = LIMITER_L2,
  [SPEED_DRAM] = LIMITER_DRAM,
};

static enum speed_unit busiest(const struct facts *f)
{
  enum speed_unit most = SPEED_ISSUE;
  for (enum speed_unit u = 0; u < SPEED__N; u++)
    if (f->speed[u].active > f->speed[most].active) most = u;
  return most;
}

static bool in_memory(enum speed_unit u)
{
  return u == SPEED_L1 || u == SPEED_TO_L2 || u == SPEED_FROM_L2 || u == SPEED_L2 || u == SPEED_DRAM;
}

/* Whether lanes without work cost it: a tensor product is a whole warp's, or given by one thread. */
static bool has_lanes(enum speed_unit u)
{
  return !in_memory(u) && u != SPEED_TENSOR;
}

/* Is a third of the unit's load avoidable? `where`: the unit and its use. */
static bool avoidable_load(const struct facts *f, enum speed_unit u, const char *where, struct limiter *l)
{
  double use = f->speed[u].active;
  if (u == SPEED_L1 && f->conflicts >= avoidable)
    *l = says(LIMITER_BANKS, use, "%.0f %% of the cycles of L1 and shared memory; %s", 100 * f->conflicts, where);
  else if (u == SPEED_L1 && f->updates >= avoidable)
    *l = says(LIMITER_ATOMICS, use, "updates of one word, %.0f %% of the cycles of L1 and shared memory; %s",
              100 * f->updates, where);
  else if (in_memory(u) && f->local >= avoidable)
    *l = says(LIMITER_SPILLS, use, "%.0f %% of L1's sectors are of local memory; %s", 100 * f->local, where);
  else if (in_memory(u) && f->excess >= avoidable)
    *l = says(LIMITER_COALESCING, use, "%.0f %% of L1's sectors are excess; %s", 100 * f->excess, where);
  else if (has_lanes(u) && f->lanes_off >= avoidable)
    *l = says(LIMITER_DIVERGENCE, use, "%.1f of 32 lanes work; %s", 32 * (1 - f->lanes_off), where);
  else
    return false;
  return true;
}

static struct limiter unit_bound(const struct facts *f, enum speed_unit u)
{
  char where[64];
  struct limiter l;
  snprintf(where, sizeof where, "%s taken for %.0f %% of the time", speed_name(u), 100 * f->speed[u].active);
  if (avoidable_load(f, u, where, &l)) return l;
  return says(limiter_of_unit[u], f->speed[u].active, "%s", where);
}

/* --- waiting ------------------------------------------------------------------------------------ */

/* What warps wait for, in classes that have one cure. */
static double waits_for_memory(const struct facts *f)
{
  return f->slot[WS_LONG_SCOREBOARD] + f->slot[WS_LG_THROTTLE] + f->slot[WS_DRAIN];
}

static double waits_for_fetch(const struct facts *f)
{
  return f->slot[WS_NO_INSTRUCTION] + f->slot[WS_BRANCH_RESOLVING];
}

static bool limited_by_size(const struct sim_result *r)
{
  return !strcmp(r->limiter, "registers") || !strcmp(r->limiter, "shared memory");
}

/* A link is full, and it is the kernel that fills it; or most of what it waits for is behind one. */
static bool link_is_full(const struct facts *f)
{
  return f->r->links.taken >= loaded_unit && (f->to_links >= avoidable || f->links >= half);
}

static bool waits_for_links(const struct facts *f)
{
  return link_is_full(f) || f->links >= half;
}

static struct limiter of_links(const struct facts *f, double of_time)
{
  const struct link_use *u = &f->r->links;
  if (link_is_full(f))
    return says(LIMITER_LINKS, of_time, "a link taken for %.0f %% of the time; %.0f %% of issue slots wait for memory",
                100 * u->taken, 100 * of_time);
  return says(LIMITER_LINKS, of_time,
              "answers over links, %.0f ns each, are %.0f %% of what memory takes; %.0f %% of issue slots wait for "
              "memory",
              share((double)u->read_wait_ps, (double)u->reads) / 1000, 100 * f->links, 100 * of_time);
}

static struct limiter memory_latency(const struct facts *f, double of_time)
{
  double all = 100 * of_time;
  if (f->atomics > 0 && f->atomic_wait >= long_queue)
    return says(LIMITER_ATOMICS, of_time,
                "%.0f %% of issue slots wait for memory; an atomic waits %.0f cycles for others", all,
                f->atomic_wait * (double)f->r->cycles);
  if (f->local >= avoidable)
    return says(LIMITER_SPILLS, of_time,
                "%.0f %% of L1's sectors are of local memory; %.0f %% of issue slots wait for memory", 100 * f->local,
                all);
  if (f->excess >= avoidable)
    return says(LIMITER_COALESCING, of_time,
                "%.0f %% of L1's sectors are excess; %.0f %% of issue slots wait for memory", 100 * f->excess, all);
  if (waits_for_links(f)) return of_links(f, of_time);
  enum speed_unit most = busiest(f);
  if (in_memory(most) && f->speed[most].active >= loaded_unit)
    return says(limiter_of_unit[most], of_time,
                "%s taken for %.0f %% of the time; %.0f %% of issue slots wait for memory", speed_name(most),
                100 * f->speed[most].active, all);
  if (f->warps < few_warps && limited_by_size(f->r))
    return says(LIMITER_OCCUPANCY, of_time, "%.0f %% of issue slots wait for memory; %.1f of %u warps, limited by %s",
                all, f->warps * f->p->sm_max_warps, f->p->sm_max_warps, f->r->limiter);
  return says(LIMITER_MEMORY, of_time, "%.0f %% of issue slots wait for it; %.1f of %u warps resident", all,
              f->warps * f->p->sm_max_warps, f->p->sm_max_warps);
}

struct wait_class {
  enum limiter_id id;
  double of_time;
};

/* Of those that are no latency of memory. Throttles are units that are taken in bursts. */
static struct limiter other_wait(const struct facts *f, struct wait_class w)
{
  enum speed_unit most = busiest(f);
  bool unit = w.id == LIMITER_NOTHING;
  if (unit) return unit_bound(f, most);
  if (w.id == LIMITER_SHORT && f->conflicts >= avoidable)
    return says(LIMITER_BANKS, w.of_time,
                "%.0f %% of the cycles of L1 and shared memory; %.0f %% of issue slots wait for it", 100 * f->conflicts,
                100 * w.of_time);
  return says(w.id, w.of_time, "%.0f %% of issue slots wait for it; %.1f of %u warps resident", 100 * w.of_time,
              f->warps * f->p->sm_max_warps, f->p->sm_max_warps);
}

static struct limiter waiting(const struct facts *f)
{
  const double *s = f->slot;
  const struct wait_class all[] = {
    {LIMITER_MEMORY, waits_for_memory(f)},
    {LIMITER_FETCH, waits_for_fetch(f)},
    {LIMITER_CONSTANTS, s[WS_IMC_MISS]},
    {LIMITER_ARITHMETIC, s[WS_WAIT]},
    {LIMITER_SHORT, s[WS_SHORT_SCOREBOARD] + s[WS_MIO_THROTTLE]},
    {LIMITER_BARRIERS, s[WS_BARRIER]},
    {LIMITER_FENCES, s[WS_MEMBAR]},
    {LIMITER_SLEEP, s[WS_SLEEPING] + s[WS_SERVICE]},
    {LIMITER_NOTHING, s[WS_MATH_PIPE] + s[WS_DISPATCH] + s[SLOT_ISSUED]},
  };
  struct wait_class most = all[0];
  for (unsigned i = 1; i < sizeof all / sizeof all[0]; i++)
    if (all[i].of_time > most.of_time) most = all[i];
  return most.id == LIMITER_MEMORY ? memory_latency(f, most.of_time) : other_wait(f, most);
}

/* --- the kernel --------------------------------------------------------------------------------- */

static bool is_avoidable(enum limiter_id id)
{
  return id == LIMITER_BANKS || id == LIMITER_COALESCING || id == LIMITER_SPILLS || id == LIMITER_ATOMICS ||
         id == LIMITER_DIVERGENCE;
}

/* What keeps SMs empty, when that is the larger part. */
static bool empty_sms(const struct facts *f, const struct limiter *busy, struct limiter *l)
{
  double waves = share((double)sim_counter(f->r, "ctas"), (double)f->r->ctas_per_sm * f->sms);
  if (f->hand_out >= handing_out)
    *l =
        says(LIMITER_HAND_OUT, f->hand_out, "%.0f CTAs, %.2f cycles apart, take %.0f %% of the time",
             counter(f, "ctas"), f->p->launch_cta_interval_x100 / 100.0, 100 * f->hand_out);
  else if (f->launch >= mostly_launch)
    *l = says(LIMITER_LAUNCH, f->launch, "%.0f %% of the time pass before the first CTA runs", 100 * f->launch);
  else if (sim_counter(f->r, "ctas") < f->sms && f->idle >= idle_sms)
    *l = says(LIMITER_GRID, f->idle, "%.0f CTAs for %u SMs; where they run, %s: %.90s", counter(f, "ctas"),
              f->sms, limiter_name(busy->id), busy->evidence);
  else if (f->idle >= idle_sms && !(is_avoidable(busy->id) && busy->share > f->idle))
    *l = says(LIMITER_TAIL, f->idle, "%.0f %% of the SMs' time without a CTA; %.0f CTAs are %.2f waves", 100 * f->idle,
              counter(f, "ctas"), waves);
  else
    return false;
  return true;
}

struct limiter limiter_of(const struct params *p, const struct sim_result *r, const struct launch *launch)
{
  const struct facts f = facts_of(p, r, launch);
  enum speed_unit most = busiest(&f);
  bool queue = f.atomics > 0 && f.atomic_wait >= long_queue && waits_for_memory(&f) >= avoidable;
  struct limiter busy = f.speed[most].active >= busy_unit && !queue ? unit_bound(&f, most) : waiting(&f), empty;
  return empty_sms(&f, &busy, &empty) ? empty : busy;
}
