#include "base/kept_array.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "base/redzone.h"

enum {
  KEPT_ALIGN = 128,
  MOST_AT_ONCE = 1 << 20, /* bytes to clear; beyond, new pages of the host cost no more */
  /* Parts of arrays of other shapes lie elsewhere, so that in time all of the memory would have been touched, and stay.
   */
  MOST_IN_ALL = 64 << 20,
};

static void make_room(struct kept_array *k, size_t bytes)
{
  arena_free(&k->arena);
  k->bytes = 0;
  k->data = arena_alloc(&k->arena, bytes, KEPT_ALIGN);
  k->bytes = bytes;
  k->cleared = 0;
}

static void make_bits(struct kept_array *k, size_t n)
{
  k->n_words = n / KEPT_WORD_BITS + 1;
  if (k->n_words <= k->cap_words) return;
  mem_free(k->touched);
  k->cap_words = 0;
  k->touched = mem_zeroed(k->n_words, sizeof *k->touched);
  k->cap_words = k->n_words;
}

void *kept_begin(struct kept_array *k, size_t n, size_t part)
{
  size_t bytes;
  BUG_ON(k->n || __builtin_mul_overflow(n, part, &bytes));
  make_bits(k, n);
  if (!k->data || bytes > k->bytes) make_room(k, bytes);
  k->n = n;
  k->part = part;
  return k->data;
}

size_t kept_next(const struct kept_array *k, size_t from)
{
  if (from >= k->n) return k->n;
  size_t i = from / KEPT_WORD_BITS;
  uint64_t w = k->touched[i] >> from % KEPT_WORD_BITS << from % KEPT_WORD_BITS;
  while (!w && ++i < k->n_words) w = k->touched[i];
  return w ? i * KEPT_WORD_BITS + (unsigned)__builtin_ctzll(w) : k->n;
}

static size_t count_touched(const struct kept_array *k)
{
  size_t n = 0;
  for (size_t i = 0; i < k->n_words; i++) n += (unsigned)__builtin_popcountll(k->touched[i]);
  return n;
}

static void clear_parts(struct kept_array *k, size_t head)
{
  for (size_t i = 0; (i = kept_next(k, i)) < k->n; i++) {
    redzone_lift(k->data + i * k->part, k->part);
    memset(k->data + i * k->part, 0, head);
  }
}

static void drop_room(struct kept_array *k)
{
  arena_free(&k->arena);
  k->data = NULL;
  k->bytes = 0;
}

void kept_end(struct kept_array *k, size_t head)
{
  const size_t bytes = count_touched(k) * head;
  BUG_ON(head > k->part);
  k->cleared += bytes;
  if (bytes > MOST_AT_ONCE || k->cleared > MOST_IN_ALL) drop_room(k);
  else clear_parts(k, head);
  if (k->n_words) memset(k->touched, 0, k->n_words * sizeof *k->touched);
  k->n = k->n_words = 0;
}

void kept_free(struct kept_array *k)
{
  arena_free(&k->arena);
  mem_free(k->touched);
  *k = (struct kept_array){0};
}
