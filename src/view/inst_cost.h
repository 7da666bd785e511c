/* What one instruction of a timed launch cost, or several together: the books of the ledger (time/sm/ledger.h), where
 * each cycle of each resident warp is charged to the instruction it was at. */
#ifndef WS_VIEW_INST_COST_H
#define WS_VIEW_INST_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/live.h"
#include "load/line_table.h"
#include "time/gpu/gpu.h"
#include "view/report.h"

enum { INST_COST_MAX_STATES = 64 };

struct inst_cost {
  uint64_t cycles, issued, threads, sectors, passes, conflicts;
  uint64_t requests;                    /* issues of instructions that moved sectors */
  uint64_t state[INST_COST_MAX_STATES]; /* warp-cycles */
};

/* Adds those of instruction i. */
void inst_cost_add(struct inst_cost *, const struct gpu_inst_profile *, uint64_t i);
void inst_cost_add_all(struct inst_cost *to, const struct inst_cost *from, unsigned n_states);

/* Live registers at each instruction of the launch's code, by their numbers (isa/live.h): a new block, for mem_free.
 * NULL: not told, as of traces. */
struct live_count *inst_live_new(const struct report *);

/* Whether a row names a line; NULL: no. */
bool line_row_names(const struct line_row *);

#endif
