#include "time/mem/gpc_code.h"

#include <string.h>

#include "base/bug.h"

void gpc_code_init(struct gpc_code *c, struct arena *a, const struct params *p)
{
  const uint32_t lines = p->gpc_code_bytes / LINE_BYTES;
  *c = (struct gpc_code){.params = p, .n_sets = (lines + p->l2_slices - 1) / p->l2_slices};
  if (!c->n_sets) return;
  BUG_ON(p->gpu_gpcs > 64);
  c->set = ARENA_ARRAY(a, struct gpc_code_set, c->n_sets);
  c->port = ARENA_ARRAY(a, struct server, p->gpu_gpcs);
  const uint64_t femtos = p->ideal_l2_bandwidth ? 0 : params_l2_clock_ps(p) * 1000 / p->gpc_code_bytes_per_cycle;
  for (unsigned i = 0; i < p->gpu_gpcs; i++) c->port[i].femtos_per_byte = femtos;
}

void gpc_code_start(struct gpc_code *c)
{
  if (c->filled) memset(c->set, 0, c->n_sets * sizeof *c->set);
  c->filled = false;
}

static struct gpc_code_set *set_of(const struct gpc_code *c, uint64_t line)
{
  return &c->set[line % c->n_sets];
}

struct server *gpc_code_port(struct gpc_code *c, const struct mem_req *r)
{
  if (r->kind != REQ_CODE || !c->n_sets) return NULL;
  const struct gpc_code_set *s = set_of(c, r->local);
  const unsigned gpc = params_gpc(c->params, r->from);
  return s->line == r->local + 1 && s->gpcs >> gpc & 1 ? &c->port[gpc] : NULL;
}

void gpc_code_note(struct gpc_code *c, const struct mem_req *r)
{
  if (r->kind != REQ_CODE || !c->n_sets) return;
  struct gpc_code_set *s = set_of(c, r->local);
  if (s->line != r->local + 1) *s = (struct gpc_code_set){.line = r->local + 1};
  s->gpcs |= (uint64_t)1 << params_gpc(c->params, r->from);
  c->filled = true;
}
