#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

void err_fill(struct err *e, const char *fmt, ...)
{
  if (!e) return;
  va_list ap;
  va_start(ap, fmt);
  char raw[sizeof e->msg];
  vsnprintf(raw, sizeof raw, fmt, ap);
  text_safe(raw, e->msg, sizeof e->msg);
  va_end(ap);
}
