#include "func/sass/cluster.h"

#include <stddef.h>

#include "base/bits.h"
#include "func/sass/paths.h"

struct func_cluster {
  uint32_t place[CLUSTER_MAX_CTAS]; /* of each CTA's block in cta_mem, from 1 on; 0: it is not running */
  uint32_t arrived, exited;         /* CTAs, without time: in this phase of the barrier; for good */
};

bool cluster_check(const struct func_params *p, struct err *e)
{
  const uint32_t *c = p->cluster;
  uint64_t n = (uint64_t)c[0] * c[1] * c[2];
  if (!c[0] && !c[1] && !c[2]) return true;
  for (unsigned i = 0; i < 3; i++)
    if (c[i] > CLUSTER_MAX_CTAS) n = UINT32_MAX; /* the product of three might not fit */
  if (p->sm < CLUSTER_FIRST_TARGET && n > 1)
    return err_set(e, "launch of %s in clusters: sm_%u has none; they begin with sm_%d", p->kernel_name, p->sm,
                   CLUSTER_FIRST_TARGET);
  if (n < 1 || n > CLUSTER_MAX_CTAS)
    return err_set(e, "cluster of %u x %u x %u CTAs; choose 1 to %d in all", c[0], c[1], c[2], CLUSTER_MAX_CTAS);
  for (unsigned i = 0; i < 3; i++)
    if (p->grid[i] % c[i])
      return err_set(e, "grid of %u x %u x %u CTAs is no multiple of the cluster of %u x %u x %u", p->grid[0],
                     p->grid[1], p->grid[2], c[0], c[1], c[2]);
  return p->n_workers > 1 || p->slots_per_worker >= n ||
         err_set(e, "cluster of %u CTAs; only %u are resident at once", (unsigned)n, p->slots_per_worker);
}

void cluster_init(struct func_launch *l)
{
  unsigned n = step_cluster_ctas(&l->source);
  if (n > 1)
    l->cluster = arena_array(&l->room->arena, l->source.n_ctas / n, sizeof *l->cluster, _Alignof(struct func_cluster));
}

static uint32_t all_of(const struct func_cta *c)
{
  return (1u << step_cluster_ctas(c->step.source)) - 1;
}

void cluster_join(struct func_cta *c)
{
  struct func_launch *l = (struct func_launch *)c->step.source;
  const uint32_t *s = l->p.cluster, *g = l->p.grid, *at = c->ctaid;
  if (!l->cluster) return;
  uint64_t nx = g[0] / s[0], ny = g[1] / s[1];
  c->rank = at[0] % s[0] + s[0] * (at[1] % s[1] + s[1] * (at[2] % s[2]));
  c->cluster = &l->cluster[at[0] / s[0] + nx * (at[1] / s[1] + ny * (at[2] / s[2]))];
  c->cluster->place[c->rank] = 1 + c->worker * l->p.slots_per_worker + c->slot;
}

void cluster_leave(struct func_cta *c)
{
  if (c->cluster) c->cluster->place[c->rank] = 0;
}

static struct func_cta *member(const struct func_cta *c, unsigned rank)
{
  const struct func_launch *l = (const struct func_launch *)c->step.source;
  uint32_t place = c->cluster->place[rank];
  return place ? (struct func_cta *)(void *)(l->cta_mem + l->cta_stride * (place - 1)) : NULL;
}

struct func_cta *cluster_member(const struct func_cta *c, unsigned rank)
{
  return c->cluster && rank < step_cluster_ctas(c->step.source) ? member(c, rank) : NULL;
}

uint8_t *cluster_shared(const struct func_cta *c, unsigned rank)
{
  struct func_cta *m = member(c, rank);
  return m && !(c->cluster->exited >> rank & 1) ? m->shared : NULL;
}

int cluster_worker(const struct step_cta *cta, unsigned rank)
{
  const struct func_cta *m = member((const struct func_cta *)cta, rank);
  return m ? (int)m->worker : -1;
}

/* A CTA that has exited is not expected any more. */
static bool arrive(const struct func_cta *c, bool exited)
{
  struct func_cluster *k = c->cluster;
  if (!k) return false;
  if (exited) k->exited |= 1u << c->rank;
  else k->arrived |= 1u << c->rank;
  if (!k->arrived || (k->arrived | k->exited) != all_of(c)) return false;
  k->arrived = 0;
  return true;
}

void cluster_release(struct step_cta *cta)
{
  path_cluster_release((struct func_cta *)cta);
}

void cluster_meet(struct func_cta *c, bool exited)
{
  if (!arrive(c, exited)) return;
  for (uint32_t r = all_of(c); r; r &= r - 1) {
    struct func_cta *m = member(c, bits_first(r));
    if (m) path_cluster_release(m);
  }
}
