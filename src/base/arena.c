#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "base/redzone.h"

/* Every chunk is a mapping of its own, zeroed by the kernel page by page: calloc clears a chunk as a whole once
 * the process has freed one of its size, and much state is never touched. For the same reason (deep
 * stacks of many threads) mappings are not counted as used before they are. */
/* The sanitizer marks every byte of a mapping, there and back. */
enum { ARENA_CHUNK = REDZONE_BYTES ? 1 << 15 : 1 << 20, ARENA_ALIGN = 128 };

struct arena_chunk {
  struct heap_item item;
  struct arena_chunk *next;
  size_t size, used; /* bytes in data[], bytes handed out */
  size_t mapped;     /* bytes of the mapping */
  _Alignas(ARENA_ALIGN) unsigned char data[];
};

static void chunk_free(struct heap_item *item)
{
  struct arena_chunk *c = (struct arena_chunk *)(void *)item;
  redzone_lift(c, c->mapped);
  munmap(c, c->mapped);
}

static struct arena_chunk *chunk_new(size_t bytes)
{
  size_t size = bytes > ARENA_CHUNK ? bytes : ARENA_CHUNK;
  size_t total = sizeof(struct arena_chunk) + size;
  struct arena_chunk *c = MAP_FAILED;
  if (total > bytes)
    c = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  NO_MEMORY_IF(c == MAP_FAILED);
  c->size = size;
  c->mapped = total;
  heap_adopt(&c->item, chunk_free);
  return c;
}

void arena_free(struct arena *a)
{
  for (struct arena_chunk *c = a->head, *next; c; c = next) {
    next = c->next;
    heap_disown(&c->item);
    chunk_free(&c->item);
  }
  *a = (struct arena){0};
}

void arena_reset(struct arena *a)
{
  enum { FEW_BYTES = 1 << 16 }; /* new pages cost more than to clear so much */
  struct arena_chunk *c = a->head;
  if (!c || c->next || c->used > FEW_BYTES) {
    arena_free(a);
    return;
  }
  redzone_lift(c->data, c->used);
  memset(c->data, 0, c->used);
  c->used = 0;
  a->used = 0;
}

void *arena_alloc(struct arena *a, size_t bytes, size_t align)
{
  BUG_ON(align == 0 || (align & (align - 1)) || align > ARENA_ALIGN);
  size_t at = a->head ? align_up(a->head->used, align) : 0;
  if (!a->head || at > a->head->size || bytes > a->head->size - at) {
    struct arena_chunk *c = chunk_new(bytes);
    c->next = a->head;
    a->head = c;
    at = 0;
  }
  a->head->used = at + bytes;
  a->used += bytes;
  return a->head->data + at;
}

void *arena_array(struct arena *a, size_t n, size_t size, size_t align)
{
  size_t bytes;
  BUG_ON(__builtin_mul_overflow(n, size, &bytes));
  return arena_alloc(a, bytes, align);
}

void *arena_more(struct arena *a, void *list, uint32_t n, uint32_t *room, size_t size)
{
  enum { FIRST_ROOM = 16 };
  if (n < *room) return list;
  *room = *room ? 2 * *room : FIRST_ROOM;
  void *more = arena_array(a, *room, size, _Alignof(max_align_t));
  if (n) memcpy(more, list, n * size);
  return more;
}

void arena_dense(void *array, size_t bytes)
{
  enum { PAGE = 4096 };
  uintptr_t from = align_up((uintptr_t)array, PAGE), to = (uintptr_t)array + bytes;
  if (to > from) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

char *arena_strdup(struct arena *a, const char *s)
{
  size_t n = strlen(s) + 1;
  return memcpy(arena_alloc(a, n, 1), s, n);
}
