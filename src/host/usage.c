#include "host/usage.h"

#include <string.h>

#include "base/host_memory.h"
#include "time/gpu/gpu.h"
#include "time/gpu/netlist.h"
#include "time/msg.h"

#define X(id, key) [USAGE_##id] = key,
const char *const usage_key[USAGE__N] = {USAGE_LIST(X)};
#undef X

struct usage {
  struct usage_point point[USAGE_POINTS];
  unsigned n;
  uint64_t distance; /* least between two points, ps */
  /* Of the run. */
  uint64_t begun, cycle;           /* ps */
  uint64_t before[USAGE__N];       /* counters when it began */
  uint64_t looked, warps, warp_ps; /* when it was looked at, since then; warps; their sum over time */
};

struct usage *usage_new(void)
{
  return mem_zeroed(1, sizeof(struct usage));
}

void usage_free(struct usage *u)
{
  mem_free(u);
}

const struct usage_point *usage_points(const struct usage *u, unsigned *n)
{
  *n = u->n;
  return u->point;
}

/* --- points ------------------------------------------------------------------------------------- */

/* Every second one goes, but not the first. */
static void thin(struct usage *u)
{
  unsigned kept = 1;
  for (unsigned i = 2; i < u->n; i += 2) u->point[kept++] = u->point[i];
  u->n = kept;
  u->distance *= 2;
}

static bool is_due(const struct usage *u, uint64_t at)
{
  return at - u->point[u->n - 1].at >= u->distance;
}

void usage_start(struct usage *u, uint64_t distance)
{
  *u = (struct usage){.n = 1, .distance = distance ? distance : 1};
}

void usage_add(struct usage *u, uint64_t at, const uint64_t amount[USAGE__N], bool last)
{
  if (!last && !is_due(u, at)) return;
  while (last && u->n > 1 && u->point[u->n - 1].at >= at) u->n--;
  if (u->n == USAGE_POINTS) thin(u);
  u->point[u->n].at = at;
  memcpy(u->point[u->n].amount, amount, sizeof u->point[u->n].amount);
  u->n++;
}

/* --- looking at the GPU ------------------------------------------------------------------------- */

static void amounts_of(const struct netlist_flow *f, uint64_t out[USAGE__N])
{
  out[USAGE_INSTS] = f->insts;
  out[USAGE_L1_BUSY] = f->mem_busy;
  out[USAGE_L2_BYTES] = f->l2_sectors * SECTOR_BYTES;
  out[USAGE_DRAM_BYTES] = f->dram_bytes;
  out[USAGE_WARP_CYCLES] = 0;
}

/* Behind the point before: warps that were there are taken to have been there since. */
static void look(struct usage *u, const struct gpu *g, uint64_t at, bool last)
{
  uint64_t amount[USAGE__N];
  struct netlist_flow f;
  gpu_flow(g, &f);
  if (at > u->looked) u->warp_ps += u->warps * (at - u->looked);
  u->warps = f.warps;
  u->looked = at;
  amounts_of(&f, amount);
  for (unsigned k = 0; k < USAGE__N; k++) amount[k] -= u->before[k];
  amount[USAGE_WARP_CYCLES] = u->warp_ps / u->cycle;
  usage_add(u, at, amount, last);
}

void usage_begin(struct usage *u, const struct gpu *g, uint64_t now, uint64_t cycle, uint64_t window)
{
  struct netlist_flow f;
  usage_start(u, window);
  u->begun = now;
  u->cycle = cycle;
  gpu_flow(g, &f);
  amounts_of(&f, u->before);
}

void usage_window(struct usage *u, const struct gpu *g, uint64_t now)
{
  if (now > u->begun) look(u, g, now - u->begun, false);
}

void usage_end(struct usage *u, const struct gpu *g, uint64_t time)
{
  look(u, g, time, true);
}
