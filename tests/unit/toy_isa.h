/* A toy instruction set: all that the engine must not know. Warps of 64 lanes with an execution mask; words of 4 bytes, some
 * instructions have a second one; a scalar unit whose flag branches; counters for loads, stores and scalar loads that
 * S_WAIT lets be above zero; slots that hold control information only. Include after cmocka.h.
 *
 *   word   op 31:24 | d 23:18 | a 17:12 | b 11:6 | c 5:0; ops from TOY_LITERAL on: a literal follows
 */
#ifndef TESTS_UNIT_TOY_ISA_H
#define TESTS_UNIT_TOY_ISA_H

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "isa/step.h"

enum {
  TOY_LANES = 64, TOY_REGS = 16, TOY_MAX_WARPS = 8, TOY_MAX_WORDS = 1024, TOY_BASE = 0x1000, TOY_WORD = 4,
  TOY_LOADS = 0, TOY_STORES = 1, TOY_SCALAR_LOADS = 2, TOY_ANY = 63, /* counters; S_WAIT: may be anything */
};

enum toy_op {
  NOP, S_ADD, S_LESS, S_BRANCH, V_THREAD, V_ADD, V_MASK, V_UNMASK, S_WAIT, S_END,
  SLOT,              /* control information, no instruction */
  TOY_LITERAL = 128, /* from here on 8 bytes */
  NOP_LONG = TOY_LITERAL, S_SET, V_SET, V_SCALE, S_LOAD, V_LOAD, V_STORE,
};

struct toy {
  struct step_source source; /* first */
  uint32_t word[TOY_MAX_WORDS];
  unsigned n_words;
  struct inst inst[TOY_MAX_WORDS];
  uint32_t number[TOY_MAX_WORDS];
  uint32_t n_insts;
  uint64_t args[4];                /* S0 to S3 of every warp */
  uint64_t issued[TOY_MAX_WORDS];  /* warp 0 of CTA 0: cycle in which it issued instruction i last */
};

/* Appends an instruction; returns its place, for toy_branch. */
static inline unsigned toy(struct toy *t, enum toy_op op, unsigned d, unsigned a, unsigned b, unsigned c)
{
  t->word[t->n_words] = (uint32_t)op << 24 | d << 18 | a << 12 | b << 6 | c;
  return t->n_words++;
}

static inline unsigned toy_lit(struct toy *t, enum toy_op op, unsigned d, unsigned a, unsigned b, uint32_t literal)
{
  unsigned at = toy(t, op, d, a, b, 0);
  t->word[t->n_words++] = literal;
  return at;
}

/* While the scalar flag is set, on to the instruction at `place`. */
static inline void toy_branch(struct toy *t, unsigned place)
{
  t->word[t->n_words] = (uint32_t)S_BRANCH << 24 | ((place - t->n_words) & 0xffffff), t->n_words++;
}

struct toy_fields {
  unsigned op, d, a, b, c;
};

static inline struct toy_fields toy_fields(uint32_t w)
{
  return (struct toy_fields){w >> 24, w >> 18 & 63, w >> 12 & 63, w >> 6 & 63, w & 63};
}

static inline void toy_operand(struct operand list[], uint8_t *n, enum reg_file file, unsigned index)
{
  list[*n] = (struct operand){.file = (uint8_t)file, .index = (uint8_t)index, .width = 1, .slot = *n};
  (*n)++;
}

static inline void toy_unit(struct inst *in, enum pipe pipe, enum lat_class lat, unsigned stall, unsigned flags)
{
  in->pipe = (uint8_t)pipe, in->lat = (uint8_t)lat, in->ctrl.stall = (uint8_t)stall, in->flags = (uint16_t)flags;
}

/* Its counter is raised a cycle behind its issue: only then can the next instruction wait for it. */
static inline void toy_memory(struct inst *in, enum mem_op op, enum addr_kind addr, unsigned counter)
{
  toy_unit(in, PIPE_MEM, LAT_NONE, 2, 0);
  in->mem = (struct inst_mem){.space = MEM_GLOBAL, .op = (uint8_t)op, .bytes = 4, .addr = (uint8_t)addr};
  in->ctrl.write_sb = (uint8_t)counter;
}

static inline void toy_wait(struct inst *in, struct toy_fields w)
{
  const uint8_t at_most[] = {(uint8_t)w.a, (uint8_t)w.b, (uint8_t)w.c};
  for (unsigned c = 0; c < 3; c++) {
    if (at_most[c] == TOY_ANY) continue;
    in->ctrl.wait |= (uint8_t)(1u << c);
    if (at_most[c]) in->limit[in->n_limits++] = (struct inst_limit){(uint8_t)c, at_most[c]};
  }
}

static inline void toy_operands(struct inst *in, struct toy_fields w)
{
  const enum reg_file file = in->pipe == PIPE_SCALAR || w.op == S_LOAD ? FILE_S : FILE_R;
  if (in->pipe == PIPE_FRONT || in->pipe == PIPE_BRANCH) return;
  toy_operand(in->src, &in->n_src, in->pipe == PIPE_MEM ? FILE_S : file, w.a);
  toy_operand(in->src, &in->n_src, file, w.b);
  if (w.op == V_STORE) toy_operand(in->src, &in->n_src, FILE_R, w.d);
  else toy_operand(in->dst, &in->n_dst, file, w.d);
}

static inline struct inst toy_decode(uint32_t word, uint64_t pc)
{
  const struct toy_fields w = toy_fields(word);
  struct inst in = {.pc = pc, .guard = 7, .bytes = w.op >= TOY_LITERAL ? 8 : 4, .mnemonic = (uint16_t)w.op,
                    .ctrl = {.stall = 1, .write_sb = SB_NONE, .read_sb = SB_NONE}, .pipe = PIPE_FRONT, .lat = LAT_NONE};
  in.next = in.bytes;
  switch (w.op) {
  case S_ADD: case S_LESS: case S_SET: toy_unit(&in, PIPE_SCALAR, LAT_SCALAR, 2, 0); break;
  case V_THREAD: case V_ADD: case V_MASK: case V_UNMASK:
  case V_SET: case V_SCALE: toy_unit(&in, PIPE_ALU, LAT_ALU, 4, 0); break;
  case S_BRANCH: toy_unit(&in, PIPE_BRANCH, LAT_BRANCH, 1, INST_BRANCH); break;
  case S_END: toy_unit(&in, PIPE_BRANCH, LAT_BRANCH, 1, INST_EXIT); break;
  case S_LOAD: toy_memory(&in, MEM_LOAD, ADDR_UNIFORM, TOY_SCALAR_LOADS), in.mem.space = MEM_SCALAR; break;
  case V_LOAD: toy_memory(&in, MEM_LOAD, ADDR_REGULAR, TOY_LOADS); break;
  case V_STORE: toy_memory(&in, MEM_STORE, ADDR_REGULAR, TOY_STORES); break;
  case S_WAIT: toy_wait(&in, w); break;
  default: break;
  }
  toy_operands(&in, w);
  return in;
}

/* The program is written, but for its end. */
static inline void toy_build(struct toy *t)
{
  toy(t, S_END, 0, 0, 0, 0);
  for (unsigned i = 0; i < t->n_words;) {
    if (toy_fields(t->word[i]).op == SLOT) { /* none stands at the beginning */
      t->inst[t->n_insts - 1].next += TOY_WORD, i++;
    } else {
      t->inst[t->n_insts] = toy_decode(t->word[i], TOY_BASE + i * TOY_WORD);
      i += t->inst[t->n_insts++].bytes / TOY_WORD;
    }
  }
  t->source.code = code_mixed(t->inst, t->n_insts, TOY_BASE, TOY_BASE + t->n_words * TOY_WORD, 2, t->number);
}

/* --- the step source ---------------------------------------------------------------------------- */

struct toy_warp {
  struct step_warp step; /* first */
  uint32_t v[TOY_REGS][TOY_LANES];
  uint64_t s[TOY_REGS];
  lane_mask exec;
  bool flag;
  unsigned thread; /* of the grid: the first lane's */
  bool counted;    /* warp 0 of CTA 0 */
};

struct toy_cta {
  struct step_cta step; /* first */
  struct step_warp *list[TOY_MAX_WARPS];
  struct toy_warp warp[TOY_MAX_WARPS];
};

static struct step_cta *toy_cta_begin(struct step_source *s, uint64_t id, unsigned worker, unsigned slot, unsigned smid)
{
  struct toy_cta *c = calloc(1, sizeof *c);
  (void)worker, (void)slot, (void)smid;
  c->step = (struct step_cta){s, id, s->warps_per_cta, s->warps_per_cta, c->list};
  for (unsigned i = 0; i < s->warps_per_cta; i++) {
    struct toy_warp *w = &c->warp[i];
    w->step = (struct step_warp){.ops = s->ops, .cta = &c->step, .paths = {.n = 1, .n_ready = 1}};
    w->step.paths.p[0] = (struct step_path){.pc = s->entry_pc, .mask = ~(lane_mask)0};
    w->exec = ~(lane_mask)0;
    w->thread = (unsigned)(id * s->warps_per_cta + i) * TOY_LANES;
    w->counted = id == 0 && i == 0;
    memcpy(w->s, ((struct toy *)s)->args, sizeof ((struct toy *)s)->args);
    c->list[i] = &w->step;
  }
  return &c->step;
}

static void toy_cta_end(struct step_source *s, struct step_cta *c)
{
  (void)s;
  free(c);
}

static uint32_t toy_vector_value(const struct toy_warp *w, struct toy_fields x, uint32_t literal, unsigned lane)
{
  uint32_t a = w->v[x.a % TOY_REGS][lane], b = w->v[x.b % TOY_REGS][lane];
  switch (x.op) {
  case V_THREAD: return w->thread + lane;
  case V_ADD: return a + b;
  case V_SCALE: return a * literal;
  case V_MASK: return a < b;
  default: return literal; /* V_SET */
  }
}

static void toy_vector(struct toy_warp *w, struct toy_fields x, uint32_t literal)
{
  lane_mask kept = 0;
  if (x.op == V_UNMASK) w->exec = ~(lane_mask)0;
  for (lane_mask m = x.op == V_UNMASK ? 0 : w->exec; m; m &= m - 1) {
    unsigned i = bits_first(m);
    uint32_t v = toy_vector_value(w, x, literal, i);
    if (x.op == V_MASK) kept |= (lane_mask)v << i;
    else w->v[x.d % TOY_REGS][i] = v;
  }
  if (x.op == V_MASK) w->exec = kept;
}

static void toy_scalar(struct toy_warp *w, struct toy_fields x, uint32_t literal)
{
  uint64_t a = w->s[x.a % TOY_REGS], b = w->s[x.b % TOY_REGS];
  if (x.op == S_LESS) w->flag = a < b;
  else w->s[x.d % TOY_REGS] = x.op == S_ADD ? a + b : literal;
}

/* S base + literal + 4 * V index; of a scalar load without the index. */
static void toy_access(const struct toy_warp *w, const struct inst *in, struct toy_fields x, uint32_t literal, struct effect *e)
{
  struct mem_effect *m = e->mem;
  const bool scalar = x.op == S_LOAD;
  m->space = in->mem.space, m->op = in->mem.op, m->bytes = in->mem.bytes;
  m->strong = false;
  m->lanes = scalar ? 1 : w->exec, m->near_lanes = m->far = 0;
  for (unsigned i = 0; i < TOY_LANES; i++) {
    m->addr[i] = w->s[x.a % TOY_REGS] + literal + (scalar ? 0 : 4ull * w->v[x.b % TOY_REGS][i]);
    memcpy(m->data[i], &w->v[x.d % TOY_REGS][i], 4);
  }
  e->flags |= EFF_MEM;
}

static bool toy_fault(struct fault *f, enum fault_kind kind, uint64_t pc, uint64_t addr)
{
  *f = (struct fault){.kind = (uint8_t)kind, .pc = pc, .addr = addr};
  return false;
}

static bool toy_step(struct step_warp *sw, unsigned path, struct effect *e, struct fault *f)
{
  struct toy_warp *w = (struct toy_warp *)sw;
  struct toy *t = (struct toy *)sw->cta->source;
  struct step_path *p = &sw->paths.p[path];
  const struct inst *in = e->inst = code_at(&t->source.code, p->pc);
  if (!in) return toy_fault(f, FAULT_ILLEGAL_PC, p->pc, 0);
  const uint32_t *word = &t->word[(p->pc - TOY_BASE) / TOY_WORD], literal = in->bytes == 8 ? word[1] : 0;
  const struct toy_fields x = toy_fields(*word);
  e->pc = p->pc, e->active = p->mask, e->flags = 0;
  e->exec = in->pipe == PIPE_ALU || in->pipe == PIPE_MEM ? w->exec : p->mask;
  e->priv = (void *)(uintptr_t)word;
  if (w->counted) t->issued[in - t->inst] = e->clock - 1;
  p->pc += in->next;
  if (in->pipe == PIPE_SCALAR) toy_scalar(w, x, literal);
  if (in->pipe == PIPE_ALU) toy_vector(w, x, literal);
  if (in->pipe == PIPE_MEM) toy_access(w, in, x, literal, e);
  if ((in->flags & INST_BRANCH) && w->flag) {
    p->pc = e->pc + (uint64_t)(bits_sext(*word & 0xffffff, 24) * TOY_WORD);
    e->flags |= EFF_JUMP | EFF_BACKWARD;
  }
  if (in->flags & INST_EXIT) {
    sw->paths.n = sw->paths.n_ready = 0;
    e->flags |= EFF_EXITED | EFF_WARP_DONE | (--sw->cta->warps_left ? 0 : EFF_CTA_DONE);
  }
  return true;
}

static bool toy_perform(struct step_warp *w, struct effect *e, lane_mask lanes, struct gmem_view *v, struct fault *f)
{
  for (; lanes; lanes &= lanes - 1) {
    unsigned i = bits_first(lanes);
    bool ok = e->mem->op == MEM_STORE ? gmem_view_write(v, e->mem->addr[i], e->mem->data[i], 4)
                                      : gmem_view_read(v, e->mem->addr[i], e->mem->data[i], 4);
    if (!ok) return toy_fault(f, FAULT_ILLEGAL_ADDRESS, e->pc, e->mem->addr[i]);
  }
  (void)w;
  return true;
}

static void toy_finish(struct step_warp *sw, struct effect *e)
{
  struct toy_warp *w = (struct toy_warp *)sw;
  const struct toy_fields x = toy_fields(*(const uint32_t *)e->priv);
  for (lane_mask m = x.op == V_STORE ? 0 : e->mem->lanes; m; m &= m - 1) {
    uint32_t v, i = bits_first(m);
    memcpy(&v, e->mem->data[i], 4);
    if (x.op == S_LOAD) w->s[x.d % TOY_REGS] = v;
    else w->v[x.d % TOY_REGS][i] = v;
  }
}

/* An empty program for `ctas` of `warps`. */
static inline struct toy *toy_new(unsigned ctas, unsigned warps)
{
  static const struct step_ops ops = {.cta_begin = toy_cta_begin, .cta_end = toy_cta_end, .step = toy_step,
                                      .perform = toy_perform, .finish = toy_finish};
  struct toy *t = calloc(1, sizeof *t);
  t->source = (struct step_source){.ops = &ops, .caps = STEP_CAP_VALUES | STEP_CAP_CONTROL, .entry_pc = TOY_BASE,
                                   .n_ctas = ctas, .warps_per_cta = warps, .threads_per_cta = warps * TOY_LANES,
                                   .lanes = TOY_LANES, .in_order = 1 << TOY_LOADS | 1 << TOY_STORES,
                                   .regs_per_thread = TOY_REGS, .grid = {ctas, 1, 1}, .block = {warps * TOY_LANES, 1, 1}};
  return t;
}

#endif
