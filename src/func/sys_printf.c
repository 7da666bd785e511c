/* Device printf (func/sys.h). The host's printf does each conversion: same flags, width,
 * precision. */
#include "func/sys.h"

#include <stdlib.h>
#include <string.h>

enum { SPEC_MAX = 32, STRING_MAX = 4096 };

struct reader {
  FILE *out;
  sys_read *read;
  void *ctx;
  uint64_t fmt, args;
  int n_args;
  bool failed;
};

static char next_char(struct reader *r)
{
  char c = 0;
  if (!r->failed && !r->read(r->ctx, r->fmt, &c, 1)) r->failed = true;
  r->fmt++;
  return r->failed ? 0 : c;
}

static uint64_t next_arg(struct reader *r, unsigned bytes)
{
  uint64_t v = 0;
  r->args = (r->args + bytes - 1) & ~(uint64_t)(bytes - 1);
  if (!r->read(r->ctx, r->args, &v, bytes)) r->failed = true;
  r->args += bytes;
  r->n_args++;
  return v;
}

/* Length of the specification so far, with `*` replaced by the argument's value. */
static size_t put_star(struct reader *r, char *spec, size_t n)
{
  int v = (int)(uint32_t)next_arg(r, 4);
  return n + (size_t)snprintf(spec + n, SPEC_MAX - n, "%d", v);
}

static void put_string(struct reader *r, const char *spec)
{
  uint64_t at = next_arg(r, 8);
  char buf[STRING_MAX];
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
  char spec[SPEC_MAX] = "%";
  size_t n = 1;
  bool wide = false;
  char c = next_char(r);
  while (c && strchr("-+ #0123456789.*", c) && n < SPEC_MAX - 16) {
    if (c == '*') n = put_star(r, spec, n);
    else spec[n++] = c;
    c = next_char(r);
  }
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
