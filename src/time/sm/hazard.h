/* Hazard checker of one sub-core (--hazards=check): do the control bits protect what they must?
 *
 * The hardware checks no registers: a consumer that issues too early reads a stale value. For each
 * register of each warp the checker remembers who wrote it and who still has to read it, lane by
 * lane, and asks:
 *   RAW  fixed-latency producer: have gap(producer class, consumer role) cycles passed?
 *        variable-latency producer: has it written back?
 *   WAW  have all older results of this register been written when this one is? A fixed-latency
 *        writer may not even issue before an older result of variable latency is there.
 *   WAR  have all queued instructions that read this register read it: when a fixed-latency writer
 *        issues, when the result of another is written?
 * Only vector registers can be overwritten too early: uniform registers and predicates are read
 * before the queue (nvcc overwrites them in the next instruction), and a predicate result of a
 * memory instruction is known when its address is. Order between instructions (LDS write back in
 * order, memory instructions read their sources in order) needs no rule of its own: the timing
 * model keeps it.
 *
 * It has no cycle of its own: it observes the pipeline (observer.h) and is told of every event there. Shared memory
 * that an LDGSTS still has to write is the memory unit's to know (mem_access.c); what it finds is reported here.
 * Generic accesses to shared memory are not held against it.
 *
 * Gaps are the smallest distances nvcc emits (gap.* in the preset); --hazards=gaps also prints the
 * smallest distance seen for each class and role, so that the table can be compared.
 */
#ifndef WS_TIME_SM_HAZARD_H
#define WS_TIME_SM_HAZARD_H

#include <stdio.h>

#include "base/arena.h"
#include "config/params.h"
#include "isa/hazard_role.h"
#include "isa/inst.h"
#include "time/sm/observer.h"
#include "time/sm/warp.h"

enum hazard_kind { HAZARD_RAW, HAZARD_WAW, HAZARD_WAR };

/* One finding; the same one is counted, not repeated. */
struct hazard_finding {
  uint8_t kind;              /* enum hazard_kind */
  uint8_t file, index;       /* the register; FILE_NONE: shared memory */
  uint32_t address;          /* shared memory: first byte found */
  bool counter;              /* a dependence counter is missing, else cycles are */
  uint32_t missing;          /* cycles, at the worst occurrence (0 when a counter is missing) */
  uint64_t first_pc, second_pc; /* producer or reader, and the instruction that came too early */
  uint64_t count;
};

enum { HAZARD_MAX_FINDINGS = 256 };

/* A write or a queued read of one register. */
struct hazard_access {
  const struct inst *inst;
  uint64_t issued; /* cycle */
  uint64_t done;   /* variable latency: consumers or overwriters may issue from then on;
                      CYCLE_NEVER: not known yet */
  lane_mask lanes; /* paths of one warp do not disturb each other */
  uint32_t seq;
  uint16_t older;  /* of the same register; HAZARD_NIL: none */
  bool variable;   /* no fixed latency */
};

enum { HAZARD_NIL = 0xffff, HAZARD_POOL = 16384 };

struct hazard {
  const struct params *params;
  /* By [warp][register], latest first: writes that no younger one hides, reads still queued. */
  uint16_t (*writes)[HAZARD_REGS], (*reads)[HAZARD_REGS];
  struct hazard_access *pool;
  uint16_t free, fresh; /* entries from `fresh` on were never used */
  uint32_t seq; /* of the latest instruction */
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

/* `in` issues at `now` for the lanes in `active`, of which `exec` have a true guard; its completions have the same
 * `seq`. */
void hazard_issue(struct hazard *, unsigned warp, const struct inst *in, uint32_t seq, lane_mask active,
                  lane_mask exec, uint64_t now);
/* Its results can be read from cycle `visible` on; its sources are read, overwriters may issue from
 * cycle `visible` on. */
void hazard_written(struct hazard *, unsigned warp, const struct inst *, uint32_t seq, uint64_t visible);
void hazard_sources_read(struct hazard *, unsigned warp, const struct inst *, uint32_t seq,
                         uint64_t visible);

/* The checkers of an SM's sub-cores, as an observer of it. */
struct hazard_set {
  struct observer observer; /* first member */
  unsigned n;
  struct hazard **of; /* by sub-core */
};
struct hazard_set *hazard_set_new(struct arena *, const struct params *);

/* Adds the findings and smallest distances of `from`. */
void hazard_merge(struct hazard *into, const struct hazard *from);

extern const char *const hazard_lat_name[LAT__N];

#endif
