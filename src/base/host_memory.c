#include "base/host_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/bug.h"

/* A thing that is more than a block. */
struct keeper {
  struct keeper *next;
  void *thing;
  void (*end)(void *thing);
};

struct heap {
  pthread_mutex_t lock; /* helpers of a run take memory, too */
  struct heap_item *item;
  struct keeper *keeper; /* newest first */
};

/* Before each block. */
struct block_head {
  struct heap_item item;
  void *from; /* where the host's block begins: earlier than here where alignment asks for it */
  size_t mapped; /* bytes of a mapping of its own; 0: of the host's heap */
  _Alignas(max_align_t) unsigned char data[];
};

static _Thread_local struct memory_attempt *innermost;

/* ---- running out ---- */

static _Noreturn void end_process(void)
{
  static const char line[] = "warpstep: out of host memory: the machine, or a limit (ulimit -v), has too little "
                             "for this run\n";
  ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
  (void)ignored;
  fflush(stdout);
  _exit(NO_MEMORY_EXIT_STATUS); /* at once: what the process would do on its way out might want memory, too */
}

_Noreturn void memory_out(void)
{
  if (!innermost) end_process();
  longjmp(innermost->at, 1);
}

void memory_begin(struct memory_attempt *a, struct heap *h)
{
  a->outer = innermost;
  a->heap = h;
  innermost = a;
}

void memory_end(const struct memory_attempt *a)
{
  innermost = a->outer;
}

struct memory_attempt *memory_switch(struct memory_attempt *to)
{
  struct memory_attempt *was = innermost;
  innermost = to;
  return was;
}

bool memory_try(struct heap *h, void (*fn)(void *ctx), void *ctx)
{
  struct memory_attempt a;
  volatile bool done = false;
  memory_begin(&a, h);
  if (setjmp(a.at) == 0) {
    fn(ctx);
    done = true;
  }
  memory_end(&a);
  return done;
}

const char *host_error(void)
{
  NO_MEMORY_IF(errno == ENOMEM);
  return strerror(errno);
}

void memory_need(size_t bytes)
{
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NO_MEMORY_IF(p == MAP_FAILED);
  munmap(p, bytes);
}

/* ---- heaps ---- */

struct heap *heap_new(void)
{
  struct heap *h = calloc(1, sizeof *h);
  if (h) BUG_ON(pthread_mutex_init(&h->lock, NULL) != 0);
  return h;
}

static void end_keepers(struct heap *h)
{
  for (struct keeper *k; (k = h->keeper);) {
    h->keeper = k->next;
    k->end(k->thing);
    free(k);
  }
}

void heap_free(struct heap *h)
{
  if (!h) return;
  end_keepers(h);
  for (struct heap_item *i; (i = h->item);) {
    heap_disown(i);
    i->end(i);
  }
  pthread_mutex_destroy(&h->lock);
  free(h);
}

struct heap *heap_current(void)
{
  return innermost ? innermost->heap : NULL;
}

void heap_adopt(struct heap_item *i, void (*end)(struct heap_item *))
{
  struct heap *h = heap_current();
  *i = (struct heap_item){.heap = h, .end = end};
  if (!h) return;
  pthread_mutex_lock(&h->lock);
  i->next = h->item;
  i->link = &h->item;
  if (i->next) i->next->link = &i->next;
  h->item = i;
  pthread_mutex_unlock(&h->lock);
}

void heap_disown(struct heap_item *i)
{
  if (!i->heap) return;
  pthread_mutex_lock(&i->heap->lock);
  *i->link = i->next;
  if (i->next) i->next->link = i->link;
  pthread_mutex_unlock(&i->heap->lock);
}

void heap_keep(void *thing, void (*end)(void *thing))
{
  struct heap *h = heap_current();
  if (!h) return;
  struct keeper *k = malloc(sizeof *k);
  if (!k) {
    end(thing);
    memory_out();
  }
  pthread_mutex_lock(&h->lock);
  *k = (struct keeper){h->keeper, thing, end};
  h->keeper = k;
  pthread_mutex_unlock(&h->lock);
}

void heap_forget(void *thing)
{
  struct heap *h = heap_current();
  if (!h) return;
  pthread_mutex_lock(&h->lock);
  struct keeper **at = &h->keeper, *k;
  while (*at && (*at)->thing != thing) at = &(*at)->next;
  if ((k = *at)) *at = k->next;
  pthread_mutex_unlock(&h->lock);
  free(k);
}

/* ---- blocks ---- */

static struct block_head *block_of(void *data)
{
  return (struct block_head *)(void *)((unsigned char *)data - offsetof(struct block_head, data));
}

static void free_block(const struct block_head *b)
{
  if (b->mapped) munmap(b->from, b->mapped);
  else free(b->from);
}

static void end_block(struct heap_item *i)
{
  free_block((const struct block_head *)(void *)i);
}

static void *hand_out(struct block_head *b, void *from)
{
  NO_MEMORY_IF(!b);
  heap_adopt(&b->item, end_block);
  b->from = from;
  b->mapped = 0;
  return b->data;
}

void *mem_alloc(size_t bytes)
{
  struct block_head *b = bytes > SIZE_MAX - sizeof *b ? NULL : malloc(sizeof *b + bytes);
  return hand_out(b, b);
}

void *mem_zeroed(size_t n, size_t size)
{
  size_t bytes;
  NO_MEMORY_IF(__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - sizeof(struct block_head));
  struct block_head *b = calloc(1, sizeof *b + bytes);
  return hand_out(b, b);
}

void *mem_zeroed_sparse(size_t n, size_t size)
{
  enum { FEW_BYTES = 1 << 16 }; /* a mapping costs more than to clear so much */
  size_t bytes;
  NO_MEMORY_IF(__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - sizeof(struct block_head));
  if (bytes < FEW_BYTES) return mem_zeroed(n, size);
  bytes += sizeof(struct block_head);
  struct block_head *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NO_MEMORY_IF(b == MAP_FAILED);
  void *data = hand_out(b, b);
  b->mapped = bytes;
  return data;
}

void *mem_zeroed_aligned(size_t align, size_t bytes)
{
  BUG_ON(align & (align - 1));
  const size_t head = align_up(sizeof(struct block_head), align);
  NO_MEMORY_IF(bytes > SIZE_MAX - head - align);
  unsigned char *from = aligned_alloc(align, align_up(head + bytes, align));
  NO_MEMORY_IF(!from);
  memset(from, 0, head + bytes);
  return hand_out(block_of(from + head), from);
}

/* A block that moves takes its links with it. Aligned ones are not resized. */
void *mem_resize(void *block, size_t n, size_t size)
{
  size_t bytes;
  NO_MEMORY_IF(__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - sizeof(struct block_head));
  if (!block) return mem_alloc(bytes);
  struct block_head *b = block_of(block);
  BUG_ON(b->from != b || b->mapped);
  struct heap *h = b->item.heap;
  if (h) pthread_mutex_lock(&h->lock);
  struct block_head *moved = realloc(b, sizeof *b + bytes);
  if (moved && h) {
    *moved->item.link = &moved->item;
    if (moved->item.next) moved->item.next->link = &moved->item.next;
  }
  if (h) pthread_mutex_unlock(&h->lock);
  NO_MEMORY_IF(!moved);
  return moved->from = moved, moved->data;
}

void *mem_more(void *list, uint32_t n, uint32_t *room, size_t size)
{
  enum { FIRST_ROOM = 16 };
  if (n < *room) return list;
  *room = *room ? 2 * *room : FIRST_ROOM;
  return mem_resize(list, *room, size);
}

void mem_free(void *block)
{
  if (!block) return;
  struct block_head *b = block_of(block);
  heap_disown(&b->item);
  free_block(b);
}
