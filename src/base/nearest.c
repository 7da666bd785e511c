#include "base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"

enum { EDIT_PER = 3 }; /* characters */

void nearest_start(struct nearest *n, const char *asked)
{
  *n = (struct nearest){.asked = asked};
}

/* Characters that count as one. */
static int folded(char c)
{
  return strchr("-_.", c) && c ? '-' : tolower((unsigned char)c);
}

static unsigned least(unsigned a, unsigned b)
{
  return a < b ? a : b;
}

unsigned nearest_distance(const char *a, const char *b)
{
  size_t n = strlen(a), m = strlen(b);
  unsigned row[3][NEAREST_LONGEST + 1]; /* of a's last three prefixes, by prefix of b */
  BUG_ON(n > NEAREST_LONGEST || m > NEAREST_LONGEST);
  for (unsigned k = 0; k <= m; k++) row[0][k] = k;
  for (unsigned i = 1; i <= n; i++) {
    unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *two_before = row[(i + 1) % 3];
    now[0] = i;
    for (unsigned k = 1; k <= m; k++) {
      bool same = folded(a[i - 1]) == folded(b[k - 1]);
      now[k] = least(least(before[k] + 1, now[k - 1] + 1), before[k - 1] + !same);
      if (i > 1 && k > 1 && folded(a[i - 1]) == folded(b[k - 2]) && folded(a[i - 2]) == folded(b[k - 1]))
        now[k] = least(now[k], two_before[k - 2] + 1);
    }
  }
  return row[n % 3][m];
}

static bool same_folded(const char *a, const char *b, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (folded(a[i]) != folded(b[i])) return false;
  return true;
}

/* "sm.max_warps" for "max_warps", "rtx-3070" for "3070", "v100-pcie" for "v100". */
static bool is_part(const char *asked, const char *name)
{
  const size_t n = strlen(asked), length = strlen(name);
  if (n >= length) return false;
  const char *tail = name + length - n;
  return (strchr(".-", tail[-1]) && same_folded(tail, asked, n)) || (name[n] == '-' && same_folded(name, asked, n));
}

void nearest_offer(struct nearest *n, const char *name)
{
  size_t asked = strlen(n->asked), length = strlen(name);
  if (!asked || !length || asked > NEAREST_LONGEST || length > NEAREST_LONGEST) return;
  unsigned most = asked < EDIT_PER ? 1 : (unsigned)asked / EDIT_PER;
  unsigned distance = is_part(n->asked, name) ? 0 : nearest_distance(n->asked, name);
  if (distance > most || distance >= asked || (n->best[0] && distance >= n->distance)) return;
  n->distance = distance;
  memcpy(n->best, name, length + 1);
}

const char *nearest_hint(const struct nearest *n, char buf[NEAREST_HINT])
{
  buf[0] = '\0';
  if (n->best[0]) snprintf(buf, NEAREST_HINT, "; did you mean '%s'?", n->best);
  return buf;
}
