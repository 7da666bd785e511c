#include "cuda/core/multicast_object.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/bug.h"
#include "base/host_memory.h"
#include "base/multicast.h"
#include "cuda/core/shim.h"
#include "cuda/core/vmm_memory.h"

/* Memory of one GPU for the object's bytes [at, at + bytes). */
struct multicast_bind {
  struct multicast_bind *next;
  struct board *board;
  struct vmm_memory *memory; /* NULL: of a pool, at `addr` */
  uint64_t at, bytes;
  uint64_t offset; /* in the memory */
  uint64_t addr;   /* where this binding maps the memory */
};

struct multicast_object {
  struct multicast_object *next;
  struct vmm_memory *handle;
  CUmulticastObjectProp props;
  unsigned n;
  struct board *board[MULTICAST_LEGS]; /* by number */
  struct multicast_bind *binds;
};

struct multicast_objects {
  struct multicast_object *first;
  struct multicast seen[BOARDS_MAX]; /* what each GPU's image has */
};

static struct multicast_object *object_of(const struct shim *s, CUmemGenericAllocationHandle h)
{
  const struct vmm_memory *m = vmm_memory_of(s, h);
  return m ? m->cast : NULL;
}

/* --- making them --------------------------------------------------------------------------------- */

static CUresult check_props(struct shim *s, const CUmulticastObjectProp *p)
{
  if (!p || !p->numDevices || !p->size || p->flags || p->numDevices > s->boards.n) return CUDA_ERROR_INVALID_VALUE;
  bool any = false;
  for (unsigned i = 0; i < s->boards.n; i++) any |= board_has_multicast(&s->boards.of[i]);
  if (!any) return CUDA_ERROR_NOT_SUPPORTED;
  if (p->numDevices < 2) return shim_unsupported(s, "a multicast object of one device");
  if (p->handleTypes & ~(unsigned long long)HANDLE_POSIX_FD)
    return shim_unsupported(s, "multicast objects shared by other handles than file descriptors");
  return CUDA_SUCCESS;
}

CUresult multicast_granularity(struct shim *s, size_t *bytes, const CUmulticastObjectProp *p)
{
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  const CUresult r = check_props(s, p);
  if (r == CUDA_SUCCESS) *bytes = boards_page(s);
  return r;
}

CUresult multicast_create(struct shim *s, CUmemGenericAllocationHandle *out, const CUmulticastObjectProp *p)
{
  const CUresult r = check_props(s, p);
  if (r != CUDA_SUCCESS) return r;
  if (!out || p->size & (boards_page(s) - 1)) return CUDA_ERROR_INVALID_VALUE;
  const int fd = p->handleTypes ? memfd_create("multicast object", MFD_CLOEXEC) : -1;
  if (p->handleTypes && fd < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!s->vmm.multicasts) s->vmm.multicasts = shim_alloc(sizeof *s->vmm.multicasts);
  const CUmemAllocationProp nowhere = { .location = { LOCATION_DEVICE, (int)board_current(s)->number } };
  *out = vmm_add_memory(s, NULL, p->size, fd, &nowhere);
  struct multicast_object *o = shim_alloc(sizeof *o);
  *o = (struct multicast_object){ .next = s->vmm.multicasts->first, .handle = vmm_memory_of(s, *out), .props = *p };
  s->vmm.multicasts->first = o->handle->cast = o;
  return CUDA_SUCCESS;
}

bool multicast_is_complete(const struct multicast_object *o)
{
  return o->n == o->props.numDevices;
}

bool multicast_has(const struct multicast_object *o, const struct board *b)
{
  for (unsigned i = 0; i < o->n; i++)
    if (o->board[i] == b) return true;
  return false;
}

CUresult multicast_add_device(struct shim *s, CUmemGenericAllocationHandle h, int device)
{
  struct multicast_object *o = object_of(s, h);
  struct board *b = board_at(s, device);
  unsigned node[MULTICAST_LEGS], at = 0;
  if (!o || (b && (multicast_has(o, b) || multicast_is_complete(o)))) return CUDA_ERROR_INVALID_VALUE;
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  if (!board_has_multicast(b)) return CUDA_ERROR_NOT_SUPPORTED;
  for (unsigned i = 0; i < o->n; i++) node[i] = o->board[i]->node;
  node[o->n] = b->node;
  if (o->n && !topology_multicasts(s->boards.topology, node, o->n + 1)) return CUDA_ERROR_INVALID_DEVICE;
  while (at < o->n && o->board[at]->number < b->number) at++;
  memmove(&o->board[at + 1], &o->board[at], (o->n++ - at) * sizeof(struct board *));
  o->board[at] = b;
  return CUDA_SUCCESS;
}

/* --- binding ------------------------------------------------------------------------------------- */

static bool is_granular(const struct shim *s, uint64_t at, uint64_t offset, uint64_t bytes)
{
  return bytes && !((at | offset | bytes) & (boards_page(s) - 1));
}

static struct multicast_bind *bound(const struct multicast_object *o, const struct board *b, uint64_t at,
                                    uint64_t bytes)
{
  struct multicast_bind *x = o->binds;
  while (x && (x->board != b || x->at >= at + bytes || at >= x->at + x->bytes)) x = x->next;
  return x;
}

static CUresult check_place(const struct shim *s, const struct multicast_object *o, const struct board *b, uint64_t at,
                            uint64_t offset, uint64_t bytes)
{
  if (!multicast_is_complete(o) || !is_granular(s, at, offset, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > o->props.size || at > o->props.size - bytes) return CUDA_ERROR_INVALID_VALUE;
  if (!multicast_has(o, b)) return CUDA_ERROR_INVALID_DEVICE;
  return bound(o, b, at, bytes) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static void add_bind(struct shim *s, struct multicast_object *o, const struct multicast_bind *b)
{
  struct multicast_bind *x = shim_alloc(sizeof *x);
  *x = *b;
  x->next = o->binds;
  o->binds = x;
  multicast_refresh(s);
}

CUresult multicast_bind_memory(struct shim *s, CUmemGenericAllocationHandle h, uint64_t at,
                               CUmemGenericAllocationHandle memory, uint64_t offset, uint64_t bytes)
{
  struct multicast_object *o = object_of(s, h);
  struct vmm_memory *m = vmm_memory_of(s, memory);
  if (!o || !m || m->cast) return CUDA_ERROR_INVALID_VALUE;
  const CUresult r = check_place(s, o, m->board, at, offset, bytes);
  if (r != CUDA_SUCCESS) return r;
  if (bytes > m->bytes || offset > m->bytes - bytes) return CUDA_ERROR_INVALID_VALUE;
  if (o->props.handleTypes && m->fd < 0) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t addr = vmm_take_addresses(s, m->bytes, boards_page(s), 0);
  if (!addr) return CUDA_ERROR_OUT_OF_MEMORY;
  BUG_ON(vmm_map(s, addr, m->bytes, 0, memory) != CUDA_SUCCESS);
  vmm_show(s, vmm_mapping_in(s, addr, 1), board_bit(m->board));
  add_bind(s, o, &(struct multicast_bind){ .board = m->board, .memory = m, .at = at, .bytes = bytes, .offset = offset,
                                           .addr = addr });
  return CUDA_SUCCESS;
}

CUresult multicast_bind_address(struct shim *s, CUmemGenericAllocationHandle h, uint64_t at, uint64_t addr,
                                uint64_t bytes)
{
  struct multicast_object *o = object_of(s, h);
  const struct vmm_mapping *m = vmm_mapping_in(s, addr, 1);
  if (!o || (m && m->memory->cast)) return CUDA_ERROR_INVALID_VALUE;
  if (m) { /* another handle, for as long as this takes */
    m->memory->handles++;
    const CUresult r = multicast_bind_memory(s, h, at, (uint64_t)(uintptr_t)m->memory, addr - m->addr, bytes);
    m->memory->handles--;
    return r;
  }
  const struct block *b = memory_find(s, addr);
  if (!b || b->kind != BLOCK_DEVICE || !b->owner || bytes > b->bytes - (addr - b->addr))
    return CUDA_ERROR_INVALID_VALUE;
  const CUresult r = check_place(s, o, b->board, at, addr, bytes);
  if (r == CUDA_SUCCESS)
    add_bind(s, o, &(struct multicast_bind){ .board = b->board, .at = at, .bytes = bytes, .addr = addr });
  return r;
}

/* The binding at *place goes. */
static void remove_bind(struct shim *s, struct multicast_bind **place)
{
  const struct multicast_bind b = **place;
  free(*place);
  *place = b.next;
  if (!b.memory) return;
  const uint64_t bytes = b.memory->bytes;
  BUG_ON(vmm_unmap(s, b.addr, bytes) != CUDA_SUCCESS);
  BUG_ON(vmm_unreserve(s, b.addr, bytes) != CUDA_SUCCESS);
}

CUresult multicast_unbind(struct shim *s, CUmemGenericAllocationHandle h, int device, uint64_t at, uint64_t bytes)
{
  struct multicast_object *o = object_of(s, h);
  const struct board *b = board_at(s, device);
  if (!o) return CUDA_ERROR_INVALID_VALUE;
  if (!b || !multicast_has(o, b)) return CUDA_ERROR_INVALID_DEVICE;
  for (struct multicast_bind **place = &o->binds; *place; place = &(*place)->next) {
    if ((*place)->board != b || (*place)->at != at || (*place)->bytes != bytes) continue;
    remove_bind(s, place);
    multicast_refresh(s);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

void multicast_free(struct shim *s, struct multicast_object *o)
{
  struct multicast_object **at = &s->vmm.multicasts->first;
  while (*at != o) at = &(*at)->next;
  *at = o->next;
  while (o->binds) remove_bind(s, &o->binds);
  free(o);
  multicast_refresh(s);
}

bool multicast_import(struct shim *s, CUmemGenericAllocationHandle *out, const struct stat *file)
{
  for (struct multicast_object *o = s->vmm.multicasts ? s->vmm.multicasts->first : NULL; o; o = o->next) {
    struct stat own;
    if (o->handle->fd < 0 || fstat(o->handle->fd, &own) != 0) continue;
    if (own.st_dev != file->st_dev || own.st_ino != file->st_ino) continue;
    o->handle->handles++;
    *out = (uint64_t)(uintptr_t)o->handle;
    return true;
  }
  return false;
}

/* --- what kernels see ---------------------------------------------------------------------------- */

/* Where the GPU whose memory it is has the binding's first byte. */
static uint64_t address_of(const struct shim *s, const struct multicast_bind *b)
{
  for (const struct vmm_mapping *m = b->memory ? s->vmm.mappings : NULL; m; m = m->next) {
    if (m->memory != b->memory || m->addr == b->addr || !(m->in & board_bit(b->board))) continue;
    if (m->bytes >= b->offset + b->bytes) return m->addr + b->offset;
  }
  return b->addr + b->offset;
}

/* The first byte behind `at` where something begins or ends. */
static uint64_t next_cut(const struct multicast_object *o, uint64_t at, uint64_t end)
{
  for (const struct multicast_bind *b = o->binds; b; b = b->next) {
    if (b->at > at && b->at < end) end = b->at;
    if (b->at + b->bytes > at && b->at + b->bytes < end) end = b->at + b->bytes;
  }
  return end;
}

/* The object's bytes [at, …), which no binding cuts, at this address. False: some GPU has no memory there. */
static bool span_of(const struct shim *s, const struct multicast_object *o, uint64_t at, struct multicast_span *x)
{
  x->n = o->n;
  for (unsigned i = 0; i < o->n; i++) {
    const struct multicast_bind *b = bound(o, o->board[i], at, 1);
    if (!b) return false;
    x->leg[i] = (struct multicast_leg){ .image = b->board->device.mem, .addr = address_of(s, b) + (at - b->at),
                                        .node = (uint16_t)b->board->node };
  }
  return true;
}

static void see_mapping(struct shim *s, const struct vmm_mapping *m, struct multicast *seen,
                        struct multicast_span **list, uint32_t *room)
{
  for (uint64_t at = 0, end; at < m->bytes; at = end) {
    end = next_cut(m->memory->cast, at, m->bytes);
    struct multicast_span x = { .addr = m->addr + at, .bytes = end - at };
    if (!span_of(s, m->memory->cast, at, &x)) continue;
    *list = mem_more(*list, (uint32_t)seen->n, room, sizeof **list);
    (*list)[seen->n++] = x;
  }
}

static void see(struct shim *s, struct board *b)
{
  struct multicast *seen = &s->vmm.multicasts->seen[b->number];
  struct multicast_span *list = NULL;
  uint32_t room = 0;
  mem_free((void *)(uintptr_t)seen->span);
  *seen = (struct multicast){ .n = 0 };
  for (const struct vmm_mapping *m = s->vmm.mappings; m; m = m->next)
    if (m->memory->cast && m->in & board_bit(b)) see_mapping(s, m, seen, &list, &room);
  seen->span = list;
  gmem_set_multicast(b->device.mem, seen);
}

void multicast_refresh(struct shim *s)
{
  for (unsigned i = 0; s->vmm.multicasts && i < s->boards.n; i++) see(s, &s->boards.of[i]);
}

void multicast_show(struct shim *s, const struct vmm_mapping *m)
{
  if (m->in) boards_place_multicast(s, m->addr, m->bytes);
  else board_place_nowhere(&s->boards.of[0], m->addr, m->bytes);
  multicast_refresh(s);
}
