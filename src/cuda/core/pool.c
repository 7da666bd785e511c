#include "cuda/core/pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda/core/graph_memory.h"
#include "cuda/core/memory.h"
#include "cuda/core/stream_capture.h"
#include "cuda/core/streams.h"
#include "cuda/core/vmm.h"

enum { ALLOCATION_PINNED = 1 };

struct cu_pool {
  struct cu_pool *next;
  bool closed;         /* destroyed; still has allocations */
  bool shared;         /* other processes may open what is allocated from it */
  int fd;              /* imported: the file of the other process's memory; else -1 */
  uint64_t max_bytes;  /* 0: the board's memory */
  uint64_t used, used_high, reserved_high, threshold;
  int reuse[POOL_REUSE_INTERNAL + 1];
};

static struct cu_pool *new_pool(struct shim *s, uint64_t max_bytes)
{
  struct cu_pool *p = shim_alloc(sizeof *p);
  *p = (struct cu_pool){ .next = s->pools, .max_bytes = max_bytes, .fd = -1 };
  for (int i = POOL_REUSE_EVENTS; i <= POOL_REUSE_INTERNAL; i++) p->reuse[i] = 1; /* as documented */
  return s->pools = p;
}

static bool exists(const struct shim *s, const struct cu_pool *p)
{
  const struct cu_pool *at = s->pools;
  while (at && at != p) at = at->next;
  return at && !at->closed;
}

struct cu_pool *pool_default(struct shim *s)
{
  if (!s->default_pool) s->default_pool = new_pool(s, 0);
  return s->default_pool;
}

struct cu_pool *pool_current(struct shim *s)
{
  return s->current_pool ? s->current_pool : pool_default(s);
}

CUresult pool_use(struct shim *s, struct cu_pool *p)
{
  if (!exists(s, p)) return CUDA_ERROR_INVALID_VALUE;
  s->current_pool = p;
  return CUDA_SUCCESS;
}

CUresult pool_of_device(struct cu_pool *pool, CUmemoryPool *out, CUdevice device)
{
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (device) return CUDA_ERROR_INVALID_DEVICE;
  *out = pool;
  return CUDA_SUCCESS;
}

CUresult pool_of_location(struct shim *s, struct cu_pool *pool, CUmemoryPool *out, const CUmemLocation *l)
{
  if (!l) return CUDA_ERROR_INVALID_VALUE;
  if (l->type != LOCATION_DEVICE) return shim_unsupported(s, "a memory pool outside of the device");
  return pool_of_device(pool, out, l->id);
}

CUresult pool_create(struct shim *s, CUmemoryPool *out, const CUmemPoolProps *props)
{
  if (!out || !props || props->alloc_type != ALLOCATION_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (props->handle_types & ~HANDLE_POSIX_FD)
    return shim_unsupported(s, "a memory pool shared by other handles than file descriptors");
  if (props->location.type != LOCATION_DEVICE)
    return shim_unsupported(s, "a memory pool outside of the device");
  if (props->location.id != 0) return CUDA_ERROR_INVALID_DEVICE;
  *out = new_pool(s, props->max_bytes);
  (*out)->shared = props->handle_types != 0;
  return CUDA_SUCCESS;
}

/* The file of all device memory of this process that others may open (ipc.h): made by sharing something. */
CUresult pool_export(struct shim *s, int *fd, CUmemoryPool p)
{
  if (!fd || !exists(s, p) || !p->shared) return CUDA_ERROR_INVALID_VALUE;
  *fd = fcntl(gmem_share_file(s->device.mem), F_DUPFD_CLOEXEC, 0);
  return *fd >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult pool_import(struct shim *s, CUmemoryPool *out, int fd)
{
  int own = out ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
  if (own < 0) return CUDA_ERROR_INVALID_VALUE;
  *out = new_pool(s, 0);
  (*out)->fd = own;
  return CUDA_SUCCESS;
}

int pool_file(const struct shim *s, CUmemoryPool p)
{
  return exists(s, p) ? p->fd : -1;
}

bool pool_is_shared(const struct cu_pool *p)
{
  return p && p->shared;
}

static void unlink_pool(struct shim *s, struct cu_pool *p)
{
  struct cu_pool **at = &s->pools;
  while (*at != p) at = &(*at)->next;
  *at = p->next;
  if (p->fd >= 0) close(p->fd);
  free(p);
}

CUresult pool_destroy(struct shim *s, CUmemoryPool p)
{
  if (!exists(s, p) || p == s->default_pool) return CUDA_ERROR_INVALID_VALUE;
  if (s->current_pool == p) s->current_pool = NULL; /* the default one again */
  p->closed = true;
  if (p->used == 0) unlink_pool(s, p);
  return CUDA_SUCCESS;
}

void pool_released(struct shim *s, struct cu_pool *p, uint64_t bytes)
{
  p->used -= bytes;
  if (p->closed && p->used == 0) unlink_pool(s, p);
}

void pool_destroy_all(struct shim *s)
{
  while (s->pools) unlink_pool(s, s->pools);
  s->default_pool = s->current_pool = NULL;
}

CUresult pool_get(struct shim *s, CUmemoryPool p, int attribute, void *value)
{
  if (!exists(s, p) || !value) return CUDA_ERROR_INVALID_VALUE;
  uint64_t *wide = value;
  switch (attribute) {
  case POOL_REUSE_EVENTS:
  case POOL_REUSE_OPPORTUNISTIC:
  case POOL_REUSE_INTERNAL: *(int *)value = p->reuse[attribute]; return CUDA_SUCCESS;
  case POOL_RELEASE_THRESHOLD: *wide = p->threshold; return CUDA_SUCCESS;
  case POOL_RESERVED:
  case POOL_USED: *wide = p->used; return CUDA_SUCCESS;
  case POOL_RESERVED_HIGH: *wide = p->reserved_high; return CUDA_SUCCESS;
  case POOL_USED_HIGH: *wide = p->used_high; return CUDA_SUCCESS;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult pool_set(struct shim *s, CUmemoryPool p, int attribute, const void *value)
{
  if (!exists(s, p) || !value) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t *wide = value;
  switch (attribute) {
  case POOL_REUSE_EVENTS:
  case POOL_REUSE_OPPORTUNISTIC:
  case POOL_REUSE_INTERNAL: p->reuse[attribute] = *(const int *)value != 0; return CUDA_SUCCESS;
  case POOL_RELEASE_THRESHOLD: p->threshold = *wide; return CUDA_SUCCESS;
  case POOL_RESERVED_HIGH: /* a high-water mark can only be reset */
    if (*wide) return CUDA_ERROR_INVALID_VALUE;
    p->reserved_high = p->used;
    return CUDA_SUCCESS;
  case POOL_USED_HIGH:
    if (*wide) return CUDA_ERROR_INVALID_VALUE;
    p->used_high = p->used;
    return CUDA_SUCCESS;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult pool_trim(struct shim *s, CUmemoryPool p)
{
  return exists(s, p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; /* nothing is held back */
}

CUresult pool_access(struct shim *s, CUmemoryPool p, const CUmemLocation *l, int *flags)
{
  if (!exists(s, p) || !l || !flags || l->type != LOCATION_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  if (l->id != 0) return CUDA_ERROR_INVALID_DEVICE;
  *flags = ACCESS_READ_WRITE;
  return CUDA_SUCCESS;
}

/* The owner's access cannot be taken away, and there is no other device. */
CUresult pool_set_access(struct shim *s, CUmemoryPool p, const CUmemAccessDesc *d, size_t n)
{
  if (!exists(s, p) || (n && !d)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) {
    if (d[i].location.type != LOCATION_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    if (d[i].location.id != 0) return CUDA_ERROR_INVALID_DEVICE;
    if (d[i].flags != ACCESS_READ_WRITE) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

/* While a stream is captured the graph will allocate, at the address it says now. */
static CUresult capture_alloc(struct shim *s, struct cu_stream *st, uint64_t *addr, uint64_t bytes)
{
  CUresult r = graph_memory_new(s, addr, bytes);
  if (r != CUDA_SUCCESS) return r;
  struct graph_op op = { .type = NODE_MEM_ALLOC, .memory = { *addr, bytes } };
  graph_memory_hold(s, *addr);
  capture_takes(s, st, &op, &r);
  graph_memory_drop(s, *addr); /* the node holds it */
  return r;
}

CUresult pool_alloc(struct shim *s, CUmemoryPool p, uint64_t *addr, uint64_t bytes, CUstream stream)
{
  struct cu_stream *st = stream_of(s, stream);
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (st->capture) return capture_alloc(s, st, addr, bytes);
  if (!exists(s, p) || p->fd >= 0) return CUDA_ERROR_INVALID_VALUE; /* nothing can be taken from an imported one */
  if (p->max_bytes && bytes > p->max_bytes - p->used) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult r = memory_alloc(s, addr, bytes);
  if (r != CUDA_SUCCESS) return r;
  memory_find(s, *addr)->pool = p;
  p->used += bytes;
  if (p->used > p->used_high) p->used_high = p->used;
  if (p->used > p->reserved_high) p->reserved_high = p->used;
  return CUDA_SUCCESS;
}

CUresult pool_free(struct shim *s, uint64_t addr, CUstream stream)
{
  struct cu_stream *st = stream_of(s, stream);
  struct graph_op op = { .type = NODE_MEM_FREE, .memory = { addr, 0 } };
  CUresult r;
  if (!st) return CUDA_ERROR_INVALID_HANDLE;
  if (st->capture && !graph_memory_exists(s, addr)) return CUDA_ERROR_INVALID_VALUE;
  if (capture_takes(s, st, &op, &r)) return r;
  if (graph_memory_exists(s, addr)) return graph_memory_give(s, addr);
  return memory_free(s, addr, 1u << BLOCK_DEVICE | 1u << BLOCK_OPENED) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
