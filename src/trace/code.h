/* The code behind a trace: each instruction of it as the timing model wants it.
 *
 * With the cubin: kernel name and pc name the instruction, with control bits, predicates, uniform and constant
 * operands. Without: pipe, latency, memory kind and widths follow from the mnemonic, vector registers from the trace;
 * there are no control bits, so dependences need scoreboards (issue.dependence).
 */
#ifndef WS_TRACE_CODE_H
#define WS_TRACE_CODE_H

#include "base/err.h"
#include "isa/inst.h"
#include "load/module.h"
#include "trace/reader.h"

/* What a BAR does. */
struct trace_barrier {
  uint8_t id;
  bool waits;     /* false: arrives only */
  uint16_t warps; /* that must arrive; 0: all of the CTA */
};

struct trace_code {
  struct code_view view;
  uint64_t entry_pc, code_bytes; /* of the kernel; without cubin: of all there is */
  bool control;         /* instructions carry control bits */
  uint64_t *pc;         /* by trace_kernel.inst: in the code space */
  struct trace_barrier *barrier; /* by trace_kernel.inst */
  struct inst *own;     /* without cubin; else NULL */
};

/* Barriers of a CTA, and one for numbers that a register holds, which traces do not tell. */
enum { TRACE_BARRIER_UNKNOWN = 16, TRACE_BARRIERS };

/* False with e filled: the cubin's kernel has no such instruction, or another one there. The instance must outlive the
 * code. */
bool trace_code_of(struct trace_code *, const struct trace_kernel *, const struct module_instance *,
                   const struct module_kernel *, struct err *e);
/* False with e filled: a mnemonic that no row of this target has. */
bool trace_code_guess(struct trace_code *, const struct trace_kernel *, struct err *e);
void trace_code_free(struct trace_code *);

#endif
