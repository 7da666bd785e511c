#include "load/plain_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

/* <source-name> ::= <length> <characters>. NULL: none here. */
static const char *component(const char *p, size_t *n)
{
  if (*p == 'L') p++; /* internal linkage */
  if (!isdigit((unsigned char)*p)) return NULL;
  for (*n = 0; isdigit((unsigned char)*p) && *n < 1 << 20; p++) *n = *n * 10 + (size_t)(*p - '0');
  return *n > 0 && *n <= strlen(p) ? p : NULL;
}

const char *plain_name(const char *symbol, size_t *n)
{
  *n = strlen(symbol);
  if (strncmp(symbol, "_Z", 2) != 0) return symbol;
  bool nested = symbol[2] == 'N';
  const char *p = symbol + 2 + nested, *last = symbol;
  size_t length;
  while ((p = component(p, &length))) {
    last = p;
    *n = length;
    p += length;
    if (!nested) break;
  }
  return last;
}

void plain_name_offer(struct nearest *near, const char *symbol)
{
  char plain[NEAREST_LONGEST + 1];
  size_t n;
  const char *name = plain_name(symbol, &n);
  nearest_offer(near, symbol);
  if (n > NEAREST_LONGEST) return;
  snprintf(plain, sizeof plain, "%.*s", (int)n, name);
  nearest_offer(near, plain);
}
