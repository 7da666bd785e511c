/* Facts of one run of a kernel, gathered by the caller; all reports (summary.h, json.h) print from here
 * and nowhere else. All pointers are borrowed.
 */
#ifndef WS_VIEW_REPORT_H
#define WS_VIEW_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "config/presets.h"
#include "host/case.h"
#include "host/limiter.h"
#include "host/room.h"
#include "host/simulate.h"
#include "host/speed.h"
#include "host/usage.h"
#include "host/what_if.h"
#include "isa/step.h"
#include "load/line_table.h"
#include "stats/stat.h"

/* Facts about the machine the simulator ran on: they differ from run to run and are kept out of what is
 * compared. */
struct report_host {
  double seconds; /* wall-clock time of the run alone, without loading and checking */
  unsigned threads;
};

struct report {
  const char *gpu;               /* preset name; NULL: none was needed */
  const struct preset *preset;   /* NULL: none */
  const struct launch_case *lc;  /* NULL: the launch came from a program (JSON only) */
  const struct launch *launch;
  const struct module_kernel *kernel;
  const struct module *module;
  enum run_end end;              /* RUN_DONE: the kernel ended normally */
  uint64_t max_cycles, max_insts; /* the limits of the run; 0: none */
  const struct positions *where; /* where warps were when the run ended early; NULL: unknown */
  bool timed;                    /* false: function-only, the next four are meaningless */
  uint64_t cycles;               /* SM clock */
  uint64_t time_ps;
  unsigned ctas_per_sm;          /* resident at once, by the limits of the SM */
  const char *limiter;           /* what limits ctas_per_sm; NULL: unknown */
  uint64_t warp_insts, thread_insts;
  const struct isa *isa;         /* whose instructions ran */
  const uint64_t *mix;           /* warp instructions by its mnemonics; NULL: not counted */
  struct work work;              /* arithmetic of threads */
  const struct stat_group *group;
  unsigned n_groups;
  bool checked;                  /* results were compared */
  const struct case_result *check;
  unsigned n_checks;
  const struct gpu_inst_profile *profile; /* books per instruction (time/gpu/gpu.h); NULL: none */
  const struct line_table *lines; /* of the module, for the listing in JSON; NULL: none is asked for */
  const struct usage *usage;     /* over the time of the launch (host/usage.h); NULL: not asked for */
  const struct hazard *hazards;  /* findings of the hazard checker; NULL: not checked */
  const struct fault *fault;     /* NULL: the kernel ended normally */
  /* Of timed runs that ended, with a preset: what bounds them, units and roofs, occupancy (room.is.ctas 0: not
   * known). */
  struct limiter bound;
  struct speed speed[SPEED__N];
  struct roofline roofline[WORK__N];
  struct room room;
  const struct what_if_result *what_if; /* the largest gain first */
  unsigned n_what_if;            /* 0: not asked for */
  struct report_host host;
};

/* Fills what a run tells; r borrows from it. r->launch and r->preset are known. */
void report_result(struct report *, const struct sim_result *);

/* All comparisons matched (true when there were none). */
bool report_matched(const struct report *);

/* What ended a run early, for people: "100 cycles were reached". Writes to buf. */
void report_stop_text(const struct report *, char *buf, size_t size);

/* Name of a fault kind: "illegal address". */
const char *fault_kind_name(unsigned kind);

/* Disassembly of the instruction at pc; empty outside the code. */
void report_inst_text(const struct report *, uint64_t pc, char *buf, size_t size);

/* One row of the statistics, by the name of the row alone (row names are unique over the blocks that
 * reports print); desc is NULL when no group has it. */
struct report_stat {
  const struct stat_desc *desc;
  const void *data;
};

struct report_stat report_find(const struct report *, const char *name);
bool report_has(const struct report *, const char *name);
/* Element i of a row (0 for U64 and MAX rows). */
uint64_t report_at(struct report_stat, unsigned i);
/* Value of a U64 or MAX row, or the sum of a VEC row; 0 when there is none of this name. */
uint64_t report_u64(const struct report *, const char *name);

#endif
