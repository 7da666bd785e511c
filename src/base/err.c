#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

void err_fill(struct err *e, const char *fmt, ...)
{
  if (!e) return;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(e->msg, sizeof e->msg, fmt, ap);
  va_end(ap);
}
