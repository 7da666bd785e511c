#include "sanitize/reg_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/host_memory.h"

void reg_shadow_init(struct reg_shadow *r)
{
  memset(r->unset, 0xff, sizeof r->unset);
  r->unset[HAZARD_P + 7] = 0; /* always true */
  r->origin = NULL;
}

void reg_shadow_free(struct reg_shadow *r)
{
  free(r->origin);
  r->origin = NULL;
}

/* Every bit of the result depends on every source register. */
static bool computes(unsigned sem)
{
  switch (sem) {
  case SEM_MOV: case SEM_MOV_64: case SEM_IADD3: case SEM_IADD_64: case SEM_VIADD: case SEM_LEA: case SEM_IABS:
  case SEM_IMAD: case SEM_IMAD_WIDE: case SEM_IMAD_HI: case SEM_ISETP: case SEM_ISETP_64: case SEM_FLO:
  case SEM_BREV: case SEM_POPC: case SEM_UMOV: case SEM_UMOV_64: case SEM_UIADD3: case SEM_UIADD3_64: case SEM_ULEA:
  case SEM_UIMAD: case SEM_UIMAD_WIDE: case SEM_UIMAD_HI: case SEM_UISETP: case SEM_UISETP_64: case SEM_FADD:
  case SEM_FMUL: case SEM_FFMA: case SEM_FSETP: case SEM_MUFU: case SEM_DADD: case SEM_DMUL: case SEM_DFMA:
  case SEM_CLMAD:
  case SEM_DSETP: case SEM_F2F: case SEM_F2I: case SEM_I2F: case SEM_FRND:
    return true;
  default:
    return false;
  }
}

/* Lanes in which some register of the operand is unset; whole: in which all are. */
static uint32_t unset_in(const struct reg_shadow *r, const struct operand *o, bool whole)
{
  uint32_t any = 0, all = UINT32_MAX;
  for (unsigned k = 0; k < o->width; k++) {
    const int reg = hazard_reg_number(o, k);
    const uint32_t lanes = reg < 0 ? 0 : r->unset[reg];
    any |= lanes;
    all &= lanes;
  }
  return whole && o->width ? all : any;
}

/* Where the unset value of the operand, in some of the lanes, was loaded; NULL: it was not. */
static const struct reg_origin *origin_in(const struct reg_shadow *r, const struct operand *o, uint32_t lanes)
{
  for (unsigned k = 0; r->origin && k < o->width; k++) {
    const int reg = hazard_reg_number(o, k);
    if (reg >= 0 && r->unset[reg] & lanes && r->origin[reg].pc) return &r->origin[reg];
  }
  return NULL;
}

static const struct reg_origin *origin_of_sources(const struct reg_shadow *r, const struct inst *in, uint32_t lanes)
{
  const struct reg_origin *from = NULL;
  for (unsigned i = 0; !from && i < in->n_src; i++) from = origin_in(r, &in->src[i], lanes);
  return from;
}

static bool is_predicate(const struct operand *o)
{
  return o->file == FILE_P || o->file == FILE_UP;
}

static uint32_t unset_source(const struct reg_shadow *r, const struct sass_src *src)
{
  const struct operand o = {.file = src->kind == SRC_UREG ? FILE_UR : FILE_R, .index = src->index, .width = 1};
  return src->kind == SRC_REG || src->kind == SRC_UREG ? unset_in(r, &o, false) : 0;
}

/* --- where a value decides --------------------------------------------------------------------------- */

static void report_load(const struct watched_step *s, uint32_t lanes, const struct reg_origin *from)
{
  struct finding f = {.kind = FINDING_UNINIT, .level = LEVEL_ERROR, .addr = from->addr,
                      .a = {.pc = from->pc, .space = from->space, .op = MEM_LOAD, .bytes = from->bytes,
                            .at = func_place_of(s->cta, s->warp, bits_first(lanes))}};
  bool fresh;
  (void)finding_note(s->l->findings, &f, bits_count(lanes), &fresh);
}

/* A load is reported once, not at each further use of what it left in the register. */
static void settle(struct reg_shadow *r, const struct operand *o, uint32_t lanes, uint64_t pc)
{
  for (unsigned k = 0; k < o->width; k++) {
    const int reg = hazard_reg_number(o, k);
    if (reg >= 0 && r->origin[reg].pc == pc) r->unset[reg] &= ~lanes;
  }
}

/* The instruction may leave some of its sources out of its result, which counts as set. */
static void lose(struct reg_shadow *r, const struct watched_step *s, uint32_t lanes)
{
  const struct inst *in = s->e->inst;
  const struct reg_origin *from = lanes ? origin_of_sources(r, in, lanes) : NULL;
  if (!from) return;
  report_load(s, lanes, from);
  for (unsigned i = 0; i < in->n_src; i++) settle(r, &in->src[i], lanes, from->pc);
}

static void report(struct reg_shadow *r, const struct watched_step *s, uint32_t lanes, const struct operand *o,
                   const char *use)
{
  static const char *const file[FILE__N] = {[FILE_R] = "R", [FILE_UR] = "UR", [FILE_P] = "P", [FILE_UP] = "UP"};
  struct finding f = {.kind = FINDING_REGISTER, .level = LEVEL_ERROR,
                      .a = {.pc = s->e->pc, .at = func_place_of(s->cta, s->warp, bits_first(lanes))}};
  const struct reg_origin *from = origin_in(r, o, lanes);
  bool fresh;
  if (from) {
    report_load(s, lanes, from);
    settle(r, o, lanes, from->pc);
    return;
  }
  snprintf(f.what, sizeof f.what, "Uninitialized register %s%u %s", file[o->file], (unsigned)o->index, use);
  (void)finding_note(s->l->findings, &f, bits_count(lanes), &fresh);
}

/* --- results ----------------------------------------------------------------------------------------- */

/* Of SEL and FSEL, which write no predicate: each lane has one of the two sources. */
static uint32_t selected_unset(const struct reg_shadow *r, const struct watched_step *s)
{
  const struct step_warp *w = s->cta->warp[s->warp];
  const struct sass_inst *in = watched_inst(s);
  uint32_t first = UINT32_MAX, predicate = 0;
  if (in->pp.index != SASS_PT) {
    const unsigned reg = (in->pp.uniform ? 0u + HAZARD_UP : 0u + HAZARD_P) + in->pp.index;
    struct reg_value v;
    w->ops->reg_read(w, reg, &v);
    first = (uint32_t)v.bits;
    predicate = r->unset[reg];
  }
  if (in->pp.neg) first = ~first;
  return (first & unset_source(r, &in->src[0])) | (~first & unset_source(r, &in->src[1])) | predicate;
}

/* Lanes in which what the instruction computes is unset. */
static uint32_t result_unset(struct reg_shadow *r, const struct watched_step *s)
{
  const struct inst *in = s->e->inst;
  const unsigned sem = watched_sem(s);
  uint32_t lanes = 0;
  if (sem == SEM_SEL || sem == SEM_FSEL) return selected_unset(r, s);
  for (unsigned i = 0; i < in->n_src; i++) {
    if (is_predicate(&in->src[i])) return 0; /* a comparison, or a carry, that it may decide alone */
    lanes |= unset_in(r, &in->src[i], false);
  }
  if (lanes && !computes(sem)) lose(r, s, lanes & (uint32_t)s->e->exec);
  return computes(sem) ? lanes : 0;
}

static void write_results(struct reg_shadow *r, const struct effect *e, uint32_t unset)
{
  const struct inst *in = e->inst;
  const uint32_t exec = (uint32_t)e->exec, active = (uint32_t)e->active;
  const struct reg_origin *from = unset & exec ? origin_of_sources(r, in, unset & exec) : NULL;
  const struct reg_origin origin = from ? *from : (struct reg_origin){0};
  for (unsigned i = 0; i < in->n_dst; i++) {
    const struct operand *o = &in->dst[i];
    const bool one = o->file == FILE_UR || o->file == FILE_UP;
    for (unsigned k = 0; k < o->width; k++) {
      const int reg = hazard_reg_number(o, k);
      if (reg < 0) continue;
      if (r->origin && unset & exec) r->origin[reg] = origin;
      if (one) r->unset[reg] = (r->unset[reg] & ~active) | (unset & exec ? active : 0);
      else r->unset[reg] = (r->unset[reg] & ~exec) | (unset & exec);
    }
  }
}

/* --- checks ------------------------------------------------------------------------------------------ */

static bool is_address(const struct inst *in, const struct operand *o)
{
  return o->file == FILE_R && (o->slot == 0 || in->mem.op == MEM_LDGSTS);
}

/* Its data are what others may see. What goes to local memory may be a register that is only saved, and much that
 * goes to shared memory is never read. */
static bool publishes(const struct watched_step *s)
{
  const struct mem_effect *me = s->e->mem;
  return s->e->flags & EFF_MEM && (me->op == MEM_STORE || is_atomic(me->op)) && me->space == MEM_GLOBAL;
}

/* Lanes whose data go to shared memory in a way that is not followed: combined with what is there, to another CTA,
 * or through each other's addresses. */
static uint32_t lost_lanes(const struct watched_step *s, uint32_t exec)
{
  const struct mem_effect *me = s->e->mem;
  if (!(s->e->flags & EFF_MEM) || (me->op != MEM_STORE && !is_atomic(me->op))) return 0;
  if (watched_sem(s) == SEM_STSM || me->space == MEM_CLUSTER) return exec;
  if (me->space == MEM_SHARED && is_atomic(me->op)) return exec;
  return me->space == MEM_GLOBAL && is_atomic(me->op) ? exec & (uint32_t)me->near_lanes : 0;
}

static uint32_t unset_data(const struct reg_shadow *r, const struct inst *in)
{
  uint32_t lanes = 0;
  for (unsigned i = 0; i < in->n_src; i++)
    if (in->src[i].file == FILE_R && !is_address(in, &in->src[i])) lanes |= unset_in(r, &in->src[i], false);
  return lanes;
}

static void check_access(struct reg_shadow *r, const struct watched_step *s, uint32_t exec)
{
  const struct inst *in = s->e->inst;
  const bool data = publishes(s);
  lose(r, s, unset_data(r, in) & lost_lanes(s, exec));
  for (unsigned i = 0; i < in->n_src; i++) {
    const struct operand *o = &in->src[i];
    const bool address = is_address(in, o);
    if (o->file != FILE_R || (!address && !data)) continue;
    /* A vector may have elements without a meaning: a structure's padding. */
    const uint32_t bad = unset_in(r, o, !address) & exec & ~(address ? 0 : (uint32_t)s->e->mem->near_lanes);
    if (bad) report(r, s, bad, o, address ? "as an address" : "goes to global memory");
  }
}

static void check_branch(struct reg_shadow *r, const struct watched_step *s, uint32_t exec)
{
  const struct inst *in = s->e->inst;
  for (unsigned i = 0; i < in->n_src; i++) {
    const uint32_t bad = unset_in(r, &in->src[i], false) & exec;
    if (bad && in->src[i].file == FILE_R) report(r, s, bad, &in->src[i], "decides where a branch goes");
  }
}

static void check_guard(struct reg_shadow *r, const struct watched_step *s)
{
  const struct operand guard = {.file = FILE_P, .index = s->e->inst->guard, .width = 1};
  const uint32_t bad = unset_in(r, &guard, false) & (uint32_t)s->e->active;
  if (bad) report(r, s, bad, &guard, "decides whether this is executed");
}

/* --- shared and local memory ------------------------------------------------------------------------- */

void reg_shadow_load(struct reg_shadow *r, const struct watched_step *s, unsigned lane, unsigned k, unsigned space,
                     uint64_t addr)
{
  const struct inst *in = s->e->inst;
  const int reg = in->n_dst && k < in->dst[0].width ? hazard_reg_number(&in->dst[0], k) : -1;
  if (reg < 0) return;
  if (!r->origin) r->origin = calloc(HAZARD_REGS, sizeof *r->origin);
  NO_MEMORY_IF(!r->origin);
  r->unset[reg] |= 1u << lane;
  r->origin[reg] = (struct reg_origin){
    .pc = s->e->pc, .addr = addr, .bytes = s->e->mem->bytes, .space = (uint8_t)space};
}

bool reg_shadow_stores_some_unset(const struct reg_shadow *r, const struct watched_step *s)
{
  const uint32_t lanes = r->origin ? unset_data(r, s->e->inst) & (uint32_t)s->e->exec : 0;
  return lanes && origin_of_sources(r, s->e->inst, lanes);
}

bool reg_shadow_stores_unset(const struct reg_shadow *r, const struct watched_step *s, unsigned lane, unsigned k)
{
  const struct inst *in = s->e->inst;
  for (unsigned i = 0; i < in->n_src && watched_sem(s) != SEM_STSM; i++) {
    const struct operand *o = &in->src[i];
    if (o->file != FILE_R || is_address(in, o) || k >= o->width) continue;
    const int reg = hazard_reg_number(o, k);
    return reg >= 0 && r->unset[reg] >> lane & 1 && r->origin && r->origin[reg].pc;
  }
  return false;
}

/* --- steps ------------------------------------------------------------------------------------------- */

static void add_reg(struct reg_use *use, int reg)
{
  const unsigned max = sizeof use->reg / sizeof *use->reg;
  if (reg < 0 || use->n == REG_USE_MANY) return;
  if (use->n == max) use->n = REG_USE_MANY;
  else use->reg[use->n++] = (uint16_t)reg;
}

static void add_operands(struct reg_use *use, const struct operand *o, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    for (unsigned k = 0; k < o[i].width; k++) add_reg(use, hazard_reg_number(&o[i], k));
}

static void add_source(struct reg_use *use, const struct sass_src *src)
{
  const struct operand o = {.file = src->kind == SRC_UREG ? FILE_UR : FILE_R, .index = src->index, .width = 1};
  if (src->kind == SRC_REG || src->kind == SRC_UREG) add_operands(use, &o, 1);
}

static void look_up(struct reg_use *use, const struct watched_step *s)
{
  const struct inst *in = s->e->inst;
  const struct sass_inst *sass = watched_inst(s);
  const unsigned sem = watched_sem(s);
  const struct operand guard = {.file = FILE_P, .index = in->guard, .width = 1};
  add_operands(use, &guard, 1);
  add_operands(use, in->src, in->n_src);
  add_operands(use, in->dst, in->n_dst);
  if (sem == SEM_SEL || sem == SEM_FSEL) {
    const struct operand p = {.file = sass->pp.uniform ? FILE_UP : FILE_P, .index = sass->pp.index, .width = 1};
    add_operands(use, &p, 1);
    add_source(use, &sass->src[0]);
    add_source(use, &sass->src[1]);
  }
  if (use->n == REG_USE_UNKNOWN) add_reg(use, HAZARD_P + 7); /* none: one that is always set */
}

static bool all_set(const struct reg_shadow *r, const struct reg_use *use)
{
  uint32_t unset = 0;
  if (use->n == REG_USE_MANY) return false;
  for (unsigned i = 0; i < use->n; i++) unset |= r->unset[use->reg[i]];
  return !unset;
}

void reg_shadow_step(struct reg_shadow *r, struct reg_use *use, const struct watched_step *s)
{
  const struct inst *in = s->e->inst;
  const uint32_t exec = (uint32_t)s->e->exec;
  const bool memory = in->mem.space != MEM_NONE && !in->mem.image && in->mem.copy == COPY_NONE;
  if (use->n == REG_USE_UNKNOWN) look_up(use, s);
  if (all_set(r, use)) return;
  if (in->guard != 7 && (memory || in->flags & (INST_BRANCH | INST_EXIT))) check_guard(r, s);
  if (memory) check_access(r, s, exec);
  else if (in->flags & INST_BRANCH) check_branch(r, s, exec);
  if (in->n_dst) write_results(r, s->e, memory ? 0 : result_unset(r, s));
}
