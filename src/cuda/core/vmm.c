#include "cuda/core/vmm.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/guest_regions.h"
#include "cuda/core/multicast_object.h"
#include "cuda/core/mps.h"
#include "cuda/core/shim.h"
#include "cuda/core/vmm_memory.h"

enum { TYPE_PINNED = 1 };

static uint64_t page(const struct shim *s)
{
  return boards_page(s);
}

static bool is_whole(const struct shim *s, uint64_t addr, uint64_t bytes)
{
  return bytes && ((addr | bytes) & (page(s) - 1)) == 0 && addr + bytes > addr;
}

static CUresult check_props(struct shim *s, const CUmemAllocationProp *p)
{
  if (!p || p->type != TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (p->handle_types & ~HANDLE_POSIX_FD)
    return shim_unsupported(s, "memory shared by other handles than file descriptors");
  if (p->location.type != LOCATION_DEVICE)
    return shim_unsupported(s, "memory without an address outside of the device");
  return board_at(s, p->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult vmm_granularity(struct shim *s, size_t *bytes, const CUmemAllocationProp *p)
{
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = check_props(s, p);
  if (r == CUDA_SUCCESS) *bytes = page(s);
  return r;
}

/* Addresses -------------------------------------------------------------------------------------- */

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
  return a < b + b_bytes && b < a + a_bytes;
}

static struct vmm_range *range_in(const struct shim *s, uint64_t addr, uint64_t bytes)
{
  for (struct vmm_range *r = s->vmm.ranges; r; r = r->next)
    if (overlap(r->addr, r->bytes, addr, bytes)) return r;
  return NULL;
}

static struct mps_part reserved(const struct shim *s)
{
  return mps_part_of(s, RESERVED, RESERVED_END, page(s));
}

/* The lowest free place, 0: none. */
static uint64_t find_place(const struct shim *s, uint64_t bytes, uint64_t align)
{
  const struct mps_part part = reserved(s);
  uint64_t at = align_up(part.first, align);
  if (at > part.end || bytes > part.end - at) return 0;
  for (const struct vmm_range *r; (r = range_in(s, at, bytes));) {
    at = align_up(r->addr + r->bytes, align);
    if (at < part.first || at > part.end || bytes > part.end - at) return 0;
  }
  return at;
}

uint64_t vmm_take_addresses(struct shim *s, uint64_t bytes, uint64_t align, uint64_t at)
{
  const struct mps_part part = reserved(s);
  if (at < part.first || bytes > part.end || at > part.end - bytes || (at & (align - 1)) || range_in(s, at, bytes))
    at = find_place(s, bytes, align);
  if (!at) return 0;
  struct vmm_range *r = shim_alloc(sizeof *r);
  *r = (struct vmm_range){ .next = s->vmm.ranges, .addr = at, .bytes = bytes };
  s->vmm.ranges = r;
  return at;
}

CUresult vmm_reserve(struct shim *s, CUdeviceptr *out, uint64_t bytes, uint64_t align, uint64_t at)
{
  if (!out || !is_whole(s, 0, bytes) || (align & (align - 1))) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > RESERVED_END - RESERVED) return CUDA_ERROR_OUT_OF_MEMORY;
  if (align < page(s)) align = page(s);
  at = vmm_take_addresses(s, bytes, align, at);
  if (!at) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = at;
  return CUDA_SUCCESS;
}

struct vmm_mapping *vmm_mapping_in(const struct shim *s, uint64_t addr, uint64_t bytes)
{
  for (struct vmm_mapping *m = s->vmm.mappings; m; m = m->next)
    if (overlap(m->addr, m->bytes, addr, bytes)) return m;
  return NULL;
}

CUresult vmm_unreserve(struct shim *s, uint64_t addr, uint64_t bytes)
{
  for (struct vmm_range **at = &s->vmm.ranges; *at; at = &(*at)->next) {
    struct vmm_range *r = *at;
    if (r->addr != addr || r->bytes != bytes || vmm_mapping_in(s, addr, bytes)) continue;
    *at = r->next;
    free(r);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

/* Memory ------------------------------------------------------------------------------------------ */

struct vmm_memory *vmm_memory_of(const struct shim *s, CUmemGenericAllocationHandle h)
{
  struct vmm_memory *m = s->vmm.memory;
  while (m && (uint64_t)(uintptr_t)m != h) m = m->next;
  return m && m->handles ? m : NULL;
}

uint64_t vmm_add_memory(struct shim *s, void *host, uint64_t bytes, int fd, const CUmemAllocationProp *p)
{
  struct vmm_memory *m = shim_alloc(sizeof *m);
  *m = (struct vmm_memory){ .next = s->vmm.memory, .board = board_at(s, p->location.id), .host = host,
                            .bytes = bytes, .handles = 1, .fd = fd, .props = *p };
  m->props.compression = 0; /* it was a wish; memory is not compressed here */
  s->vmm.memory = m;
  return (uint64_t)(uintptr_t)m;
}

CUresult vmm_create(struct shim *s, CUmemGenericAllocationHandle *out, uint64_t bytes,
                    const CUmemAllocationProp *p)
{
  CUresult r = check_props(s, p);
  if (r != CUDA_SUCCESS) return r;
  if (!out || !is_whole(s, 0, bytes)) return CUDA_ERROR_INVALID_VALUE;
  int fd = -1;
  struct board *b = board_at(s, p->location.id);
  void *host = p->handle_types ? memory_take_file(s, b, bytes, &fd) : memory_take(s, b, bytes);
  if (!host) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = vmm_add_memory(s, host, bytes, fd, p);
  return CUDA_SUCCESS;
}

CUresult vmm_export(struct shim *s, int *fd, CUmemGenericAllocationHandle h)
{
  const struct vmm_memory *m = vmm_memory_of(s, h);
  if (!fd || !m || m->fd < 0) return CUDA_ERROR_INVALID_VALUE;
  *fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
  return *fd >= 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult vmm_import(struct shim *s, CUmemGenericAllocationHandle *out, int fd)
{
  const CUmemAllocationProp props = { .type = TYPE_PINNED, .handle_types = HANDLE_POSIX_FD,
                                      .location = { LOCATION_DEVICE, (int)board_current(s)->number } };
  struct stat st;
  if (out && fstat(fd, &st) == 0 && multicast_import(s, out, &st)) return CUDA_SUCCESS;
  if (!out || fstat(fd, &st) != 0 || st.st_size < 0 || !is_whole(s, 0, (uint64_t)st.st_size))
    return CUDA_ERROR_INVALID_VALUE;
  int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  void *host = own >= 0 ? memory_take_file(s, board_current(s), (uint64_t)st.st_size, &own) : NULL;
  if (host) *out = vmm_add_memory(s, host, (uint64_t)st.st_size, own, &props);
  else if (own >= 0) close(own);
  return host ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* A handle or a mapping less. */
static void drop(struct shim *s, struct vmm_memory *m)
{
  if (m->handles || m->mappings) return;
  struct vmm_memory **at = &s->vmm.memory;
  while (*at != m) at = &(*at)->next;
  *at = m->next;
  if (m->cast) multicast_free(s, m->cast);
  else memory_give_back(m->board, m->host, m->bytes);
  if (m->fd >= 0) close(m->fd);
  free(m);
}

CUresult vmm_release(struct shim *s, CUmemGenericAllocationHandle h)
{
  struct vmm_memory *m = vmm_memory_of(s, h);
  if (!m) return CUDA_ERROR_INVALID_VALUE;
  m->handles--;
  drop(s, m);
  return CUDA_SUCCESS;
}

CUresult vmm_retain(struct shim *s, CUmemGenericAllocationHandle *out, uint64_t addr)
{
  const struct vmm_mapping *m = vmm_mapping_in(s, addr, 1);
  if (!out || !m) return CUDA_ERROR_INVALID_VALUE;
  m->memory->handles++;
  *out = (uint64_t)(uintptr_t)m->memory;
  return CUDA_SUCCESS;
}

CUresult vmm_properties(struct shim *s, CUmemAllocationProp *p, CUmemGenericAllocationHandle h)
{
  const struct vmm_memory *m = vmm_memory_of(s, h);
  if (!p || !m || m->cast) return CUDA_ERROR_INVALID_VALUE;
  *p = m->props;
  return CUDA_SUCCESS;
}

/* Mappings ---------------------------------------------------------------------------------------- */

CUresult vmm_map(struct shim *s, uint64_t addr, uint64_t bytes, uint64_t offset,
                 CUmemGenericAllocationHandle h)
{
  struct vmm_memory *memory = vmm_memory_of(s, h);
  if (!memory || offset || !is_whole(s, addr, bytes) || bytes > memory->bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (memory->cast && !multicast_is_complete(memory->cast)) return CUDA_ERROR_INVALID_VALUE;
  const struct vmm_range *r = range_in(s, addr, bytes);
  if (!r || addr < r->addr || bytes > r->bytes - (addr - r->addr) || vmm_mapping_in(s, addr, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  struct vmm_mapping **at = &s->vmm.mappings, *m = shim_alloc(sizeof *m);
  while (*at && (*at)->addr < addr) at = &(*at)->next;
  *m = (struct vmm_mapping){ .next = *at, .addr = addr, .bytes = bytes, .memory = memory };
  *at = m;
  memory->mappings++;
  return CUDA_SUCCESS;
}

/* The first mapping of a range that mappings fill exactly, NULL: they do not. */
static struct vmm_mapping **fill(struct shim *s, uint64_t addr, uint64_t bytes)
{
  struct vmm_mapping **first = &s->vmm.mappings;
  uint64_t end = addr + bytes;
  while (*first && (*first)->addr < addr) first = &(*first)->next;
  for (const struct vmm_mapping *m = *first; m && m->addr == addr && addr < end; m = m->next)
    addr += m->bytes;
  return bytes && addr == end ? first : NULL;
}

void vmm_show(struct shim *s, struct vmm_mapping *m, board_mask in)
{
  const board_mask before = m->in;
  if (before == in) return;
  m->in = in;
  if (m->memory->cast) {
    multicast_show(s, m);
    return;
  }
  memory_map(s, m->memory->board, m->addr, m->memory->host, m->bytes, in);
  if (m->memory->fd >= 0) memory_expect_others(s, in);
  if (!before) board_place(m->memory->board, m->addr, m->bytes);
  if (!in) board_place_nowhere(m->memory->board, m->addr, m->bytes);
  multicast_refresh(s);
}

CUresult vmm_unmap(struct shim *s, uint64_t addr, uint64_t bytes)
{
  struct vmm_mapping **first = fill(s, addr, bytes), *m;
  if (!first) return CUDA_ERROR_INVALID_VALUE;
  while ((m = *first) && m->addr < addr + bytes) {
    *first = m->next;
    vmm_show(s, m, 0);
    m->memory->mappings--;
    drop(s, m->memory);
    free(m);
  }
  return CUDA_SUCCESS;
}

static CUresult check_access(struct shim *s, const CUmemAccessDesc *d)
{
  if (d->location.type != LOCATION_DEVICE) return shim_unsupported(s, "access of the host to mapped memory");
  if (!board_at(s, d->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  if (d->flags == ACCESS_READ) return shim_unsupported(s, "mapped memory that can only be read");
  return d->flags == ACCESS_NONE || d->flags == ACCESS_READ_WRITE ? CUDA_SUCCESS
                                                                  : CUDA_ERROR_INVALID_VALUE;
}

/* No way leads from the GPU to the memory (CUDA programming guide, "Memory Access Rights"). */
static CUresult check_reach(struct shim *s, const struct vmm_memory *m, const CUmemAccessDesc *d)
{
  const struct board *b = board_at(s, d->location.id);
  if (m->cast && d->flags != ACCESS_NONE) return multicast_has(m->cast, b) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  return d->flags == ACCESS_NONE || b == m->board || boards_are_peers(s, b, m->board) ? CUDA_SUCCESS
                                                                                      : CUDA_ERROR_INVALID_DEVICE;
}

CUresult vmm_set_access(struct shim *s, uint64_t addr, uint64_t bytes, const CUmemAccessDesc *d, size_t n)
{
  struct vmm_mapping **first = fill(s, addr, bytes);
  if (!first || (n && !d)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) {
    CUresult r = check_access(s, &d[i]);
    for (const struct vmm_mapping *m = *first; r == CUDA_SUCCESS && m && m->addr < addr + bytes; m = m->next)
      r = check_reach(s, m->memory, &d[i]);
    if (r != CUDA_SUCCESS) return r;
  }
  for (size_t i = 0; i < n; i++) {
    const board_mask bit = board_bit(board_at(s, d[i].location.id));
    for (struct vmm_mapping *m = *first; m && m->addr < addr + bytes; m = m->next)
      vmm_show(s, m, d[i].flags == ACCESS_NONE ? m->in & ~bit : m->in | bit);
  }
  return CUDA_SUCCESS;
}

CUresult vmm_access(struct shim *s, unsigned long long *flags, const CUmemLocation *l, uint64_t addr)
{
  const struct vmm_mapping *m = vmm_mapping_in(s, addr, 1);
  if (!flags || !l || !m) return CUDA_ERROR_INVALID_VALUE;
  const struct board *b = l->type == LOCATION_DEVICE ? board_at(s, l->id) : NULL;
  if (l->type == LOCATION_DEVICE && !b) return CUDA_ERROR_INVALID_DEVICE;
  *flags = b && m->in & board_bit(b) ? ACCESS_READ_WRITE : ACCESS_NONE;
  return CUDA_SUCCESS;
}

uint64_t vmm_handle_types(const struct shim *s, uint64_t addr)
{
  const struct vmm_mapping *m = vmm_mapping_in(s, addr, 1);
  return m ? (unsigned)m->memory->props.handle_types : 0;
}
