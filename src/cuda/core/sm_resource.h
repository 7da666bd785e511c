/* SMs as a resource that programs split and name (CUDA Driver API, Green Contexts): which SMs a resource has stands in
 * it, in bytes that are the driver's own, and is checked when it comes back.
 *
 *   split   groups are of one size and disjoint: at least what was asked for and what the compute capability wants, a
 *           multiple of what that wants; each such piece lies in one GPC
 *           Or groups of different sizes, each of pieces of its own size, that the program names one by one
 *   name    a descriptor stands for a set of SMs of a GPU; the same set has the same one, as long as the process lives
 */
#ifndef WS_CUDA_SM_RESOURCE_H
#define WS_CUDA_SM_RESOURCE_H

#include "base/core_set.h"
#include "cuda/core/api.h"

struct board;
struct shim;

struct sm_group {
  struct sm_group *next;
  const struct board *board;
  struct core_set sms;
};

/* All SMs of a GPU, or a group's (NULL: all). type: what the program asks for. */
CUresult sm_resource_give(const struct board *, const struct sm_group *, CUdevResource *, int type);
/* result NULL: only counts. `rest` may be NULL. */
CUresult sm_resource_split(struct shim *, CUdevResource *result, unsigned *n, const CUdevResource *from,
                           CUdevResource *rest, unsigned flags, unsigned least);
/* n groups; those that ask for no count get one. result NULL: only that. */
CUresult sm_resource_split_each(struct shim *, CUdevResource *result, unsigned n, const CUdevResource *from,
                                CUdevResource *rest, unsigned flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *);
/* Of SMs and, if the program likes, of how queues are shared, which has no effect. */
CUresult sm_resource_name(struct shim *, CUdevResourceDesc *, const CUdevResource *, unsigned n);
/* NULL: it is no descriptor. */
const struct sm_group *sm_group_of(const struct shim *, CUdevResourceDesc);
/* What the dispatcher is told: NULL: all SMs. */
const struct core_set *sm_group_cores(const struct sm_group *);

#endif
