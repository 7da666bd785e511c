#include "time/sm/hazard.h"

#include <string.h>

#include "base/bug.h"
#include "time/sm/gap.h"

const char *const hazard_lat_name[LAT__N] = {
#define X(id, name) name,
    LAT_LIST(X)
#undef X
};

struct hazard *hazard_new(struct arena *a, const struct params *p)
{
  struct hazard *h = ARENA_NEW(a, struct hazard);
  h->params = p;
  h->writes = arena_array(a, SUB_CORE_MAX_WARPS, sizeof *h->writes, _Alignof(uint16_t));
  h->reads = arena_array(a, SUB_CORE_MAX_WARPS, sizeof *h->reads, _Alignof(uint16_t));
  h->pool = ARENA_ARRAY(a, struct hazard_access, HAZARD_POOL);
  h->free = HAZARD_NIL;
  memset(h->writes, 0xff, SUB_CORE_MAX_WARPS * sizeof *h->writes);
  memset(h->reads, 0xff, SUB_CORE_MAX_WARPS * sizeof *h->reads);
  return h;
}

void hazard_start(struct hazard *h)
{
  h->n_findings = 0;
  h->lost = 0;
  memset(h->least, 0, sizeof h->least);
}

/* --- accesses of a register ------------------------------------------------------------------- */

/* Takes the entry *at out of its list. */
static void forget(struct hazard *h, uint16_t *at)
{
  uint16_t i = *at;
  *at = h->pool[i].older;
  h->pool[i].older = h->free;
  h->free = i;
}

void hazard_new_warp(struct hazard *h, unsigned warp)
{
  for (unsigned r = 0; r < HAZARD_REGS; r++) {
    while (h->writes[warp][r] != HAZARD_NIL) forget(h, &h->writes[warp][r]);
    while (h->reads[warp][r] != HAZARD_NIL) forget(h, &h->reads[warp][r]);
  }
}

static void remember(struct hazard *h, uint16_t *list, struct hazard_access x)
{
  uint16_t i = h->free;
  if (i != HAZARD_NIL)
    h->free = h->pool[i].older;
  else if (h->fresh < HAZARD_POOL)
    i = h->fresh++;
  BUG_ON(i == HAZARD_NIL); /* lists are short: what is hidden or done goes */
  x.older = *list;
  h->pool[i] = x;
  *list = i;
}

/* --- findings --------------------------------------------------------------------------------- */

static void found(struct hazard *h, struct hazard_finding f)
{
  for (unsigned i = 0; i < h->n_findings; i++) {
    struct hazard_finding *o = &h->finding[i];
    if (o->kind != f.kind || o->first_pc != f.first_pc || o->second_pc != f.second_pc ||
        o->file != f.file || o->index != f.index)
      continue;
    o->count += f.count;
    if (f.missing > o->missing) o->missing = f.missing;
    return;
  }
  if (h->n_findings == HAZARD_MAX_FINDINGS)
    h->lost += f.count;
  else
    h->finding[h->n_findings++] = f;
}

static void report(struct hazard *h, enum hazard_kind kind, int reg, const struct inst *first,
                   const struct inst *second, uint32_t missing)
{
  static const struct {
    int first;
    enum reg_file file;
  } part[] = {{HAZARD_UP, FILE_UP}, {HAZARD_P, FILE_P}, {HAZARD_UR, FILE_UR}, {0, FILE_R}};
  unsigned k = 0;
  while (reg < part[k].first) k++;
  found(h, (struct hazard_finding){.kind = (uint8_t)kind,
                                   .file = (uint8_t)part[k].file,
                                   .index = (uint8_t)(reg - part[k].first),
                                   .counter = missing == 0,
                                   .missing = missing,
                                   .first_pc = first->pc,
                                   .second_pc = second->pc,
                                   .count = 1});
}

/* Shared memory at `address` is accessed by `second` while the LDGSTS `first` has not written it. */
static void hazard_shared(struct hazard *h, const struct inst *first, const struct inst *second,
                          uint32_t address)
{
  bool writes = second->mem.op == MEM_STORE || second->mem.op == MEM_RED;
  found(h, (struct hazard_finding){.kind = writes ? HAZARD_WAW : HAZARD_RAW,
                                   .file = FILE_NONE,
                                   .counter = true,
                                   .address = address,
                                   .first_pc = first->pc,
                                   .second_pc = second->pc,
                                   .count = 1});
}

/* --- reads ------------------------------------------------------------------------------------ */

static void check_read(struct hazard *h, const struct hazard_access *w, int reg,
                       const struct inst *in, enum hazard_role role, uint64_t now)
{
  if (w->variable) {
    bool chain = (w->inst->flags & INST_GMMA) && (in->flags & INST_GMMA); /* the units keep their order */
    if (w->done > now && !chain) report(h, HAZARD_RAW, reg, w->inst, in, 0);
    return;
  }
  uint64_t distance = now - w->issued;
  struct hazard_least *least = &h->least[w->inst->lat][role];
  uint32_t need = gap_cycles(h->params, w->inst->lat, role);
  if (distance < (1u << 20) && (least->cycles == 0 || distance < least->cycles))
    *least = (struct hazard_least){(uint32_t)distance, w->inst->pc, in->pc};
  if (distance < need) report(h, HAZARD_RAW, reg, w->inst, in, need - (uint32_t)distance);
}

/* Lanes of an access to a register: uniform registers belong to all. */
static lane_mask lanes_of(int reg, lane_mask lanes)
{
  bool vector = reg < HAZARD_UR || (reg >= HAZARD_P && reg < HAZARD_UP);
  return vector ? lanes : ~(lane_mask)0;
}

/* Each lane should see the latest write. `o`: NULL for the guard. */
static void check_source(struct hazard *h, unsigned warp, const struct inst *in,
                         const struct operand *o, int reg, lane_mask lanes, uint64_t now)
{
  lanes = lanes_of(reg, lanes);
  for (uint16_t i = h->writes[warp][reg]; i != HAZARD_NIL && lanes; i = h->pool[i].older) {
    const struct hazard_access *w = &h->pool[i];
    if (w->lanes & lanes)
      check_read(h, w, reg, in, o ? hazard_role_of(w->inst->pipe, in, o) : ROLE_GUARD, now);
    lanes &= ~w->lanes;
  }
}

static void check_sources(struct hazard *h, unsigned warp, const struct inst *in, lane_mask lanes,
                          uint64_t now)
{
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int reg = hazard_reg_number(&in->src[i], k);
      if (reg >= 0) check_source(h, warp, in, &in->src[i], reg, lanes, now);
    }
}

static void check_guard(struct hazard *h, unsigned warp, const struct inst *in, lane_mask lanes,
                        uint64_t now)
{
  enum { ALWAYS = 7 };
  if (in->guard != ALWAYS) check_source(h, warp, in, NULL, HAZARD_P + in->guard, lanes, now);
}

/* Of one kind of unit the later instruction reads later: the earlier one need not be kept. */
static bool reads_before(const struct hazard_access *r, const struct inst *in, lane_mask lanes)
{
  return r->inst->pipe == in->pipe && r->inst->mem.space == in->mem.space && !(r->lanes & ~lanes);
}

static void note_reads(struct hazard *h, unsigned warp, const struct inst *in, lane_mask lanes,
                       uint64_t now)
{
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int reg = hazard_reg_number(&in->src[i], k);
      if (reg < 0 || in->src[i].file != FILE_R) continue;
      uint16_t *list = &h->reads[warp][reg], *at = list;
      while (*at != HAZARD_NIL) {
        struct hazard_access *r = &h->pool[*at];
        if (r->done <= now || reads_before(r, in, lanes))
          forget(h, at);
        else
          at = &r->older;
      }
      remember(h, list, (struct hazard_access){.inst = in,
                                               .issued = now,
                                               .done = CYCLE_NEVER,
                                               .lanes = lanes,
                                               .seq = h->seq,
                                               .variable = true});
    }
}

/* --- writes ----------------------------------------------------------------------------------- */

/* A fixed-latency write that issues now lands before the older write `w`. Instructions of one unit
 * keep their order. */
static bool overtakes(const struct hazard *h, const struct hazard_access *w, int reg,
                      const struct inst *in, uint64_t now)
{
  if (w->variable) return w->done > now && w->inst->pipe != in->pipe;
  bool predicate = reg >= HAZARD_P;
  return w->issued + gap_least(h->params, w->inst->lat, predicate) >
         now + gap_least(h->params, in->lat, predicate);
}

static void write_fixed(struct hazard *h, unsigned warp, int reg, const struct inst *in,
                        lane_mask lanes, uint64_t now)
{
  for (uint16_t *at = &h->writes[warp][reg]; *at != HAZARD_NIL;) {
    struct hazard_access *w = &h->pool[*at];
    if ((w->lanes & lanes) && overtakes(h, w, reg, in, now))
      report(h, HAZARD_WAW, reg, w->inst, in, 0);
    w->lanes &= ~lanes;
    if (w->lanes)
      at = &w->older;
    else
      forget(h, at);
  }
  for (uint16_t i = h->reads[warp][reg]; i != HAZARD_NIL; i = h->pool[i].older) {
    const struct hazard_access *r = &h->pool[i];
    if ((r->lanes & lanes) && r->inst != in && r->done > now && r->inst->pipe != in->pipe)
      report(h, HAZARD_WAR, reg, r->inst, in, 0);
  }
}

static void note_writes(struct hazard *h, unsigned warp, const struct inst *in, lane_mask exec,
                        uint64_t now)
{
  bool variable = variable_latency(h->params, in);
  for (unsigned i = 0; i < in->n_dst; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int reg = hazard_reg_number(&in->dst[i], k);
      if (reg < 0) continue;
      lane_mask lanes = lanes_of(reg, exec);
      if (!variable) write_fixed(h, warp, reg, in, lanes, now);
      remember(h, &h->writes[warp][reg], (struct hazard_access){.inst = in,
                                                                .issued = now,
                                                                .done = CYCLE_NEVER,
                                                                .lanes = lanes,
                                                                .seq = h->seq,
                                                                .variable = variable});
    }
}

/* A variable-latency write lands: all older ones must have, and all older reads be done. */
static void landed(struct hazard *h, unsigned warp, int reg, uint32_t seq, uint64_t visible)
{
  uint16_t i = h->writes[warp][reg];
  while (i != HAZARD_NIL && h->pool[i].seq != seq) i = h->pool[i].older;
  if (i == HAZARD_NIL || !h->pool[i].variable || h->pool[i].done != CYCLE_NEVER) return;
  struct hazard_access *x = &h->pool[i];
  x->done = visible;
  for (uint16_t *at = &x->older; *at != HAZARD_NIL;) {
    struct hazard_access *w = &h->pool[*at];
    uint64_t lands =
        w->variable ? w->done : w->issued + gap_least(h->params, w->inst->lat, reg >= HAZARD_P);
    if ((w->lanes & x->lanes) && lands > visible) report(h, HAZARD_WAW, reg, w->inst, x->inst, 0);
    w->lanes &= ~x->lanes;
    if (w->lanes)
      at = &w->older;
    else
      forget(h, at);
  }
  for (uint16_t k = h->reads[warp][reg]; k != HAZARD_NIL; k = h->pool[k].older) {
    const struct hazard_access *r = &h->pool[k];
    if ((r->lanes & x->lanes) && r->seq < seq && r->done > visible)
      report(h, HAZARD_WAR, reg, r->inst, x->inst, 0);
  }
}

/* Whether what comes next may overwrite its sources too early. Control transfers and WARPSYNC take their registers
 * before the warp goes on (CUDA 12.0 overwrites WARPSYNC's mask in the next cycle, without a counter). */
static bool reads_late(const struct params *p, const struct inst *in)
{
  if (in->pipe == PIPE_BRANCH && in->flags & (INST_BRANCH | INST_CONVERGE)) return false;
  return variable_latency(p, in);
}

/* --- what the core says ----------------------------------------------------------------------- */

void hazard_issue(struct hazard *h, unsigned warp, const struct inst *in, uint32_t seq, lane_mask active,
                  lane_mask exec, uint64_t now)
{
  h->seq = seq;
  check_guard(h, warp, in, active, now);
  if (!exec) return;
  check_sources(h, warp, in, exec, now);
  if (reads_late(h->params, in)) note_reads(h, warp, in, exec, now);
  note_writes(h, warp, in, exec, now);
}

void hazard_written(struct hazard *h, unsigned warp, const struct inst *in, uint32_t seq,
                    uint64_t visible)
{
  for (unsigned i = 0; i < in->n_dst; i++)
    for (unsigned k = 0; k < in->dst[i].width; k++) {
      int reg = hazard_reg_number(&in->dst[i], k);
      if (reg >= 0) landed(h, warp, reg, seq, visible);
    }
}

void hazard_sources_read(struct hazard *h, unsigned warp, const struct inst *in, uint32_t seq,
                         uint64_t visible)
{
  for (unsigned i = 0; i < in->n_src; i++)
    for (unsigned k = 0; k < in->src[i].width; k++) {
      int reg = hazard_reg_number(&in->src[i], k);
      if (reg < 0) continue;
      for (uint16_t r = h->reads[warp][reg]; r != HAZARD_NIL; r = h->pool[r].older)
        if (h->pool[r].seq == seq) h->pool[r].done = visible;
    }
  /* A predicate result of a memory instruction says something of its address. */
  for (unsigned i = 0; in->mem.space != MEM_NONE && i < in->n_dst; i++) {
    int reg = in->dst[i].file == FILE_P ? hazard_reg_number(&in->dst[i], 0) : -1;
    if (reg >= 0) landed(h, warp, reg, seq, visible);
  }
}

void hazard_merge(struct hazard *into, const struct hazard *from)
{
  for (unsigned i = 0; i < from->n_findings; i++) found(into, from->finding[i]);
  into->lost += from->lost;
  for (unsigned c = 0; c < LAT__N; c++)
    for (unsigned r = 0; r < ROLE__N; r++) {
      const struct hazard_least *v = &from->least[c][r];
      struct hazard_least *o = &into->least[c][r];
      if (v->cycles && (o->cycles == 0 || v->cycles < o->cycles)) *o = *v;
    }
}

/* --- as an observer of an SM -------------------------------------------------------------------- */

static struct hazard *of(struct observer *o, unsigned sub_core)
{
  return ((struct hazard_set *)o)->of[sub_core];
}

static void start(struct observer *o)
{
  struct hazard_set *set = (struct hazard_set *)o;
  for (unsigned i = 0; i < set->n; i++) hazard_start(set->of[i]);
}

static void warp_begin(struct observer *o, const struct observed_warp *w, uint64_t now)
{
  (void)now;
  hazard_new_warp(of(o, w->sub_core), w->warp);
}

static void issue(struct observer *o, const struct observed *x, const struct observed_issue *how)
{
  if (x->inst->flags & INST_SYSCALL) return; /* the memory side steps it, and nothing is late there */
  hazard_issue(of(o, x->sub_core), x->warp, x->inst, x->seq, how->active, how->exec, how->at);
}

static void written(struct observer *o, const struct observed *x, uint64_t visible)
{
  hazard_written(of(o, x->sub_core), x->warp, x->inst, x->seq, visible);
}

static void sources_read(struct observer *o, const struct observed *x, uint64_t visible)
{
  hazard_sources_read(of(o, x->sub_core), x->warp, x->inst, x->seq, visible);
}

static void unordered(struct observer *o, unsigned sub_core, const struct inst *first, const struct inst *second,
                      uint32_t address)
{
  hazard_shared(of(o, sub_core), first, second, address);
}

static const struct observer_ops ops = {.start = start,
                                        .warp_begin = warp_begin,
                                        .issue = issue,
                                        .written = written,
                                        .sources_read = sources_read,
                                        .unordered = unordered};

struct hazard_set *hazard_set_new(struct arena *a, const struct params *p)
{
  struct hazard_set *set = ARENA_NEW(a, struct hazard_set);
  *set = (struct hazard_set){.observer = {.ops = &ops}, .n = p->sm_sub_cores};
  set->of = ARENA_ARRAY(a, struct hazard *, set->n);
  for (unsigned i = 0; i < set->n; i++) set->of[i] = hazard_new(a, p);
  return set;
}
