/* Accel-Sim's SASS traces: what writer and reader share.
 *
 * A trace directory has a list of commands (kernelslist.g) and one file for each kernel launch: the
 * kernel's header, then per thread block and warp the instructions in the order of execution, each with
 * its active lanes, vector registers and addresses. Files: text (.traceg), text compressed with xz
 * (.traceg.xz), or the container of release 2.0 (.tracez): zstd frames with a directory.
 * Source: Accel-Sim 1.x and 2.0, util/tracer_nvbit and gpu-simulator/trace-parser (formats only).
 */
#ifndef WS_TRACE_FORMAT_H
#define WS_TRACE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

enum {
  TRACE_VERSION_MIN = 3,      /* oldest that is written; 1 and 2 repeat the block before every line */
  TRACE_VERSION_IMMEDIATE = 4, /* lines end with an immediate */
  TRACE_VERSION = 5,          /* of the 1.x tracer; written by default */
  TRACE_VERSION_VALUES = 6,   /* 2.0: lines may end with register values */
  TRACE_CHUNK = 2048,         /* instructions in a frame of .tracez */
  TRACE_MAX_SOURCES = 4,      /* registers that the reference reader has room for */
};

enum trace_form { TRACE_TEXT, TRACE_XZ, TRACE_CONTAINER };

/* How a line says its addresses. */
enum trace_addresses {
  TRACE_LIST,        /* one per active lane */
  TRACE_STRIDE,      /* active lanes are neighbours: base and stride */
  TRACE_DELTAS,      /* base, then each lane's distance from the active lane before it */
  TRACE_TMA_LIST,    /* 2.0, bulk copies: a count, then addresses */
  TRACE_TMA_DELTAS,
};

#define TRACE_FORMAT_LINE                                                                          \
  "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "  \
  "[adrrescompress?] [mem_addresses] immediate"

/* Header of a kernel's trace. Sizes in bytes. */
struct trace_header {
  char *name; /* mangled */
  unsigned id; /* from 1 */
  uint32_t grid[3], block[3];
  uint32_t shared; /* per CTA, static and dynamic */
  unsigned regs;   /* per thread */
  unsigned sm;     /* "binary version": 86 … */
  uint64_t stream;
  uint64_t shared_base, local_base; /* generic windows; 0: not stated */
  unsigned version;
  bool lineinfo; /* lines begin with a source line */
};

#endif
