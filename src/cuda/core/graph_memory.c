#include "cuda/core/graph_memory.h"

#include <stdlib.h>

#include "base/arith.h"
#include "base/bug.h"
#include "cuda/core/board_ranks.h"
#include "cuda/core/shim.h"

enum { TYPE_PINNED = 1 };

struct graph_memory {
  struct graph_memory *next;
  struct board *board;
  uint64_t addr, bytes; /* whole pages */
  unsigned nodes;
  bool live;
};

struct graph_condition {
  struct graph_condition *next;
  struct board *board;
  uint64_t handle; /* guest address of the word */
  uint32_t value;
  bool assign;
};

/* Allocations ------------------------------------------------------------------------------------- */

static struct graph_memory *find(const struct shim *s, uint64_t addr)
{
  struct graph_memory *m = s->graph_memory.first;
  while (m && m->addr != addr) m = m->next;
  return m;
}

CUresult graph_memory_new(struct shim *s, struct board *b, uint64_t *addr, uint64_t bytes)
{
  uint64_t page = boards_page(s);
  CUdeviceptr at;
  if (!bytes || bytes > UINT64_MAX - page) return CUDA_ERROR_INVALID_VALUE;
  bytes = align_up(bytes, page);
  CUresult r = vmm_reserve(s, &at, bytes, 0, 0);
  if (r != CUDA_SUCCESS) return r;
  struct graph_memory *m = shim_alloc(sizeof *m);
  *m = (struct graph_memory){ .next = s->graph_memory.first, .board = b, .addr = at, .bytes = bytes };
  s->graph_memory.first = m;
  *addr = at;
  return CUDA_SUCCESS;
}

/* Nothing needs the address any more. */
static void forget_unused(struct shim *s, struct graph_memory *m)
{
  if (m->nodes || m->live) return;
  struct graph_memory **at = &s->graph_memory.first;
  while (*at != m) at = &(*at)->next;
  *at = m->next;
  BUG_ON(vmm_unreserve(s, m->addr, m->bytes) != CUDA_SUCCESS);
  free(m);
}

void graph_memory_hold(struct shim *s, uint64_t addr)
{
  find(s, addr)->nodes++;
}

void graph_memory_drop(struct shim *s, uint64_t addr)
{
  struct graph_memory *m = find(s, addr);
  if (!m) return; /* the context was reset */
  m->nodes--;
  forget_unused(s, m);
}

bool graph_memory_exists(const struct shim *s, uint64_t addr)
{
  return find(s, addr) != NULL;
}

bool graph_memory_holds(const struct shim *s, uint64_t addr)
{
  const struct graph_memory *m = s->graph_memory.first;
  while (m && addr - m->addr >= m->bytes) m = m->next;
  return m != NULL;
}

bool graph_memory_is_live(const struct shim *s, uint64_t addr)
{
  const struct graph_memory *m = find(s, addr);
  return m && m->live;
}

static void count(struct board *b, uint64_t bytes)
{
  uint64_t *n = b->graph_bytes;
  n[GRAPH_MEMORY_USED] += bytes;
  if (n[GRAPH_MEMORY_USED] > n[GRAPH_MEMORY_USED_HIGH]) n[GRAPH_MEMORY_USED_HIGH] = n[GRAPH_MEMORY_USED];
  if (n[GRAPH_MEMORY_USED] > n[GRAPH_MEMORY_RESERVED_HIGH]) n[GRAPH_MEMORY_RESERVED_HIGH] = n[GRAPH_MEMORY_USED];
}

CUresult graph_memory_take(struct shim *s, uint64_t addr)
{
  CUmemGenericAllocationHandle h;
  struct graph_memory *m = find(s, addr);
  if (!m || m->live) return CUDA_ERROR_INVALID_VALUE;
  const CUmemAllocationProp props = { .type = TYPE_PINNED, .location = { LOCATION_DEVICE, (int)m->board->number } };
  const CUmemAccessDesc access = { props.location, ACCESS_READ_WRITE };
  CUresult r = vmm_create(s, &h, m->bytes, &props);
  if (r != CUDA_SUCCESS) return r;
  BUG_ON(vmm_map(s, addr, m->bytes, 0, h) != CUDA_SUCCESS);
  BUG_ON(vmm_release(s, h) != CUDA_SUCCESS); /* the mapping holds it */
  BUG_ON(vmm_set_access(s, addr, m->bytes, &access, 1) != CUDA_SUCCESS);
  m->live = true;
  count(m->board, m->bytes);
  return CUDA_SUCCESS;
}

CUresult graph_memory_give(struct shim *s, uint64_t addr)
{
  struct graph_memory *m = find(s, addr);
  if (!m || !m->live) return CUDA_ERROR_INVALID_VALUE;
  BUG_ON(vmm_unmap(s, m->addr, m->bytes) != CUDA_SUCCESS);
  m->board->graph_bytes[GRAPH_MEMORY_USED] -= m->bytes;
  m->live = false;
  forget_unused(s, m);
  return CUDA_SUCCESS;
}

CUresult graph_memory_get(struct shim *s, CUdevice device, int attribute, uint64_t *value)
{
  const struct board *b = board_at(s, device);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  if (!value || attribute < 0 || attribute >= GRAPH_MEMORY__N) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == GRAPH_MEMORY_RESERVED) attribute = GRAPH_MEMORY_USED;
  *value = b->graph_bytes[attribute];
  return CUDA_SUCCESS;
}

CUresult graph_memory_set(struct shim *s, CUdevice device, int attribute, const uint64_t *value)
{
  struct board *b = board_at(s, device);
  if (!b) return CUDA_ERROR_INVALID_DEVICE;
  if (!value || *value ||
      (attribute != GRAPH_MEMORY_USED_HIGH && attribute != GRAPH_MEMORY_RESERVED_HIGH))
    return CUDA_ERROR_INVALID_VALUE;
  b->graph_bytes[attribute] = b->graph_bytes[GRAPH_MEMORY_USED];
  return CUDA_SUCCESS;
}

/* Conditions -------------------------------------------------------------------------------------- */

static const struct graph_condition *condition(const struct shim *s, uint64_t handle)
{
  const struct graph_condition *c = s->graph_memory.conditions;
  while (c && c->handle != handle) c = c->next;
  return c;
}

CUresult condition_new(struct shim *s, struct board *b, uint64_t *handle, uint32_t value, bool assign)
{
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  const CUresult served = board_ranks_refuse(s, "a condition of a graph");
  if (served != CUDA_SUCCESS) return served;
  uint64_t at = gmem_alloc(b->device.mem, sizeof value, "condition of a graph");
  if (!at) return CUDA_ERROR_OUT_OF_MEMORY;
  struct graph_condition *c = shim_alloc(sizeof *c);
  *c = (struct graph_condition){ .next = s->graph_memory.conditions, .board = b, .handle = at, .value = value,
                                   .assign = assign };
  s->graph_memory.conditions = c;
  *handle = at;
  return CUDA_SUCCESS;
}

bool condition_exists(const struct shim *s, uint64_t handle)
{
  return condition(s, handle) != NULL;
}

void condition_start(struct shim *s, uint64_t handle)
{
  const struct graph_condition *c = condition(s, handle);
  if (c && c->assign) BUG_ON(!gmem_write(c->board->device.mem, handle, &c->value, sizeof c->value));
}

uint32_t condition_value(struct shim *s, uint64_t handle)
{
  uint32_t value = 0;
  const struct graph_condition *c = condition(s, handle);
  if (c) BUG_ON(!gmem_read(c->board->device.mem, handle, &value, sizeof value));
  return value;
}

static void reset(struct shim *s, struct board *b)
{
  for (struct graph_memory *m = s->graph_memory.first, *next; m; m = next) {
    next = m->next;
    if (m->board != b) continue;
    m->nodes = 0;
    if (m->live) BUG_ON(graph_memory_give(s, m->addr) != CUDA_SUCCESS);
    else forget_unused(s, m);
  }
  for (struct graph_condition **at = &s->graph_memory.conditions; *at;) {
    struct graph_condition *c = *at;
    if (c->board != b) {
      at = &c->next;
      continue;
    }
    *at = c->next;
    BUG_ON(!gmem_release(b->device.mem, c->handle));
    free(c);
  }
}

const struct shim_part graph_memory_part = { .reset = reset };
