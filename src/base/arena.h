/* Arena: memory that lives as long as one simulation (or one module) and is freed at once.
 * Everything is allocated while building; nothing allocates while ticking. */
#ifndef WS_BASE_ARENA_H
#define WS_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_chunk;

struct arena {
  struct arena_chunk *head; /* newest chunk first */
  size_t used;              /* bytes handed out, for memory reports */
};

/* A zeroed struct arena is empty and valid. */
void arena_free(struct arena *a);
/* Empty again, as by arena_free, but what is small is cleared and kept for the next use, by the same heap. */
void arena_reset(struct arena *a);

/* Zeroed memory, aligned to `align` (a power of two, at most 128). Never returns NULL: without host memory, memory_out
 * (base/host_memory.h). Chunks belong to the thread's heap. */
void *arena_alloc(struct arena *a, size_t bytes, size_t align);

/* As arena_alloc for an array; overflow of n * size is a bug. */
void *arena_array(struct arena *a, size_t n, size_t size, size_t align);

/* A list of the arena with room for more than n elements of `size` bytes, *room of them now: `list` (NULL: none yet),
 * or its contents in one of twice the size, zero beyond n. What the arena loses is no more than what it keeps. */
void *arena_more(struct arena *a, void *list, uint32_t n, uint32_t *room, size_t size);

/* An array that will be used as a whole, again and again: may take huge pages, for fewer misses in the host's
 * TLB. Before its first use. */
void arena_dense(void *array, size_t bytes);

char *arena_strdup(struct arena *a, const char *s);

#define ARENA_NEW(a, type)      ((type *)arena_alloc((a), sizeof(type), _Alignof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (n), sizeof(type), _Alignof(type)))

#endif
