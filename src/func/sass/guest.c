#include "func/sass/guest.h"

#include <string.h>

#include "func/sass/cluster.h"
#include "func/sass/func_launch.h"

/* Shared or local memory behind a generic address; NULL: it is global, or not all of it is mapped. */
static uint8_t *near(const struct guest *g, uint64_t addr, size_t bytes, bool *global)
{
  const struct func_launch *l = g->w->launch;
  uint64_t off = (uint32_t)addr, size;
  uint8_t *at;
  *global = false;
  if (addr >> 32 == l->p.shared_window >> 32) {
    at = g->w->cta->shared;
    off = (uint32_t)(off - cluster_base(g->w->cta));
    size = l->shared_limit;
  } else if (addr >> 32 == l->p.local_window >> 32) {
    at = g->w->local + g->lane * l->source.local_bytes;
    size = l->source.local_bytes;
  } else {
    *global = true;
    return NULL;
  }
  return bytes > size || off > size - bytes ? NULL : at + off;
}

bool guest_read(void *ctx, uint64_t addr, void *buf, size_t bytes)
{
  const struct guest *g = ctx;
  bool global;
  const uint8_t *from = near(g, addr, bytes, &global);
  if (global) return gmem_view_read(&g->w->cta->direct, addr, buf, bytes);
  if (from) memcpy(buf, from, bytes);
  return from != NULL;
}

bool guest_write(void *ctx, uint64_t addr, const void *buf, size_t bytes)
{
  const struct guest *g = ctx;
  bool global;
  uint8_t *to = near(g, addr, bytes, &global);
  if (global) return gmem_view_write(&g->w->cta->direct, addr, buf, bytes);
  if (!to) return false;
  memcpy(to, buf, bytes);
  g->w->cta->local_dirty = true;
  return true;
}

bool guest_read_local(const struct guest *g, uint64_t off, void *buf, size_t bytes)
{
  uint64_t size = g->w->launch->source.local_bytes;
  if (off > size || bytes > size - off) return false;
  memcpy(buf, g->w->local + g->lane * size + off, bytes);
  return true;
}
