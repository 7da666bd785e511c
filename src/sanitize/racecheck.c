#include "sanitize/racecheck.h"

#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"

/* Places that are no addresses. */
#define KEY_GRID UINT64_C(0x4000000000000000)
#define KEY_CLUSTER UINT64_C(0x5000000000000000)

enum { LAST_TICK = INT32_MAX };

/* What was found last about entries in one place of cells: neighbours mostly hold the same. */
struct race_memo {
  uint32_t warp, clock;
  bool before;
};

enum { MEMO_WRITE, MEMO_READ, MEMO__N = MEMO_READ + 2 };

/* An access of a warp, while its lanes are looked at. */
struct race_step {
  struct racecheck *k;
  const struct watched_step *s;
  struct race_cta *cta;
  unsigned u;              /* the warp */
  struct race_entry entry; /* without its lane */
  bool writes, plain;      /* plain: a store that is neither strong nor part of a copy */
  bool own;                /* two lanes of one warp are of interest, too */
  struct race_memo memo[MEMO__N];
};

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

/* --- reports ------------------------------------------------------------------------------------------- */

/* blockIdx and threadIdx of a lane of any warp of the grid. */
static struct func_place place_of_lane(const struct step_source *s, uint32_t warp, unsigned lane)
{
  const uint64_t cta = warp / s->warps_per_cta, t = warp % s->warps_per_cta * UINT64_C(32) + lane;
  const uint64_t gx = s->grid[0], gy = s->grid[1], bx = s->block[0], by = s->block[1];
  return (struct func_place){.cta = {(uint32_t)(cta % gx), (uint32_t)(cta / gx % gy), (uint32_t)(cta / gx / gy)},
                             .thread = {(uint32_t)(t % bx), (uint32_t)(t / bx % by), (uint32_t)(t / bx / by)}};
}

static unsigned lane_of(const struct race_entry *e)
{
  return e->where >> RACE_LANE_AT & 31;
}

static struct finding_access access_of(const struct race_step *x, const struct race_entry *e, bool write,
                                       unsigned space)
{
  const struct watched_launch *l = x->s->l;
  const struct code_view *code = &l->params->code;
  const uint64_t index = e->where & ((1u << RACE_INST_BITS) - 1);
  struct finding_access a = {.pc = code->base + (index << code->shift), .space = (uint8_t)space,
                             .op = e->where & RACE_COPY     ? MEM_LDGSTS
                                   : e->where & RACE_ATOMIC ? MEM_ATOMIC
                                   : write                  ? MEM_STORE
                                                            : MEM_LOAD,
                             .at = place_of_lane(l->source, e->warp - 1, lane_of(e))};
  return a;
}

/* A plain store of what memory holds already. */
static bool is_silent(const struct race_step *x, unsigned lane, unsigned space, uint64_t addr)
{
  const unsigned bytes = x->s->e->mem->bytes;
  uint8_t now[MEM_MAX_BYTES], then[MEM_MAX_BYTES];
  uint64_t size;
  if (!x->plain || !x->writes) return false;
  if (space == MEM_SHARED && bytes == 4) {
    const uint32_t word = func_stored_word(x->s->e->mem, lane);
    const uint8_t *there = func_shared(x->s->cta, &size);
    return addr + bytes <= size && memcmp(&word, there + addr, sizeof word) == 0;
  }
  func_stored(x->s->e->mem, lane, now);
  if (space == MEM_GLOBAL) return gmem_read(x->s->l->mem, addr, then, bytes) && memcmp(now, then, bytes) == 0;
  const uint8_t *shared = func_shared(x->s->cta, &size);
  return addr + bytes <= size && memcmp(now, shared + addr, bytes) == 0;
}

struct race_pair {
  const struct race_entry *old;
  struct race_entry now;
  bool old_writes;
  unsigned space, lane;
  uint64_t addr; /* of the cell */
  uint32_t bytes;
};

static void report(const struct race_step *x, const struct race_pair *p, enum finding_level level, const char *what,
                   const char *detail)
{
  struct finding f = {.kind = FINDING_RACE, .level = level, .a = access_of(x, &p->now, x->writes, p->space),
                      .b = access_of(x, p->old, p->old_writes, p->space), .addr = p->addr};
  bool fresh;
  if (level < x->s->l->findings->least) return;
  snprintf(f.what, sizeof f.what, "%s", what);
  struct finding *to = finding_note(x->s->l->findings, &f, p->bytes, &fresh);
  if (fresh) snprintf(to->detail[0], sizeof to->detail[0], "%s", detail);
}

/* --- order --------------------------------------------------------------------------------------------- */

/* Whether a strong access reaches the other party: of a CTA's scope only its own. */
static bool in_scope(const struct race_step *x, const struct race_pair *p)
{
  const bool same = p->old->warp - 1 - x->cta->first < x->cta->n;
  return same || !((p->old->where | p->now.where) & RACE_OWN_CTA);
}

static bool is_before(struct race_step *x, const struct race_entry *e, unsigned memo)
{
  struct race_memo *m = &x->memo[memo];
  if (e->where & RACE_COPY) return race_copy_is_before(x->cta, x->u, e);
  if (e->warp == x->entry.warp) return true;
  if (e->warp == m->warp && e->clock == m->clock) return m->before;
  *m = (struct race_memo){.warp = e->warp, .clock = e->clock, .before = race_is_before(x->cta, x->u, e)};
  return m->before;
}

/* Two lanes of a warp, with nothing between them at which threads of a warp meet. */
static void check_own(const struct race_step *x, const struct race_pair *p)
{
  const bool one = (p->old->where ^ p->now.where) & ((1u << RACE_INST_BITS) - 1);
  if (p->old->clock != p->now.clock || lane_of(p->old) == p->lane || !one) return;
  if ((p->old->where & RACE_STRONG) || (p->now.where & RACE_STRONG)) return;
  report(x, p, LEVEL_WARNING, "(Warp Level Programming) ", "");
}

/* They are not ordered. */
static void judge(const struct race_step *x, const struct race_pair *p)
{
  const uint32_t strong = p->old->where & p->now.where & RACE_STRONG,
                 either = (p->old->where | p->now.where) & RACE_STRONG;
  if (p->old->where & RACE_COPY)
    report(x, p, LEVEL_ERROR, "", "The asynchronous copy was not waited for, or without a barrier behind the wait");
  else if (strong && in_scope(x, p)) return;
  else if (strong) report(x, p, LEVEL_ERROR, "", "An atomic or volatile access reaches threads of its own block only");
  else if (either) report(x, p, LEVEL_WARNING, "(Mixed) ", "One of them is atomic or volatile, the other is not");
  else if ((p->now.where | (p->old_writes && !x->writes ? p->old->where : 0)) & RACE_SILENT)
    report(x, p, LEVEL_NOTE, "(Same value) ", "The write does not change what is there");
  else report(x, p, LEVEL_ERROR, "", "");
}

static void check_pair(struct race_step *x, const struct race_pair *p, unsigned memo)
{
  if (!p->old->warp) return;
  if (!is_before(x, p->old, memo)) judge(x, p);
  else if (x->own && p->old->warp == x->entry.warp && !(p->old->where & RACE_COPY)) check_own(x, p);
}

/* --- cells --------------------------------------------------------------------------------------------- */

static void keep_read(struct race_step *x, struct race_cell *c, const struct race_entry *now)
{
  for (unsigned i = 0; i < 2; i++) {
    if (c->read[i].warp && !is_before(x, &c->read[i], MEMO_READ + i)) continue;
    c->read[i] = *now;
    return;
  }
}

/* Surely before: nobody, the own warp, or as the last that was looked at. */
static inline bool is_quick(const struct race_step *x, const struct race_entry *e, unsigned memo)
{
  const struct race_memo *m = &x->memo[memo];
  if (!e->warp) return true;
  if (e->where & RACE_COPY) return false;
  return e->warp == x->entry.warp || (e->warp == m->warp && e->clock == m->clock && m->before);
}

/* False: nothing has happened, it must be looked at closely. */
static inline bool pass_cell(const struct race_step *x, struct race_cell *c, const struct race_entry *now)
{
  if (x->own || !is_quick(x, &c->write, MEMO_WRITE) || !is_quick(x, &c->read[0], MEMO_READ)) return false;
  if (x->writes) {
    if (!is_quick(x, &c->read[1], MEMO_READ + 1)) return false;
    c->write = *now;
    c->read[0].warp = c->read[1].warp = 0;
  } else {
    c->read[0] = *now;
  }
  return true;
}

static void check_cell(struct race_step *x, struct race_cell *c, struct race_pair *p)
{
  if (pass_cell(x, c, &p->now)) return;
  p->old = &c->write, p->old_writes = true;
  check_pair(x, p, MEMO_WRITE);
  if (!x->writes) {
    keep_read(x, c, &p->now);
    return;
  }
  p->old_writes = false;
  for (unsigned i = 0; i < 2; i++) {
    p->old = &c->read[i];
    check_pair(x, p, MEMO_READ + i);
  }
  if (c->write.warp && p->now.where & RACE_SILENT && !is_before(x, &c->write, MEMO_WRITE)) return;
  c->write = p->now;
  c->read[0].warp = c->read[1].warp = 0;
}

/* Bytes [at, at + bytes) of a table. */
static void check_cells(struct race_step *x, struct race_table *t, uint64_t at, unsigned bytes, struct race_pair *p)
{
  const unsigned step = t->by_byte ? 1 : 4;
  const uint64_t base = p->addr - at;
  p->bytes = step;
  for (uint64_t i = at / step; i < div_up(at + bytes, step); i++) {
    p->addr = base + i * step;
    check_cell(x, &t->cell[i], p);
  }
}

static bool split(struct race_shadow *s, struct race_table *t, bool global)
{
  return t->by_byte || (global ? race_shadow_split(s, t) : race_table_split(t));
}

static struct race_table *table_of(const struct race_step *x, unsigned space, uint64_t addr, uint64_t *at)
{
  struct race_table *t;
  uint64_t size;
  if (space == MEM_GLOBAL) {
    *at = addr & (RACE_PAGE - 1);
    t = race_shadow_page(&x->k->shadow, addr);
    if (!t) x->k->skipped++;
    return t;
  }
  *at = addr;
  t = &x->cta->shared;
  if (t->cell) return t;
  func_shared(x->s->cta, &size);
  NO_MEMORY_IF(!race_table_init(t, (size + 3) & ~UINT64_C(3)));
  return t;
}

/* flags: of the entry, beside those of the step. */
static void check_lane(struct race_step *x, unsigned lane, unsigned space, uint64_t addr, unsigned bytes,
                       uint32_t flags)
{
  uint64_t at;
  struct race_pair p = {.now = x->entry, .space = space, .lane = lane, .addr = addr};
  p.now.where |= lane << RACE_LANE_AT | flags | (is_silent(x, lane, space, addr) ? RACE_SILENT : 0);
  struct race_table *t = table_of(x, space, addr, &at);
  if (!t || at + bytes > t->bytes) return;
  if ((bytes % 4 || addr % 4) && !split(&x->k->shadow, t, space == MEM_GLOBAL)) {
    x->k->skipped++;
    return;
  }
  check_cells(x, t, at, bytes, &p);
}

/* --- what strong accesses order -------------------------------------------------------------------------- */

static bool is_shared_sync(const struct race_step *x)
{
  return x->cta->places.n != 0;
}

/* Lanes that read a place learn what it holds. */
static void acquire(const struct race_step *x, unsigned space, uint64_t addr)
{
  const struct race_place *p =
      race_place_find(space == MEM_GLOBAL ? &x->k->places : &x->cta->places, addr & ~UINT64_C(3));
  if (p) race_acquire(x->cta, x->u, p);
}

static void release(const struct race_step *x, unsigned space, uint64_t addr)
{
  const uint64_t key = addr & ~UINT64_C(3);
  if (space == MEM_GLOBAL) race_release(x->cta, x->u, race_place_make(&x->k->places, key), false);
  else race_release_own(x->cta, x->u, race_place_make(&x->cta->places, key));
}

/* Objects in shared memory that order (mbarriers, locks, flags behind a fence) are known by atomics on them; plain
 * loads and stores of them are no less than that. */
static bool orders(const struct race_step *x, unsigned space, uint64_t addr)
{
  const struct mem_effect *me = x->s->e->mem;
  if (is_atomic(me->op) || (space == MEM_GLOBAL && me->strong) || (space == MEM_SHARED && me->strong)) return true;
  if (space != MEM_SHARED || me->op == MEM_LDGSTS) return false;
  if (me->op == MEM_STORE && x->cta->warp[x->u].fenced) return true;
  return is_shared_sync(x) && race_place_find(&x->cta->places, addr & ~UINT64_C(3));
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
  struct race_step x = {.k = k, .s = s, .cta = cta_of(k, s), .u = s->warp};
  x.entry = (struct race_entry){.warp = x.cta->first + x.u + 1, .clock = x.cta->warp[x.u].clock,
                                .where = (uint32_t)((s->e->pc - code->base) >> code->shift) | entry_flags(s)};
  x.writes = me->op == MEM_STORE || is_atomic(me->op);
  x.plain = me->op == MEM_STORE && !me->strong;
  x.own = s->l->findings->least <= LEVEL_WARNING;
  if (x.cta->tick >= LAST_TICK) k->off = true;
  return x;
}

/* One lane: what it learns, whether it races, what it leaves. */
static void access_lane(struct race_step *x, unsigned lane, unsigned space, uint64_t addr)
{
  const struct mem_effect *me = x->s->e->mem;
  if (space != MEM_GLOBAL && space != MEM_SHARED) return;
  const bool sync = orders(x, space, addr);
  if (sync) memset(x->memo, 0, sizeof x->memo); /* what is known changes */
  if (sync && me->op != MEM_STORE) acquire(x, space, addr);
  check_lane(x, lane, space, addr, me->bytes, sync && space == MEM_SHARED ? RACE_STRONG : 0);
  if (!sync || !x->writes) return;
  release(x, space, addr);
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

static void access_simple(struct race_step *x)
{
  const struct mem_effect *me = x->s->e->mem;
  const bool own = x->own || x->writes;
  uint64_t last = UINT64_MAX;
  for (uint32_t r = x->s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    if (me->addr[i] == last && !own) continue; /* the neighbour's read stands for this one */
    last = me->addr[i];
    check_lane(x, i, me->space, last, me->bytes, 0);
  }
}

static void access_lanes(struct race_step *x)
{
  const struct watched_step *s = x->s;
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    uint64_t addr;
    const enum mem_space space = func_lane_space(s->cta, s->warp, s->e->mem, i, &addr);
    access_lane(x, i, space, addr);
  }
}

/* Reads global memory; writes shared memory when it is waited for. */
static void access_ldgsts(struct race_step *x)
{
  const struct watched_step *s = x->s;
  const struct mem_effect *me = s->e->mem;
  struct race_step to = *x;
  to.writes = true;
  to.entry.clock = x->cta->warp[x->u].closed + 1;
  to.entry.where |= RACE_COPY;
  for (uint32_t r = s->lanes; r; r &= r - 1) {
    const unsigned i = bits_first(r), bytes = func_copied_bytes(me, i);
    if (bytes) check_lane(x, i, MEM_GLOBAL, me->addr[i], bytes, 0);
    check_lane(&to, i, MEM_SHARED, me->shared_addr[i], me->bytes, 0);
  }
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
  if (me->op == MEM_LDGSTS) access_ldgsts(&x);
  else if (is_simple(&x)) access_simple(&x);
  else access_lanes(&x);
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
