/* Reading traces: the list of a directory, and one kernel whole.
 *
 * Accepted: text of all tracer versions (1 to 6, with or without source lines), xz, the container of 2.0. Values of
 * registers (version 6) are skipped. Not accepted: bulk copies (UTMALDG and its like), which the timing model does
 * not know.
 *
 * Host memory: 16 bytes per warp instruction, 16 more where lanes have strided addresses, 8 per lane where
 * they have not.
 */
#ifndef WS_TRACE_READER_H
#define WS_TRACE_READER_H

#include "base/arena.h"
#include "base/err.h"
#include "trace/format.h"

enum { TRACE_MAX_REGS = 8, TRACE_NO_ADDRESS = 0 };

/* An instruction of the code, as far as traces tell. */
struct trace_inst {
  uint32_t pc;        /* bytes, from the start of the kernel */
  const char *opcode; /* mnemonic with modifiers */
  uint8_t n_dst, n_src;
  uint8_t dst[TRACE_MAX_REGS], src[TRACE_MAX_REGS]; /* vector registers */
  uint64_t immediate; /* 0 when the trace has none */
};

/* One execution by a warp. */
struct trace_step {
  uint32_t inst, lanes; /* lanes: active and with a true guard */
  uint64_t where;       /* of its addresses in trace_kernel.address; TRACE_NO_ADDRESS: none */
};

struct trace_warp_steps {
  uint64_t first;
  uint32_t n;
};

struct trace_kernel {
  struct trace_header header;
  struct arena arena; /* names */
  struct trace_inst *inst;
  uint32_t n_insts;
  struct trace_step *step;
  uint64_t n_steps;
  uint64_t *address; /* trace_step_addresses reads it */
  uint64_t n_address;
  uint64_t n_ctas;
  unsigned warps_per_cta;
  struct trace_warp_steps *warp; /* [cta * warps_per_cta + warp] */
};

/* NULL with e filled: cannot be read, is no trace, ends early, has what is not accepted. Errors name the line. */
struct trace_kernel *trace_kernel_read(const char *path, struct err *e);
/* Every warp of the grid has instructions. False with e filled: the first that has none (tracers leave out blocks
 * outside of the region they watch, and a simulated GPU cannot run those). */
bool trace_kernel_is_whole(const struct trace_kernel *, struct err *e);
void trace_kernel_free(struct trace_kernel *);
/* Addresses of the step's lanes; other elements are untouched. */
void trace_step_addresses(const struct trace_kernel *, const struct trace_step *, uint64_t addr[32]);

/* A command of kernelslist.g. */
struct trace_command {
  const char *file;        /* path of a kernel's trace; NULL: a copy to the device */
  uint64_t address, bytes; /* of the copy */
};

struct trace_list {
  struct arena arena;
  struct trace_command *command;
  unsigned n;
};

/* Also a single kernel's file, or a directory that has kernelslist.g. trace_list_free even on failure. */
bool trace_list_read(const char *path, struct trace_list *, struct err *e);
void trace_list_free(struct trace_list *);

#endif
