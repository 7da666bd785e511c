#include "time/sm/emulate.h"

#include <string.h>

#include "base/bits.h"
#include "base/bug.h"
#include "time/sm/gap.h"

enum {
  NIL = 0xffff,
  WIDEST = 8,         /* registers of the widest operand */
  IN_UNITS = 512,     /* pending registers of everything but the memory pipeline */
  FRAME_MAX = (INST_MAX_SRC + INST_MAX_DST) * WIDEST + 1,
  SAMPLES_MAX = INST_MAX_SRC * WIDEST,
};

/* One register of one result that not everyone sees yet. */
struct pending {
  uint16_t next, reg;
  uint8_t pipe, lat; /* of the producer */
  bool variable;
  uint32_t seq;
  lane_mask lanes;
  uint64_t issued;  /* fixed latency: cycle the producer issued */
  uint64_t lands;   /* is written: decides between two results; CYCLE_NEVER: not known yet */
  uint64_t visible; /* to everyone, from this issue cycle on; CYCLE_NEVER: not known yet */
  struct reg_value value;
};

/* A register's own value while another one is shown in its place. */
struct shown {
  uint16_t reg;
  struct reg_value own;
};

/* What a queued instruction read when it issued: predicates and uniform registers. */
struct samples {
  uint8_t n;
  struct sample {
    uint16_t reg;
    uint32_t word;
    lane_mask bits;
  } s[SAMPLES_MAX];
};

struct emulate {
  const struct params *params;
  uint16_t first[SUB_CORE_MAX_WARPS]; /* pending writes, in the order in which they land */
  struct pending *pool;
  uint16_t free;
  struct samples *samples; /* by transaction */
  unsigned n_shown;
  struct shown shown[FRAME_MAX];
};

static struct emulate *emulate_new(struct arena *a, const struct params *p)
{
  struct emulate *m = ARENA_NEW(a, struct emulate);
  unsigned size = IN_UNITS + p->mem_pending_entries * WIDEST;
  BUG_ON(size >= NIL);
  m->params = p;
  m->pool = ARENA_ARRAY(a, struct pending, size);
  m->samples = ARENA_ARRAY(a, struct samples, p->mem_pending_entries);
  for (unsigned i = 0; i < size; i++) m->pool[i].next = (uint16_t)(i + 1 < size ? i + 1 : NIL);
  for (unsigned i = 0; i < SUB_CORE_MAX_WARPS; i++) m->first[i] = NIL;
  return m;
}

static void release(struct emulate *m, uint16_t i)
{
  m->pool[i].next = m->free;
  m->free = i;
}

static void forget_warp(struct emulate *m, unsigned warp)
{
  while (m->first[warp] != NIL) {
    uint16_t i = m->first[warp];
    m->first[warp] = m->pool[i].next;
    release(m, i);
  }
}

/* --- the list --------------------------------------------------------------------------------- */

static bool is_predicate(unsigned reg)
{
  return reg >= HAZARD_P;
}

static void insert(struct emulate *m, unsigned warp, uint16_t i)
{
  uint16_t *at = &m->first[warp];
  while (*at != NIL && m->pool[*at].lands <= m->pool[i].lands) at = &m->pool[*at].next;
  m->pool[i].next = *at;
  *at = i;
}

/* Entries that no read still to come can miss go to the registers. */
static void retire(struct emulate *m, unsigned warp, struct step_warp *w, uint64_t until)
{
  uint64_t lag = m->params->mem_front_cycles; /* queued reads look back by as much */
  while (m->first[warp] != NIL) {
    uint16_t i = m->first[warp];
    struct pending *e = &m->pool[i];
    if (e->visible == CYCLE_NEVER || e->visible + lag > until) return;
    w->ops->reg_write(w, e->reg, e->lanes, &e->value);
    m->first[warp] = e->next;
    release(m, i);
  }
}

static void add(struct emulate *m, unsigned warp, const struct pending *e)
{
  uint16_t i = m->free;
  BUG_ON(i == NIL);
  m->free = m->pool[i].next;
  m->pool[i] = *e;
  insert(m, warp, i);
}

void emulate_settle(struct emulate *m, unsigned warp, struct warp_slot *w)
{
  retire(m, warp, w->step, CYCLE_NEVER - 1);
}

static void set_visible(struct emulate *m, unsigned warp, uint32_t seq, bool predicates,
                        uint64_t visible)
{
  uint16_t *at = &m->first[warp], moved = NIL;
  while (*at != NIL) {
    uint16_t i = *at;
    struct pending *e = &m->pool[i];
    bool due = e->seq == seq && e->visible == CYCLE_NEVER && (!predicates || is_predicate(e->reg));
    if (!due) {
      at = &e->next;
      continue;
    }
    *at = e->next;
    e->lands = e->visible = visible;
    e->next = moved;
    moved = i;
  }
  for (uint16_t next; moved != NIL; moved = next) {
    next = m->pool[moved].next;
    insert(m, warp, moved);
  }
}

/* --- what an instruction sees ------------------------------------------------------------------- */

/* A source: the operand, or NULL for the guard. */
static bool sees(const struct emulate *m, const struct pending *e, const struct inst *in,
                 const struct operand *o, uint64_t at)
{
  if (e->variable) return e->visible <= at;
  enum hazard_role role = o ? hazard_role_of(e->pipe, in, o) : ROLE_GUARD;
  return e->issued + gap_cycles(m->params, e->lat, role) <= at;
}

static void merge(struct reg_value *v, const struct pending *e)
{
  v->bits = (v->bits & ~e->lanes) | (e->value.bits & e->lanes);
  for (unsigned k = 0; k < LANES_MAX; k++)
    if (e->lanes >> k & 1) v->lane[k] = e->value.lane[k];
}

/* The register's value once all writes that land until `at` are there. True: it differs from the
 * register's own. */
static bool value_at(const struct emulate *m, unsigned warp, unsigned reg, uint64_t at,
                     struct reg_value *v)
{
  bool any = false;
  for (uint16_t i = m->first[warp]; i != NIL && m->pool[i].lands <= at; i = m->pool[i].next) {
    if (m->pool[i].reg != reg) continue;
    any = true;
    merge(v, &m->pool[i]);
  }
  return any;
}

/* The register's value as a source read at `at` sees it. True: it differs from the register's own. */
static bool visible_value(const struct emulate *m, unsigned warp, unsigned reg,
                          const struct inst *in, const struct operand *o, uint64_t at,
                          struct reg_value *v)
{
  bool any = false;
  for (uint16_t i = m->first[warp]; i != NIL; i = m->pool[i].next) {
    const struct pending *e = &m->pool[i];
    if (e->reg != reg || !sees(m, e, in, o, at)) continue;
    any = true;
    merge(v, e);
  }
  return any;
}

static struct shown *find_shown(struct emulate *m, unsigned reg)
{
  for (unsigned i = 0; i < m->n_shown; i++)
    if (m->shown[i].reg == reg) return &m->shown[i];
  return NULL;
}

/* Remembers the register's own value. */
static struct shown *keep(struct emulate *m, struct step_warp *w, unsigned reg)
{
  struct shown *s = find_shown(m, reg);
  if (s) return s;
  BUG_ON(m->n_shown == FRAME_MAX);
  s = &m->shown[m->n_shown++];
  s->reg = (uint16_t)reg;
  w->ops->reg_read(w, reg, &s->own);
  return s;
}

static void restore(struct emulate *m, struct step_warp *w)
{
  for (unsigned i = 0; i < m->n_shown; i++)
    w->ops->reg_write(w, m->shown[i].reg, ~(lane_mask)0, &m->shown[i].own);
  m->n_shown = 0;
}

static void show(struct emulate *m, unsigned warp, struct step_warp *w, unsigned reg,
                 const struct inst *in, const struct operand *o, uint64_t at)
{
  if (m->first[warp] == NIL) return;
  struct reg_value v;
  w->ops->reg_read(w, reg, &v);
  if (!visible_value(m, warp, reg, in, o, at, &v)) return;
  keep(m, w, reg);
  w->ops->reg_write(w, reg, ~(lane_mask)0, &v);
}

/* A uniform guard is one of the sources (@!UP1 UBLKCP). */
static void show_guard(struct emulate *m, unsigned warp, struct step_warp *w,
                       const struct inst *in, uint64_t now)
{
  enum { ALWAYS = 7 };
  for (unsigned i = 0; i < in->n_src; i++) {
    int reg = in->src[i].file == FILE_UP ? hazard_reg_number(&in->src[i], 0) : -1;
    if (reg >= 0) show(m, warp, w, (unsigned)reg, in, &in->src[i], now);
  }
  if (in->guard != ALWAYS) show(m, warp, w, HAZARD_P + in->guard, in, NULL, now);
}

/* --- results ------------------------------------------------------------------------------------ */

static void keep_results(struct emulate *m, struct step_warp *w, const struct inst *in)
{
  for (unsigned i = 0; i < in->n_dst; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int reg = hazard_reg_number(&in->dst[i], k);
      if (reg >= 0) keep(m, w, (unsigned)reg);
    }
}

static bool is_source(const struct inst *in, int reg)
{
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++)
      if (hazard_reg_number(&in->src[i], k) == reg) return true;
  return false;
}

/* A result that is only part of its register (R2UR.OR, a byte, a half) joins what is there when it is
 * written, not at issue. */
static void show_results(struct emulate *m, unsigned warp, struct step_warp *w,
                         const struct inst *in, uint64_t now)
{
  for (unsigned i = 0; i < in->n_dst && m->first[warp] != NIL; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int reg = hazard_reg_number(&in->dst[i], k);
      if (reg < 0 || is_source(in, reg)) continue;
      struct reg_value v;
      w->ops->reg_read(w, (unsigned)reg, &v);
      uint64_t lands = now + gap_least(m->params, in->lat, is_predicate((unsigned)reg));
      if (!value_at(m, warp, (unsigned)reg, lands, &v)) continue;
      keep(m, w, (unsigned)reg);
      w->ops->reg_write(w, (unsigned)reg, ~(lane_mask)0, &v);
    }
}

static bool same_value(const struct reg_value *a, const struct reg_value *b, unsigned reg, lane_mask lanes)
{
  if (is_predicate(reg)) return !((a->bits ^ b->bits) & lanes);
  for (; lanes; lanes &= lanes - 1)
    if (a->lane[bits_first(lanes)] != b->lane[bits_first(lanes)]) return false;
  return true;
}

enum results { RESULTS_ALL, RESULTS_EARLY, RESULTS_LATE };

/* Puts the results in the list. Instructions that no lane executes write nothing, but some uniform ones
 * write whatever the lanes say. */
static void take_results(struct emulate *m, unsigned warp, struct step_warp *w,
                         const struct effect *effect, uint32_t seq, uint64_t issued, enum results which)
{
  const struct inst *in = effect->inst;
  const lane_mask exec = effect->exec;
  bool variable = variable_latency(m->params, in);
  for (unsigned i = 0; i < in->n_dst; i++) {
    const struct operand *o = &in->dst[i];
    bool uniform = o->file == FILE_UR || o->file == FILE_UP;
    if (!exec && !uniform) continue;
    for (unsigned k = 0; k < o->width; k++) {
      int reg = hazard_reg_number(o, k);
      if (reg < 0) continue;
      if (which != RESULTS_ALL && is_predicate((unsigned)reg) != (which == RESULTS_EARLY)) continue;
      struct pending e = {.reg = (uint16_t)reg,
                          .pipe = in->pipe,
                          .lat = in->lat,
                          .variable = variable,
                          .seq = seq,
                          .lanes = uniform ? effect->active : exec,
                          .issued = issued};
      w->ops->reg_read(w, (unsigned)reg, &e.value);
      if (!exec && same_value(&e.value, &find_shown(m, (unsigned)reg)->own, (unsigned)reg, e.lanes)) continue;
      bool predicate = is_predicate((unsigned)reg);
      e.lands = variable ? CYCLE_NEVER : issued + gap_least(m->params, in->lat, predicate);
      e.visible = variable ? CYCLE_NEVER : issued + gap_most(m->params, in->lat, predicate);
      add(m, warp, &e);
    }
  }
}

/* --- steps -------------------------------------------------------------------------------------- */

/* A queued instruction reads all but vector registers now. */
static void sample(struct emulate *m, unsigned warp, struct step_warp *w, const struct effect *effect,
                   struct samples *s, uint64_t now)
{
  const struct inst *in = effect->inst;
  s->n = 0;
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int reg = hazard_reg_number(&in->src[i], k);
      if (reg < 0 || in->src[i].file == FILE_R) continue;
      struct reg_value v;
      w->ops->reg_read(w, (unsigned)reg, &v);
      visible_value(m, warp, (unsigned)reg, in, &in->src[i], now, &v);
      s->s[s->n++] = (struct sample){(uint16_t)reg, v.lane[bits_first(effect->active)], v.bits};
    }
}

static void show_samples(struct emulate *m, struct step_warp *w, const struct samples *s)
{
  for (unsigned i = 0; i < s->n; i++) {
    struct reg_value v = {.bits = s->s[i].bits};
    for (unsigned k = 0; k < LANES_MAX; k++) v.lane[k] = s->s[i].word;
    keep(m, w, s->s[i].reg);
    w->ops->reg_write(w, s->s[i].reg, ~(lane_mask)0, &v);
  }
}

bool emulate_step(struct emulate *m, unsigned warp, struct warp_slot *slot, const struct inst *in, uint32_t seq,
                  struct effect *e, struct txn *t, struct fault *f, uint64_t now)
{
  struct step_warp *w = slot->step;
  retire(m, warp, w, now);
  show_guard(m, warp, w, in, now);
  bool moved = w->ops->begin(w, slot->path, e);
  if (moved) restore(m, w); /* the guard register may be a source, too, in another role */
  if (t) t->seq = seq;
  if (t && moved) {
    sample(m, warp, w, e, &m->samples[t->id], now);
    t->unread = true;
    return true;
  }
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int reg = hazard_reg_number(&in->src[i], k);
      if (reg >= 0) show(m, warp, w, (unsigned)reg, in, &in->src[i], now);
    }
  keep_results(m, w, in);
  if (e->exec) show_results(m, warp, w, in, now);
  bool ok = w->ops->execute(w, e, f);
  if (ok) take_results(m, warp, w, e, seq, now, RESULTS_ALL);
  restore(m, w);
  return ok;
}

void emulate_open(struct emulate *m, struct warp_slot *slot, const struct txn *t, uint64_t address,
                  uint64_t data, unsigned step, uint64_t now)
{
  enum { ADDRESS_SLOT = 0 };
  struct step_warp *w = slot->step;
  const struct inst *in = t->inst;
  retire(m, t->warp, w, now);
  show_samples(m, w, &m->samples[t->id]);
  for (unsigned i = 0; i < in->n_src; i++) {
    const struct operand *o = &in->src[i];
    for (unsigned k = 0; o->file == FILE_R && k < o->width; k++) {
      int reg = hazard_reg_number(o, k);
      uint64_t at = o->slot == ADDRESS_SLOT ? address : data;
      if (o->slot != ADDRESS_SLOT) data += step;
      if (reg >= 0) show(m, t->warp, w, (unsigned)reg, in, o, at);
    }
  }
  keep_results(m, w, in);
}

void emulate_close(struct emulate *m, struct warp_slot *slot, const struct txn *t,
                   bool only_predicates)
{
  if (!t->tries) /* a try_wait that waits has none yet */
    take_results(m, t->warp, slot->step, &t->access->effect, t->seq, t->issued,
                 only_predicates ? RESULTS_EARLY : RESULTS_ALL);
  restore(m, slot->step);
}

void emulate_finish(struct emulate *m, struct warp_slot *slot, struct txn *t)
{
  struct step_warp *w = slot->step;
  keep_results(m, w, t->inst);
  w->ops->finish(w, &t->access->effect);
  take_results(m, t->warp, w, &t->access->effect, t->seq, t->issued,
               t->inst->mem.may_wait ? RESULTS_ALL : RESULTS_LATE);
  restore(m, w);
}

/* --- as an observer of an SM -------------------------------------------------------------------- */

static struct emulate *of(struct observer *o, unsigned sub_core)
{
  return ((struct emulate_set *)o)->of[sub_core];
}

static void warp_begin(struct observer *o, const struct observed_warp *w, uint64_t now)
{
  (void)now;
  forget_warp(of(o, w->sub_core), w->warp);
}

/* A consumer that waits for the counter may issue from `visible` on: the results can be read earlier. */
static void written(struct observer *o, const struct observed *x, uint64_t visible)
{
  struct emulate *m = of(o, x->sub_core);
  set_visible(m, x->warp, x->seq, false, visible - m->params->counter_path_cycles);
}

/* Predicate results of an access to memory say something of its address. */
static void sources_read(struct observer *o, const struct observed *x, uint64_t visible)
{
  struct emulate *m = of(o, x->sub_core);
  bool access = x->inst->pipe == PIPE_MEM && x->inst->mem.space != MEM_NONE;
  if (access) set_visible(m, x->warp, x->seq, true, visible - m->params->counter_path_cycles);
}

static const struct observer_ops ops = {.warp_begin = warp_begin, .written = written, .sources_read = sources_read};

struct emulate_set *emulate_set_new(struct arena *a, const struct params *p)
{
  struct emulate_set *set = ARENA_NEW(a, struct emulate_set);
  set->observer.ops = &ops;
  set->of = ARENA_ARRAY(a, struct emulate *, p->sm_sub_cores);
  for (unsigned i = 0; i < p->sm_sub_cores; i++) set->of[i] = emulate_new(a, p);
  return set;
}
