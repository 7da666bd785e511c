/* Control information for instructions that have none: stall counts, dependence counters, wait masks,
 * yield and reuse bits, computed from distances between producers and consumers, as a compiler does.
 *
 * Fixed-latency results are covered by stall counts, all others by counters (Huerta et al., MICRO
 * 2025, Dependence Management). A forward data-flow analysis over the basic blocks of a section
 * carries, for each register, the cycles until each kind of consumer may read it and the counters
 * that guard it; where paths meet the worst of them counts. Counters that are all in use are shared
 * with the instruction whose first use is nearest. Where control goes to a place the section does
 * not tell (calls, returns, tables) everything is waited for.
 *
 * Instructions keep their order. What a DEPBAR waits for is left to it: LDGDEPBAR uses the counter
 * the section's DEPBARs name, which then serves nothing else.
 */
#ifndef WS_ISA_SCHEDULE_H
#define WS_ISA_SCHEDULE_H

#include "base/arena.h"
#include "base/err.h"
#include "isa/hazard_role.h"

/* Distances in cycles, as in a preset. */
struct schedule_rules {
  const uint32_t *gap[ROLE__N]; /* [LAT__N]: producer's issue to consumer's issue */
  unsigned depbar_cycles;       /* least stall count of DEPBAR */
  unsigned big_stall_from;      /* stall counts from here on need yield to be honoured */
};

enum schedule_flow {
  FLOW_NEXT, /* only the next instruction follows */
  FLOW_JUMP, /* the target, or the next instruction */
  FLOW_AWAY, /* somewhere else, and perhaps back to the next instruction */
};

struct schedule_inst {
  struct inst in;   /* its control information is ignored */
  uint8_t flow;     /* enum schedule_flow */
  uint32_t target;  /* FLOW_JUMP: index of the instruction */
  struct inst_ctrl ctrl; /* the result */
};

/* Fills ctrl of the n instructions of a section. False with e filled when a result cannot be waited
 * for because too few instructions lie between (a NOP is needed). */
bool schedule(struct arena *, const struct schedule_rules *, struct schedule_inst *, uint32_t n,
              struct err *e);

#endif
