/* Products of warpgroups (wgmma): the four tensor units of an SM work on one together.
 *
 *   params  gmma.column_cycles, gmma.shared_bytes, gmma.queue_entries, lat.gmma, ideal.tensor
 *   ports   in: HGMMA and its like as the four warps issue them; out: counters that drop in their sub-cores
 *   rule    a product begins when its fourth warp has issued it and the units are free, in the order in which products
 *           become complete. It takes them column_cycles for each eight columns, longer when its matrices take longer
 *           to come out of shared memory: B, and A unless in registers, once for all four warps. Results are written
 *           lat.gmma later: a chain on the same accumulators does not wait for them (arXiv 2402.13499: m64n256k16
 *           each 128 cycles, dependent or not)
 *   queue   a warp may have issued so many products that have not begun; the next one waits: math_pipe_throttle
 *   groups  the last product of a group counts in SB_GMMA until it is written; WARPGROUP.DEPBAR waits for that counter
 *   not modelled: accesses of others to shared memory meanwhile; register ports
 */
#ifndef WS_TIME_SM_GMMA_H
#define WS_TIME_SM_GMMA_H

#include "base/arena.h"
#include "config/params.h"
#include "time/sm/depend.h"
#include "time/sm/observer.h"
#include "time/sm/sm_stats.h"
#include "time/sm/warp.h"

enum { GMMA_WARPS = 4, GMMA_QUEUE = 16, GMMA_SUB_CORES = 4, GMMA_GROUPS = GMMA_SUB_CORES * SUB_CORE_MAX_WARPS };

/* One warp's share of a product. */
struct gmma_part {
  uint8_t sub_core, warp;
  uint8_t write_sb, read_sb; /* counters or tickets that drop when the result is written; SB_NONE: none */
  uint32_t seq; /* observed.seq */
};

struct gmma_product {
  const struct inst *inst;
  unsigned n_parts;
  struct gmma_part part[GMMA_WARPS];
};

/* A warpgroup: what not all of its warps have issued, or has not begun. */
struct gmma_group {
  struct gmma_product product[GMMA_QUEUE]; /* ring */
  uint8_t head;
  uint8_t issued[GMMA_WARPS]; /* products from `head` on that the warp has issued */
};

/* What the box sees of a sub-core. */
struct gmma_client {
  struct depend *depend;
  struct warp_table *warps;
};

struct gmma {
  unsigned column_cycles, shared_bytes, latency; /* params */
  bool ideal;                        /* ideal.tensor: a product takes the units one cycle, results are as late */
  struct gmma_group *group;          /* by number: that of a warpgroup's first warp among the SM's slots */
  uint8_t *ready;                    /* ring: groups with a complete product that has not begun, in order */
  unsigned ready_head, n_ready;
  uint64_t free_at;                  /* the tensor units */
  uint64_t next_at;                  /* nothing to do before this cycle */
  uint64_t *due;                     /* that of all tensor units of the SM, made earlier here */
  uint32_t wake;                     /* bit per sub-core, of this cycle: a warp may issue, a counter will drop */
  struct gmma_client client[GMMA_SUB_CORES];
  struct observers *observers; /* NULL: none */
  struct sm_stats *stats;
};

void gmma_init(struct gmma *, struct arena *, const struct params *);

/* The warp of `part`, member `member` of the group, issues a product at `now`. */
void gmma_issue(struct gmma *, unsigned group, unsigned member, const struct inst *, struct gmma_part part,
                uint64_t now);

void gmma_cycle(struct gmma *, uint64_t now);

#endif
