/* Function-only execution of a grid: no clock, one host thread.
 *
 * CTAs are admitted in order into the slots of worker 0. Warps run in slices of thousands of
 * steps, in turn, so that a warp that spins on another warp or CTA does not stop it; within a
 * warp a path runs until it waits, yields or ends, and paths change at taken backward branches.
 * Operations that only touch registers run straight through (run_straight), all others step by step.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bug.h"
#include "func/launch.h"
#include "func/paths.h"
#include "isa/path_order.h"

/* CLOCK_STEP: there is no clock here, it only must move on; with more than one cycle an instruction, kernels that
 * wait for a time do not take ages. */
enum { INST_BYTES = 16, SLICE_STEPS = 4096, REPORT_LINES = 48, POLL_INSTS = 1 << 20, CLOCK_STEP = 32 };

/* Counts of executed instructions, as differences: what instruction i executed is the sum of entries 0 to i. So
 * a straight run costs two entries, however long it is. */
struct tally {
  int64_t insts, lanes;
};

struct runner {
  struct func_launch *l;
  struct tally *tally;      /* per instruction of the code space, and one */
  uint64_t n_insts;         /* of the code space */
  uint64_t first, end_inst; /* the entries in use lie in [first, end_inst) */
  struct func_stats *stats;
  struct fault *f;
  struct gmem_view view;
  struct step_cta **slot;
  unsigned n_slots, n_live;
  uint64_t next_cta;
  bool progress;    /* a step was taken in this round */
  struct effect e;
  struct mem_effect mem;
  unsigned open;  /* slots in use so far */
  bool finished;  /* a CTA ended in the last round */
  const struct run_watch *watch;
  const struct step_cta *cta; /* the warp that runs: its CTA and number there */
  unsigned warp;
  enum run_end end;    /* RUN_DONE while it goes on */
  uint64_t next_poll;  /* warp instructions */
  uint64_t ctas_done;
};

static unsigned lane_count(lane_mask m)
{
  return m == FULL_MASK ? LANES : bits_count(m);
}

/* The n instructions from number i on have executed in so many lanes. */
static void count(struct runner *r, uint64_t i, unsigned n, unsigned lanes)
{
  struct tally *t = &r->tally[i];
  r->stats->warp_insts += n;
  t[0].insts++, t[n].insts--;
  t[0].lanes += lanes, t[n].lanes -= lanes;
  if (i < r->first) r->first = i;
  if (i + n >= r->end_inst) r->end_inst = i + n + 1;
}

/* Instruction i, already counted, has executed in fewer lanes. */
static void discount(struct runner *r, uint64_t i, unsigned lanes)
{
  r->tally[i].lanes -= lanes, r->tally[i + 1].lanes += lanes;
}

static void add_up(struct runner *r)
{
  const struct inst *inst = r->l->p.code.inst;
  struct tally now = {0};
  for (uint64_t i = r->first; i < r->end_inst; i++) {
    now.insts += r->tally[i].insts;
    now.lanes += r->tally[i].lanes;
    if (!now.insts) continue;
    r->stats->thread_insts += (uint64_t)now.lanes;
    if (r->stats->mix) r->stats->mix[inst[i].mnemonic] += (uint64_t)now.insts;
    if (r->stats->threads) r->stats->threads[inst[i].mnemonic] += (uint64_t)now.lanes;
  }
}

/* Number of the path's next instruction; n_insts when there is none at its pc. */
static uint64_t next_inst(const struct runner *r, const struct step_path *p)
{
  uint64_t off = p->pc - r->l->code_base;
  return off % INST_BYTES || off / INST_BYTES >= r->n_insts ? r->n_insts : off / INST_BYTES;
}

/* Runs the path's next operations, at most *budget, that only touch registers. False: there is none. */
static bool run_straight(struct runner *r, struct func_warp *w, struct step_path *p, unsigned *budget)
{
  const uint64_t i = next_inst(r, p);
  if (i == r->n_insts || !r->l->uop[i].straight || r->watch->tap) return false;
  const struct uop *u = &r->l->uop[i];
  const uint32_t active = (uint32_t)p->mask;
  const unsigned n = u->straight < *budget ? u->straight : *budget, lanes = lane_count(active);
  count(r, i, n, lanes);
  for (const struct uop *end = u + n; u < end; u++) {
    uint32_t exec = active & (w->pred[u->guard] ^ u->guard_xor);
    if (exec != active) discount(r, (uint64_t)(u - r->l->uop), lanes - lane_count(exec));
    if (exec) u->fn(w, u, uop_lanes(u, exec), &r->e, r->f);
  }
  p->pc += n * INST_BYTES;
  p->yielded = false;
  r->e.flags = 0;
  r->e.inst = u[-1].t;
  *budget -= n;
  return true;
}

/* Any operation. Returns false on a fault. */
static bool run_step(struct runner *r, struct step_warp *w, unsigned path)
{
  r->e.clock = r->e.time_ns = r->stats->warp_insts * CLOCK_STEP;
  if (!func_step(w, path, &r->e, r->f)) return false;
  count(r, (r->e.pc - r->l->code_base) / INST_BYTES, 1, lane_count(r->e.exec));
  if (r->watch->tap) r->watch->tap->step(r->watch->tap->ctx, r->cta, r->warp, &r->e);
  if (!(r->e.flags & EFF_MEM)) return true;
  if (!func_perform(w, &r->e, r->mem.lanes | r->mem.near_lanes, &r->view, r->f)) return false;
  func_finish(w, &r->e);
  return true;
}

/* Runs one path until something other than memory happens. Returns false on a fault. */
static bool run_path(struct runner *r, struct step_warp *w, unsigned path, unsigned *budget)
{
  const uint32_t stay = EFF_MEM | EFF_JUMP;
  struct step_path *p = &w->paths.p[path];
  while (*budget) {
    if (run_straight(r, (struct func_warp *)w, p, budget)) continue;
    if (!run_step(r, w, path)) return false;
    --*budget;
    uint32_t flags = r->e.flags;
    if (w->paths.n == 1) flags &= ~(uint32_t)EFF_BACKWARD; /* no other path to change to */
    if (flags & ~stay || p->yielded) break;
  }
  return true;
}

/* After a slice: whether the run goes on. */
static bool watch(struct runner *r)
{
  const struct run_watch *w = r->watch;
  uint64_t insts = r->stats->warp_insts;
  if ((r->end = watch_insts(w, insts))) return false;
  if (insts < r->next_poll) return true;
  r->next_poll = insts + POLL_INSTS;
  struct run_progress p = {.insts = insts, .ctas_done = r->ctas_done,
                           .ctas_total = r->l->source.n_ctas};
  if (w->poll && !w->poll(w->ctx, &p)) r->end = RUN_STOPPED;
  return !r->end;
}

/* Steps until the next look at the limits. */
static unsigned slice(const struct runner *r)
{
  uint64_t max = r->watch->max_insts, done = r->stats->warp_insts;
  return max && max - done < SLICE_STEPS ? (unsigned)(max - done) : SLICE_STEPS;
}

/* Returns false on a fault. */
static bool run_warp(struct runner *r, struct step_warp *w)
{
  unsigned budget = slice(r);
  unsigned path = w->cut_short - 1u;
  if (!path_is_ready(&w->paths, path)) path = path_in_turn(&w->paths, w->paths.n - 1u);
  w->cut_short = 0;
  while (budget && w->paths.n_ready) {
    r->progress = true;
    if (!run_path(r, w, path, &budget)) return false;
    if (r->e.flags & EFF_WARP_DONE) return true;
    if (w->paths.n == 1 && w->paths.p[0].yielded) return true; /* let other warps run */
    if (w->paths.n_ready) path = path_after(&w->paths, path, &r->e);
  }
  if (w->paths.n_ready) w->cut_short = (uint8_t)(path + 1); /* no change of paths that is not the program's */
  return true;
}

/* One CTA at a time is kindest to the host's caches. When a round finishes none, CTAs may be waiting for
 * later ones (a grid-wide barrier): then one more is let in. */
static void admit(struct runner *r)
{
  struct step_source *s = &r->l->source;
  if (!r->finished && r->open < r->n_slots) r->open++;
  r->finished = false;
  for (unsigned i = 0; i < r->open && r->next_cta < s->n_ctas; i++) {
    if (r->slot[i]) continue;
    r->slot[i] = s->ops->cta_begin(s, r->next_cta++, 0, i, i);
    r->n_live++;
  }
}

static bool run_round(struct runner *r)
{
  struct step_source *s = &r->l->source;
  for (unsigned i = 0; i < r->n_slots; i++) {
    struct step_cta *c = r->slot[i];
    if (!c) continue;
    for (unsigned k = 0; k < c->n_warps; k++) {
      if (!c->warp[k]->paths.n_ready) continue;
      r->cta = c;
      r->warp = k;
      if (!run_warp(r, c->warp[k])) {
        r->end = RUN_FAULT;
        return false;
      }
      if (!watch(r)) return false;
    }
    if (c->warps_left) continue;
    if (r->watch->tap) r->watch->tap->cta_end(r->watch->tap->ctx, c);
    s->ops->cta_end(s, c);
    r->slot[i] = NULL;
    r->n_live--;
    r->ctas_done++;
    r->finished = true;
  }
  return true;
}

static const struct step_cta *first_live(const struct runner *r)
{
  for (unsigned i = 0; i < r->n_slots; i++) {
    if (r->slot[i]) return r->slot[i];
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

/* The fault has room for one line, what the first blocked warp waits for; func_describe_waits
 * writes the page. */
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
}

void func_describe_waits(const struct step_cta *c, FILE *out)
{
  unsigned lines = 0;
  for (unsigned k = 0; k < c->n_warps; k++) {
    const struct func_warp *w = (const struct func_warp *)c->warp[k];
    for (unsigned i = 0; i < w->step.paths.n; i++) {
      char line[160];
      if (lines++ == REPORT_LINES) {
        fprintf(out, "…\n");
        return;
      }
      path_describe(w, i, line, sizeof line);
      fprintf(out, "CTA %llu %s\n", (unsigned long long)c->id, line);
    }
  }
}

static enum run_end run_all(struct runner *r)
{
  while (true) {
    admit(r);
    if (!r->n_live) return RUN_DONE;
    r->progress = false;
    if (!run_round(r)) return r->end;
    if (r->progress || (r->open < r->n_slots && r->next_cta < r->l->source.n_ctas)) continue;
    deadlock(r);
    return RUN_FAULT;
  }
}

static void show_residents(const struct runner *r)
{
  for (unsigned i = 0; r->watch->resident && i < r->n_slots; i++)
    if (r->slot[i]) r->watch->resident(r->watch->ctx, r->slot[i]);
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

enum run_end func_run_from(struct func_launch *l, uint64_t first, const struct run_watch *watch,
                           struct func_stats *stats, struct fault *f)
{
  struct runner *r = calloc(1, sizeof *r);
  BUG_ON(!r);
  *r = (struct runner){.l = l, .stats = stats, .f = f, .n_slots = l->p.slots_per_worker,
                       .watch = watch, .next_poll = POLL_INSTS, .next_cta = first,
                       .ctas_done = first};
  r->view = (struct gmem_view){.image = l->p.image};
  r->e.mem = &r->mem;
  r->slot = calloc(r->n_slots, sizeof *r->slot);
  r->first = r->n_insts = l->code_bytes / INST_BYTES;
  r->tally = calloc(r->n_insts + 1, sizeof *r->tally);
  BUG_ON(!r->slot || !r->tally);
  enum run_end end = run_all(r);
  add_up(r);
  if (end != RUN_DONE) show_residents(r);
  free(r->tally);
  free(r->slot);
  free(r);
  return end;
}
