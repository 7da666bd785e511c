/* RV64GC one instruction at a time, for a core with time (isa/cpu_step.h): what instructions do is rv64_exec.def, as in
 * the interpreter (rv64_run.c); loads, stores and atomics are described, and done by the caller.
 *
 * Code is decoded by pages, a whole page at once, by rv64_step_bring; several harts share it and only read it.
 */
#ifndef WS_FUNC_RV64_RV64_STEP_H
#define WS_FUNC_RV64_RV64_STEP_H

#include "func/rv64/rv64_core.h"
#include "isa/cpu_step.h"

enum { RV64_STEP_PAGES = 1024 };

/* A hart that is stepped. */
struct rv64_stepper {
  struct rv64_hart hart; /* pc: not used while it runs */
  const struct rv64_code *page[RV64_STEP_PAGES]; /* by page number; of a core that decodes */
  const struct rv64_inst *inst;                  /* looked at last */
  uint64_t trap_value;   /* as in struct rv64_core */
  enum rv64_stop stop;   /* of CPU_STEP_TRAP */
};

extern const struct cpu_step_ops rv64_step_ops; /* hart: struct rv64_stepper */

/* Decodes the page of code at pc, with the memory of `c`, for this hart; nobody may run that shares it. False: it
 * cannot be fetched, c->trap_value says where. */
bool rv64_step_bring(struct rv64_core *c, struct rv64_stepper *, uint64_t pc);
/* Pages of code have gone from the core. */
void rv64_step_forget(struct rv64_stepper *);

#endif
