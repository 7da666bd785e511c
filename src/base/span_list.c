#include "base/span_list.h"

#include "base/arith.h"
#include "base/host_memory.h"

void span_list_init(struct span_list *l)
{
  *l = (struct span_list){.n = 0};
  pthread_mutex_init(&l->lock, NULL);
}

void span_list_free(struct span_list *l)
{
  mem_free(l->span);
  pthread_mutex_destroy(&l->lock);
}

static void add(struct span_list *l, uint64_t addr, uint64_t bytes)
{
  struct span *last = l->n ? &l->span[l->n - 1] : NULL;
  if (last && addr - last->addr <= last->bytes) {
    last->bytes = later(last->bytes, addr - last->addr + bytes);
    return;
  }
  l->span = mem_more(l->span, l->n, &l->room, sizeof *l->span);
  l->span[l->n++] = (struct span){addr, bytes};
}

void span_list_add(struct span_list *l, uint64_t addr, uint64_t bytes)
{
  if (!l || !bytes) return;
  pthread_mutex_lock(&l->lock);
  add(l, addr, bytes);
  pthread_mutex_unlock(&l->lock);
}

void span_list_take(struct span_list *l, void (*see)(void *ctx, uint64_t addr, uint64_t bytes), void *ctx)
{
  for (uint32_t i = 0; i < l->n; i++) see(ctx, l->span[i].addr, l->span[i].bytes);
  l->n = 0;
}
