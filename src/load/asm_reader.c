#include "load/asm_reader.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ERROR = 440 };

bool reader_bad(struct asm_reader *r, const char *fmt, ...)
{
  char msg[MAX_ERROR];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(msg, sizeof msg, fmt, ap);
  va_end(ap);
  return err_set(r->e, "%s:%u:%zu: %s", r->file, r->number, (size_t)(r->p - r->line) + 1, msg);
}

void reader_skip_blanks(struct asm_reader *r)
{
  while (*r->p == ' ' || *r->p == '\t') r->p++;
}

bool reader_at_end(struct asm_reader *r)
{
  reader_skip_blanks(r);
  return *r->p == '\0';
}

bool reader_is_name(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

const char *reader_take_name(struct asm_reader *r)
{
  reader_skip_blanks(r);
  const char *first = r->p;
  while (reader_is_name(*r->p)) r->p++;
  size_t n = (size_t)(r->p - first);
  if (!n) return reader_bad(r, "a name is expected"), NULL;
  char *name = arena_alloc(r->c.arena, n + 1, 1);
  memcpy(name, first, n);
  return name;
}

bool reader_take_comma(struct asm_reader *r)
{
  reader_skip_blanks(r);
  if (*r->p != ',') return false;
  r->p++;
  return true;
}

bool reader_take_integer(struct asm_reader *r, uint64_t *v)
{
  char *end;
  reader_skip_blanks(r);
  bool neg = *r->p == '-';
  const char *digits = r->p + neg;
  if (!isdigit((unsigned char)*digits)) return reader_bad(r, "a number is expected");
  bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  *v = strtoull(digits, &end, hex ? 16 : 10);
  if (reader_is_name(*end)) return reader_bad(r, "a number is expected");
  if (neg) *v = -*v;
  r->p = end;
  return true;
}

bool reader_take_limited(struct asm_reader *r, uint64_t max, uint64_t *v)
{
  const char *first = r->p;
  TRY(reader_take_integer(r, v));
  if (*v <= max) return true;
  r->p = first;
  reader_skip_blanks(r);
  return reader_bad(r, "out of range: 0..%llu", (unsigned long long)max);
}

bool reader_take_end(struct asm_reader *r)
{
  return reader_at_end(r) || reader_bad(r, "unexpected text");
}
