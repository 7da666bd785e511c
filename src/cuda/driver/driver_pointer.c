/* What an address is: attributes of pointers (CUDA Driver API, "Unified Addressing"). */
#include <string.h>

#include "cuda/core/call.h"
#include "cuda/core/context.h"
#include "cuda/core/memory.h"
#include "cuda/core/modules.h"
#include "cuda/core/pool.h"
#include "cuda/core/vmm.h"

/* CUpointer_attribute */
enum { POINTER_CONTEXT = 1, POINTER_MEMORY_TYPE, POINTER_DEVICE, POINTER_HOST, POINTER_P2P_TOKENS, POINTER_SYNC_MEMOPS,
       POINTER_BUFFER_ID, POINTER_IS_MANAGED, POINTER_ORDINAL, POINTER_IPC, POINTER_START, POINTER_SIZE, POINTER_MAPPED,
       POINTER_HANDLE_TYPES, POINTER_RDMA, POINTER_ACCESS, POINTER_POOL, POINTER_MAPPING_SIZE, POINTER_MAPPING,
       POINTER_BLOCK_ID, POINTER_DECOMPRESS };
enum { NO_DEVICE = -2 };

/* Contexts of a GPU share its memory: the current one, or its primary one. */
static CUcontext context_on(struct shim *s, struct board *b)
{
  CUcontext c = context_current(s);
  return c->board == b ? c : context_primary(s, b);
}

/* Bytes of the answer; 0: it is not served. */
static size_t answer_bytes(int which)
{
  switch (which) {
  case POINTER_MEMORY_TYPE: case POINTER_SYNC_MEMOPS: case POINTER_IS_MANAGED: case POINTER_ORDINAL: case POINTER_IPC:
  case POINTER_MAPPED: case POINTER_RDMA: case POINTER_ACCESS: case POINTER_DECOMPRESS:
    return sizeof(unsigned);
  case POINTER_CONTEXT: case POINTER_DEVICE: case POINTER_HOST: case POINTER_BUFFER_ID: case POINTER_START:
  case POINTER_SIZE: case POINTER_HANDLE_TYPES: case POINTER_POOL: case POINTER_MAPPING_SIZE: case POINTER_MAPPING:
  case POINTER_BLOCK_ID:
    return sizeof(uint64_t);
  default: return 0;
  }
}

/* Variables of a module are no allocation, but memory of the GPU that it was loaded on. */
static CUresult of_variable(struct shim *s, uint64_t *v, int which, CUdeviceptr p)
{
  if (!memory_is_device(s, p) || !module_has_address(s, p)) return CUDA_ERROR_INVALID_VALUE;
  switch (which) {
  case POINTER_CONTEXT: *v = (uintptr_t)context_on(s, board_of(s, p)); break;
  case POINTER_MEMORY_TYPE: *v = MEM_DEVICE; break;
  case POINTER_DEVICE: *v = p; break;
  case POINTER_ORDINAL: *v = board_of(s, p)->number; break;
  case POINTER_MAPPED: *v = 1; break;
  case POINTER_ACCESS: *v = board_of(s, p) == board_current(s) ? ACCESS_READ_WRITE : ACCESS_NONE; break;
  case POINTER_SYNC_MEMOPS: case POINTER_IS_MANAGED: case POINTER_IPC: case POINTER_HANDLE_TYPES: case POINTER_RDMA:
  case POINTER_POOL: case POINTER_DECOMPRESS:
    break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

/* What kernels of the current context's GPU may do there. */
static unsigned access_of(struct shim *s, const struct block *b)
{
  const CUcontext c = context_current(s);
  unsigned long long flags = ACCESS_NONE;
  const CUmemLocation here = { LOCATION_DEVICE, (int)c->board->number };
  if (b->kind == BLOCK_MAPPED) {
    vmm_access(s, &flags, &here, b->addr);
    return (unsigned)flags;
  }
  bool may = b->board == c->board || memory_on_host(b) || memory_viewers(b) & board_bit(c->board);
  for (unsigned i = 0; !may && !b->owner && i < c->n_peers; i++) may = c->peer[i]->board == b->board;
  return may ? ACCESS_READ_WRITE : ACCESS_NONE;
}

static CUresult of_block(struct shim *s, uint64_t *v, int which, const struct block *b, CUdeviceptr p)
{
  const uint64_t offset = p - (p - b->addr < b->bytes ? b->addr : b->device);
  const bool on_host = memory_on_host(b);
  switch (which) {
  case POINTER_CONTEXT: *v = (uintptr_t)context_on(s, b->board); break;
  case POINTER_MEMORY_TYPE: *v = on_host && b->kind != BLOCK_MANAGED ? MEM_HOST : MEM_DEVICE; break;
  case POINTER_DEVICE:
    if (pool_hides(b, context_current(s)->board)) return CUDA_ERROR_INVALID_VALUE;
    *v = b->device + offset;
    break;
  case POINTER_HOST:
    if (!on_host) return CUDA_ERROR_INVALID_VALUE;
    *v = b->addr + offset;
    break;
  case POINTER_SYNC_MEMOPS: *v = b->sync_memops; break;
  case POINTER_BUFFER_ID: case POINTER_BLOCK_ID: *v = b->id; break;
  case POINTER_IS_MANAGED: *v = b->kind == BLOCK_MANAGED; break;
  case POINTER_ORDINAL: *v = b->board->number; break;
  case POINTER_IPC: *v = b->kind == BLOCK_DEVICE && !b->owner; break;
  case POINTER_START: case POINTER_MAPPING: *v = b->device; break;
  case POINTER_SIZE: case POINTER_MAPPING_SIZE: *v = b->bytes; break;
  case POINTER_MAPPED: *v = 1; break;
  case POINTER_HANDLE_TYPES: *v = vmm_handle_types(s, b->addr); break;
  case POINTER_ACCESS: *v = access_of(s, b); break;
  case POINTER_POOL: *v = (uintptr_t)pool_of_block(b); break;
  default: break; /* no other device reads or unpacks this memory */
  }
  return CUDA_SUCCESS;
}

static CUresult pointer_attribute(struct shim *s, void *out, int which, CUdeviceptr p)
{
  const struct block *b = memory_find(s, p);
  const size_t bytes = answer_bytes(which);
  uint64_t v = 0;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (which == POINTER_P2P_TOKENS) return shim_unsupported(s, "cuPointerGetAttribute of tokens for nv-p2p.h");
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  CUresult r = b ? of_block(s, &v, which, b, p) : of_variable(s, &v, which, p);
  if (r == CUDA_SUCCESS) memcpy(out, &v, bytes);
  return r;
}

CUresult cuPointerGetAttribute(void *out, int which, CUdeviceptr p)
{
  DRIVER(NEED_CONTEXT, pointer_attribute(s, out, which, p));
}

/* What is no memory of CUDA's gives zeros, no device (-2), and no error. */
static CUresult pointer_attributes(struct shim *s, unsigned n, const int *which, void **out, CUdeviceptr p)
{
  if (!which || !out || n == 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < n; i++) {
    if (!out[i]) return CUDA_ERROR_INVALID_VALUE;
    memset(out[i], 0, answer_bytes(which[i]));
    if (which[i] == POINTER_ORDINAL) *(int *)out[i] = NO_DEVICE;
    CUresult r = pointer_attribute(s, out[i], which[i], p);
    if (r != CUDA_SUCCESS && (r != CUDA_ERROR_INVALID_VALUE || !answer_bytes(which[i]))) return r;
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttributes(unsigned n, const int *which, void **out, CUdeviceptr p)
{
  DRIVER(NEED_CONTEXT, pointer_attributes(s, n, which, out, p));
}

/* The one that can be set has copies of this memory return only when they are done: results are the same. */
static CUresult set_pointer_attribute(struct shim *s, const void *value, int which, CUdeviceptr p)
{
  struct block *b = memory_find(s, p);
  if (!value || which != POINTER_SYNC_MEMOPS || !b) return CUDA_ERROR_INVALID_VALUE;
  b->sync_memops = *(const unsigned *)value != 0;
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, int which, CUdeviceptr p)
{
  DRIVER(NEED_CONTEXT, set_pointer_attribute(s, value, which, p));
}
