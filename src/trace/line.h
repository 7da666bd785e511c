/* One instruction line of a trace, parsed. */
#ifndef WS_TRACE_LINE_H
#define WS_TRACE_LINE_H

#include "base/err.h"
#include "trace/reader.h"

enum { TRACE_OPCODE = 64 };

struct trace_line {
  struct trace_inst inst; /* opcode points into this struct */
  char opcode[TRACE_OPCODE];
  uint32_t lanes;
  unsigned bytes; /* per lane; 0: no memory instruction */
  unsigned form;  /* enum trace_addresses */
  uint64_t base;  /* TRACE_STRIDE */
  int64_t stride;
  uint64_t address[32]; /* other forms, by lane */
  bool skip; /* a mark of the tracer, no instruction */
};

/* False with e filled (without file and line): not a line of this version. */
bool trace_line_parse(const char *text, const struct trace_header *, struct trace_line *, struct err *e);

#endif
