#include "host/literals.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A literal grows at most from 10 digits to "0x" + 16 digits + "L". */
enum { GROWTH = 2, SLACK = 32 };

struct scan {
  const char *in, *end;
  char *out;
  int line;
  struct err *e;
};

static void copy(struct scan *s, size_t n)
{
  for (; n && s->in < s->end; n--) {
    if (*s->in == '\n') s->line++;
    *s->out++ = *s->in++;
  }
}

static size_t left(const struct scan *s)
{
  return (size_t)(s->end - s->in);
}

static bool starts(const struct scan *s, const char *what)
{
  size_t n = strlen(what);
  return left(s) >= n && memcmp(s->in, what, n) == 0;
}

static void copy_line(struct scan *s)
{
  const char *nl = memchr(s->in, '\n', left(s));
  copy(s, nl ? (size_t)(nl - s->in) : left(s));
}

static void copy_comment(struct scan *s)
{
  const char *close = memmem(s->in + 2, left(s) - 2, "*/", 2);
  copy(s, close ? (size_t)(close + 2 - s->in) : left(s));
}

static void copy_string(struct scan *s)
{
  copy(s, 1);
  while (s->in < s->end && *s->in != '"') copy(s, *s->in == '\\' ? 2 : 1);
  copy(s, 1);
}

static void copy_name(struct scan *s)
{
  size_t n = 1;
  while (n < left(s) && (isalnum((unsigned char)s->in[n]) || memchr("-_*", s->in[n], 3))) n++;
  copy(s, n);
}

/* Length of the number at s->in, without sign. */
static size_t number_length(const struct scan *s, bool *real)
{
  bool hex = starts(s, "0x") || starts(s, "0X");
  size_t n = hex ? 2 : 1;
  *real = false;
  for (; n < left(s); n++) {
    char c = s->in[n];
    bool after_e = tolower((unsigned char)s->in[n - 1]) == 'e';
    bool exponent_sign = !hex && after_e && (c == '+' || c == '-');
    if (!isalnum((unsigned char)c) && c != '.' && !exponent_sign) break;
    if (c == '.' || (!hex && tolower((unsigned char)c) == 'e')) *real = true;
  }
  return n;
}

static bool widen_number(struct scan *s, bool negative)
{
  bool real;
  size_t n = number_length(s, &real);
  char text[32], *end;
  if (real || n >= sizeof text) {
    if (!real && n >= sizeof text) return err_set(s->e, "integer of more than 64 bits; use a "
                                                  "smaller one");
    copy(s, n);
    return true;
  }
  memcpy(text, s->in, n);
  text[n] = '\0';
  errno = 0;
  bool hex = starts(s, "0x") || starts(s, "0X");
  unsigned long long v = strtoull(text, &end, hex ? 16 : 10);
  if (*end != '\0' && *end != 'L' && *end != 'l') { /* not a number: libconfig will complain */
    copy(s, n);
    return true;
  }
  if (errno == ERANGE || (negative && v > (unsigned long long)INT64_MAX + 1))
    return err_set(s->e, "integer of more than 64 bits; use a smaller one");
  if (v <= INT32_MAX) copy(s, n);
  else {
    s->in += n;
    s->out += snprintf(s->out, SLACK, negative ? "%lluL" : "0x%llxL", v);
  }
  return true;
}

static bool step(struct scan *s, char before)
{
  char c = *s->in;
  if (c == '#' || starts(s, "//")) copy_line(s);
  else if (starts(s, "/*")) copy_comment(s);
  else if (c == '"') copy_string(s);
  else if (starts(s, "@include")) return err_set(s->e, "@include is not allowed; write it out");
  else if (isalpha((unsigned char)c) || c == '*') copy_name(s);
  else if (isdigit((unsigned char)c) && before != '.') return widen_number(s, before == '-');
  else copy(s, 1);
  return true;
}

char *literals_widen(struct arena *a, const char *text, size_t bytes, int *line, struct err *e)
{
  char *out = arena_alloc(a, bytes * GROWTH + SLACK, 1);
  struct scan s = { text, text + bytes, out, 1, e };
  char before = '\n';
  while (s.in < s.end) {
    bool ok = step(&s, before);
    *line = s.line;
    if (!ok) return NULL;
    before = s.in > text ? s.in[-1] : '\n';
  }
  *s.out = '\0';
  return out;
}

bool literals_number(const config_setting_t *s, struct number *n)
{
  long long v;
  switch (config_setting_type(s)) {
  case CONFIG_TYPE_INT:
    *n = number_int(config_setting_get_int(s));
    return true;
  case CONFIG_TYPE_INT64:
    v = config_setting_get_int64(s);
    *n = config_setting_get_format(s) == CONFIG_FORMAT_HEX ? number_unsigned((uint64_t)v)
                                                           : number_int(v);
    return true;
  case CONFIG_TYPE_FLOAT:
    *n = number_real(config_setting_get_float(s));
    return true;
  default:
    return false;
  }
}
