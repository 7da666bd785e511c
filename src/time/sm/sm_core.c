#include "time/sm/sm_core.h"

#include "time/sm/emulate.h"
#include "time/sm/hazard.h"
#include "time/sm/sm.h"

static struct sm *sm_of(struct core *c)
{
  return (struct sm *)c;
}

static const struct sm *const_sm_of(const struct core *c)
{
  return (const struct sm *)c;
}

static void init(struct core *c, struct arena *a, const struct params *p, unsigned id)
{
  struct sm *m = sm_of(c);
  sm_init(m, a, p, id);
  m->core = (struct core){.ops = sm_kind.ops,
                          .id = id,
                          .insts = &m->stats.warp_insts,
                          .mem_busy = &m->stats.mem_busy,
                          .fault = &m->fault,
                          .out = &m->mem.port.out,
                          .in = &m->mem.port.in,
                          .launches = &m->launches,
                          .done = &m->done,
                          .cluster_out = &m->mem.port.cluster_out,
                          .cluster_in = &m->mem.port.cluster_in,
                          .releases = &m->releases,
                          .log = &m->log,
                          .port_users = &m->mem.port.users};
}

static void free_sm(struct core *c)
{
  gmem_log_free(&sm_of(c)->log);
  l1i_free(&sm_of(c)->l1i);
}

/* --- grids -------------------------------------------------------------------------------------- */

static void start(struct core *c, struct gmem *image, bool control_bits)
{
  sm_start(sm_of(c), image, control_bits);
}

static void open_grid(struct core *c, unsigned slot, struct step_source *s, unsigned const_space, struct arena *a)
{
  sm_open_grid(sm_of(c), slot, s, const_space, a);
}

static void close_grid(struct core *c, unsigned slot)
{
  sm_close_grid(sm_of(c), slot);
}

static bool holds_grid(const struct core *c, unsigned slot)
{
  return sm_holds_grid(const_sm_of(c), slot);
}

static picos last_answer(const struct core *c, unsigned slot)
{
  return const_sm_of(c)->grid[slot].last_answer;
}

/* --- the memory side ----------------------------------------------------------------------------- */

static bool perform(struct core *c, const struct mem_req *r, picos now, struct gmem_view *direct, struct fault *f)
{
  return sm_perform(sm_of(c), r, now, direct, f);
}

static bool line_op(struct core *c, const struct mem_req *r, struct line_op *o)
{
  return sm_line_op(sm_of(c), r, o);
}

static void give_work(struct core *c, unsigned txn, bool found, uint64_t cta)
{
  struct mem_copy *copy = &sm_of(c)->mem.pool.t[txn].access->mem.copy;
  copy->found = found;
  copy->cta = cta;
}

static bool perform_cluster(struct core *c, unsigned txn, struct cluster_load *load, struct fault *f)
{
  return sm_perform_cluster(sm_of(c), txn, load, f);
}

static void port_stood(struct core *c, picos late)
{
  sm_port_stood(&sm_of(c)->mem.port, late);
}

static bool port_busy(const struct core *c, picos now)
{
  return sm_port_busy(&const_sm_of(c)->mem.port, now);
}

/* --- looking at it ------------------------------------------------------------------------------- */

static void residents(const struct core *c, void (*see)(void *ctx, const struct step_cta *), void *ctx)
{
  const struct sm *m = const_sm_of(c);
  for (unsigned k = 0; k < m->n_slots; k++)
    if (m->slot[k].cta) see(ctx, m->slot[k].cta);
}

static void count_into(const struct core *c, struct sm_stats *sum)
{
  stat_add(sm_stats_group("sm", sum), sm_stats_group("sm", (struct sm_stats *)&const_sm_of(c)->stats));
}

static void add(uint64_t *restrict sum, const uint64_t *restrict v, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++) sum[i] += v[i];
}

static void books_into(const struct core *c, unsigned slot, struct core_books *b)
{
  const struct sm_grid *g = &const_sm_of(c)->grid[slot];
  if (!g->used) return; /* of long code the books of all SMs are many pages */
  add(b->by_inst, g->by_inst, b->n_insts * WARP_STATE__N);
  add(b->issued, g->issued, b->n_insts);
  add(b->threads, g->threads, b->n_insts);
  add(b->sectors, g->sectors, b->n_insts);
  add(b->excess, g->excess, b->n_insts);
  add(b->passes, g->passes, b->n_insts);
  add(b->conflicts, g->conflicts, b->n_insts);
}

static void observe(struct core *c, struct observer *o)
{
  sm_observe(sm_of(c), o);
}

static void walk(struct core *c, struct arena *a, const struct page_tables *t)
{
  struct sm_port *p = &sm_of(c)->mem.port;
  sm_port_walk(p, a, t);
  c->page_asks = &p->pages.asks;
  c->page_answers = &p->pages.answers;
}

static void check_hazards(struct core *c, struct arena *a)
{
  struct sm *m = sm_of(c);
  m->hazards = hazard_set_new(a, m->params);
  sm_observe(m, &m->hazards->observer);
}

static void hazards_into(const struct core *c, struct hazard *sum)
{
  const struct hazard_set *set = const_sm_of(c)->hazards;
  for (unsigned i = 0; i < set->n; i++) hazard_merge(sum, set->of[i]);
}

static void emulate_hazards(struct core *c, struct arena *a)
{
  struct sm *m = sm_of(c);
  struct emulate_set *set = emulate_set_new(a, m->params);
  sm_observe(m, &set->observer);
  m->mem.access.late_copies = true;
  for (unsigned i = 0; i < m->n_sub_cores; i++) m->sub_core[i].emulate = m->mem.client[i].emulate = set->of[i];
}

static const struct core_ops ops = {
    .part = {sm_run, sm_progress, sm_busy, sm_dump},
    .init = init,
    .free = free_sm,
    .start = start,
    .open_grid = open_grid,
    .close_grid = close_grid,
    .holds_grid = holds_grid,
    .last_answer = last_answer,
    .perform = perform,
    .line_op = line_op,
    .give_work = give_work,
    .perform_cluster = perform_cluster,
    .port_stood = port_stood,
    .port_busy = port_busy,
    .residents = residents,
    .count_into = count_into,
    .books_into = books_into,
    .observe = observe, .walk = walk,
    .check_hazards = check_hazards,
    .hazards_into = hazards_into,
    .emulate_hazards = emulate_hazards,
};

const struct core_kind sm_kind = {"sm", sizeof(struct sm), &ops};
