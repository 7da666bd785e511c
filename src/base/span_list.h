/* Spans of bytes that somebody has changed, for somebody else who looks at them later: what is behind links, slices and
 * copy engines changes memory that a CPU has in its caches (host/linux/linux_gpu.h). Several threads may add. The order
 * in which spans are added says nothing. */
#ifndef WS_BASE_SPAN_LIST_H
#define WS_BASE_SPAN_LIST_H

#include <pthread.h>
#include <stdint.h>

struct span {
  uint64_t addr, bytes;
};

struct span_list {
  pthread_mutex_t lock;
  struct span *span;
  uint32_t n, room;
};

void span_list_init(struct span_list *);
void span_list_free(struct span_list *);

/* One that begins within the last one or at its end makes that longer. NULL: nobody looks. */
void span_list_add(struct span_list *, uint64_t addr, uint64_t bytes);
/* While nobody adds: `see` gets each of them, and none is left. */
void span_list_take(struct span_list *, void (*see)(void *ctx, uint64_t addr, uint64_t bytes), void *ctx);

#endif
