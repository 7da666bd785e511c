#include "cuda/core/advice_list.h"

#include <string.h>

#include "base/host_memory.h"

void advice_list_free(const struct advice_list *l)
{
  mem_free(l->span);
}

/* The last span that begins at or before the byte. */
static uint32_t span_of(const struct advice_list *l, uint64_t byte)
{
  uint32_t lo = 0, hi = l->n;
  while (hi - lo > 1) {
    const uint32_t mid = (lo + hi) / 2;
    if (l->span[mid].first <= byte) lo = mid;
    else hi = mid;
  }
  return lo;
}

/* A span begins there from now on: its number. */
static uint32_t split(struct advice_list *l, uint64_t byte)
{
  const uint32_t i = span_of(l, byte);
  if (l->span[i].first == byte) return i;
  l->span = mem_more(l->span, l->n, &l->room, sizeof *l->span);
  memmove(&l->span[i + 1], &l->span[i], (l->n++ - i) * sizeof *l->span);
  l->span[i + 1].first = byte;
  return i + 1;
}

struct advice_span *advice_list_cut(struct advice_list *l, uint64_t first, uint64_t end, uint32_t *n)
{
  if (!l->n) {
    l->span = mem_more(l->span, 0, &l->room, sizeof *l->span);
    l->span[l->n++] = (struct advice_span){ 0 };
  }
  const uint32_t from = split(l, first);
  *n = split(l, end) - from;
  return &l->span[from];
}

const struct advice *advice_list_at(const struct advice_list *l, uint64_t byte, uint64_t *next)
{
  static const struct advice none;
  *next = UINT64_MAX;
  if (!l->n) return &none;
  const uint32_t i = span_of(l, byte);
  if (i + 1 < l->n) *next = l->span[i + 1].first;
  return &l->span[i].advice;
}
