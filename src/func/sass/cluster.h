/* Private to func/: thread block clusters. CTAs of a cluster are resident at the same time, see each other's shared
 * memory and have a barrier of their own (PTX ISA, "Cluster of Cooperative Thread Arrays", barrier.cluster, mapa).
 *
 * A shared address in a register, and the low word of a generic one, is CTA number in the cluster << 24 | offset
 * (compiler output: mapa is a PRMT of that byte).
 */
#ifndef WS_FUNC_SASS_CLUSTER_H
#define WS_FUNC_SASS_CLUSTER_H

#include "func/sass/func_launch.h"
#include "func/sass/func_warp.h"

/* CTAs of a cluster: 8, or 16 where a kernel allows sizes that are not portable (CUDA programming guide). */
enum { CLUSTER_SHIFT = 24, CLUSTER_MAX_CTAS = 16, CLUSTER_FIRST_TARGET = 90 };

/* Whether the cluster size of a launch is possible. */
bool cluster_check(const struct func_params *, struct err *e);
/* State for the clusters of the grid, when there are any. */
void cluster_init(struct func_launch *);

/* A CTA begins (rank and cluster from its ctaid), ends: from then on its shared memory is gone. */
void cluster_join(struct func_cta *);
void cluster_leave(struct func_cta *);

/* Shared memory of CTA number `rank` of the cluster of c; NULL: it is not running. */
uint8_t *cluster_shared(const struct func_cta *c, unsigned rank);

/* CTA number `rank` of the cluster of c; NULL: there is none, or it is not running. */
struct func_cta *cluster_member(const struct func_cta *c, unsigned rank);

/* step_ops (isa/step.h) */
void cluster_release(struct step_cta *);
int cluster_worker(const struct step_cta *, unsigned rank);
/* Without time: all threads of the CTA have arrived at the barrier, or exited. The last CTA of the cluster releases
 * all. */
void cluster_meet(struct func_cta *, bool exited);

/* Where addresses of the CTA's own shared memory start. */
static inline uint32_t cluster_base(const struct func_cta *c)
{
  return c->rank << CLUSTER_SHIFT;
}

#endif
