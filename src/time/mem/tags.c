#include "time/mem/tags.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"

enum { HOST_LINE = 64, SIGNATURES_PER_WORD = 8 };

void tags_init(struct tags *t, struct arena *a, unsigned sets, unsigned ways)
{
  BUG_ON(ways == 0 || ways >= TAGS_NONE);
  *t = (struct tags){.n_sets = sets, .max_ways = ways};
  t->order_at = (unsigned)round_up(ways, SIGNATURES_PER_WORD);
  t->state_at = t->order_at + ways * (unsigned)sizeof(uint16_t);
  t->stride = (unsigned)round_up(t->state_at + ways * (unsigned)sizeof(struct tag_state), HOST_LINE);
  t->tag = ARENA_ARRAY(a, uint64_t, (size_t)sets * ways);
  t->set = arena_alloc(a, (size_t)sets * t->stride, HOST_LINE);
  tags_clear(t, ways);
}

void tags_clear(struct tags *t, unsigned ways)
{
  BUG_ON(ways == 0 || ways > t->max_ways);
  if (t->clean && ways == t->n_ways) return;
  bool fresh = !t->n_ways; /* host memory that is zero need not be touched */
  t->n_ways = ways;
  t->clean = true;
  for (unsigned s = 0; s < t->n_sets; s++) {
    if (!fresh) memset(t->set + (size_t)s * t->stride, 0, t->stride);
    uint16_t *order = tags_order(t, s);
    for (unsigned i = 0; i < ways; i++) order[i] = (uint16_t)(ways - 1 - i);
  }
}

/* Of a set: the ways that are free now go behind those that are not. How many these are. */
static unsigned drop_in_set(struct tags *t, unsigned set, uint64_t kept_bits)
{
  unsigned char *signature = t->set + (size_t)set * t->stride;
  const uint64_t *tag = t->tag + (size_t)set * t->max_ways;
  uint16_t *order = tags_order(t, set), kept = 0;
  for (unsigned i = 0; i < t->n_ways; i++) {
    const uint16_t way = order[i];
    if (signature[way] && (tag[way] - 1) & kept_bits) {
      memmove(order + kept + 1, order + kept, (i - kept) * sizeof *order);
      order[kept++] = way;
      continue;
    }
    signature[way] = 0;
    *tags_state(t, (struct tag_at){set, way}) = (struct tag_state){0};
  }
  return kept;
}

void tags_drop(struct tags *t, uint64_t kept_bits)
{
  unsigned kept = 0;
  if (t->clean) return;
  for (unsigned s = 0; s < t->n_sets; s++) kept += drop_in_set(t, s, kept_bits);
  t->clean = !kept;
}

void tags_use(struct tags *t, struct tag_at a)
{
  uint16_t *order = tags_order(t, a.set);
  unsigned at = order[t->n_ways - 1] == a.way ? t->n_ways - 1 : 0;
  while (order[at] != a.way) at++;
  if (!at) return;
  memmove(order + 1, order, at * sizeof *order);
  order[0] = a.way;
}

void tags_replace(struct tags *t, struct tag_at a, uint64_t line)
{
  t->set[(size_t)a.set * t->stride + a.way] = tags_signature(line);
  t->tag[tags_index(t, a)] = line + 1;
  *tags_state(t, a) = (struct tag_state){0};
  t->clean = false;
}
