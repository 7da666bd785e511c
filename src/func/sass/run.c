/* Function-only execution of a grid: no clock, one host thread, or several where CTAs are independent.
 *
 * A runner is what one thread executes; each has its share of the slots of worker 0. CTAs are admitted in order. Warps
 * run in slices of thousands of steps, in turn, so that a warp that spins on another warp or CTA does not stop it;
 * YIELD shortens a slice. Behind a barrier, behind a phase of an mbarrier that they waited for, and when their CTA
 * starts, the warps of a CTA go on side by side, in slices that double from one step on: programs rely on what every
 * GPU does there (func_warp.stride). Within a warp a path
 * runs until it waits, yields or ends, and paths change at taken backward branches. Operations that only touch
 * registers run straight through (run_straight), all others step by step.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "base/own_thread.h"
#include "func/sass/cluster.h"
#include "func/sass/guest_fault.h"
#include "func/sass/independent.h"
#include "func/sass/paths.h"
#include "func/sass/prepare.h"
#include "isa/path_order.h"

enum { SLICE_STEPS = WATCH_MAX_SLICE, FIRST_STEPS = 1, POLL_INSTS = 1 << 20 };
/* What YIELD takes from a slice when all other paths of the warp are blocked or yield, too. A warp that waits for
 * another spins a few dozen times, while the lanes of a warp that add to one word by compare-and-swap, with a YIELD
 * each time, all get through in one slice: did the slice end there, all warps would compare with a value that another
 * has just replaced. */
enum { YIELD_STEPS = 64 };
/* Warp instructions before other threads help: less is done before they are up. */
enum { HELP_AFTER = 1 << 16 };

/* Counts of executed instructions, as differences: what instruction i executed is the sum of entries 0 to i. So
 * a straight run costs two entries, however long it is; one from its first to its last instruction, whose length the
 * operation says, is counted in `whole` of its first alone. */
struct inst_tally {
  int64_t insts, lanes;
  struct {
    int64_t insts, lanes;
  } whole;
};

struct runner;

/* The runners of a launch and what they share. */
struct run_team {
  struct func_launch *l;
  const struct run_watch *watch;
  unsigned n;            /* runners; the first is the caller's */
  bool helped;           /* the others have been asked to help */
  unsigned n_helpers;    /* those that do: the host may have fewer threads; the rest do nothing */
  struct runner *runner;
  pthread_t *thread;     /* of each runner but the first */
  atomic_uint_fast64_t next_cta, ctas_done, insts;
  atomic_int end;        /* enum run_end; RUN_DONE while it goes on */
  atomic_uint_fast64_t fault_cta; /* the lowest that faulted; those before it are run to their end */
  struct heap *heap;     /* the caller's */
  atomic_bool starved;   /* a thread found no memory: the run ends as if it were stopped */
  pthread_mutex_t lock;
  struct fault fault;    /* its; under the lock */
};

struct runner {
  struct run_team *team;
  struct func_launch *l;
  struct inst_tally *tally;      /* per instruction of the code space, and one */
  uint64_t n_insts;         /* of the code space */
  uint64_t first, end_inst; /* the entries in use lie in [first, end_inst) */
  struct func_stats *stats, own_stats;
  struct fault *f, own_fault;
  struct gmem_view view;
  struct step_cta **slot;
  unsigned first_slot, n_slots, n_live;
  bool progress;    /* a step was taken in this round */
  struct effect e;
  struct mem_effect mem;
  unsigned open;  /* slots in use so far */
  bool finished;  /* a CTA ended in the last round */
  const struct run_watch *watch;
  bool sees_registers;        /* a tap wants operations that only touch registers, too */
  const struct step_cta *cta; /* the warp that runs: its CTA and number there */
  unsigned warp;
  uint64_t told;       /* warp instructions that the team knows of */
  uint64_t clock_start; /* cycles when the launch had executed nothing */
  unsigned longest;    /* slice, steps */
  unsigned turn;       /* the longest slice of this round, steps */
  unsigned patience;   /* steps that warps may take in turn before another CTA is let in */
  uint64_t next_poll;  /* warp instructions of the team */
};

static unsigned lane_count(lane_mask m)
{
  return m == FULL_MASK ? LANES : bits_count(m);
}

/* Instructions from u on that are counted at once. */
static unsigned whole_length(const struct uop *u)
{
  return u->straight ? u->straight : 1;
}

/* The n instructions from number i on have executed in so many lanes. */
static inline void count(struct runner *r, uint64_t i, const struct uop *u, unsigned n, unsigned lanes)
{
  struct inst_tally *t = &r->tally[i];
  r->stats->warp_insts += n;
  if (i < r->first) r->first = i;
  if (i + n >= r->end_inst) r->end_inst = i + n + 1;
  if (__builtin_expect(n == whole_length(u), 1)) {
    t->whole.insts++, t->whole.lanes += lanes;
    return;
  }
  t[0].insts++, t[n].insts--;
  t[0].lanes += lanes, t[n].lanes -= lanes;
}

static void spread(struct inst_tally *t, const struct uop *u)
{
  const unsigned n = whole_length(u);
  t[0].insts += t->whole.insts, t[n].insts -= t->whole.insts;
  t[0].lanes += t->whole.lanes, t[n].lanes -= t->whole.lanes;
}

/* Instruction i, already counted, has executed in fewer lanes. */
static void discount(struct runner *r, uint64_t i, unsigned lanes)
{
  r->tally[i].lanes -= lanes, r->tally[i + 1].lanes += lanes;
}

static void add_up(const struct runner *r, struct func_stats *sum)
{
  const struct inst *inst = r->l->p.code.inst;
  struct inst_tally now = {0};
  sum->warp_insts += r->stats->warp_insts;
  for (uint64_t i = r->first; i < r->end_inst; i++) {
    if (r->tally[i].whole.insts) spread(&r->tally[i], &r->l->uop[i]);
    now.insts += r->tally[i].insts;
    now.lanes += r->tally[i].lanes;
    if (!now.insts) continue;
    sum->thread_insts += (uint64_t)now.lanes;
    if (sum->mix) sum->mix[inst[i].mnemonic] += (uint64_t)now.insts;
    if (sum->threads) sum->threads[inst[i].mnemonic] += (uint64_t)now.lanes;
  }
}

/* Runs the operations from u = number i on, at most *budget, that only touch registers. */
static void run_straight(struct runner *r, struct func_warp *w, struct step_path *p, uint64_t i,
                         const struct uop *u, unsigned *budget)
{
  const uint32_t active = (uint32_t)p->mask;
  const unsigned n = u->straight < *budget ? u->straight : *budget, lanes = lane_count(active);
  const struct uop *const first = u, *const end = u + n;
  count(r, i, u, n, lanes);
  for (; u < end; u++) {
    uint32_t exec = active & (w->pred[u->guard] ^ u->guard_xor);
    if (exec != active) discount(r, i + (uint64_t)(u - first), lanes - lane_count(exec));
    if (exec) u->fn(w, u, uop_lanes(u, active, exec), &r->e, r->f);
  }
  p->pc += n * FUNC_INST_BYTES;
  p->yielded = false;
  r->e.flags = 0;
  r->e.inst = end[-1].t;
  *budget -= n;
}

/* A plain load or store. False: it is for run_step. */
static bool run_plain(struct runner *r, struct func_warp *w, struct step_path *p, uint64_t i, const struct uop *u)
{
  const uint32_t exec = (uint32_t)p->mask & (w->pred[u->guard] ^ u->guard_xor);
  if (exec && !mem_plain(w, u, exec, &r->mem, &r->view)) return false;
  p->pc += FUNC_INST_BYTES;
  p->yielded = false;
  r->e.flags = 0;
  r->e.inst = u->t;
  count(r, i, u, 1, lane_count(exec));
  return true;
}

/* What the device's clocks read now. */
static void read_clocks(const struct runner *r, struct effect *e)
{
  const uint64_t ps = r->watch->clock_ps ? r->watch->clock_ps : 1000;
  e->clock = r->clock_start + r->stats->warp_insts * FUNC_CYCLES_PER_INST;
  e->time_ns = e->clock * ps / 1000;
}

/* Lanes whose access to memory the tap does not let happen. */
static uint32_t forbidden(const struct runner *r)
{
  const struct step_tap *t = r->watch->tap;
  return __builtin_expect(t && t->veto, 0) ? (uint32_t)t->veto(t->ctx, r->cta, r->warp, &r->e) : 0;
}

/* Adds to a count of the team; returns what it was. One runner needs no locked instruction, which would be the dearest
 * of a short slice. */
static uint64_t add(struct run_team *t, atomic_uint_fast64_t *to, uint64_t n)
{
  if (t->n > 1) return atomic_fetch_add(to, n);
  const uint64_t was = atomic_load_explicit(to, memory_order_relaxed);
  atomic_store_explicit(to, was + n, memory_order_relaxed);
  return was;
}

/* CTAs that a CTA has asked for are not launched any more: they count as done. */
static void give_work(struct runner *r, struct mem_copy *c)
{
  const struct step_source *s = &r->l->source;
  const unsigned n = step_cluster_ctas(s);
  c->found = atomic_load(&r->team->next_cta) < s->n_ctas;
  if (!c->found) return;
  c->cta = step_cta_at(s, add(r->team, &r->team->next_cta, n));
  add(r->team, &r->team->ctas_done, n);
}

/* Any operation. Returns false on a fault. */
static bool run_step(struct runner *r, struct func_warp *w, struct step_path *p, uint64_t i,
                     const struct uop *u)
{
  struct effect *e = &r->e;
  if (u->flags & UOP_CLOCK) read_clocks(r, e);
  if (!func_step_uop(w, p, u, e, r->f)) return false;
  count(r, i, u, 1, lane_count(e->exec));
  if (r->watch->tap) r->watch->tap->step(r->watch->tap->ctx, r->cta, r->warp, e);
  if (e->flags & (EFF_CLUSTER_ARRIVED | EFF_CTA_DONE)) cluster_meet(w->cta, e->flags & EFF_CTA_DONE);
  if (!(e->flags & EFF_MEM)) return true;
  const uint32_t lanes = (uint32_t)(r->mem.lanes | r->mem.near_lanes) & ~forbidden(r);
  if (e->inst->mem.copy == COPY_WORK && lanes) give_work(r, &r->mem.copy);
  if (lanes && !u->perform(w, u, e, lanes, &r->view, r->f)) return false;
  if (u->finish) u->finish(w, u, e);
  return true;
}

/* Runs one path until something other than memory happens. Returns false on a fault. */
static bool run_path(struct runner *r, struct func_warp *w, unsigned path, unsigned *budget)
{
  const uint32_t stay = EFF_MEM | EFF_JUMP;
  struct step_path *p = &w->step.paths.p[path];
  w->cur = (uint8_t)path;
  while (*budget) {
    const uint64_t off = p->pc - r->l->code_base, i = off >> FUNC_INST_SHIFT;
    if (i >= r->n_insts || off % FUNC_INST_BYTES) return func_step(&w->step, path, &r->e, r->f); /* faults */
    const struct uop *u = &r->l->uop[i];
    if (u->straight && !r->sees_registers) {
      run_straight(r, w, p, i, u, budget);
      continue;
    }
    if (__builtin_expect(!uop_is_ready(u), 0)) {
      if (r->team->n == 1) prepare_from(r->l, i);
      else prepare_late(r->l, i);
      continue;
    }
    --*budget;
    if (u->flags & (UOP_LOAD | UOP_STORE) && !r->watch->tap && run_plain(r, w, p, i, u)) continue;
    if (!run_step(r, w, p, i, u)) return false;
    uint32_t flags = r->e.flags;
    if (w->step.paths.n == 1) flags &= ~(uint32_t)EFF_BACKWARD; /* no other path to change to */
    if (flags & ~stay || p->yielded || !w->stride) break;
  }
  return true;
}

static bool is_first(const struct runner *r)
{
  return r == r->team->runner;
}

static uint64_t poll_insts(const struct run_watch *w)
{
  return w->poll_insts ? w->poll_insts : POLL_INSTS;
}

/* After a slice: whether the run goes on. The caller's thread decides. */
static bool watch(struct runner *r)
{
  struct run_team *t = r->team;
  const struct run_watch *w = r->watch;
  uint64_t more = r->stats->warp_insts - r->told, insts = add(t, &t->insts, more) + more;
  r->told += more;
  if (!is_first(r)) return !atomic_load(&t->end);
  enum run_end end = watch_insts(w, insts);
  if (!end && insts >= r->next_poll) {
    r->next_poll = insts + poll_insts(w);
    struct run_progress p = {.insts = insts, .ctas_done = atomic_load(&t->ctas_done),
                             .ctas_total = r->l->source.n_ctas};
    if (w->poll && !w->poll(w->ctx, &p)) end = RUN_STOPPED;
  }
  if (!end && atomic_load_explicit(&t->starved, memory_order_relaxed)) end = RUN_STOPPED;
  if (end) atomic_store(&t->end, (int)end);
  return !end;
}

static bool ctas_left(const struct runner *r)
{
  return atomic_load(&r->team->next_cta) < r->l->source.n_ctas;
}

/* No CTA behind one that faulted is run any more. */
static bool is_wanted(const struct runner *r, const struct step_cta *c)
{
  return c && c->id < atomic_load(&r->team->fault_cta);
}

/* Of several CTAs that fault the first one counts, whatever the threads did. */
static void note_fault(struct runner *r, const struct step_cta *c)
{
  struct run_team *t = r->team;
  pthread_mutex_lock(&t->lock);
  if (is_wanted(r, c)) {
    t->fault = *r->f;
    atomic_store(&t->fault_cta, c->id);
  }
  atomic_store(&t->next_cta, r->l->source.n_ctas);
  pthread_mutex_unlock(&t->lock);
}

/* Steps of the warp until others run. */
static unsigned slice(const struct runner *r, const struct func_warp *w)
{
  unsigned n = w->stride < FIRST_STEPS ? FIRST_STEPS : w->stride;
  uint64_t max = r->watch->max_insts, done = r->stats->warp_insts;
  if (n > r->longest) n = r->longest;
  return max && max - done < n ? (unsigned)(max - done) : n;
}

/* Returns false on a fault. */
static bool run_warp(struct runner *r, struct func_warp *fw)
{
  struct step_warp *w = &fw->step;
  unsigned budget = slice(r, fw);
  if (budget > r->turn) r->turn = budget;
  if (fw->stride < r->longest) fw->stride = fw->stride ? 2 * fw->stride : FIRST_STEPS;
  unsigned path = w->cut_short - 1u;
  if (!path_is_ready(&w->paths, path)) path = path_in_turn(&w->paths, w->paths.n - 1u);
  w->cut_short = 0;
  while (budget && w->paths.n_ready) {
    const uint32_t spins = fw->spins;
    r->progress = true;
    if (!run_path(r, fw, path, &budget)) return false;
    if (r->e.flags & EFF_WARP_DONE) return true;
    bool alone = fw->spins > spins || (w->paths.n == 1 && w->paths.p[0].yielded);
    if (alone) budget -= budget < YIELD_STEPS ? budget : YIELD_STEPS;
    if (!fw->stride) budget = 0; /* a barrier or a phase ended: the others are behind it, too, or come now */
    if (w->paths.n_ready) path = path_after(&w->paths, path, &r->e);
  }
  if (w->paths.n_ready) w->cut_short = (uint8_t)(path + 1); /* no change of paths that is not the program's */
  return true;
}

static bool any_live(struct step_cta *const *slot, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (slot[i]) return true;
  return false;
}

/* What a CTA in this slot reads as its SM: of those that the launch may run on, where it says so. */
static unsigned core_of(const struct step_source *s, unsigned slot)
{
  return s->cores ? core_set_at(s->cores, slot) : slot;
}

/* One CTA, or all of a cluster, at a time is kindest to the host's caches. When none ends for long, or none can go on,
 * CTAs may be waiting for later ones (a grid-wide barrier): then one more is let in. */
static void admit(struct runner *r)
{
  struct step_source *s = &r->l->source;
  const unsigned n = step_cluster_ctas(s);
  r->patience = r->finished ? SLICE_STEPS : r->progress && r->patience > r->turn ? r->patience - r->turn : 0;
  if (!r->patience) {
    if (r->open + n <= r->n_slots) r->open += n;
    r->patience = SLICE_STEPS;
  }
  r->finished = false;
  r->turn = 0;
  for (unsigned first = 0; first < r->open; first += n) {
    if (any_live(&r->slot[first], n)) continue;
    uint64_t cta = ctas_left(r) ? add(r->team, &r->team->next_cta, n) : s->n_ctas;
    if (cta >= s->n_ctas) return;
    for (unsigned i = first; i < first + n; i++, r->n_live++)
      r->slot[i] = s->ops->cta_begin(s, step_cta_at(s, cta + i - first), 0, r->first_slot + i,
                                     core_of(s, r->first_slot + i));
  }
}

static void end_cta(struct runner *r, unsigned i)
{
  struct step_source *s = &r->l->source;
  if (r->watch->tap) r->watch->tap->cta_end(r->watch->tap->ctx, r->slot[i]);
  s->ops->cta_end(s, r->slot[i]);
  r->slot[i] = NULL;
  r->n_live--;
  add(r->team, &r->team->ctas_done, 1);
  r->finished = true;
}

/* A slice of each warp of the CTA. False: the run ends. */
static bool run_cta(struct runner *r, struct step_cta *c)
{
  r->cta = c;
  for (unsigned k = 0; k < c->n_warps; k++) {
    if (!c->warp[k]->paths.n_ready) continue;
    r->warp = k;
    if (!run_warp(r, (struct func_warp *)c->warp[k])) {
      note_fault(r, c);
      return r->team->n > 1;
    }
    if (!watch(r)) return false;
  }
  return true;
}

static bool run_round(struct runner *r)
{
  for (unsigned i = 0; i < r->open; i++) {
    struct step_cta *c = r->slot[i];
    if (!is_wanted(r, c)) continue;
    if (!run_cta(r, c)) return false;
    if (!c->warps_left && is_wanted(r, c)) end_cta(r, i);
  }
  return true;
}

static const struct step_cta *first_live(const struct runner *r)
{
  for (unsigned i = 0; i < r->open; i++) {
    if (is_wanted(r, r->slot[i])) return r->slot[i];
  }
  return NULL;
}

static const struct func_warp *first_blocked(const struct step_cta *c)
{
  for (unsigned k = 0; k < c->n_warps; k++) {
    if (c->warp[k]->paths.n) return (const struct func_warp *)c->warp[k];
  }
  return NULL;
}

/* The fault has room for one line: what the first blocked warp waits for. */
static void deadlock(struct runner *r)
{
  const struct step_cta *c = first_live(r);
  const struct func_warp *w = c ? first_blocked(c) : NULL;
  BUG_ON(!w);
  char line[160];
  path_describe(w, 0, line, sizeof line);
  struct effect e = {.pc = w->step.paths.p[0].pc - 16};
  func_fault(w, &e, r->f, FAULT_DEADLOCK, (unsigned)__builtin_ctzll(w->step.paths.p[0].mask), 0,
             "deadlock: no warp of %u resident CTAs can run; CTA %llu %s", r->n_live,
             (unsigned long long)c->id, line);
  note_fault(r, c);
}

static void run_all(void *runner);

/* Nobody leaves the run before all threads have ended it, whoever runs out of memory. */
static void take_part(struct runner *r)
{
  struct run_team *t = r->team;
  if (memory_try(t->heap, run_all, r)) return;
  atomic_store(&t->starved, true);
  if (is_first(r)) atomic_store(&t->end, (int)RUN_STOPPED);
}

static void *help(void *runner)
{
  own_thread();
  take_part(runner);
  return NULL;
}

/* The other threads start when the launch has proved long enough. */
static void call_helpers(struct run_team *t)
{
  if (t->helped || t->n == 1 || atomic_load(&t->insts) < HELP_AFTER || !ctas_left(t->runner)) return;
  t->helped = true;
  for (unsigned i = 1; i < t->n && pthread_create(&t->thread[i], NULL, help, &t->runner[i]) == 0; i++) t->n_helpers++;
}

static void run_all(void *runner)
{
  struct runner *r = runner;
  while (true) {
    admit(r);
    if (!first_live(r)) return;
    r->progress = false;
    if (!run_round(r)) return;
    if (is_first(r)) call_helpers(r->team);
    if (r->progress || (r->open + step_cluster_ctas(&r->l->source) <= r->n_slots && ctas_left(r))) continue;
    deadlock(r);
    if (r->team->n == 1) return;
  }
}

/* Where the CTAs were when the run ended early; of independent ones the one that faulted. */
static void show_residents(const struct runner *r, enum run_end end)
{
  uint64_t faulted = atomic_load(&r->team->fault_cta);
  for (unsigned i = 0; r->watch->resident && i < r->n_slots; i++) {
    if (!r->slot[i] || (end == RUN_FAULT && r->team->n > 1 && r->slot[i]->id != faulted)) continue;
    r->watch->resident(r->watch->ctx, r->slot[i]);
  }
}

bool func_run(struct func_launch *l, struct func_stats *stats, struct fault *f)
{
  return func_run_watched(l, &(struct run_watch){0}, stats, f) == RUN_DONE;
}

enum run_end func_run_watched(struct func_launch *l, const struct run_watch *watch,
                              struct func_stats *stats, struct fault *f)
{
  return func_run_from(l, 0, watch, stats, f);
}

static void runner_init(struct runner *r, struct run_team *t, unsigned i)
{
  struct func_launch *l = t->l;
  *r = (struct runner){.team = t, .l = l, .watch = t->watch, .n_slots = l->p.slots_per_worker / t->n,
                       .n_insts = l->code_bytes / FUNC_INST_BYTES, .next_poll = poll_insts(t->watch)};
  r->first_slot = i * r->n_slots;
  r->stats = &r->own_stats;
  r->f = &r->own_fault;
  r->view = (struct gmem_view){.image = l->p.image, .concurrent = t->n > 1 || gmem_expects_others(l->p.image)};
  r->e.mem = &r->mem;
  r->clock_start = t->watch->start_clock;
  r->sees_registers = t->watch->tap && !t->watch->tap->registers_unseen;
  r->longest = t->watch->slice ? t->watch->slice : SLICE_STEPS;
  r->first = r->n_insts;
  r->slot = mem_zeroed(r->n_slots, sizeof *r->slot);
  r->tally = mem_zeroed_sparse(r->n_insts + 1, sizeof *r->tally); /* of a module's code a kernel is little */
}

/* Ends runner i once it has nothing left to do. */
static void runner_end(struct run_team *t, unsigned i, struct func_stats *sum)
{
  struct runner *r = &t->runner[i];
  if (i && i <= t->n_helpers) pthread_join(t->thread[i], NULL);
  add_up(r, sum);
  mem_free(r->tally);
}

/* Instruction limits, taps, clusters and what tells the order of CTAs want one thread. */
static unsigned team_size(const struct func_launch *l, const struct run_watch *w)
{
  unsigned most = l->source.n_ctas < l->p.slots_per_worker ? (unsigned)l->source.n_ctas
                                                           : l->p.slots_per_worker;
  unsigned n = w->threads < most ? w->threads : most;
  return n <= 1 || w->max_insts || w->tap || l->cluster || !func_ctas_independent(l) ? 1 : n;
}

enum run_end func_run_from(struct func_launch *l, uint64_t first, const struct run_watch *watch,
                           struct func_stats *stats, struct fault *f)
{
  if (watch->threads > 1) prepare_reach(l);
  struct run_team t = {.l = l, .watch = watch, .n = team_size(l, watch), .next_cta = first,
                   .ctas_done = first, .insts = stats->warp_insts, .fault_cta = UINT64_MAX, .heap = heap_current(),
                   .lock = PTHREAD_MUTEX_INITIALIZER};
  t.runner = mem_zeroed_aligned(_Alignof(struct runner), t.n * sizeof *t.runner);
  t.thread = mem_zeroed(t.n, sizeof *t.thread);
  prepare_stale(l);
  for (unsigned i = 0; i < t.n; i++) runner_init(&t.runner[i], &t, i);
  t.runner[0].own_stats.warp_insts = t.runner[0].told = stats->warp_insts;
  t.runner[0].clock_start -= stats->warp_insts * FUNC_CYCLES_PER_INST;
  stats->warp_insts = 0;
  take_part(&t.runner[0]);
  for (unsigned i = 0; i < t.n; i++) runner_end(&t, i, stats);
  NO_MEMORY_IF(atomic_load(&t.starved));
  enum run_end end = atomic_load(&t.fault_cta) != UINT64_MAX ? RUN_FAULT : (enum run_end)atomic_load(&t.end);
  if (end == RUN_FAULT) *f = t.fault;
  for (unsigned i = 0; i < t.n; i++) {
    if (end != RUN_DONE) show_residents(&t.runner[i], end);
    mem_free(t.runner[i].slot);
  }
  mem_free(t.thread);
  mem_free(t.runner);
  return end;
}
