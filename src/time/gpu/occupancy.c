#include "time/gpu/occupancy.h"

#include "base/arith.h"

static void limit(struct occupancy *o, unsigned ctas, const char *name)
{
  if (ctas >= o->ctas) return;
  o->ctas = ctas;
  o->limiter = name;
}

/* Registers are allocated per warp. */
static unsigned registers_of_warp(const struct params *p, const struct step_source *s)
{
  return (unsigned)round_up((s->regs_per_thread ? s->regs_per_thread : 1) * s->lanes, p->sm_register_granule);
}

/* Warps whose registers fit: each sub-core has its own register file. */
static unsigned warps_by_registers(const struct params *p, unsigned per_warp)
{
  return p->sm_registers / p->sm_sub_cores / per_warp * p->sm_sub_cores;
}

struct sm_space sm_space_of(const struct params *p)
{
  return (struct sm_space){p->sm_max_ctas, p->sm_max_warps, p->sm_registers, p->sm_shared_bytes};
}

static uint32_t carveout_for(const struct params *p, uint32_t bytes)
{
  const struct param_list *c = &p->sm_shared_carveouts_kib;
  for (uint32_t i = 0; i < c->n; i++)
    if (c->v[i] * 1024 >= bytes) return c->v[i] * 1024;
  return p->sm_shared_bytes;
}

/* The carve-out that a launch prefers: the next one that the array has, and room for a CTA at least. The CTAs are those
 * that it has room for (cuda_occupancy.h of CUDA 13, cudaOccSMemPreferenceVoltaPlus). */
static uint32_t preferred_carveout(const struct params *p, const struct step_source *s, uint32_t per_cta)
{
  const uint32_t asked = (uint32_t)((uint64_t)p->sm_shared_bytes * (s->shared_share - 1u) / 100);
  return carveout_for(p, asked > per_cta ? asked : per_cta);
}

/* ideal.occupancy: warps and CTA slots alone. What there was without it stays the carve-out's business. */
static void limit_by_warps(const struct params *p, unsigned warps, struct occupancy *o)
{
  if (!o->ctas) return;
  o->ctas = p->sm_max_ctas;
  o->limiter = "CTA slots";
  limit(o, p->sm_max_warps / warps, "warps");
}

/* SMs of the GPC that has most. */
static unsigned sms_of_a_gpc(const struct params *p)
{
  unsigned most = 0, sms[64] = {0};
  for (unsigned i = 0; i < p->gpu_sms; i++) {
    unsigned *here = &sms[params_gpc(p, i)];
    if (++*here > most) most = *here;
  }
  return most;
}

/* CTAs of the grid for each SM; of a cluster, all of which runs in one GPC, perhaps more. */
static uint64_t grid_share(const struct params *p, const struct step_source *s)
{
  const uint64_t even = div_up(s->n_ctas, p->gpu_sms);
  const unsigned n = step_cluster_ctas(s);
  return n > 1 ? later(even, div_up(n, sms_of_a_gpc(p))) : even;
}

static bool cluster_fits(const struct params *p, const struct step_source *s, unsigned per_sm, struct err *e)
{
  const unsigned n = step_cluster_ctas(s), room = n > 1 ? sms_of_a_gpc(p) * per_sm : per_sm;
  return n <= room || err_set(e, "cluster of %u CTAs; a GPC of %s holds %u of this kernel", n, p->name, room);
}

bool occupancy_of(const struct params *p, const struct step_source *s, struct occupancy *o,
                  struct err *e)
{
  unsigned warps = s->warps_per_cta, per_warp = registers_of_warp(p, s);
  *o = (struct occupancy){.ctas = p->sm_max_ctas, .limiter = "CTA slots"};
  o->shared_per_cta =
      (uint32_t)round_up(s->shared_bytes + p->sm_shared_reserved_per_cta, p->sm_shared_granule);
  limit(o, p->sm_max_warps / warps, "warps");
  limit(o, warps_by_registers(p, per_warp) / warps, "registers");
  const uint32_t preferred = s->shared_share ? preferred_carveout(p, s, o->shared_per_cta) : 0;
  if (o->shared_per_cta) limit(o, (preferred ? preferred : p->sm_shared_bytes) / o->shared_per_cta, "shared memory");
  unsigned limited = o->ctas;
  if (p->ideal_occupancy) limit_by_warps(p, warps, o);
  if (o->ctas == 0)
    return err_set(e,
                   "no CTA fits on an SM of %s: limited by %s (%u warps, %u registers per thread, "
                   "%u bytes of shared memory per CTA)",
                   p->name, o->limiter, warps, s->regs_per_thread, s->shared_bytes);
  if (!cluster_fits(p, s, o->ctas, e)) return false;
  o->most = o->ctas;
  o->most_carveout = carveout_for(p, limited * o->shared_per_cta);
  o->cta = (struct sm_space){1, warps, warps * per_warp, o->shared_per_cta};
  if (p->ideal_occupancy) o->cta.registers = o->cta.shared = 0;
  const uint64_t share = grid_share(p, s);
  if (share < o->ctas) limit(o, (unsigned)share, "grid");
  o->warps = o->ctas * warps;
  if (o->ctas < limited) limited = o->ctas;
  o->carveout = carveout_for(p, limited * o->shared_per_cta);
  if (s->shared_share) o->carveout = o->most_carveout = preferred;
  return true;
}
