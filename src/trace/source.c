#include "trace/source.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/host_memory.h"

enum { LANES = 32 };

struct warp {
  struct step_warp step; /* first */
  const struct trace_step *at, *end;
  int8_t waits_at; /* barrier number; -1: none */
};

struct cta {
  struct step_cta step; /* first */
  uint16_t arrived[TRACE_BARRIERS];
  struct step_warp **list;
  struct warp warp[];
};

struct trace_source {
  struct step_source step; /* first */
  const struct trace_kernel *k;
  const struct trace_code *code;
  struct cta **alive; /* [n_ctas]; a run that stops at a limit leaves some */
};

static struct trace_source *source_of(const struct step_cta *c)
{
  return (struct trace_source *)c->source;
}

/* ---- CTAs ---- */

static lane_mask lanes_of(const struct trace_source *s, unsigned warp)
{
  unsigned threads = s->step.threads_per_cta - warp * LANES;
  return bits_ones(threads < LANES ? threads : LANES);
}

static void warp_begin(struct trace_source *s, struct cta *c, unsigned i)
{
  const struct trace_warp_steps *t = &s->k->warp[c->step.id * s->k->warps_per_cta + i];
  struct warp *w = &c->warp[i];
  *w = (struct warp){.step = {.ops = s->step.ops, .cta = &c->step},
                     .at = s->k->step + t->first, .waits_at = -1};
  w->end = w->at + t->n;
  w->step.paths.n = w->step.paths.n_ready = 1;
  w->step.paths.p[0] = (struct step_path){.pc = s->code->pc[w->at->inst], .mask = lanes_of(s, i)};
  c->list[i] = &w->step;
}

static struct step_cta *cta_begin(struct step_source *source, uint64_t id, unsigned worker,
                                  unsigned slot, unsigned smid)
{
  struct trace_source *s = (struct trace_source *)source;
  unsigned n = source->warps_per_cta;
  struct cta *c = calloc(1, sizeof *c + n * sizeof c->warp[0] + n * sizeof c->list[0]);
  NO_MEMORY_IF(!c);
  (void)worker, (void)slot, (void)smid;
  c->list = (struct step_warp **)&c->warp[n];
  c->step = (struct step_cta){.source = source, .id = id, .n_warps = n, .warps_left = n,
                              .warp = c->list};
  for (unsigned i = 0; i < n; i++) warp_begin(s, c, i);
  s->alive[id] = c;
  return &c->step;
}

static void cta_end(struct step_source *s, struct step_cta *c)
{
  ((struct trace_source *)s)->alive[c->id] = NULL;
  free(c);
}

/* ---- barriers ---- */

static void wait_at(struct warp *w, int barrier)
{
  w->waits_at = (int8_t)barrier;
  w->step.paths.p[0].wait = barrier < 0 ? PATH_READY : PATH_WAIT_BAR;
  w->step.paths.n_ready = barrier < 0;
}

/* Lets the waiters of a barrier go when enough warps are there; those that have ended count. */
static bool release(struct cta *c, unsigned barrier, unsigned wanted)
{
  unsigned ended = c->step.n_warps - c->step.warps_left;
  bool any = false;
  if (wanted == 0 && c->arrived[barrier] + ended < c->step.n_warps) return false;
  if (wanted && c->arrived[barrier] < wanted) return false;
  c->arrived[barrier] = 0;
  for (unsigned i = 0; i < c->step.n_warps; i++) {
    if (c->warp[i].waits_at != (int)barrier) continue;
    wait_at(&c->warp[i], -1);
    any = true;
  }
  return any;
}

static uint32_t arrive(struct cta *c, struct warp *w, const struct trace_barrier *b)
{
  c->arrived[b->id]++;
  if (b->waits) wait_at(w, b->id);
  bool released = release(c, b->id, b->warps);
  return (w->waits_at >= 0 ? EFF_BLOCKED : 0) | (released ? EFF_BAR_RELEASED : 0);
}

/* A warp has ended: barriers that only waited for it open. */
static uint32_t leave(struct cta *c)
{
  bool released = false;
  c->step.warps_left--;
  for (unsigned b = 0; b < TRACE_BARRIERS; b++)
    if (c->arrived[b]) released |= release(c, b, 0);
  return EFF_EXITED | EFF_WARP_DONE | (released ? EFF_BAR_RELEASED : 0) |
         (c->step.warps_left ? 0 : EFF_CTA_DONE);
}

/* ---- steps ---- */

static lane_mask lanes_of_window(uint64_t base, const struct mem_effect *m)
{
  lane_mask in = 0;
  for (lane_mask r = base ? m->lanes : 0; r; r &= r - 1) {
    const unsigned i = bits_first(r);
    if (m->addr[i] >> 32 == base >> 32) in |= 1ull << i;
  }
  return in;
}

/* Generic addresses lie in two windows of 4 GiB, or in global memory. All in one window: an access of that memory, by
 * its own addresses. */
static void resolve(const struct trace_header *h, struct mem_effect *m)
{
  const lane_mask shared = lanes_of_window(h->shared_base, m), local = lanes_of_window(h->local_base, m);
  m->space = MEM_GLOBAL;
  if (!(shared | local)) return;
  if (shared != m->lanes && local != m->lanes) {
    m->near_lanes = shared | local;
    m->lanes &= ~m->near_lanes;
    return;
  }
  m->space = shared ? MEM_SHARED : MEM_LOCAL;
  for (lane_mask r = m->lanes; r; r &= r - 1) m->addr[bits_first(r)] &= UINT32_MAX;
}

/* Addresses of constants are bank << 32 | offset, those of scalar loads are global ones; a file may have any. */
static void cut_constants(struct mem_effect *m)
{
  enum { BANK_BITS = 5, GLOBAL_BITS = 49 };
  const unsigned bits = m->space == MEM_CONST ? 32 + BANK_BITS : GLOBAL_BITS;
  for (lane_mask r = m->lanes; r; r &= r - 1) m->addr[bits_first(r)] &= bits_ones(bits);
}

static void fill_memory(const struct trace_source *s, const struct trace_step *t,
                        const struct inst *in, struct mem_effect *m)
{
  m->space = in->mem.space;
  m->op = in->mem.op;
  m->bytes = in->mem.bytes;
  m->strong = in->mem.strong;
  m->n_texels = 0;
  m->lanes = t->where == TRACE_NO_ADDRESS ? 0 : t->lanes;
  m->near_lanes = 0;
  m->far = 0; /* traces name no CTA */
  if (m->lanes) trace_step_addresses(s->k, t, m->addr);
  if (m->space == MEM_GENERIC) resolve(&s->k->header, m);
  if (m->space == MEM_CONST || m->space == MEM_SCALAR) cut_constants(m);
  for (unsigned i = 0; i < LANES && in->mem.op == MEM_LDGSTS; i++)
    m->shared_addr[i] = i * in->mem.bytes;
}

static bool step(struct step_warp *sw, unsigned path, struct effect *e, struct fault *f)
{
  struct warp *w = (struct warp *)sw;
  struct cta *c = (struct cta *)sw->cta;
  struct trace_source *s = source_of(sw->cta);
  struct step_path *p = &sw->paths.p[path];
  const struct trace_step *t = w->at++;
  (void)f;
  e->pc = p->pc;
  e->inst = code_at(&s->code->view, e->pc);
  e->active = p->mask;
  e->exec = t->lanes;
  e->flags = 0;
  e->sleep_ns = 0;
  e->sleep_polls = e->waits = false;
  if (e->inst->mem.space != MEM_NONE && t->lanes) {
    fill_memory(s, t, e->inst, e->mem);
    e->flags |= EFF_MEM;
  }
  if (w->at == w->end) {
    sw->paths.n = sw->paths.n_ready = 0;
    e->flags |= leave(c);
    return true;
  }
  p->pc = s->code->pc[w->at->inst];
  if (p->pc != code_next(&s->code->view, e->pc)) e->flags |= EFF_JUMP;
  if (p->pc <= e->pc && e->inst->flags & INST_BRANCH) e->flags |= EFF_BACKWARD;
  if (e->inst->flags & INST_BAR && t->lanes) e->flags |= arrive(c, w, &s->code->barrier[t->inst]);
  return true;
}

/* Nothing to move: traces have no values. */
static bool perform(struct step_warp *w, struct effect *e, lane_mask lanes, struct gmem_view *v,
                    struct fault *f)
{
  (void)w, (void)e, (void)lanes, (void)v, (void)f;
  return true;
}

static void finish(struct step_warp *w, struct effect *e)
{
  (void)w, (void)e;
}

struct trace_source *trace_source_new(const struct trace_kernel *k, const struct trace_code *code)
{
  static const struct step_ops ops = {.cta_begin = cta_begin, .cta_end = cta_end, .step = step,
                                      .perform = perform, .finish = finish};
  const struct trace_header *h = &k->header;
  struct trace_source *s = calloc(1, sizeof *s);
  NO_MEMORY_IF(!s);
  s->alive = calloc(k->n_ctas, sizeof *s->alive);
  NO_MEMORY_IF(!s->alive && k->n_ctas);
  s->k = k;
  s->code = code;
  s->step = (struct step_source){
    .ops = &ops, .caps = code->control ? STEP_CAP_CONTROL : 0, .code = code->view,
    .entry_pc = code->entry_pc, .code_bytes = code->code_bytes,
    .n_ctas = k->n_ctas, .warps_per_cta = k->warps_per_cta,
    .threads_per_cta = h->block[0] * h->block[1] * h->block[2], .lanes = LANES,
    .regs_per_thread = h->regs, .shared_bytes = h->shared,
  };
  memcpy(s->step.grid, h->grid, sizeof h->grid);
  memcpy(s->step.block, h->block, sizeof h->block);
  return s;
}

void trace_source_free(struct trace_source *s)
{
  if (!s) return;
  for (uint64_t i = 0; i < s->step.n_ctas; i++) free(s->alive[i]);
  free(s->alive);
  free(s);
}

struct step_source *trace_step_source(struct trace_source *s)
{
  return &s->step;
}
