/* Operand path of fixed-latency instructions in one sub-core: Control -> Allocate -> three read
 * cycles (Huerta et al., MICRO 2025).
 *
 *   params  regfile.banks, regfile.read_ports, regfile.read_cycles, regfile.cache,
 *           regfile.perfect
 *   rule    Allocate reserves read ports for the next read_cycles cycles. A bank is read in order, and as late
 *           as the window allows; an instruction whose last read falls behind its window waits that long
 *           in Allocate, holds the next one in Control and so the issue port. Operands found in the
 *           register-file cache need no port. That the reads are late and in order is seen on an A100: one read
 *           in a bank, then n of the next instruction: n - 1 bubbles (Strelizia-zerotwo/A100-modern-gpu-reproduction);
 *           that banks do not wait for each other, on an RTX 3060 (YKTian-x2b/AmpereArchViaMicroBenchMark).
 *   cache   one value per bank and operand position, kept when read with its reuse bit; a read of
 *           the same bank and position replaces or drops it. Variable-latency instructions neither
 *           hit nor allocate.
 *   callers the sub-core as an instruction issues (operand_issue); the memory unit at a queue's head
 *           (operand_read_queued). Times are computed then: nothing after it can overtake, so the box needs no cycle of
 *           its own
 *   queued  memory instructions read their addresses with the ports that are left, when none of
 *           the fixed-latency instructions before them needs one (operand_read_queued)
 *   not modelled: ports for store data and for the sources of special functions
 */
#ifndef WS_TIME_SM_OPERAND_H
#define WS_TIME_SM_OPERAND_H

#include "config/params.h"
#include "isa/inst.h"
#include "time/sm/ports.h"
#include "time/sm/sm_stats.h"

enum { OPERAND_MAX_BANKS = 8, OPERAND_POSITIONS = 3 };

struct operand_path {
  unsigned banks, ports, read_cycles; /* params */
  bool cache, perfect, wide; /* wide: ideal.issue, any number in a cycle */
  struct ports bank[OPERAND_MAX_BANKS]; /* read ports */
  uint64_t last_read[OPERAND_MAX_BANKS]; /* of the fixed-latency instructions */
  uint64_t entered; /* cycle in which the last instruction entered Allocate, … */
  uint64_t leaves;  /* … was there for the last time … */
  uint64_t read_by; /* … and the first one after its read cycles */
  uint32_t rfc[OPERAND_MAX_BANKS][OPERAND_POSITIONS]; /* register | warp << 16 | RFC_VALID */
  struct sm_stats *stats;
};

void operand_init(struct operand_path *, const struct params *, struct sm_stats *);

/* A fixed-latency instruction issues at `now`. Returns the first cycle in which the next
 * instruction of the sub-core may issue: now + 1 unless this one has to wait in Control. */
uint64_t operand_issue(struct operand_path *, const struct inst *, unsigned warp, uint64_t now);

/* Cycles the instruction that issued last, at `now`, is held in Control and Allocate. */
static inline uint64_t operand_held(const struct operand_path *o, uint64_t now)
{
  return o->leaves - (now + 2);
}

/* A memory instruction wants to read its address registers (all its sources when it addresses no
 * memory) in cycles [now, now + window). True: ports are free and now taken. */
bool operand_read_queued(struct operand_path *, const struct inst *, uint64_t now, unsigned window);

#endif
