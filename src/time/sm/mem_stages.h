/* How long a memory instruction stays in each stage of the memory pipeline. The sums over the stages, and one
 * for the clock read before it, are the latencies of Table 2 of Huerta et al. (MICRO 2025); no latency is stated for a
 * row of its own.
 *
 *   issue -> control -> queue -> ADDRESS stage -> arbiter -> PIPE (L1, shared memory, L0 VL) -> BACK -> write
 *                                  | sources read
 *                                  +-> DATA link (stores)
 *
 *   params  mem.addr_lanes, mem.uniform_addr_cycles, mem.shared_addr_cycles, mem.link_bytes,
 *           mem.read_min_cycles, mem.store_gap_cycles, mem.const_read_cycles, mem.return_min_cycles,
 *           l1.pipe_cycles, l1.return_bytes, l1.to_shared_cycles, smem.pipe_cycles, smem.return_bytes,
 *           smem.matrix_cycles, smem.atomic_cycles, const.vl_cycles
 */
#ifndef WS_TIME_SM_MEM_STAGES_H
#define WS_TIME_SM_MEM_STAGES_H

#include "config/params.h"
#include "isa/inst.h"

/* Cycles. */
struct mem_stages {
  uint8_t address; /* in the address stage until the arbiter may take it */
  uint8_t sources; /* in the address stage until the address registers are read */
  uint8_t gap;     /* stores: from then until the data follow */
  uint8_t data;    /* stores: the data cross the link; 0: none */
  uint16_t pipe;   /* grant until the result can return */
  uint8_t back;    /* the result crosses the link to the register file; 0: none */
  bool holds;      /* its sources are held until the result is written */
};

/* `space`: where the access goes (generic accesses are resolved). `lanes`: of a warp. */
struct mem_stages mem_stages(const struct params *, const struct inst *, unsigned space, unsigned lanes);

/* Cycles in the address stage, beginning with the one in which it enters, after which all its
 * sources may be overwritten, when the data link is free. */
unsigned mem_stages_war(const struct mem_stages *);

/* Cycles one register of store data takes to cross the link. */
unsigned mem_stages_register(const struct params *, unsigned lanes);

#endif
