#include "cuda/core/pool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda/core/advice.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/shim.h"

enum { ALLOCATION_PINNED = 1, ALLOCATION_MANAGED };

struct pool {
  struct block_owner owner; /* of the memory that is allocated from it */
  struct pool *next;
  struct board *board;     /* of the host's and managed memory: that was current when it was made */
  enum block_kind kind;    /* device, pinned, managed */
  CUmemLocation preferred; /* managed: where its memory is rather; type 0: nowhere */
  bool host_may;           /* the program has access, as said; a GPU: owner.viewers */
  bool closed;         /* destroyed; still has allocations */
  bool shared;         /* other processes may open what is allocated from it */
  int fd;              /* imported: the file of the other process's memory; else -1 */
  uint64_t max_bytes;  /* 0: the board's memory */
  uint64_t used, used_high, reserved_high, threshold;
  uint64_t kept;           /* bytes that streams have freed and that are still its own */
  int reuse[POOL_REUSE_INTERNAL + 1];
};

static void unlink_pool(struct shim *s, struct pool *p)
{
  struct pool **at = &s->pools.first;
  if (p->board->pool == p) p->board->pool = NULL;
  if (p->board->pool_now == p) p->board->pool_now = NULL;
  if (s->pools.standard[p->kind] == p) s->pools.standard[p->kind] = NULL;
  if (s->pools.now[p->kind] == p) s->pools.now[p->kind] = NULL;
  while (*at != p) at = &(*at)->next;
  *at = p->next;
  if (p->fd >= 0) close(p->fd);
  free(p);
}

static void released(struct shim *s, struct block_owner *o, uint64_t bytes)
{
  struct pool *p = (struct pool *)o; /* its first member */
  p->used -= bytes;
  if (p->closed && p->used == 0) unlink_pool(s, p);
}

static struct pool *new_pool(struct shim *s, struct board *b, uint64_t max_bytes)
{
  struct pool *p = shim_alloc(sizeof *p);
  *p = (struct pool){ .owner = { .released = released }, .next = s->pools.first, .board = b,
                      .max_bytes = max_bytes, .fd = -1 };
  for (int i = POOL_REUSE_EVENTS; i <= POOL_REUSE_INTERNAL; i++) p->reuse[i] = 1; /* as documented */
  return s->pools.first = p;
}

static bool is_host(const CUmemLocation *l)
{
  return l->type == LOCATION_HOST || l->type == LOCATION_HOST_NUMA || l->type == LOCATION_HOST_NUMA_CURRENT;
}

/* The kind of a pool's memory, -1: there is no such. Managed memory may be anywhere. */
static int kind_of(struct shim *s, const CUmemLocation *l, int allocation)
{
  const bool device = l->type == LOCATION_DEVICE, there = device ? board_at(s, l->id) != NULL : is_host(l);
  if (allocation == ALLOCATION_PINNED && there) return device ? BLOCK_DEVICE : BLOCK_PINNED;
  return allocation == ALLOCATION_MANAGED && (there || l->type == 0) ? BLOCK_MANAGED : -1;
}

static bool exists(const struct shim *s, const struct pool *p)
{
  const struct pool *at = s->pools.first;
  while (at && at != p) at = at->next;
  return at && !at->closed;
}

/* A device's default pool: it cannot be destroyed. */
static struct pool *pool_default(struct shim *s, struct board *b)
{
  if (!b->pool) b->pool = new_pool(s, b, 0);
  return b->pool;
}

struct pool *pool_current(struct shim *s, struct board *b)
{
  return b->pool_now ? b->pool_now : pool_default(s, b);
}

CUresult pool_use(struct shim *s, CUdevice device, struct pool *p)
{
  struct board *b = board_at(s, device);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  if (!exists(s, p) || p->board != b) return CUDA_ERROR_INVALID_VALUE;
  b->pool_now = p;
  return CUDA_SUCCESS;
}

CUresult pool_use_at(struct shim *s, const CUmemLocation *l, int allocation, struct pool *p)
{
  const int kind = l ? kind_of(s, l, allocation) : -1;
  if (kind < 0) return CUDA_ERROR_INVALID_VALUE;
  if (kind == BLOCK_DEVICE) return pool_use(s, l->id, p);
  if (!exists(s, p) || p->kind != (enum block_kind)kind) return CUDA_ERROR_INVALID_VALUE;
  s->pools.now[kind] = p;
  return CUDA_SUCCESS;
}

CUresult pool_of_device(struct shim *s, CUmemoryPool *out, CUdevice device, bool standard)
{
  struct board *b = board_at(s, device);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  *out = standard ? pool_default(s, b) : pool_current(s, b);
  return CUDA_SUCCESS;
}

/* Of the host's and of managed memory there is one default pool each, wherever the location is. */
CUresult pool_of_location(struct shim *s, CUmemoryPool *out, const CUmemLocation *l, int allocation, bool standard)
{
  const int kind = l ? kind_of(s, l, allocation) : -1;
  if (kind < 0 || !out) return CUDA_ERROR_INVALID_VALUE;
  if (kind == BLOCK_DEVICE) return pool_of_device(s, out, l->id, standard);
  if (!s->pools.standard[kind]) {
    s->pools.standard[kind] = new_pool(s, board_current(s), 0);
    s->pools.standard[kind]->kind = (enum block_kind)kind;
    s->pools.standard[kind]->host_may = true;
  }
  *out = !standard && s->pools.now[kind] ? s->pools.now[kind] : s->pools.standard[kind];
  return CUDA_SUCCESS;
}

CUresult pool_create(struct shim *s, CUmemoryPool *out, const CUmemPoolProps *props)
{
  if (!out || !props) return CUDA_ERROR_INVALID_VALUE;
  const CUmemLocation *l = &props->location;
  const int kind = kind_of(s, l, props->alloc_type);
  if (l->type == LOCATION_DEVICE && !board_at(s, l->id)) return CUDA_ERROR_INVALID_DEVICE;
  if (kind < 0) return CUDA_ERROR_INVALID_VALUE;
  if (props->handle_types & ~HANDLE_POSIX_FD)
    return shim_unsupported(s, "a memory pool shared by other handles than file descriptors");
  if (props->handle_types && kind != BLOCK_DEVICE)
    return shim_unsupported(s, "a memory pool outside of the device, shared with other processes");
  *out = new_pool(s, kind == BLOCK_DEVICE ? board_at(s, l->id) : board_current(s), props->max_bytes);
  (*out)->shared = props->handle_types != 0;
  (*out)->kind = (enum block_kind)kind;
  if (kind == BLOCK_DEVICE) return CUDA_SUCCESS;
  (*out)->host_may = l->type != LOCATION_DEVICE;
  if (l->type == LOCATION_DEVICE) (*out)->owner.viewers = board_bit(board_at(s, l->id));
  if (l->type == 0) (*out)->owner.viewers = boards_all(&s->boards);
  if (kind == BLOCK_MANAGED) (*out)->preferred = is_host(l) ? (CUmemLocation){ .type = LOCATION_HOST } : *l;
  return CUDA_SUCCESS;
}

/* The file of all device memory of this process that others may open (ipc.h): made by sharing something. */
CUresult pool_export(struct shim *s, int *fd, CUmemoryPool p)
{
  if (!fd || !exists(s, p) || !p->shared) return CUDA_ERROR_INVALID_VALUE;
  *fd = fcntl(gmem_share_file(p->board->device.mem), F_DUPFD_CLOEXEC, 0);
  return *fd >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult pool_import(struct shim *s, CUmemoryPool *out, int fd)
{
  int own = out ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
  if (own < 0) return CUDA_ERROR_INVALID_VALUE;
  *out = new_pool(s, board_current(s), 0);
  (*out)->fd = own;
  return CUDA_SUCCESS;
}

int pool_file(const struct shim *s, CUmemoryPool p)
{
  return exists(s, p) ? p->fd : -1;
}

CUmemoryPool pool_of_block(const struct block *b)
{
  return (CUmemoryPool)b->owner; /* its first member; nobody else owns blocks */
}

bool pool_hides(const struct block *b, const struct board *from)
{
  return b->owner && b->kind == BLOCK_PINNED && !(b->owner->viewers & board_bit(from));
}

bool pool_is_shared(const struct block *b)
{
  const struct pool *p = pool_of_block(b);
  return p && p->shared;
}

/* What the pool keeps beyond `most` bytes, those in use among them, is the GPU's again. */
static void release_kept(struct shim *s, struct pool *p, uint64_t most)
{
  for (size_t i = s->memory.n; p->kept && p->used + p->kept > most && i-- > 0;) {
    struct block *b = &s->memory.block[i];
    if (b->owner != &p->owner || !b->back.kept) continue;
    b->back.kept = false;
    p->kept -= b->bytes;
    p->used += b->bytes; /* which the release takes off again */
    memory_free(s, b->addr, 1u << b->kind);
  }
}

CUresult pool_destroy(struct shim *s, CUmemoryPool p)
{
  if (!exists(s, p) || p == p->board->pool || p == s->pools.standard[p->kind]) return CUDA_ERROR_INVALID_VALUE;
  if (p->board->pool_now == p) p->board->pool_now = NULL; /* the default one again */
  if (s->pools.now[p->kind] == p) s->pools.now[p->kind] = NULL;
  release_kept(s, p, 0);
  p->closed = true;
  if (p->used == 0) unlink_pool(s, p);
  return CUDA_SUCCESS;
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
  case POOL_RESERVED: *wide = p->used + p->kept; return CUDA_SUCCESS;
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
    p->reserved_high = p->used + p->kept;
    return CUDA_SUCCESS;
  case POOL_USED_HIGH:
    if (*wide) return CUDA_ERROR_INVALID_VALUE;
    p->used_high = p->used;
    return CUDA_SUCCESS;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult pool_trim(struct shim *s, CUmemoryPool p, uint64_t most)
{
  if (!exists(s, p)) return CUDA_ERROR_INVALID_VALUE;
  release_kept(s, p, most);
  return CUDA_SUCCESS;
}

CUresult pool_access(struct shim *s, CUmemoryPool p, const CUmemLocation *l, int *flags)
{
  if (!exists(s, p) || !l || !flags) return CUDA_ERROR_INVALID_VALUE;
  if (l->type != LOCATION_DEVICE && !is_host(l)) return CUDA_ERROR_INVALID_VALUE;
  const struct board *b = l->type == LOCATION_DEVICE ? board_at(s, l->id) : NULL;
  if (!b && l->type == LOCATION_DEVICE) return CUDA_ERROR_INVALID_DEVICE;
  const bool own = b && b == p->board && p->kind == BLOCK_DEVICE;
  *flags = (b ? own || p->owner.viewers & board_bit(b) : p->host_may) ? ACCESS_READ_WRITE : ACCESS_NONE;
  return CUDA_SUCCESS;
}

static CUresult check_access(struct shim *s, const struct pool *p, const CUmemAccessDesc *d)
{
  const bool device = p->kind == BLOCK_DEVICE, may = d->flags == ACCESS_READ_WRITE;
  if (!device && is_host(&d->location)) return may ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (d->location.type != LOCATION_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  const struct board *b = board_at(s, d->location.id);
  if (!device && b) return may || d->flags == ACCESS_NONE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (!b || (b != p->board && !boards_are_peers(s, b, p->board))) return CUDA_ERROR_INVALID_DEVICE;
  if (may) return CUDA_SUCCESS;
  return d->flags == ACCESS_NONE && b != p->board ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The owner's access cannot be taken away. */
CUresult pool_set_access(struct shim *s, CUmemoryPool p, const CUmemAccessDesc *d, size_t n)
{
  if (!exists(s, p) || (n && !d)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) {
    CUresult r = check_access(s, p, &d[i]);
    if (r != CUDA_SUCCESS) return r;
  }
  for (size_t i = 0; i < n; i++) {
    if (is_host(&d[i].location)) {
      p->host_may = true;
      continue;
    }
    const board_mask bit = board_bit(board_at(s, d[i].location.id));
    p->owner.viewers = d[i].flags == ACCESS_NONE ? p->owner.viewers & ~bit : p->owner.viewers | bit;
  }
  if (p->kind == BLOCK_DEVICE) peers_refresh_all(s, p->board);
  return CUDA_SUCCESS;
}

static CUresult take(struct shim *s, const struct pool *p, uint64_t *addr, uint64_t bytes)
{
  void *host;
  if (p->kind == BLOCK_DEVICE) return memory_alloc(s, p->board, addr, bytes);
  const CUresult r = memory_alloc_host(s, &host, bytes, p->kind, p->kind == BLOCK_MANAGED ? MANAGED_GLOBAL : 0);
  if (r != CUDA_SUCCESS) return r;
  *addr = (uint64_t)(uintptr_t)host;
  struct block *b = memory_find(s, *addr);
  if (p->preferred.type) advice_prefer(s, b, p->preferred);
  return CUDA_SUCCESS;
}

static void count_use(struct pool *p, uint64_t bytes)
{
  p->used += bytes;
  if (p->used > p->used_high) p->used_high = p->used;
  if (p->used + p->kept > p->reserved_high) p->reserved_high = p->used + p->kept;
}

/* Memory of that size that the stream gave back last, or that no stream has any more: it is the stream's at once. What
 * is still to be freed by the stream itself is so, too, since its operations follow each other (CUDA Programming Guide,
 * "Stream-Ordered Memory Allocator": reuse in the same stream needs no synchronisation). */
static struct block *given_back(struct shim *s, const struct pool *p, uint64_t bytes, uint64_t stream)
{
  struct block *found = NULL;
  for (size_t i = 0; i < s->memory.n; i++) {
    struct block *b = &s->memory.block[i];
    if (b->owner != &p->owner || b->bytes != bytes || !b->back.stream) continue;
    const bool own = b->back.stream == stream;
    if (!own && !(b->back.kept && p->reuse[POOL_REUSE_OPPORTUNISTIC])) continue;
    if (!found || b->back.order > found->back.order) found = b;
  }
  return found;
}

static void take_again(struct pool *p, struct block *b)
{
  if (b->back.kept) {
    p->kept -= b->bytes;
    count_use(p, b->bytes);
  } else b->back.taken++;
  b->back.kept = false;
  b->back.stream = 0;
}

void pools_settle(struct shim *s)
{
  for (struct pool *p = s->pools.first; p; p = p->next) release_kept(s, p, p->threshold);
}

CUresult pool_alloc(struct shim *s, CUmemoryPool p, uint64_t *addr, uint64_t bytes, uint64_t stream)
{
  if (!exists(s, p) || p->fd >= 0) return CUDA_ERROR_INVALID_VALUE; /* nothing can be taken from an imported one */
  struct block *again = given_back(s, p, bytes, stream);
  if (again) {
    *addr = again->addr;
    take_again(p, again);
    return CUDA_SUCCESS;
  }
  if (p->max_bytes && bytes > p->max_bytes - p->used) return CUDA_ERROR_OUT_OF_MEMORY;
  if (p->max_bytes) release_kept(s, p, p->max_bytes - bytes);
  CUresult r = take(s, p, addr, bytes);
  if (r == CUDA_ERROR_OUT_OF_MEMORY) { /* what streams are to free may not be free yet, what is kept has other sizes */
    parts_settle(s);
    release_kept(s, p, 0);
    r = take(s, p, addr, bytes);
  }
  if (r != CUDA_SUCCESS) return r;
  memory_find(s, *addr)->owner = &p->owner;
  if (p->owner.viewers && p->kind == BLOCK_DEVICE) peers_refresh(s, p->board, *addr, bytes);
  count_use(p, bytes);
  return CUDA_SUCCESS;
}

/* The kinds of memory at an address that go in the order of a stream: the device's, and others of a pool. */
static unsigned kinds_at(struct shim *s, uint64_t addr)
{
  const struct block *b = memory_find(s, addr);
  const unsigned device = 1u << BLOCK_DEVICE | 1u << BLOCK_IMPORTED;
  return b && b->owner ? device | 1u << BLOCK_PINNED | 1u << BLOCK_MANAGED : device;
}

bool pool_can_free(struct shim *s, uint64_t addr)
{
  if (graph_memory_is_live(s, addr)) return true;
  return memory_has(s, addr, kinds_at(s, addr)) && memory_find(s, addr)->back.stream == 0;
}

void pool_give_back(struct shim *s, uint64_t addr, uint64_t stream)
{
  struct block *b = memory_find(s, addr);
  if (!b || !b->owner || s->checked || graph_memory_exists(s, addr)) return;
  b->back.stream = stream;
  b->back.order = ++s->pools.given_back;
}

bool pool_is_captured(const struct shim *s, CUmemoryPool p) { return !exists(s, p) || p->kind == BLOCK_DEVICE; }

/* Whether a pool keeps memory that a stream frees now, until the program waits for the GPU. The sanitizer's go at once,
 * so that what uses them later is seen, and so do those of the host. */
static bool is_kept(const struct shim *s, const struct block *b)
{
  const struct pool *p = (const struct pool *)b->owner;
  return p && !p->closed && !s->checked && b->kind == BLOCK_DEVICE && b->back.stream && !b->back.kept;
}

CUresult pool_free(struct shim *s, uint64_t addr)
{
  if (graph_memory_exists(s, addr)) return graph_memory_give(s, addr);
  struct block *b = memory_find(s, addr);
  if (b && b->back.taken) {
    b->back.taken--;
    return CUDA_SUCCESS;
  }
  if (b && is_kept(s, b)) {
    struct pool *p = (struct pool *)b->owner;
    b->back.kept = true;
    p->kept += b->bytes;
    p->used -= b->bytes;
    return CUDA_SUCCESS;
  }
  return memory_free(s, addr, kinds_at(s, addr)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void reset(struct shim *s, struct board *b)
{
  for (struct pool *p = s->pools.first, *next; p; p = next) {
    next = p->next;
    if (p->board == b) unlink_pool(s, p);
  }
}

const struct shim_part pool_part = { .reset = reset };
