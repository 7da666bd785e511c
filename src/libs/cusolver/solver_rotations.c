/* How a solution by rotations (syevj, gesvdj) shall end: programs hold it, but it is noted nowhere, as kernels end when
 * nothing is left to turn. */
#include <stdlib.h>

#include "libs/cusolver/solver_types.h"

static solver_status create(void **out)
{
  if (!out) return SOLVER_INVALID_VALUE;
  *out = calloc(1, 1);
  return *out ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

static solver_status destroy(void *info)
{
  free(info);
  return SOLVER_SUCCESS;
}

static solver_status is_there(const void *info)
{
  return info ? SOLVER_SUCCESS : SOLVER_INVALID_VALUE;
}

#define ROTATIONS(Name, name)                                                                                      \
  PUBLIC solver_status cusolverDnCreate##Name##Info(void **out) { return create(out); }                            \
  PUBLIC solver_status cusolverDnDestroy##Name##Info(void *info) { return destroy(info); }                         \
  PUBLIC solver_status cusolverDnX##name##SetTolerance(void *info, double tolerance)                               \
  {                                                                                                                \
    (void)tolerance;                                                                                               \
    return is_there(info);                                                                                         \
  }                                                                                                                \
  PUBLIC solver_status cusolverDnX##name##SetMaxSweeps(void *info, int sweeps)                                     \
  {                                                                                                                \
    (void)sweeps;                                                                                                  \
    return is_there(info);                                                                                         \
  }                                                                                                                \
  PUBLIC solver_status cusolverDnX##name##SetSortEig(void *info, int sort)                                         \
  {                                                                                                                \
    (void)sort;                                                                                                    \
    return is_there(info);                                                                                         \
  }
ROTATIONS(Syevj, syevj)
ROTATIONS(Gesvdj, gesvdj)
