#include "sanitize/clock_set.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/host_memory.h"

struct clock_set *clock_set_new(uint32_t n)
{
  struct clock_set *s = malloc(sizeof *s + n * sizeof s->entry[0]);
  NO_MEMORY_IF(!s);
  s->users = 1;
  s->n = n;
  return s;
}

static struct clock_set *clock_set_share(struct clock_set *s)
{
  if (s) s->users++;
  return s;
}

void clock_set_drop(struct clock_set *s)
{
  if (s && !--s->users) free(s);
}

uint32_t clock_set_get(const struct clock_set *s, uint32_t warp)
{
  uint32_t lo = 0, hi = s ? s->n : 0;
  while (lo < hi) {
    const uint32_t mid = (lo + hi) / 2;
    if (s->entry[mid].warp < warp) lo = mid + 1;
    else hi = mid;
  }
  return s && lo < s->n && s->entry[lo].warp == warp ? s->entry[lo].clock : 0;
}

/* Whether a knows all that b knows. */
static bool covers(const struct clock_set *a, const struct clock_set *b)
{
  uint32_t i = 0;
  if (a->n < b->n) return false;
  for (uint32_t k = 0; k < b->n; k++) {
    while (i < a->n && a->entry[i].warp < b->entry[k].warp) i++;
    if (i == a->n || a->entry[i].warp != b->entry[k].warp || a->entry[i].clock < b->entry[k].clock) return false;
  }
  return true;
}

static struct clock_entry later(struct clock_entry x, struct clock_entry y)
{
  return x.clock >= y.clock ? x : y;
}

struct clock_set *clock_set_join(struct clock_set *a, struct clock_set *b)
{
  if (!b || a == b) return clock_set_share(a);
  if (!a || covers(b, a)) return clock_set_share(b);
  if (covers(a, b)) return clock_set_share(a);
  struct clock_set *s = clock_set_new(a->n + b->n);
  uint32_t n = 0, i = 0, k = 0;
  while (i < a->n || k < b->n) {
    if (k == b->n || (i < a->n && a->entry[i].warp < b->entry[k].warp)) s->entry[n++] = a->entry[i++];
    else if (i == a->n || b->entry[k].warp < a->entry[i].warp) s->entry[n++] = b->entry[k++];
    else s->entry[n++] = later(a->entry[i++], b->entry[k++]);
  }
  s->n = n;
  return s;
}
