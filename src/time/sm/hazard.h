/* Hazard checker of one sub-core (--hazards=check): do the control bits protect what they must?
 *
 * The hardware checks no registers: a consumer that issues too early reads a stale value. For each
 * register of each warp the checker remembers who wrote it and who still has to read it, and at
 * every issue asks:
 *   RAW  fixed-latency producer: have gap(producer class, consumer role) cycles passed? variable-latency
 *        producer: has it written back?
 *   WAW  has a variable-latency producer of this destination written back?
 *   WAR  has a variable-latency instruction that reads this destination read it?
 * Only vector registers can be overwritten too early: uniform registers and predicates are read before
 * the queue (nvcc overwrites them in the next instruction), and a predicate result of a memory
 * instruction is known when its address is. Order between instructions (LDS write back in order, memory instructions read their sources in order)
 * needs no rule of its own: the timing model keeps it.
 *
 * Gaps are the smallest distances nvcc emits (gap.* in the preset); --hazards=check also prints the
 * smallest distance seen for each class and role, so that the table can be compared.
 */
#ifndef WS_TIME_SM_HAZARD_H
#define WS_TIME_SM_HAZARD_H

#include <stdio.h>

#include "base/arena.h"
#include "config/params.h"
#include "isa/hazard_role.h"
#include "isa/inst.h"
#include "time/sm/warp.h"

enum hazard_kind { HAZARD_RAW, HAZARD_WAW, HAZARD_WAR };

/* One finding; the same one is counted, not repeated. */
struct hazard_finding {
  uint8_t kind;              /* enum hazard_kind */
  uint8_t file, index;       /* the register */
  bool counter;              /* a dependence counter is missing, else cycles are */
  uint32_t missing;          /* cycles, at the worst occurrence (0 when a counter is missing) */
  uint64_t first_pc, second_pc; /* producer or reader, and the instruction that came too early */
  uint64_t count;
};

enum { HAZARD_MAX_FINDINGS = 256 };

struct hazard_reg {
  uint64_t written;  /* cycle the producer issued */
  uint64_t ready;    /* variable latency: cycle from which the value is there; CYCLE_NEVER: pending */
  uint64_t read;     /* cycle from which the last queued reader has read; CYCLE_NEVER: pending */
  const struct inst *writer, *reader;
  lane_mask written_by, read_by; /* lanes: paths of one warp do not disturb each other */
  uint32_t write_seq, read_seq;
  bool variable;     /* the writer has no fixed latency */
};

struct hazard {
  const struct params *params;
  struct hazard_reg *reg; /* [warp][HAZARD_REGS] */
  uint32_t seq;
  struct hazard_finding finding[HAZARD_MAX_FINDINGS];
  unsigned n_findings;
  uint64_t lost;          /* findings beyond the table */
  struct hazard_least {
    uint32_t cycles; /* smallest distance seen; 0 = never */
    uint64_t first_pc, second_pc;
  } least[LAT__N][ROLE__N];
};

struct hazard *hazard_new(struct arena *, const struct params *);
/* A kernel starts, a warp arrives: nothing is known. */
void hazard_start(struct hazard *);
void hazard_new_warp(struct hazard *, unsigned warp);

/* `in` issues at `now` for the lanes in `active`, of which `exec` have a true guard; returns the
 * number its completions refer to. */
uint32_t hazard_issue(struct hazard *, unsigned warp, const struct inst *in, lane_mask active,
                      lane_mask exec, uint64_t now);
/* Its results can be read from cycle `visible` on; its sources are read, overwriters may issue from
 * cycle `visible` on. */
void hazard_written(struct hazard *, unsigned warp, const struct inst *, uint32_t seq, uint64_t visible);
void hazard_sources_read(struct hazard *, unsigned warp, const struct inst *, uint32_t seq,
                         uint64_t visible);

/* Adds the findings and smallest distances of `from`. */
void hazard_merge(struct hazard *into, const struct hazard *from);

extern const char *const hazard_lat_name[LAT__N];

#endif
