#include "time/noc/inbox.h"

#include <stdlib.h>

#include "base/host_memory.h"

enum { FIRST_CHUNK = 32, FIRST_CAP = 16, FEW = 16 };

/* A new message, and where it lies. */
struct inbox_mark {
  inbox_key key;
  uint32_t at;
};

void inbox_init(struct inbox *b, struct arena *a, unsigned senders)
{
  BUG_ON(senders >> INBOX_SENDER_BITS);
  *b = (struct inbox){.lane = ARENA_ARRAY(a, struct inbox_lane, senders)};
  b->chunk[0] = ARENA_ARRAY(a, struct inbox_msg, FIRST_CHUNK);
}

void inbox_free(struct inbox *b)
{
  for (unsigned i = 1; i < INBOX_CHUNKS; i++) mem_free(b->chunk[i]);
  mem_free(b->ring);
  mem_free(b->mark);
}

/* --- senders ---------------------------------------------------------------------------------- */

/* Whoever needs the chunk first adds it. */
static struct inbox_msg *add_chunk(struct inbox *b, unsigned k)
{
  BUG_ON(k >= INBOX_CHUNKS);
  struct inbox_msg *mine = mem_alloc(((size_t)FIRST_CHUNK << k) * sizeof *mine), *there = NULL;
  if (__atomic_compare_exchange_n(&b->chunk[k], &there, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return mine;
  mem_free(mine);
  return there;
}

static struct inbox_msg *place_behind(struct inbox *b, uint32_t i)
{
  unsigned k = 31 - (unsigned)__builtin_clz(i / FIRST_CHUNK + 1);
  struct inbox_msg *c = __atomic_load_n(&b->chunk[k], __ATOMIC_ACQUIRE);
  if (!c) c = add_chunk(b, k);
  return &c[i - FIRST_CHUNK * ((1u << k) - 1)];
}

/* Place of a new message. */
static inline struct inbox_msg *place(struct inbox *b, uint32_t i)
{
  return i < FIRST_CHUNK ? &b->chunk[0][i] : place_behind(b, i);
}

void inbox_wake(struct inbox *b, picos at)
{
  if (!b->wake) return;
  picos seen = __atomic_load_n(b->wake, __ATOMIC_RELAXED);
  while (at < seen &&
         !__atomic_compare_exchange_n(b->wake, &seen, at, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

void inbox_send(struct inbox *b, unsigned sender, const struct mem_req *m)
{
  struct inbox_lane *l = &b->lane[sender];
  inbox_key key = m->arrive << INBOX_SENDER_BITS | sender;
  BUG_ON(m->arrive >> (64 - INBOX_SENDER_BITS)); /* over an hour of simulated time */
  if (l->n && key < l->last) key = l->last;
  l->last = key;
  struct inbox_msg *to = place(b, __atomic_fetch_add(&b->n_new, 1, __ATOMIC_RELAXED));
  to->key = key;
  to->req = *m;
  if (!l->n++) inbox_wake(b, m->arrive); /* else the receiver knows of the sender, and wakes for what is in front */
}

/* --- receiver --------------------------------------------------------------------------------- */

/* Messages of one sender keep their order; those of different ones have different keys. */
static void sort(struct inbox_mark *m, struct inbox_mark *spare, unsigned n)
{
  unsigned half = n / 2;
  if (!half) return;
  sort(m, spare, half);
  sort(m + half, spare, n - half);
  if (m[half - 1].key <= m[half].key) return;
  for (unsigned i = 0; i < half; i++) spare[i] = m[i];
  for (unsigned i = 0, k = half, to = 0; i < half; to++)
    m[to] = k < n && m[k].key < spare[i].key ? m[k++] : spare[i++];
}

static void *grown(void *p, size_t n, size_t size)
{
  p = mem_resize(p, n, size);
  return p;
}

static void reserve(struct inbox *b, uint32_t n_new)
{
  if (b->n + n_new > b->cap) {
    uint32_t old = b->cap, cap = old ? old : FIRST_CAP;
    while (cap < b->n + n_new) cap *= 2;
    b->ring = grown(b->ring, cap, sizeof *b->ring);
    /* What went round the end of the old ring goes on behind it. */
    for (uint32_t i = 0; b->head + b->n > old && i < b->head + b->n - old; i++) b->ring[old + i] = b->ring[i];
    b->cap = cap;
  }
  if (n_new > FEW && n_new > b->mark_cap) {
    while (b->mark_cap < n_new) b->mark_cap = b->mark_cap ? 2 * b->mark_cap : FIRST_CHUNK;
    b->mark = grown(b->mark, 2 * (size_t)b->mark_cap, sizeof *b->mark);
  }
}

/* From behind: few that are there arrive later than a new one. */
static void add(struct inbox *b, const struct inbox_msg *m)
{
  uint32_t mask = b->cap - 1, to = b->head + b->n++;
  for (; to != b->head && b->ring[(to - 1) & mask].key > m->key; to--) b->ring[to & mask] = b->ring[(to - 1) & mask];
  b->ring[to & mask] = *m;
}

/* The same of many at once, which are sorted first. */
static void add_many(struct inbox *b, uint32_t n)
{
  uint32_t mask = b->cap - 1, from = b->head + b->n, to = from + n;
  for (uint32_t i = 0; i < n; i++) b->mark[i] = (struct inbox_mark){place(b, i)->key, i};
  sort(b->mark, b->mark + b->mark_cap, n);
  for (uint32_t i = n; i-- > 0;) {
    while (from != b->head && b->ring[(from - 1) & mask].key > b->mark[i].key)
      b->ring[--to & mask] = b->ring[--from & mask];
    b->ring[--to & mask] = *place(b, b->mark[i].at);
  }
  b->n += n;
}

void inbox_look(struct inbox *b)
{
  uint32_t n = b->n_new;
  if (!n) return;
  b->n_new = 0;
  reserve(b, n);
  if (n <= FEW)
    for (uint32_t i = 0; i < n; i++) add(b, &b->chunk[0][i]);
  else
    add_many(b, n);
}
