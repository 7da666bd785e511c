#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bug.h"

/* Chunks from HUGE on are reserved without being counted as used: state of resident CTAs that may never
 * be touched (deep stacks of many threads) must not need host memory. */
enum { ARENA_CHUNK = 1 << 20, ARENA_ALIGN = 128, HUGE = 64 << 20 };

struct arena_chunk {
  struct arena_chunk *next;
  size_t size, used;   /* bytes in data[], bytes handed out */
  size_t mapped;       /* bytes of the mapping; 0: from the heap */
  _Alignas(ARENA_ALIGN) unsigned char data[];
};

static void *map_huge(size_t bytes)
{
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static struct arena_chunk *chunk_new(size_t bytes)
{
  size_t size = bytes > ARENA_CHUNK ? bytes : ARENA_CHUNK;
  size_t total = (sizeof(struct arena_chunk) + size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
  /* calloc of big blocks is lazily zeroed by the kernel, so untouched state costs nothing. */
  size_t want = total + ARENA_ALIGN;
  bool huge = want >= HUGE;
  unsigned char *raw = want < bytes ? NULL : huge ? map_huge(want) : calloc(1, want);
  if (!raw) {
    fprintf(stderr, "warpstep: out of host memory (asked for %zu bytes)\n", bytes);
    exit(BUG_EXIT_STATUS);
  }
  uintptr_t at =
      ((uintptr_t)raw + sizeof(void *) + ARENA_ALIGN - 1) & ~(uintptr_t)(ARENA_ALIGN - 1);
  struct arena_chunk *c = (struct arena_chunk *)at;
  ((void **)at)[-1] = raw;
  c->size = size;
  c->mapped = huge ? want : 0;
  return c;
}

static void chunk_free(struct arena_chunk *c)
{
  void *raw = ((void **)c)[-1];
  if (c->mapped)
    munmap(raw, c->mapped);
  else
    free(raw);
}

void arena_free(struct arena *a)
{
  for (struct arena_chunk *c = a->head, *next; c; c = next) {
    next = c->next;
    chunk_free(c);
  }
  *a = (struct arena){0};
}

void *arena_alloc(struct arena *a, size_t bytes, size_t align)
{
  BUG_ON(align == 0 || (align & (align - 1)) || align > ARENA_ALIGN);
  size_t at = a->head ? (a->head->used + align - 1) & ~(align - 1) : 0;
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

char *arena_strdup(struct arena *a, const char *s)
{
  size_t n = strlen(s) + 1;
  return memcpy(arena_alloc(a, n, 1), s, n);
}
