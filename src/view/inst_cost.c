#include "view/inst_cost.h"

#include "base/bug.h"
#include "base/host_memory.h"
#include "load/live_code.h"

void inst_cost_add(struct inst_cost *c, const struct gpu_inst_profile *p, uint64_t i)
{
  BUG_ON(p->n_states > INST_COST_MAX_STATES);
  for (unsigned k = 0; k < p->n_states; k++) {
    c->state[k] += p->by_inst[i * p->n_states + k];
    c->cycles += p->by_inst[i * p->n_states + k];
  }
  c->issued += p->issued[i];
  c->threads += p->threads[i];
  c->sectors += p->sectors[i];
  if (p->sectors[i]) c->requests += p->issued[i];
  c->passes += p->passes[i];
  c->conflicts += p->conflicts[i];
}

void inst_cost_add_all(struct inst_cost *to, const struct inst_cost *from, unsigned n_states)
{
  to->cycles += from->cycles;
  to->issued += from->issued;
  to->threads += from->threads;
  to->sectors += from->sectors;
  to->requests += from->requests;
  to->passes += from->passes;
  to->conflicts += from->conflicts;
  for (unsigned k = 0; k < n_states; k++) to->state[k] += from->state[k];
}

struct live_count *inst_live_new(const struct report *r)
{
  const struct code_view *code = &r->launch->params.code;
  if (!r->module) return NULL;
  struct live_count *live = mem_zeroed(code_count(code) + 1, sizeof *live);
  if (module_live_registers(r->module, code, live)) return live;
  mem_free(live);
  return NULL;
}

bool line_row_names(const struct line_row *row)
{
  return row && row->line && row->file != LINE_NONE;
}
