#include "base/bug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void bug_abort(const char *file, int line, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  fprintf(stderr, "warpstep: internal error: %s:%d: ", file, line);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
  exit(BUG_EXIT_STATUS);
}
