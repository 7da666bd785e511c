#include "sanitize/racecheck.h"

#include "sanitize/race_cells.h"

/* Places that are no addresses. */
#define KEY_GRID UINT64_C(0x4000000000000000)
#define KEY_CLUSTER UINT64_C(0x5000000000000000)

enum { LAST_TICK = INT32_MAX };

void racecheck_init(struct racecheck *k, uint64_t shadow_limit)
{
  *k = (struct racecheck){0};
  race_shadow_init(&k->shadow, shadow_limit);
}

static void free_ctas(struct racecheck *k)
{
  while (k->ctas) {
    struct race_cta *c = k->ctas;
    k->ctas = c->next;
    race_cta_free(c);
  }
}

void racecheck_free(struct racecheck *k)
{
  free_ctas(k);
  race_places_free(&k->places);
  race_shadow_free(&k->shadow);
}

void racecheck_begin(struct racecheck *k, const struct watched_launch *l)
{
  const struct step_source *s = l->source;
  const uint64_t insts = (l->params->code.end - l->params->code.base) >> l->params->code.shift;
  race_shadow_next_launch(&k->shadow);
  k->skipped = 0;
  k->told = (struct race_told){0};
  k->off = s->warps_per_cta > RACE_MAX_WARPS || s->n_ctas > UINT32_MAX / 2 / s->warps_per_cta ||
           insts >> RACE_INST_BITS;
}

void racecheck_end(struct racecheck *k, const struct watched_launch *l)
{
  free_ctas(k);
  race_places_free(&k->places);
  if (k->off)
    fprintf(l->findings->out,
            "========= racecheck: the launch is too large to be followed, and was not checked to its end\n");
  if (k->skipped)
    fprintf(l->findings->out,
            "========= racecheck: %llu accesses were not checked, the tables of global memory are full\n",
            (unsigned long long)k->skipped);
}

static struct race_cta **place_of(struct racecheck *k, uint64_t id)
{
  struct race_cta **at = &k->ctas;
  while (*at && (*at)->id != id) at = &(*at)->next;
  return at;
}

static struct race_cta *cta_of(struct racecheck *k, const struct watched_step *s)
{
  if (k->ctas && k->ctas->id == s->cta->id) return k->ctas;
  struct race_cta **at = place_of(k, s->cta->id), *c = *at;
  if (c) *at = c->next;
  else c = race_cta_new(s->cta->id, s->cta->n_warps);
  c->next = k->ctas;
  return k->ctas = c;
}

void racecheck_cta_end(struct racecheck *k, const struct step_cta *cta)
{
  struct race_cta **at = place_of(k, cta->id), *c = *at;
  if (!c) return;
  *at = c->next;
  race_cta_free(c);
}

/* --- what strong accesses order -------------------------------------------------------------------------- */

static bool is_shared_sync(const struct race_step *x)
{
  return x->cta->places.n != 0;
}

static struct race_places *places_of(struct racecheck *k, const struct race_step *x, unsigned space)
{
  return space == MEM_GLOBAL ? &k->places : &x->cta->places;
}

static struct race_place *find_place(struct race_places *of, uint64_t addr)
{
  const uint64_t key = addr & ~UINT64_C(3);
  struct race_place *before = of->wide && key & 4 ? race_place_find(of, key - 4) : NULL;
  return before && before->wide ? before : race_place_find(of, key);
}

/* What an access that orders goes through: one that writes leaves something there. NULL: nobody has. */
static struct race_place *place_at(struct racecheck *k, const struct race_step *x, unsigned space, uint64_t addr)
{
  struct race_places *of = places_of(k, x, space);
  struct race_place *p = find_place(of, addr);
  if (!p && x->writes) p = race_place_make(of, addr & ~UINT64_C(3));
  if (p && x->writes && x->s->e->mem->bytes == 8 && !p->wide) {
    p->wide = of->wide = true;
    of->filter |= race_filter_bit(addr + 4);
  }
  return p;
}

static void release(const struct race_step *x, unsigned space, struct race_place *p)
{
  if (space == MEM_GLOBAL) race_release(x->cta, x->u, p, false);
  else race_release_own(x->cta, x->u, p, is_atomic(x->s->e->mem->op));
}

/* Objects in shared memory that order (mbarriers, locks, flags behind a fence) are known by atomics on them; plain
 * loads and stores of them are no less than that. */
static bool orders(const struct race_step *x, unsigned space, uint64_t addr)
{
  const struct mem_effect *me = x->s->e->mem;
  if (is_atomic(me->op) || (space == MEM_GLOBAL && me->strong) || (space == MEM_SHARED && me->strong)) return true;
  if (space != MEM_SHARED || me->op == MEM_LDGSTS) return false;
  if (me->op == MEM_STORE && x->cta->warp[x->u].fenced) return true;
  const struct race_places *of = &x->cta->places;
  for (unsigned n = 0; n < me->bytes; n += 4)
    if (of->filter & race_filter_bit(addr + n) && find_place(&x->cta->places, addr + n)) return true;
  return false;
}

/* --- steps ----------------------------------------------------------------------------------------------- */

static uint32_t entry_flags(const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  uint32_t flags = 0;
  if (me->strong || is_atomic(me->op)) flags |= RACE_STRONG;
  if (is_atomic(me->op)) flags |= RACE_ATOMIC;
  if (flags && s->e->inst->scope == SCOPE_CTA) flags |= RACE_OWN_CTA;
  return flags;
}

static struct race_step step_of(struct racecheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  const struct code_view *code = &s->l->params->code;
  struct race_step x = {.told = &k->told, .s = s, .cta = cta_of(k, s), .u = s->warp};
  x.memo = x.cta->warp[x.u].memo;
  x.entry = (struct race_entry){.warp = x.cta->first + x.u + 1, .clock = x.cta->warp[x.u].clock,
                                .where = (uint32_t)((s->e->pc - code->base) >> code->shift) | entry_flags(s)};
  x.writes = me->op == MEM_STORE || is_atomic(me->op);
  x.plain = me->op == MEM_STORE && !me->strong;
  x.own = s->l->findings->least <= LEVEL_WARNING;
  if (x.cta->tick >= LAST_TICK) k->off = true;
  return x;
}

/* One lane: what it learns, whether it races, what it leaves. */
static void access_lane(struct racecheck *k, struct race_step *x, unsigned lane, unsigned space, uint64_t addr)
{
  const struct mem_effect *me = x->s->e->mem;
  if (space != MEM_GLOBAL && space != MEM_SHARED) return;
  const bool sync = orders(x, space, addr);
  struct race_place *p = sync ? place_at(k, x, space, addr) : NULL;
  if (p && me->op != MEM_STORE) race_acquire(x->cta, x->u, p); /* lanes that read a place learn what it holds */
  race_check_lane(k, x, lane, space, addr, me->bytes, sync && space == MEM_SHARED ? RACE_STRONG : 0);
  if (!p || !x->writes) return;
  release(x, space, p);
  x->entry.clock = x->cta->warp[x->u].clock;
}

/* No lane's address can be one that orders. */
static bool is_simple(const struct race_step *x)
{
  const struct mem_effect *me = x->s->e->mem;
  if (me->near_lanes || me->strong || is_atomic(me->op)) return false;
  if (me->space == MEM_SHARED) return !is_shared_sync(x) && !(me->op == MEM_STORE && x->cta->warp[x->u].fenced);
  return me->space == MEM_GLOBAL;
}

static void access_lanes(struct racecheck *k, struct race_step *x)
{
  const struct watched_step *s = x->s;
  const bool each = x->writes || x->own || s->e->mem->near_lanes;
  uint64_t addr, last = UINT64_MAX;
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    const enum mem_space space = func_lane_space(s->cta, s->warp, s->e->mem, i, &addr);
    if (!each && addr == last) continue; /* as in access_row: mostly all ask for the phase of one mbarrier */
    access_lane(k, x, i, space, addr);
    last = addr;
  }
}

/* Reads global memory; writes shared memory when it is waited for. */
static void access_ldgsts(struct racecheck *k, struct race_step *x)
{
  const struct watched_step *s = x->s;
  const struct mem_effect *me = s->e->mem;
  struct race_step to = *x;
  to.writes = true;
  to.entry.clock = x->cta->warp[x->u].closed + 1;
  to.entry.where |= RACE_COPY;
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r), bytes = func_copied_bytes(me, i);
    if (bytes) race_check_lane(k, x, i, MEM_GLOBAL, me->addr[i], bytes, 0);
    race_check_lane(k, &to, i, MEM_SHARED, me->shared_addr[i], me->bytes, 0);
  }
}

/* One lane writes it all. What does not fit faults when it is performed. */
static void access_fill(struct racecheck *k, struct race_step *x)
{
  const struct mem_effect *me = x->s->e->mem;
  const unsigned lane = bits_first(x->s->lanes);
  const bool fits = me->addr[lane] + me->fill_bytes <= x->s->l->shared_end;
  if (fits && me->fill_bytes) race_check_lane(k, x, lane, MEM_SHARED, me->addr[lane], me->fill_bytes, 0);
}

static struct race_place *cluster_place(struct racecheck *k, const struct watched_step *s)
{
  return race_place_make(&k->places, KEY_CLUSTER + step_cluster_of(s->l->source, s->cta->id));
}

static void meet(struct racecheck *k, const struct watched_step *s, uint64_t key)
{
  struct race_cta *c = cta_of(k, s);
  struct race_place *p = race_place_make(&k->places, key);
  race_acquire(c, s->warp, p);
  race_release(c, s->warp, p, true);
}

void racecheck_access(struct racecheck *k, const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  if (k->off || me->space == MEM_CONST || me->space == MEM_TEXTURE || s->e->inst->mem.image || me->op == MEM_PREFETCH ||
      me->space == MEM_LOCAL || s->e->inst->mem.copy != COPY_NONE)
    return;
  struct race_step x = step_of(k, s);
  /* Whatever is done to shared memory of another CTA, or in a cluster to an object that orders, may pass something
   * on. */
  const bool cluster = step_cluster_ctas(s->l->source) > 1 && (me->space == MEM_CLUSTER || me->far || me->strong);
  if (cluster) meet(k, s, KEY_CLUSTER + step_cluster_of(s->l->source, s->cta->id));
  x.entry.clock = x.cta->warp[x.u].clock;
  if (s->e->inst->flags & INST_AFTER_LDGSTS) {
    race_close_group(x.cta, x.u, x.cta->warp[x.u].counter);
    race_wait_groups(x.cta, x.u, 0);
  }
  if (me->op == MEM_LDGSTS) access_ldgsts(k, &x);
  else if (s->e->inst->mem.fill) access_fill(k, &x);
  else if (is_simple(&x)) race_check_row(k, &x);
  else access_lanes(k, &x);
}

static void at_barrier(struct racecheck *k, const struct watched_step *s)
{
  const struct step_barrier *b = &s->e->barrier;
  struct race_cta *c = cta_of(k, s);
  if (b->id < RACE_BARRIERS) {
    race_arrive(c, s->warp, b->id, b->waits);
  } else if (b->waits) {
    c->warp[s->warp].meets = true;
  } else {
    race_release(c, s->warp, cluster_place(k, s), true);
  }
}

/* Barriers whose phase has ended since. */
static void end_phases(const struct watched_step *s, struct race_cta *c)
{
  for (uint32_t r = c->busy; r; r &= r - 1)
    if (!func_barrier_busy(s->cta, bits_first(r))) race_end_phase(c, bits_first(r));
}

static void at_wait(struct race_cta *c, const struct watched_step *s)
{
  const struct inst *i = s->e->inst;
  struct race_warp *w = &c->warp[s->warp];
  if (w->closed == w->waited) return;
  const unsigned counters = i->flags & INST_DEPBAR ? i->hold_for : i->ctrl.wait;
  uint32_t left = 0;
  if (!(counters >> w->counter & 1)) return;
  for (unsigned k = 0; k < i->n_limits; k++)
    if (i->limit[k].counter == w->counter) left = i->limit[k].at_most;
  race_wait_groups(c, s->warp, left);
}

static void control(struct racecheck *k, const struct watched_step *s)
{
  const struct inst *i = s->e->inst;
  struct race_cta *c = cta_of(k, s);
  const unsigned sem = watched_sem(s);
  if (sem == SEM_BAR || sem == SEM_CGABAR_ARV || sem == SEM_CGABAR_WAIT) at_barrier(k, s);
  if (i->flags & INST_MEMBAR) {
    c->warp[s->warp].fenced = true;
    if (i->scope != SCOPE_CTA) race_fence(c, s->warp);
  }
  if (i->flags & INST_LDGDEPBAR) race_close_group(c, s->warp, i->ctrl.write_sb);
  if (sem == SEM_WARPSYNC || func_meets_by_mask(s->e)) race_tick(c, s->warp);
  if (i->flags & INST_SYSCALL && watched_service(s) != SYSCALL_VPRINTF)
    meet(k, s, KEY_GRID); /* malloc, grid barriers */
}

void racecheck_step(struct racecheck *k, const struct watched_step *s)
{
  const uint16_t special = INST_BAR | INST_MEMBAR | INST_LDGDEPBAR | INST_SYSCALL | INST_CONVERGE | INST_BRANCH;
  if (k->off) return;
  struct race_cta *c = cta_of(k, s);
  if (c->warp[s->warp].meets) {
    c->warp[s->warp].meets = false;
    race_acquire(c, s->warp, cluster_place(k, s));
  }
  at_wait(c, s);
  if (s->e->exec && (s->e->inst->flags & special || s->e->barrier.id == STEP_CLUSTER_BARRIER)) control(k, s);
  if (c->busy && (s->e->inst->flags & INST_BAR || s->e->flags & (EFF_EXITED | EFF_BAR_RELEASED))) end_phases(s, c);
}
