#include "sanitize/race_judge.h"

/* What a pair of accesses that nothing orders is. */
enum race_kind { RACE_PLAIN, RACE_UNWAITED, RACE_SCOPE, RACE_MIXED, RACE_SAME_VALUE, RACE_OWN_WARP };

static const struct {
  enum finding_level level;
  const char *what, *detail;
} kinds[] = {
  [RACE_PLAIN] = {LEVEL_ERROR, "", ""},
  [RACE_UNWAITED] = {LEVEL_ERROR, "",
                     "The asynchronous copy was not waited for, or without a barrier behind the wait"},
  [RACE_SCOPE] = {LEVEL_ERROR, "", "An atomic or volatile access reaches threads of its own block only"},
  [RACE_MIXED] = {LEVEL_WARNING, "(Mixed) ", "One of them is atomic or volatile, the other is not"},
  [RACE_SAME_VALUE] = {LEVEL_NOTE, "(Same value) ", "The write does not change what is there"},
  [RACE_OWN_WARP] = {LEVEL_WARNING, "(Warp Level Programming) ", ""},
};

/* --- reports ------------------------------------------------------------------------------------------- */

/* blockIdx and threadIdx of a lane of any warp of the grid. */
static struct func_place place_of_lane(const struct step_source *s, uint32_t warp, unsigned lane)
{
  const uint64_t cta = warp / s->warps_per_cta, t = warp % s->warps_per_cta * UINT64_C(32) + lane;
  const uint64_t gx = s->grid[0], gy = s->grid[1], bx = s->block[0], by = s->block[1];
  return (struct func_place){.cta = {(uint32_t)(cta % gx), (uint32_t)(cta / gx % gy), (uint32_t)(cta / gx / gy)},
                             .thread = {(uint32_t)(t % bx), (uint32_t)(t / bx % by), (uint32_t)(t / bx / by)}};
}

static uint64_t inst_of(const struct race_entry *e)
{
  return e->where & ((1u << RACE_INST_BITS) - 1);
}

static struct finding_access access_of(const struct race_step *x, const struct race_entry *e, bool write,
                                       unsigned space)
{
  const struct watched_launch *l = x->s->l;
  const struct code_view *code = &l->params->code;
  struct finding_access a = {.pc = code->base + (inst_of(e) << code->shift), .space = (uint8_t)space,
                             .op = e->where & RACE_COPY     ? MEM_LDGSTS
                                   : e->where & RACE_ATOMIC ? MEM_ATOMIC
                                   : write                  ? MEM_STORE
                                                            : MEM_LOAD,
                             .at = place_of_lane(l->source, e->warp - 1, race_lane_of(e))};
  return a;
}

/* race_memo.told. */
static uint32_t report(const struct race_step *x, const struct race_pair *p, enum race_kind kind)
{
  struct findings *fs = x->s->l->findings;
  const uint64_t now = inst_of(&p->now), old = inst_of(p->old);
  const uint64_t key = UINT64_C(1) << 63 | (uint64_t)p->space << 56 | (uint64_t)kind << 48 | now << 24 | old;
  const size_t at = (now * 31 + old * 7 + kind) % (sizeof x->told->slot / sizeof *x->told->slot);
  const bool left_out = kinds[kind].level < fs->least;
  bool fresh;
  if (x->told->slot[at].key == key) {
    if (!left_out) finding_again(fs, x->told->slot[at].told - 1, p->bytes);
    return x->told->slot[at].told;
  }
  struct finding f = {.kind = FINDING_RACE, .level = kinds[kind].level,
                      .a = access_of(x, &p->now, x->writes, p->space),
                      .b = access_of(x, p->old, p->layer == RACE_WRITE, p->space), .addr = p->addr};
  snprintf(f.what, sizeof f.what, "%s", kinds[kind].what);
  struct finding *to = finding_note(fs, &f, p->bytes, &fresh);
  if (fresh) snprintf(to->detail[0], sizeof to->detail[0], "%s", kinds[kind].detail);
  if (!to && !left_out) return 0;
  x->told->slot[at].key = key;
  x->told->slot[at].told = left_out ? RACE_TOLD_NOTHING : (uint32_t)(to - fs->kept.item) + 1;
  return x->told->slot[at].told;
}

/* --- order --------------------------------------------------------------------------------------------- */

bool race_step_behind(struct race_step *x, const struct race_entry *e, unsigned layer)
{
  const struct race_known n = race_known_of(x);
  bool before;
  if (race_knows(&n, e, layer, &before)) return before;
  if (e->where & RACE_COPY) return race_copy_is_before(x->cta, x->u, e);
  before = race_is_before(x->cta, x->u, e);
  x->memo[layer] = (struct race_memo){.warp = e->warp, .clock = e->clock, .before = before};
  return before;
}

/* Two lanes of a warp, with nothing between them at which threads of a warp meet. */
static void check_own(const struct race_step *x, const struct race_pair *p)
{
  if (p->old->clock != p->now.clock || race_lane_of(p->old) == p->lane || inst_of(p->old) == inst_of(&p->now)) return;
  if ((p->old->where | p->now.where) & RACE_STRONG) return;
  (void)report(x, p, RACE_OWN_WARP);
}

/* They are not ordered. */
static uint32_t judge(const struct race_step *x, const struct race_pair *p)
{
  const uint32_t both = p->old->where & p->now.where, either = p->old->where | p->now.where;
  const uint32_t write = p->now.where | (p->layer == RACE_WRITE && !x->writes ? p->old->where : 0);
  const struct race_known n = race_known_of(x);
  if (p->old->where & RACE_COPY) return report(x, p, RACE_UNWAITED);
  if (race_are_strong(&n, p->old, &p->now)) return RACE_TOLD_NOTHING;
  if (both & RACE_STRONG) return report(x, p, RACE_SCOPE);
  if (either & RACE_STRONG) return report(x, p, RACE_MIXED);
  return report(x, p, write & RACE_SILENT ? RACE_SAME_VALUE : RACE_PLAIN);
}

void race_check_pair(struct race_step *x, const struct race_pair *p)
{
  if (!p->old->warp) return;
  if (race_step_behind(x, p->old, p->layer)) {
    if (x->own && p->old->warp == x->entry.warp && !(p->old->where & RACE_COPY)) check_own(x, p);
    return;
  }
  struct race_memo *m = &x->memo[p->layer];
  const uint32_t told = judge(x, p);
  if (p->old->where & RACE_COPY) return;
  m->old_where = p->old->where, m->now_where = p->now.where, m->told = told;
}
