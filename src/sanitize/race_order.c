#include "sanitize/race_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bug.h"
#include "base/host_memory.h"

/* --- places ------------------------------------------------------------------------------------------ */

static struct race_place *slot_of(struct race_place *slot, uint64_t size, uint64_t key)
{
  uint64_t i = (key * UINT64_C(0x9e3779b97f4a7c15) >> 24) & (size - 1);
  while (slot[i].key && slot[i].key != key + 1) i = (i + 1) & (size - 1);
  return &slot[i];
}

void race_places_free(struct race_places *p)
{
  for (uint64_t i = 0; i < p->size; i++) {
    clock_set_drop(p->slot[i].set);
    free(p->slot[i].known);
  }
  free(p->slot);
  *p = (struct race_places){0};
}

static void grow(struct race_places *p)
{
  const uint64_t size = p->size ? 2 * p->size : 64;
  struct race_place *slot = calloc(size, sizeof *slot);
  NO_MEMORY_IF(!slot);
  for (uint64_t i = 0; i < p->size; i++)
    if (p->slot[i].key) *slot_of(slot, size, p->slot[i].key - 1) = p->slot[i];
  free(p->slot);
  p->slot = slot;
  p->size = size;
}

struct race_place *race_place_find(struct race_places *p, uint64_t key)
{
  if (!p->n) return NULL;
  struct race_place *at = slot_of(p->slot, p->size, key);
  return at->key ? at : NULL;
}

struct race_place *race_place_make(struct race_places *p, uint64_t key)
{
  if (2 * p->n >= p->size) grow(p);
  struct race_place *at = slot_of(p->slot, p->size, key);
  if (!at->key) {
    at->key = key + 1;
    p->n++;
    p->filter |= race_filter_bit(key);
  }
  return at;
}

/* --- CTAs -------------------------------------------------------------------------------------------- */

struct race_cta *race_cta_new(uint64_t id, unsigned n_warps)
{
  struct race_cta *c = calloc(1, sizeof *c);
  NO_MEMORY_IF(!c);
  BUG_ON(n_warps > RACE_MAX_WARPS);
  c->id = id;
  c->n = n_warps;
  c->first = (uint32_t)(id * n_warps);
  c->tick = 1;
  for (unsigned u = 0; u < n_warps; u++) c->warp[u].clock = 1;
  return c;
}

void race_cta_free(struct race_cta *c)
{
  for (unsigned u = 0; u < c->n; u++) {
    clock_set_drop(c->warp[u].others);
    clock_set_drop(c->warp[u].visible);
  }
  for (unsigned i = 0; i < RACE_BARRIERS; i++) clock_set_drop(c->barrier[i].set);
  race_places_free(&c->places);
  race_table_free(&c->shared);
  free(c);
}

void race_tick(struct race_cta *c, unsigned u)
{
  c->warp[u].clock = ++c->tick;
}

static void raise(uint32_t *to, const uint32_t *from, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (from[i] > to[i]) to[i] = from[i];
}

/* A set takes the place of what a pointer holds. */
static void replace(struct clock_set **at, struct clock_set *by)
{
  clock_set_drop(*at);
  *at = by;
}

static void forget(struct race_warp *w)
{
  memset(w->memo, 0, sizeof w->memo);
}

static void learn(struct race_warp *w, struct clock_set *set)
{
  if (!set || set == w->others) return;
  replace(&w->others, clock_set_join(w->others, set));
  w->stale = true;
}

/* --- order ------------------------------------------------------------------------------------------- */

bool race_is_before(const struct race_cta *c, unsigned u, const struct race_entry *e)
{
  const uint32_t w = e->warp - 1;
  if (w - c->first < c->n) return c->known[u][w - c->first] >= e->clock;
  return c->warp[u].others && clock_set_get(c->warp[u].others, w) >= e->clock;
}

bool race_copy_is_before(const struct race_cta *c, unsigned u, const struct race_entry *e)
{
  const unsigned owner = e->warp - 1 - c->first;
  const struct race_warp *w = &c->warp[owner];
  const uint32_t group = e->clock;
  if (group > w->waited) return false;
  if (owner == u || w->waited - group >= RACE_GROUPS) return true;
  return c->known[u][owner] >= w->done[group % RACE_GROUPS];
}

void race_arrive(struct race_cta *c, unsigned u, unsigned barrier, bool waits)
{
  struct race_barrier *b = &c->barrier[barrier];
  c->known[u][u] = c->warp[u].clock;
  b->busy = true;
  c->busy |= 1u << barrier;
  raise(b->known, c->known[u], c->n);
  raise(b->fenced, c->fenced[u], c->n);
  replace(&b->set, clock_set_join(b->set, c->warp[u].others));
  if (waits) b->waits |= 1u << u;
  c->warp[u].fenced = false;
  race_tick(c, u);
}

void race_end_phase(struct race_cta *c, unsigned barrier)
{
  struct race_barrier *b = &c->barrier[barrier];
  for (uint32_t r = b->waits; r; r &= r - 1) {
    const unsigned u = bits_first(r);
    raise(c->known[u], b->known, c->n);
    raise(c->fenced[u], b->fenced, c->n);
    learn(&c->warp[u], b->set);
    forget(&c->warp[u]);
    c->warp[u].stale = true;
  }
  clock_set_drop(b->set);
  memset(b, 0, sizeof *b);
  c->busy &= ~(1u << barrier);
}

void race_fence(struct race_cta *c, unsigned u)
{
  c->known[u][u] = c->warp[u].clock;
  raise(c->fenced[u], c->known[u], c->n);
  c->warp[u].stale = true;
  race_tick(c, u);
}

/* What is known of the own CTA, as others see it; NULL: nothing. */
static struct clock_set *own_set(const struct race_cta *c, const uint32_t *row)
{
  uint32_t n = 0;
  for (unsigned w = 0; w < c->n; w++) n += row[w] != 0;
  if (!n) return NULL;
  struct clock_set *s = clock_set_new(n);
  s->n = 0;
  for (unsigned w = 0; w < c->n; w++)
    if (row[w]) s->entry[s->n++] = (struct clock_entry){.warp = c->first + w, .clock = row[w]};
  return s;
}

/* What a strong store of warp u leaves. */
static struct clock_set *visible(struct race_cta *c, unsigned u)
{
  struct race_warp *w = &c->warp[u];
  if (!w->stale) return w->visible;
  struct clock_set *own = own_set(c, c->fenced[u]);
  replace(&w->visible, clock_set_join(own, w->others));
  clock_set_drop(own);
  w->stale = false;
  return w->visible;
}

/* What a place in shared memory holds. */
static void learn_known(struct race_cta *c, unsigned u, const uint32_t *known)
{
  uint32_t *mine = c->known[u];
  bool more = false;
  for (unsigned w = 0; w < c->n; w++) {
    if (known[w] <= mine[w]) continue;
    mine[w] = known[w];
    more = true;
  }
  if (more) forget(&c->warp[u]);
}

void race_acquire(struct race_cta *c, unsigned u, const struct race_place *p)
{
  struct clock_set *set = p->set;
  if (p->known && p->last != u + 1) learn_known(c, u, p->known);
  if (!p->known && p->cta == c->id + 1 && c->warp[u].met < p->tick) {
    for (unsigned w = 0; w < c->n; w++)
      if (c->known[u][w] < p->tick) c->known[u][w] = p->tick;
    c->warp[u].met = p->tick;
    forget(&c->warp[u]);
  }
  if (!set || set == c->warp[u].others) return;
  forget(&c->warp[u]);
  learn(&c->warp[u], set);
  for (uint32_t i = 0; i < set->n; i++) {
    const uint32_t w = set->entry[i].warp - c->first;
    if (w < c->n && c->known[u][w] < set->entry[i].clock) c->known[u][w] = set->entry[i].clock;
  }
}

void race_release_own(struct race_cta *c, unsigned u, struct race_place *p, bool acquired)
{
  enum { ROW = 8 }; /* as many at a time as the host copies without a call; rows of RACE_MAX_WARPS hold such */
  if (!p->known) p->known = calloc(c->n + ROW, sizeof *p->known);
  NO_MEMORY_IF(!p->known);
  p->last = acquired ? u + 1 : 0;
  c->known[u][u] = c->warp[u].clock;
  if (!acquired) raise(p->known, c->known[u], c->n);
  for (unsigned w = 0; acquired && w < c->n; w += ROW) memcpy(p->known + w, c->known[u] + w, ROW * sizeof *p->known);
  if (c->warp[u].others) replace(&p->set, clock_set_join(p->set, c->warp[u].others));
  race_tick(c, u);
}

void race_release(struct race_cta *c, unsigned u, struct race_place *p, bool all)
{
  p->cta = c->id + 1;
  p->tick = c->tick;
  if (all) {
    c->known[u][u] = c->warp[u].clock;
    struct clock_set *own = own_set(c, c->known[u]), *mine = clock_set_join(own, c->warp[u].others);
    replace(&p->set, clock_set_join(p->set, mine));
    clock_set_drop(own);
    clock_set_drop(mine);
  } else {
    replace(&p->set, clock_set_join(p->set, visible(c, u)));
  }
  race_tick(c, u);
}

/* --- asynchronous copies ------------------------------------------------------------------------------ */

void race_close_group(struct race_cta *c, unsigned u, uint8_t counter)
{
  c->warp[u].closed++;
  c->warp[u].counter = counter;
}

void race_wait_groups(struct race_cta *c, unsigned u, uint32_t left)
{
  struct race_warp *w = &c->warp[u];
  while (w->waited < w->closed && w->closed - w->waited > left) w->done[++w->waited % RACE_GROUPS] = w->clock;
}
