/* A step source for tests of the timing core: straight-line code, no values. Every step moves the
 * path to the next instruction; the last one exits; BAR waits for all warps. Records when each warp issued what. */
#ifndef TESTS_UNIT_TIME_MOCK_H
#define TESTS_UNIT_TIME_MOCK_H

#include <stdlib.h>
#include <string.h>

#include "isa/step.h"

enum { MOCK_MAX_INSTS = 128, MOCK_MAX_WARPS = 64, MOCK_BASE = 0x1000 };

struct mock_warp {
  struct step_warp step;
  unsigned id;
};

struct mock {
  struct step_source source;
  struct inst inst[MOCK_MAX_INSTS];
  struct step_cta cta;
  bool dense;          /* memory instructions touch memory, each lane the bytes behind those of the lane before */
  bool idle;           /* no lane executes memory instructions */
  unsigned at_barrier; /* warps */
  struct mock_warp warp[MOCK_MAX_WARPS];
  struct step_warp *warps[MOCK_MAX_WARPS];
  uint64_t issued[MOCK_MAX_WARPS][MOCK_MAX_INSTS]; /* cycle of issue */
};

static struct mock *mock_of(struct step_warp *w)
{
  return (struct mock *)w->cta->source;
}

static struct step_cta *mock_begin(struct step_source *s, uint64_t cta, unsigned worker,
                                   unsigned slot, unsigned smid)
{
  struct mock *m = (struct mock *)s;
  (void)worker, (void)slot, (void)smid;
  m->cta = (struct step_cta){.source = s,
                             .id = cta,
                             .n_warps = s->warps_per_cta,
                             .warps_left = s->warps_per_cta,
                             .warp = m->warps};
  for (unsigned i = 0; i < s->warps_per_cta; i++) {
    m->warp[i].id = i;
    m->warp[i].step.ops = s->ops;
    m->warp[i].step.cta = &m->cta;
    m->warp[i].step.paths = (struct step_paths){.n = 1, .n_ready = 1};
    m->warp[i].step.paths.p[0] = (struct step_path){.pc = MOCK_BASE, .mask = 0xffffffff};
    m->warps[i] = &m->warp[i].step;
  }
  return &m->cta;
}

static void mock_end(struct step_source *s, struct step_cta *c)
{
  (void)s, (void)c;
}

static uint32_t mock_barrier(struct mock *m, struct step_warp *w)
{
  w->paths.p[0].wait = PATH_WAIT_BAR;
  w->paths.n_ready = 0;
  if (++m->at_barrier < m->cta.n_warps) return EFF_BLOCKED;
  m->at_barrier = 0;
  for (unsigned i = 0; i < m->cta.n_warps; i++) {
    m->warps[i]->paths.p[0].wait = PATH_READY;
    m->warps[i]->paths.n_ready = 1;
  }
  return m->cta.n_warps > 1 ? EFF_BAR_RELEASED | EFF_MERGED : EFF_MERGED;
}

static uint32_t mock_access(const struct mock *m, struct effect *e)
{
  const struct inst_mem *in = &e->inst->mem;
  if (!m->dense || e->inst->pipe != PIPE_MEM) return 0;
  e->mem->space = in->space;
  e->mem->op = in->op;
  e->mem->bytes = in->bytes;
  e->mem->lanes = e->exec;
  for (unsigned i = 0; i < 32; i++) e->mem->addr[i] = (uint64_t)i * in->bytes;
  return EFF_MEM;
}

static bool mock_step(struct step_warp *w, unsigned path, struct effect *e, struct fault *f)
{
  struct mock *m = mock_of(w);
  struct step_path *p = &w->paths.p[path];
  (void)f;
  e->inst = code_at(&m->source.code, p->pc);
  e->pc = p->pc;
  e->active = p->mask;
  e->exec = m->idle && e->inst->pipe == PIPE_MEM ? 0 : p->mask;
  e->flags = mock_access(m, e);
  m->issued[((struct mock_warp *)w)->id][e->inst - m->inst] = e->clock - 1;
  p->pc += 16;
  if (e->inst->flags & INST_BAR) e->flags = mock_barrier(m, w);
  if (e->inst->flags & INST_EXIT) {
    w->paths.n = w->paths.n_ready = 0;
    e->flags = EFF_EXITED | EFF_WARP_DONE;
    if (--w->cta->warps_left == 0) e->flags |= EFF_CTA_DONE;
  }
  return true;
}

static bool mock_perform(struct step_warp *w, struct effect *e, lane_mask lanes,
                         struct gmem_view *v, struct fault *f)
{
  (void)w, (void)e, (void)lanes, (void)v, (void)f;
  return true;
}

static void mock_finish(struct step_warp *w, struct effect *e)
{
  (void)w, (void)e;
}

static const struct step_ops mock_ops = {.cta_begin = mock_begin,
                                         .cta_end = mock_end,
                                         .step = mock_step,
                                         .perform = mock_perform,
                                         .finish = mock_finish};

static inline struct inst mock_alu(unsigned stall, bool yield)
{
  return (struct inst){
      .pipe = PIPE_FRONT,
      .lat = LAT_NONE,
      .guard = 7,
      .ctrl = {.stall = (uint8_t)stall, .yield = yield, .write_sb = SB_NONE, .read_sb = SB_NONE}};
}

/* n instructions, then EXIT; `warps` warps in one CTA. */
static inline struct mock *mock_new(unsigned n, unsigned warps)
{
  struct mock *m = calloc(1, sizeof *m);
  for (unsigned i = 0; i <= n; i++) {
    m->inst[i] = mock_alu(1, false);
    m->inst[i].pc = MOCK_BASE + 16 * i;
  }
  m->inst[n].flags = INST_EXIT;
  m->source = (struct step_source){
      .ops = &mock_ops,
      .code = {.base = MOCK_BASE, .end = MOCK_BASE + 16 * (n + 1), .shift = 4, .inst = m->inst},
      .n_ctas = 1,
      .warps_per_cta = warps,
      .threads_per_cta = warps * 32,
      .lanes = 32,
      .regs_per_thread = 16,
      .grid = {1, 1, 1},
      .block = {warps * 32, 1, 1}};
  return m;
}

/* Replaces instruction i, keeping its pc. */
static inline void mock_set(struct mock *m, unsigned i, struct inst in)
{
  in.pc = m->inst[i].pc;
  m->inst[i] = in;
}

#endif
