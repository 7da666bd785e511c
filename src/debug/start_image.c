#include "debug/start_image.h"

#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

enum { PIECE = 4096, MAX_BLOCKS = 1 << 24 };

/* A piece of memory that was not zero. */
struct piece {
  uint64_t addr;
  uint32_t bytes;
  uint8_t *data;
};

struct start_image {
  struct piece *piece; /* ascending */
  size_t n, room;
  uint64_t kept; /* bytes */
  struct func_heap_block *block;
  size_t n_blocks; /* 0: there is no heap */
};

static bool all_zero(const uint8_t *p, size_t n)
{
  return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static void keep_piece(struct start_image *s, uint64_t addr, const uint8_t *data, uint32_t bytes)
{
  if (s->n == s->room) {
    s->room = s->room ? 2 * s->room : 256;
    s->piece = mem_resize(s->piece, s->room, sizeof *s->piece);
  }
  struct piece *p = &s->piece[s->n++];
  *p = (struct piece){.addr = addr, .bytes = bytes, .data = mem_alloc(bytes)};
  memcpy(p->data, data, bytes);
  s->kept += bytes;
}

static uint32_t piece_bytes(const struct gmem_range *r, uint64_t at)
{
  return r->bytes - at < PIECE ? (uint32_t)(r->bytes - at) : PIECE;
}

static bool keep_range(struct start_image *s, const struct device *d, const struct gmem_range *r, uint64_t most)
{
  uint8_t data[PIECE];
  for (uint64_t at = 0; at < r->bytes; at += PIECE) {
    const uint32_t n = piece_bytes(r, at);
    if (!gmem_read(d->mem, r->addr + at, data, n) || all_zero(data, n)) continue;
    if (s->kept + n > most) return false;
    keep_piece(s, r->addr + at, data, n);
  }
  return true;
}

static void keep_heap(struct start_image *s, const struct func_heap *heap)
{
  if (!heap) return;
  const size_t n = func_heap_save(heap, NULL, 0);
  BUG_ON(n > MAX_BLOCKS);
  s->block = mem_zeroed(n, sizeof *s->block);
  s->n_blocks = func_heap_save(heap, s->block, n);
}

struct start_image *start_image_take(const struct device *d, uint64_t most, struct err *e)
{
  struct start_image *s = mem_zeroed(1, sizeof *s);
  struct gmem_range r;
  for (size_t cursor = 0; gmem_next_range(d->mem, &cursor, &r);) {
    if (keep_range(s, d, &r, most)) continue;
    start_image_free(s);
    err_set(e, "the launch finds more than %llu MiB of device memory in use, too much to keep for going back",
            (unsigned long long)(most >> 20));
    return NULL;
  }
  keep_heap(s, d->heap);
  return s;
}

void start_image_free(struct start_image *s)
{
  if (!s) return;
  for (size_t i = 0; i < s->n; i++) mem_free(s->piece[i].data);
  mem_free(s->piece);
  mem_free(s->block);
  mem_free(s);
}

/* The pieces of one allocation; *next is the first that was kept at or behind its start. */
static void restore_range(const struct start_image *s, size_t *next, struct device *d, const struct gmem_range *r)
{
  static const uint8_t zeros[PIECE];
  uint8_t now[PIECE];
  for (uint64_t at = 0; at < r->bytes; at += PIECE) {
    const uint32_t n = piece_bytes(r, at);
    const bool kept = *next < s->n && s->piece[*next].addr == r->addr + at;
    const uint8_t *was = kept ? s->piece[(*next)++].data : zeros;
    if (gmem_read(d->mem, r->addr + at, now, n) && memcmp(now, was, n) != 0)
      BUG_ON(!gmem_write(d->mem, r->addr + at, was, n));
  }
}

void start_image_restore(const struct start_image *s, struct device *d)
{
  struct gmem_range r;
  size_t next = 0;
  for (size_t cursor = 0; gmem_next_range(d->mem, &cursor, &r);) restore_range(s, &next, d, &r);
  if (!s->n_blocks) return;
  func_heap_free(d->heap);
  d->heap = func_heap_restore(s->block, s->n_blocks);
}
