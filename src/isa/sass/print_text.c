#include "isa/sass/print_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_bytes(struct print_text *o, const char *s, size_t n)
{
  size_t room = o->n < o->size ? o->size - o->n : 0, fits = n < room ? n : room - 1;
  if (room) {
    memcpy(o->buf + o->n, s, fits);
    o->buf[o->n + fits] = '\0';
  }
  o->n += n;
}

static void put_number(struct print_text *o, unsigned long long v, unsigned base)
{
  char digit[24], *at = digit + sizeof digit;
  do *--at = "0123456789abcdef"[v % base];
  while ((v /= base) != 0);
  put_bytes(o, at, (size_t)(digit + sizeof digit - at));
}

/* The conversions that nearly all text is made of; false: another one. Every instruction of every listing and pipeline
 * view passes here, and vsnprintf takes four times as long. */
static bool put_simple(struct print_text *o, const char *fmt, va_list ap)
{
  char c;
  while (*fmt) {
    size_t n = strcspn(fmt, "%");
    put_bytes(o, fmt, n);
    if (!*(fmt += n)) break;
    switch (*++fmt) {
    case 's': {
      const char *s = va_arg(ap, const char *);
      put_bytes(o, s, strlen(s));
      break;
    }
    case 'c': c = (char)va_arg(ap, int); put_bytes(o, &c, 1); break;
    case 'u': put_number(o, va_arg(ap, unsigned), 10); break;
    case 'x': put_number(o, va_arg(ap, unsigned), 16); break;
    default: return false;
    }
    fmt++;
  }
  return true;
}

void print(struct print_text *o, const char *fmt, ...)
{
  struct print_text before = *o;
  size_t room = o->n < o->size ? o->size - o->n : 0;
  va_list ap;
  va_start(ap, fmt);
  bool simple = put_simple(o, fmt, ap);
  va_end(ap);
  if (simple) return;
  *o = before;
  va_start(ap, fmt);
  int r = vsnprintf(room ? o->buf + o->n : NULL, room, fmt, ap);
  va_end(ap);
  if (r > 0) o->n += (size_t)r;
}

void print_reg(struct print_text *o, unsigned r)
{
  if (r == SASS_RZ) print(o, "RZ");
  else print(o, "R%u", r);
}

void print_ureg(struct print_text *o, unsigned r)
{
  if (r == SASS_URZ) print(o, "URZ");
  else print(o, "UR%u", r);
}

void print_pred(struct print_text *o, struct sass_pred p)
{
  const char *file = p.uniform ? "UP" : "P";
  if (p.index == SASS_PT) print(o, "%s%sT", p.neg ? "!" : "", file);
  else print(o, "%s%s%u", p.neg ? "!" : "", file, p.index);
}

void print_hex(struct print_text *o, int64_t v)
{
  print(o, v < 0 ? "-0x" : "0x");
  put_number(o, v < 0 ? -(unsigned long long)v : (unsigned long long)v, 16);
}

void print_double(struct print_text *o, double v)
{
  if (isnan(v)) print(o, "%cQNAN ", signbit(v) ? '-' : '+');
  else if (isinf(v)) print(o, "%cINF ", signbit(v) ? '-' : '+');
  else if (v == 0 && signbit(v)) print(o, "-0.0 ");
  else print(o, fabs(v) >= 1e9 ? "%.20e" : "%.20g", v);
}

void print_float(struct print_text *o, uint32_t bits)
{
  float f;
  memcpy(&f, &bits, sizeof f);
  print_double(o, (double)f);
}

void print_half(struct print_text *o, unsigned bits, bool bf16)
{
  unsigned exp = bits >> 10 & 31, frac = bits & 1023;
  double v;
  if (bf16) {
    print_float(o, (uint32_t)bits << 16);
    return;
  }
  if (exp == 31) v = frac ? (double)NAN : (double)INFINITY;
  else v = exp ? ldexp(1024 + frac, (int)exp - 25) : ldexp(frac, -24);
  print_double(o, bits >> 15 ? -v : v);
}
