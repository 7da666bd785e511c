/* How many CTAs of a kernel one SM can hold, and what limits them (CUDA C++ Programming Guide,
 * "Multiprocessor Level"; allocation units from the preset). */
#ifndef WS_TIME_GPU_OCCUPANCY_H
#define WS_TIME_GPU_OCCUPANCY_H

#include "base/err.h"
#include "config/params.h"
#include "isa/step.h"

/* What an SM has for CTAs, or CTAs take of it. */
struct sm_space {
  uint32_t ctas, warps, registers, shared; /* registers: of 32 bits, as allocated; shared: bytes */
};

struct occupancy {
  unsigned ctas;           /* per SM */
  unsigned warps;          /* per SM */
  const char *limiter;     /* "warps", "CTA slots", "registers", "shared memory", "grid" */
  unsigned most;           /* CTAs per SM by the SM's limits, whatever the grid */
  struct sm_space cta;     /* what a CTA takes */
  uint32_t shared_per_cta; /* bytes, rounded, reserve included */
  uint32_t carveout;       /* bytes of the L1 array that serve as shared memory; … */
  uint32_t most_carveout;  /* … for `most` CTAs, which leaves room for other grids */
};

/* What an SM has; shared memory: with the largest carve-out. */
struct sm_space sm_space_of(const struct params *);

/* False when not even one CTA fits; e says which limit. */
bool occupancy_of(const struct params *, const struct step_source *, struct occupancy *,
                  struct err *e);

#endif
