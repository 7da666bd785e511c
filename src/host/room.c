#include "host/room.h"

#include <limits.h>

#include "time/gpu/occupancy.h"

/* CTAs per SM, 0: none. */
static unsigned ctas_of(const struct params *p, const struct step_source *s)
{
  struct occupancy o;
  return occupancy_of(p, s, &o, NULL) ? o.most : 0;
}

/* An SM with more than enough of everything. */
static struct params roomy(const struct params *p)
{
  struct params most = *p;
  most.sm_max_warps = most.sm_max_ctas = 1u << 20;
  most.sm_registers = most.sm_shared_bytes = 1u << 30;
  return most;
}

/* Everything but registers is as large as it gets. */
static unsigned by_registers(const struct params *p, const struct step_source *s)
{
  struct params only = roomy(p);
  only.sm_registers = p->sm_registers;
  return ctas_of(&only, s);
}

static unsigned by_shared(const struct params *p, const struct step_source *s)
{
  struct params only = roomy(p);
  only.sm_shared_bytes = p->sm_shared_bytes;
  return ctas_of(&only, s);
}

static struct room_step fewer_registers(const struct params *p, const struct step_source *s, unsigned now)
{
  struct step_source less = *s;
  while (less.regs_per_thread > 1) {
    less.regs_per_thread--;
    unsigned ctas = ctas_of(p, &less);
    if (ctas > now) return (struct room_step){ctas, less.regs_per_thread};
  }
  return (struct room_step){0};
}

static struct room_step less_shared(const struct params *p, const struct step_source *s, unsigned now)
{
  struct step_source less = *s;
  unsigned unit = p->sm_shared_granule;
  while (less.shared_bytes) {
    less.shared_bytes = less.shared_bytes > unit ? less.shared_bytes - unit : 0;
    unsigned ctas = ctas_of(p, &less);
    if (ctas > now) return (struct room_step){ctas, less.shared_bytes};
  }
  return (struct room_step){0};
}

bool room_of(const struct params *p, const struct launch *l, struct room *r)
{
  const struct step_source *s = func_source(l->func);
  unsigned ctas = ctas_of(p, s);
  *r = (struct room){.is = {.slots = p->sm_max_ctas, .warps = p->sm_max_warps / s->warps_per_cta, .ctas = ctas,
                            .warps_of_cta = s->warps_per_cta, .max_warps = p->sm_max_warps,
                            .regs_per_thread = s->regs_per_thread, .shared_bytes = s->shared_bytes}};
  if (!ctas) return false;
  r->is.registers = by_registers(p, s);
  r->is.shared = s->shared_bytes || p->sm_shared_reserved_per_cta ? by_shared(p, s) : UINT_MAX;
  r->registers = fewer_registers(p, s, ctas);
  r->shared = less_shared(p, s, ctas);
  return true;
}
