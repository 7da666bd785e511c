#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/link/link_msg.h"

/* Messages lie whole and aligned. Where one does not fit before the end of the ring, it begins at its start; a header
 * whose body is SKIP says so, if there is room for it. */
enum { ALIGN = 8, FIRST_CAP = 1 << 10, SKIP = UINT32_MAX };

static uint32_t bytes_of(const struct link_msg *m)
{
  return (uint32_t)align_up(sizeof *m + m->body, ALIGN);
}

void link_ring_free(struct link_ring *r)
{
  mem_free(r->data);
  *r = (struct link_ring){.n = 0};
}

/* Past a gap at the end. */
static void skip_gap(struct link_ring *r)
{
  if (!r->n) return;
  bool gap = r->cap - r->head < sizeof(struct link_msg) || link_ring_front(r)->body == SKIP;
  if (gap) r->head = 0;
}

/* Contiguous room for `need` bytes; false: there is none. */
static bool find_room(struct link_ring *r, uint32_t need)
{
  if (!r->n) r->head = r->tail = 0;
  if (r->n && r->tail == r->head) return false;
  if (r->tail < r->head) return need <= r->head - r->tail;
  if (need <= r->cap - r->tail) return true;
  if (need > r->head) return false;
  if (r->cap - r->tail >= sizeof(struct link_msg)) ((struct link_msg *)(void *)(r->data + r->tail))->body = SKIP;
  r->tail = 0;
  return true;
}

static void grow(struct link_ring *r, uint32_t need)
{
  uint64_t cap = r->cap ? 2 * (uint64_t)r->cap : FIRST_CAP;
  while (cap < need) cap *= 2;
  BUG_ON(cap > UINT32_MAX / 2);
  struct link_ring old = *r;
  *r = (struct link_ring){.data = mem_alloc(cap), .cap = (uint32_t)cap};
  for (struct link_msg *m; (m = link_ring_front(&old)); link_ring_pop(&old)) link_ring_push(r, m, link_msg_body(m));
  link_ring_free(&old);
}

struct link_msg *link_ring_push(struct link_ring *r, const struct link_msg *m, const void *bytes)
{
  uint32_t need = bytes_of(m);
  BUG_ON(m->body > LINK_BODY_MAX);
  while (!find_room(r, need)) grow(r, need);
  struct link_msg *at = (struct link_msg *)(void *)(r->data + r->tail);
  *at = *m;
  if (bytes && m->body) memcpy(link_msg_body(at), bytes, m->body);
  r->tail += need;
  if (r->tail == r->cap && r->head > 0) r->tail = 0;
  r->n++;
  return at;
}

void link_ring_pop(struct link_ring *r)
{
  r->head += bytes_of(link_ring_front(r));
  r->n--;
  skip_gap(r);
}

void link_ring_last(const struct link_ring *r, uint32_t n, void (*fn)(void *ctx, const struct link_msg *, bool),
                    void *ctx, bool said)
{
  struct link_ring at = *r; /* the same bytes */
  for (; at.n; at.head += bytes_of(link_ring_front(&at)), at.n--, skip_gap(&at))
    if (at.n <= n) fn(ctx, link_ring_front(&at), said);
}
