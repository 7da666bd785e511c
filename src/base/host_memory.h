/* Host memory: blocks that are never NULL, and what happens when there is none left.
 *
 * Whoever needs memory takes it and goes on; nobody checks. When the host has none left, control goes back to the
 * innermost memory_try of the thread, which says so to its caller. What had been taken is not lost: inside a memory_try
 * all memory belongs to a heap (of a device of the library, of a result), which frees it at once, whoever had pointers
 * to it. What was being changed is then half changed: a heap in which memory has run out is good for nothing but
 * heap_free.
 *
 * Outside of any memory_try (the command line) blocks belong to no heap, and the process ends
 * with one line on stderr and NO_MEMORY_EXIT_STATUS. (Decision 0008.)
 */
#ifndef WS_BASE_HOST_MEMORY_H
#define WS_BASE_HOST_MEMORY_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_MEMORY_EXIT_STATUS 2

/* ---- blocks ---- */

/* Of any size, 0 included; aligned for every type. mem_resize keeps the contents and takes NULL for a new block. n *
 * size may overflow: no host has so much. */
void *mem_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *mem_zeroed(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
/* Zeroed, for large tables of which little is touched: what is not costs nothing. It keeps its size. */
void *mem_zeroed_sparse(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *mem_zeroed_aligned(size_t align, size_t bytes) __attribute__((malloc, returns_nonnull));
void *mem_resize(void *block, size_t n, size_t size) __attribute__((returns_nonnull));
/* A list with room for more than n elements of `size` bytes, *room of them now: `list` (NULL: none yet) as it is, or
 * moved to where it has twice the room. */
void *mem_more(void *list, uint32_t n, uint32_t *room, size_t size) __attribute__((returns_nonnull));
/* Blocks of this page only, of whichever heap, on whichever thread; NULL: nothing. */
void mem_free(void *block);

/* ---- heaps ---- */

struct heap;

/* NULL when there is no memory for one: the only function here that says so. */
struct heap *heap_new(void);
/* Ends what it keeps, newest first, then frees all its blocks. No memory_try of it may run. NULL: nothing. */
void heap_free(struct heap *);

/* The heap of the thread's innermost memory_try; NULL: none. */
struct heap *heap_current(void);

/* For what is more than a block (a file, a mapping, threads): heap_free calls end(thing), unless heap_forget(thing)
 * was called before. Keeping may itself find no memory: then the thing is ended first. Without a current heap
 * both do nothing. */
void heap_keep(void *thing, void (*end)(void *thing));
void heap_forget(void *thing);

/* Links for what brings its own room, as chunks of arenas do: `end` gets the item. */
struct heap_item {
  struct heap_item *next, **link; /* of the heap's list; link NULL: of no heap */
  struct heap *heap;
  void (*end)(struct heap_item *);
};
void heap_adopt(struct heap_item *, void (*end)(struct heap_item *));
void heap_disown(struct heap_item *);

/* ---- running out ---- */

/* Calls fn(ctx) with `h` as the thread's heap. False: memory ran out, and fn did not come to its end. They nest. */
bool memory_try(struct heap *h, void (*fn)(void *ctx), void *ctx);

/* The same for a function that cannot be split: memory_begin; when setjmp(a.at) is not 0, memory ran out since. In
 * either case memory_end, before the function returns. */
struct memory_attempt {
  jmp_buf at;
  struct memory_attempt *outer;
  struct heap *heap;
};
void memory_begin(struct memory_attempt *, struct heap *);
void memory_end(const struct memory_attempt *);
/* Of code that goes on on another stack: the thread's innermost attempt is this one from now on. Returns the one it
 * was. */
struct memory_attempt *memory_switch(struct memory_attempt *);

/* The host has no memory, or no thread, left: nobody's bug. */
_Noreturn void memory_out(void) __attribute__((cold));
#define NO_MEMORY_IF(cond)                                                                         \
  do {                                                                                             \
    if (__builtin_expect(!!(cond), 0)) memory_out();                                               \
  } while (0)

/* What errno says, for the message of a call to the host that failed. Too little memory is no matter of the file or
 * folder in that message: memory_out. */
const char *host_error(void);

/* For libraries that do not look whether they get memory (libconfig): goes on when there is room for so much of it. */
void memory_need(size_t bytes);
enum { MEMORY_OF_TEXT = 8 << 20 }; /* more than libconfig takes for a preset, a suite, a file of windows */

#endif
