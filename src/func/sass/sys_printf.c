/* Device printf (func/sass/sys.h). The host's printf does each conversion: same flags, width,
 * precision. */
#include "base/arith.h"
#include "func/sass/sys.h"

#include <stdlib.h>
#include <string.h>

enum { SPEC_MAX = 48, FORMAT_MAX = 1 << 20 /* bytes: the default size of the printf buffer */ };

struct reader {
  FILE *out;
  sys_read *read;
  void *ctx;
  uint64_t fmt, args;
  uint32_t n_chars; /* of the format */
  int n_args;
  bool failed;
};

static char next_char(struct reader *r)
{
  char c = 0;
  if (!r->failed && (r->n_chars++ >= FORMAT_MAX || !r->read(r->ctx, r->fmt, &c, 1))) r->failed = true;
  r->fmt++;
  return r->failed ? 0 : c;
}

static uint64_t next_arg(struct reader *r, unsigned bytes)
{
  uint64_t v = 0;
  r->args = align_up(r->args, bytes);
  if (!r->read(r->ctx, r->args, &v, bytes)) r->failed = true;
  r->args += bytes;
  r->n_args++;
  return v;
}

/* A width or precision, digits or an argument, from *c on; false: there is none. */
static bool take_number(struct reader *r, char *c, int *v)
{
  *v = 0;
  if (*c == '*') {
    *v = (int)(uint32_t)next_arg(r, 4);
    if (*v > SYS_PRINTF_MOST) *v = SYS_PRINTF_MOST;
    if (*v < -SYS_PRINTF_MOST) *v = -SYS_PRINTF_MOST;
    *c = next_char(r);
    return true;
  }
  if (*c < '0' || *c > '9') return false;
  for (; *c >= '0' && *c <= '9'; *c = next_char(r)) {
    *v = 10 * *v + (*c - '0');
    if (*v > SYS_PRINTF_MOST) *v = SYS_PRINTF_MOST;
  }
  return true;
}

/* Flags, width and precision behind the percent sign; *c becomes what follows. Returns the length. */
static size_t take_spec(struct reader *r, char spec[SPEC_MAX], char *c)
{
  size_t n = 1;
  int v;
  for (*c = next_char(r); *c && strchr("-+ #0", *c); *c = next_char(r))
    if (!memchr(spec + 1, *c, n - 1)) spec[n++] = *c;
  if (take_number(r, c, &v)) n += (size_t)snprintf(spec + n, SPEC_MAX - n, "%d", v);
  if (*c != '.') return n;
  *c = next_char(r);
  if (!take_number(r, c, &v)) spec[n++] = '.';
  else if (v >= 0)
    n += (size_t)snprintf(spec + n, SPEC_MAX - n, ".%d", v); /* a negative one is as if there were none */
  return n;
}

static void put_string(struct reader *r, const char *spec)
{
  uint64_t at = next_arg(r, 8);
  char buf[SYS_PRINTF_MOST];
  size_t n = 0;
  while (!r->failed && n < sizeof buf - 1) {
    if (!r->read(r->ctx, at + n, &buf[n], 1)) r->failed = true;
    else if (!buf[n]) break;
    else n++;
  }
  buf[n] = 0;
  if (!r->failed && r->out) fprintf(r->out, spec, buf);
}

/* The conversion specifications come from the guest but are rebuilt here from a fixed set of
 * characters, so no %n and no mismatched argument can reach the host's printf. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void put_value(struct reader *r, char *spec, size_t n, char conv, bool wide)
{
  char full[SPEC_MAX + 4];
  const char *length = strchr("diuxXo", conv) && wide ? "ll" : "";
  snprintf(full, sizeof full, "%.*s%s%c", (int)n, spec, length, conv);
  switch (conv) {
  case 'd': case 'i': case 'u': case 'x': case 'X': case 'o': {
    uint64_t v = next_arg(r, wide ? 8 : 4);
    if (!r->out || r->failed) return;
    if (wide) fprintf(r->out, full, (unsigned long long)v);
    else fprintf(r->out, full, (unsigned)v);
    return;
  }
  case 'c': {
    uint64_t v = next_arg(r, 4);
    if (r->out && !r->failed) fprintf(r->out, full, (int)v);
    return;
  }
  case 'p': {
    uint64_t v = next_arg(r, 8);
    if (r->out && !r->failed) fprintf(r->out, full, (void *)(uintptr_t)v);
    return;
  }
  case 's':
    put_string(r, full);
    return;
  default: {
    uint64_t v = next_arg(r, 8);
    double x;
    memcpy(&x, &v, sizeof x);
    if (r->out && !r->failed) fprintf(r->out, full, x);
    return;
  }
  }
}

/* One conversion, after its percent sign. An unknown one is written as it stands. */
static void conversion(struct reader *r)
{
  char spec[SPEC_MAX] = "%", c;
  size_t n = take_spec(r, spec, &c);
  bool wide = false;
  for (; c == 'l' || c == 'h' || c == 'j' || c == 'z' || c == 't' || c == 'L'; c = next_char(r)) {
    wide |= c != 'h';
  }
  if (c == '%' && r->out) fputc('%', r->out);
  else if (c && strchr("diuxXocpsfFeEgGaA", c)) put_value(r, spec, n, c, wide);
  else if (r->out) fprintf(r->out, "%.*s%.*s", (int)n, spec, c != 0, &c);
  if (!c) r->fmt--; /* the terminator is the caller's */
}

int sys_printf(FILE *out, sys_read *read, void *ctx, uint64_t fmt, uint64_t args)
{
  struct reader r = {.out = out, .read = read, .ctx = ctx, .fmt = fmt, .args = args};
  for (char c; (c = next_char(&r));) {
    if (c == '%') conversion(&r);
    else if (out) fputc(c, out);
  }
  return r.failed ? -1 : r.n_args;
}
