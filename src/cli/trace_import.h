/* warpstep trace import: traces on the timing model. */
#ifndef WS_CLI_TRACE_IMPORT_H
#define WS_CLI_TRACE_IMPORT_H

#include "base/err.h"

enum { TRACE_MAX_TEXTS = 64 };

struct trace_texts {
  const char *item[TRACE_MAX_TEXTS];
  unsigned n;
};

struct trace_import {
  const char *gpu, *presets; /* NULL: the default */
  struct trace_texts set, cubin;
  unsigned threads;
  const char *json; /* NULL: none */
};

/* Reads and runs all kernels of `path` in order and prints a line for each. */
bool trace_import(const struct trace_import *, const char *path, struct err *e);

#endif
