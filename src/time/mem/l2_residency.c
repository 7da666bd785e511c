#include "time/mem/l2_residency.h"

/* --- policy ------------------------------------------------------------------------------------- */

void l2_policy_set(struct l2_policy *p, unsigned slot, const struct access_window *w, unsigned space)
{
  struct l2_window *to = &p->window[slot];
  const uint64_t first = w->addr / LINE_BYTES;
  *to = (struct l2_window){0};
  if (!w->bytes) return;
  const uint64_t last = (w->addr + (w->bytes - 1)) / LINE_BYTES;
  if (last < first) return;
  *to = (struct l2_window){.first = line_of_space(space) | line_number(first), .lines = last - first + 1,
                           .hits = w->hits, .hit = w->hit, .miss = w->miss};
  p->active = true;
}

/* Bits of a line's number as good as drawn (the finalizer of MurmurHash3). */
static uint32_t draw(uint64_t line)
{
  line = (line ^ line >> 33) * 0xff51afd7ed558ccdull;
  line = (line ^ line >> 33) * 0xc4ceb9fe1a85ec53ull;
  return (uint32_t)(line >> 40); /* below ACCESS_WINDOW_WHOLE */
}

enum access_property l2_policy_of(const struct l2_policy *p, unsigned grid, uint64_t line)
{
  const struct l2_window *w = &p->window[grid];
  if (line - w->first >= w->lines) return ACCESS_UNSAID;
  const uint8_t said = draw(line) < w->hits ? w->hit : w->miss;
  return said == ACCESS_PERSISTING && !p->aside ? ACCESS_NORMAL : (enum access_property)said;
}

/* --- lines -------------------------------------------------------------------------------------- */

void l2_residency_init(struct l2_residency *r, struct arena *a, const struct l2_policy *p, const struct tags *t)
{
  *r = (struct l2_residency){.policy = p, .property = ARENA_ARRAY(a, uint8_t, (size_t)t->n_sets * t->max_ways)};
}

static uint8_t *property_of(const struct l2_residency *r, const struct tags *t, struct tag_at at)
{
  return &r->property[tags_index(t, at)];
}

/* Lines of the set that persist, and the oldest of each property; TAGS_NONE: there is none. */
struct census {
  unsigned persist;
  uint16_t oldest[ACCESS_UNSAID];
};

static struct census count(const struct l2_residency *r, const struct tags *t, unsigned set)
{
  struct census c = {0, {TAGS_NONE, TAGS_NONE, TAGS_NONE}};
  const uint16_t *order = tags_order(t, set);
  for (unsigned i = 0; i < t->n_ways; i++) {
    const struct tag_at at = {set, order[i]};
    const uint8_t is = tags_used(t, at) ? *property_of(r, t, at) : ACCESS_NORMAL;
    c.persist += is == ACCESS_PERSISTING;
    c.oldest[is] = order[i];
  }
  return c;
}

struct tag_at l2_residency_victim(const struct l2_residency *r, const struct tags *t, unsigned set,
                                  enum access_property of)
{
  const struct tag_at oldest = tags_oldest(t, set);
  if (!tags_used(t, oldest)) return oldest;
  const struct census c = count(r, t, set);
  const unsigned aside = r->policy->aside;
  uint16_t way = c.oldest[ACCESS_STREAMING];
  if (of == ACCESS_PERSISTING && c.persist >= aside) way = c.oldest[ACCESS_PERSISTING];
  else if (way == TAGS_NONE) way = c.persist > aside ? oldest.way : c.oldest[ACCESS_NORMAL];
  return way == TAGS_NONE ? oldest : (struct tag_at){set, way};
}

void l2_residency_place(struct l2_residency *r, const struct tags *t, struct tag_at at, enum access_property of)
{
  *property_of(r, t, at) = (uint8_t)(of == ACCESS_UNSAID ? ACCESS_NORMAL : of);
}

void l2_residency_use(struct l2_residency *r, const struct tags *t, struct tag_at at, enum access_property of)
{
  uint8_t *is = property_of(r, t, at);
  if (of == ACCESS_UNSAID || of == *is) return;
  if (of == ACCESS_PERSISTING) {
    const struct census c = count(r, t, at.set);
    if (c.persist >= r->policy->aside && c.persist)
      *property_of(r, t, (struct tag_at){at.set, c.oldest[ACCESS_PERSISTING]}) = ACCESS_NORMAL;
  }
  *is = (uint8_t)of;
}

void l2_residency_reset(struct l2_residency *r, const struct tags *t)
{
  const size_t n = (size_t)t->n_sets * t->max_ways;
  if (!r->policy->active) return;
  for (size_t i = 0; i < n; i++)
    if (r->property[i] == ACCESS_PERSISTING) r->property[i] = ACCESS_NORMAL;
}
