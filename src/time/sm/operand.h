/* Operand path of fixed-latency instructions in one sub-core: Control -> Allocate -> three read
 * cycles (Huerta et al., MICRO 2025).
 *
 *   params  regfile.banks, regfile.read_ports, regfile.read_cycles, regfile.cache
 *   rule    Allocate reserves read ports for the next read_cycles cycles; an instruction that
 *           cannot read all its operands in that window waits there, holds the next one in Control
 *           and so the issue port. Operands found in the register-file cache need no port.
 *   cache   one value per bank and operand position, kept when read with its reuse bit; a read of
 *           the same bank and position replaces or drops it. Variable-latency instructions neither
 *           hit nor allocate.
 * Times are computed when the instruction issues: nothing after it can overtake, so the box needs
 * no cycle of its own.
 *   not modelled: result queue, write ports; reads of variable-latency instructions
 */
#ifndef WS_TIME_SM_OPERAND_H
#define WS_TIME_SM_OPERAND_H

#include "config/params.h"
#include "isa/inst.h"
#include "time/sm/sm_stats.h"

enum { OPERAND_MAX_BANKS = 8, OPERAND_POSITIONS = 3, OPERAND_WINDOW = 64 };

struct rfc_entry {
  uint16_t reg;
  uint8_t warp;
  bool valid;
};

struct operand_path {
  unsigned banks, ports, read_cycles; /* params */
  bool cache;
  uint64_t base; /* cycle of bit 0 / counter 0 of the reservations */
  uint8_t used[OPERAND_MAX_BANKS][OPERAND_WINDOW]; /* ports reserved, ring by cycle */
  uint64_t leaves; /* cycle in which the last instruction left Allocate */
  struct rfc_entry rfc[OPERAND_MAX_BANKS][OPERAND_POSITIONS];
  struct sm_stats *stats;
};

void operand_init(struct operand_path *, const struct params *, struct sm_stats *);

/* A fixed-latency instruction issues at `now`. Returns the first cycle in which the next
 * instruction of the sub-core may issue: now + 1 unless this one has to wait in Control. */
uint64_t operand_issue(struct operand_path *, const struct inst *, unsigned warp, uint64_t now);

#endif
