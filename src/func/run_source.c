#include "func/run_source.h"

#include <stdio.h>

#include "isa/path_order.h"

struct source_run {
  struct step_source *source;
  const struct run_watch *watch;
  struct gmem_view view;
  uint64_t insts;
  struct func_stats *stats;
  uint64_t ctas_done;
  struct fault *fault;
  struct effect e;
  struct mem_effect mem;
};

static void count(struct func_stats *s, const struct effect *e)
{
  const unsigned lanes = (unsigned)__builtin_popcountll(e->exec);
  s->warp_insts++;
  s->thread_insts += lanes;
  if (s->mix) s->mix[e->inst->mnemonic]++;
  if (s->threads) s->threads[e->inst->mnemonic] += lanes;
}

static bool run_step(struct source_run *r, struct step_cta *c, unsigned warp, unsigned path)
{
  struct step_warp *w = c->warp[warp];
  const uint64_t ps = r->watch->clock_ps ? r->watch->clock_ps : 1000;
  r->e.clock = r->watch->start_clock + r->insts;
  r->e.time_ns = r->e.clock * ps / 1000;
  r->e.mem = &r->mem;
  if (!w->ops->step(w, path, &r->e, r->fault)) return false;
  r->insts++;
  count(r->stats, &r->e);
  if (r->watch->tap) r->watch->tap->step(r->watch->tap->ctx, c, warp, &r->e);
  if (!(r->e.flags & EFF_MEM)) return true;
  if (!w->ops->perform(w, &r->e, r->mem.lanes | r->mem.near_lanes, &r->view, r->fault)) return false;
  w->ops->finish(w, &r->e);
  return true;
}

/* A slice of the warp. */
static bool run_warp(struct source_run *r, struct step_cta *c, unsigned warp)
{
  const struct step_paths *p = &c->warp[warp]->paths;
  unsigned path = path_in_turn(p, p->n - 1u);
  for (unsigned left = r->watch->slice ? r->watch->slice : WATCH_MAX_SLICE; left && p->n_ready; left--) {
    if (!run_step(r, c, warp, path)) return false;
    if (p->n_ready) path = path_after(p, path, &r->e);
  }
  return true;
}

static enum run_end watch(const struct source_run *r)
{
  const struct run_progress p = {.insts = r->insts, .ctas_done = r->ctas_done, .ctas_total = r->source->n_ctas};
  enum run_end end = watch_insts(r->watch, r->insts);
  if (!end && r->watch->poll && !r->watch->poll(r->watch->ctx, &p)) end = RUN_STOPPED;
  return end;
}

static enum run_end deadlock(const struct source_run *r, const struct step_cta *c)
{
  *r->fault = (struct fault){.kind = FAULT_DEADLOCK, .source = r->source};
  snprintf(r->fault->text, sizeof r->fault->text, "CTA %llu: none of its %u warps that have not ended can go on",
           (unsigned long long)c->id, c->warps_left);
  return RUN_FAULT;
}

/* A slice of each warp of the CTA. */
static enum run_end run_round(struct source_run *r, struct step_cta *c)
{
  const uint64_t before = r->insts;
  for (unsigned i = 0; i < c->n_warps; i++) {
    if (!c->warp[i]->paths.n_ready) continue;
    if (!run_warp(r, c, i)) return RUN_FAULT;
    enum run_end end = watch(r);
    if (end) return end;
  }
  return r->insts == before ? deadlock(r, c) : RUN_DONE;
}

static enum run_end run_cta(struct source_run *r, uint64_t id)
{
  struct step_cta *c = r->source->ops->cta_begin(r->source, id, 0, 0, 0);
  enum run_end end = RUN_DONE;
  while (!end && c->warps_left) end = run_round(r, c);
  if (end && r->watch->resident) r->watch->resident(r->watch->ctx, c);
  if (!end && r->watch->tap) r->watch->tap->cta_end(r->watch->tap->ctx, c);
  r->source->ops->cta_end(r->source, c);
  r->ctas_done += !end;
  return end;
}

enum run_end run_source(struct step_source *s, struct gmem *image, const struct run_watch *w,
                        struct func_stats *stats, struct fault *f)
{
  struct source_run r = {.source = s, .watch = w, .view = {.image = image}, .stats = stats, .fault = f};
  enum run_end end = step_cluster_ctas(s) > 1 ? RUN_REFUSED : RUN_DONE;
  for (uint64_t id = 0; !end && id < s->n_ctas; id++) end = run_cta(&r, id);
  return end;
}
