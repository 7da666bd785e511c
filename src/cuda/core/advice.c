#include "cuda/core/advice.h"

#include "base/arith.h"
#include "cuda/core/managed.h"
#include "cuda/core/prefetch.h"
#include "cuda/core/shim.h"
#include "time/uvm/page_set.h"

/* CUmem_advise */
enum { SET_READ_MOSTLY = 1, UNSET_READ_MOSTLY, SET_PREFERRED, UNSET_PREFERRED, SET_ACCESSED_BY,
       UNSET_ACCESSED_BY };
/* CUmem_range_attribute */
enum { RANGE_READ_MOSTLY = 1, RANGE_PREFERRED, RANGE_ACCESSED_BY, RANGE_PREFETCHED,
       RANGE_PREFERRED_TYPE, RANGE_PREFERRED_ID, RANGE_PREFETCHED_TYPE, RANGE_PREFETCHED_ID };
/* Device numbers of CUDA 12's attributes. */
enum { NUMBER_HOST = -1, NUMBER_NONE = -2 };

enum { ATTACH_GLOBAL = 1, ATTACH_HOST = 2, ATTACH_SINGLE = 4 }; /* CUmemAttach_flags */

CUmemLocation advice_location(uint64_t argument)
{
  int low = (int)(uint32_t)argument;
  if (low == 0) return (CUmemLocation){ .type = LOCATION_DEVICE };
  if (low == NUMBER_HOST) return (CUmemLocation){ .type = LOCATION_HOST };
  return (CUmemLocation){ .type = low, .id = (int)(uint32_t)(argument >> 32) };
}

static struct block *managed(struct shim *s, uint64_t addr, uint64_t bytes)
{
  struct block *b = memory_find(s, addr);
  return b && b->kind == BLOCK_MANAGED && bytes && bytes <= b->bytes - (addr - b->addr) ? b : NULL;
}

static CUresult check(const struct shim *s, const struct block *b, CUmemLocation l)
{
  if (!b || l.type < LOCATION_DEVICE || l.type > 4) return CUDA_ERROR_INVALID_VALUE; /* 3, 4: NUMA */
  return l.type == LOCATION_DEVICE && !board_at(s, l.id) ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

/* What is said of a span; the location is one that there is. */
static void keep(const struct shim *s, struct advice *a, int advice, CUmemLocation l)
{
  const bool set = advice & 1;
  const board_mask bit = l.type == LOCATION_DEVICE ? board_bit(board_at(s, l.id)) : 0;
  if (advice <= UNSET_READ_MOSTLY) a->read_mostly = set;
  else if (advice == UNSET_PREFERRED) a->preferred = (CUmemLocation){0};
  else if (advice == SET_PREFERRED) a->preferred = l;
  else if (bit) a->accessed_by = set ? a->accessed_by | bit : a->accessed_by & ~bit;
  else a->accessed_by_host = set;
}

/* The spans of the pages that have some of these bytes of the block. */
static struct advice_span *cut(struct block *b, uint64_t addr, uint64_t bytes, uint32_t *n)
{
  const uint64_t page = UINT64_C(1) << UVM_PAGE_BITS, first = (addr - b->addr) & ~(page - 1);
  return advice_list_cut(&b->advice, first, align_up(addr - b->addr + bytes, page), n);
}

static void give(struct shim *s, struct block *b, uint64_t addr, uint64_t bytes, int advice, CUmemLocation l)
{
  uint32_t n;
  struct advice_span *x = cut(b, addr, bytes, &n);
  for (uint32_t i = 0; i < n; i++) {
    keep(s, &x[i].advice, advice, l);
    if (b->moves) managed_advise(s, b, x[i].first, x[i + 1].first, &x[i].advice);
  }
}

CUresult advice_give(struct shim *s, uint64_t addr, uint64_t bytes, int advice, CUmemLocation l)
{
  struct block *b = managed(s, addr, bytes);
  if (!b || advice < SET_READ_MOSTLY || advice > UNSET_ACCESSED_BY) return CUDA_ERROR_INVALID_VALUE;
  const bool looks = advice > UNSET_READ_MOSTLY && advice != UNSET_PREFERRED; /* else at no location */
  const CUresult r = looks ? check(s, b, l) : CUDA_SUCCESS;
  if (r == CUDA_SUCCESS) give(s, b, addr, bytes, advice, looks ? l : (CUmemLocation){0});
  return r;
}

void advice_prefer(struct shim *s, struct block *b, CUmemLocation l)
{
  give(s, b, b->addr, b->bytes, SET_PREFERRED, l);
}

CUstream advice_stream(uint64_t location, uint64_t fourth, uint64_t fifth)
{
  const int low = (int)(uint32_t)location;
  return (CUstream)(uintptr_t)(low == 0 || low == NUMBER_HOST ? fourth : fifth);
}

CUresult advice_prefetch(struct shim *s, uint64_t addr, uint64_t bytes, CUmemLocation l, CUstream stream)
{
  struct block *b = managed(s, addr, bytes);
  struct stream *st = stream_of(s, stream);
  CUresult r = check(s, b, l);
  if (r != CUDA_SUCCESS) return r;
  if (b->moves && !st) return CUDA_ERROR_INVALID_HANDLE;
  uint32_t n;
  struct advice_span *x = cut(b, addr, bytes, &n);
  for (uint32_t i = 0; i < n; i++) x[i].advice.prefetched = l;
  const struct board *to = l.type == LOCATION_DEVICE ? board_at(s, l.id) : NULL;
  return b->moves ? prefetch_give(s, addr, bytes, to, st) : CUDA_SUCCESS;
}

static bool is_batch(struct shim *s, const struct advice_batch *b, unsigned long long flags, CUstream stream)
{
  const struct stream *st = stream_of(s, stream);
  return st && !st->order.legacy && !flags && b->n && b->addr && b->bytes;
}

CUresult advice_prefetch_batch(struct shim *s, const struct advice_batch *b, unsigned long long flags,
                               CUstream stream)
{
  CUresult r = CUDA_SUCCESS;
  if (!is_batch(s, b, flags, stream) || !b->n_to || b->n_to > b->n || !b->to || !b->first || b->first[0])
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 1; i < b->n_to; i++)
    if (b->first[i] <= b->first[i - 1] || b->first[i] >= b->n) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0, place = 0; r == CUDA_SUCCESS && i < b->n; i++) {
    while (place + 1 < b->n_to && b->first[place + 1] <= i) place++;
    r = advice_prefetch(s, b->addr[i], b->bytes[i], b->to[place], stream);
  }
  return r;
}

CUresult advice_discard_batch(struct shim *s, const struct advice_batch *b, unsigned long long flags,
                              CUstream stream)
{
  if (!is_batch(s, b, flags, stream)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < b->n; i++) {
    const struct block *block = memory_find(s, b->addr[i]);
    if (!block || block->kind != BLOCK_MANAGED || b->bytes[i] > block->bytes - (b->addr[i] - block->addr))
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

static bool same_location(CUmemLocation a, CUmemLocation b)
{
  return a.type == b.type && a.id == b.id;
}

/* What holds for all of these pages: what was said of all of them alike. */
static struct advice of_range(const struct block *b, uint64_t addr, uint64_t bytes)
{
  uint64_t next, at = addr - b->addr;
  struct advice all = *advice_list_at(&b->advice, at, &next);
  for (at = next; at < addr - b->addr + bytes; at = next) {
    const struct advice *a = advice_list_at(&b->advice, at, &next);
    all.read_mostly &= a->read_mostly;
    all.accessed_by_host &= a->accessed_by_host;
    all.accessed_by &= a->accessed_by;
    if (!same_location(all.preferred, a->preferred)) all.preferred = (CUmemLocation){0};
    if (!same_location(all.prefetched, a->prefetched)) all.prefetched = (CUmemLocation){0};
  }
  return all;
}

static int number(CUmemLocation l)
{
  return l.type == 0 ? NUMBER_NONE : l.type == LOCATION_DEVICE ? l.id : NUMBER_HOST;
}

static void accessed_by(const struct advice *a, int *out, size_t n)
{
  size_t at = 0;
  for (int i = 0; i < BOARDS_MAX && at < n; i++)
    if (a->accessed_by >> i & 1) out[at++] = i;
  if (a->accessed_by_host && at < n) out[at++] = NUMBER_HOST;
  while (at < n) out[at++] = NUMBER_NONE;
}

CUresult advice_get(struct shim *s, void *out, size_t out_bytes, int attribute, uint64_t addr,
                    uint64_t bytes)
{
  const struct block *b = managed(s, addr, bytes);
  int *v = out;
  if (!b || !out || out_bytes < sizeof(int) || out_bytes % sizeof(int))
    return CUDA_ERROR_INVALID_VALUE;
  if (attribute != RANGE_ACCESSED_BY && out_bytes != sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
  const struct advice a = of_range(b, addr, bytes);
  switch (attribute) {
  case RANGE_READ_MOSTLY: *v = a.read_mostly; break;
  case RANGE_PREFERRED: *v = number(a.preferred); break;
  case RANGE_ACCESSED_BY: accessed_by(&a, v, out_bytes / sizeof(int)); break;
  case RANGE_PREFETCHED: *v = number(a.prefetched); break;
  case RANGE_PREFERRED_TYPE: *v = a.preferred.type; break;
  case RANGE_PREFERRED_ID: *v = a.preferred.id; break;
  case RANGE_PREFETCHED_TYPE: *v = a.prefetched.type; break;
  case RANGE_PREFETCHED_ID: *v = a.prefetched.id; break;
  default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult advice_get_all(struct shim *s, void **out, const size_t *out_bytes, const int *attribute,
                        size_t n, uint64_t addr, uint64_t bytes)
{
  if (!out || !out_bytes || !attribute || n == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) {
    CUresult r = advice_get(s, out[i], out_bytes[i], attribute[i], addr, bytes);
    if (r != CUDA_SUCCESS) return r;
  }
  return CUDA_SUCCESS;
}

CUresult advice_attach(struct shim *s, CUstream stream, uint64_t addr, uint64_t bytes, unsigned flags)
{
  const struct block *b = memory_find(s, addr);
  if (!stream_of(s, stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (flags != ATTACH_GLOBAL && flags != ATTACH_HOST && flags != ATTACH_SINGLE) return CUDA_ERROR_INVALID_VALUE;
  if (!addr || (flags == ATTACH_SINGLE && !stream)) return CUDA_ERROR_INVALID_VALUE;
  if (!b) return CUDA_SUCCESS;
  return b->kind == BLOCK_MANAGED && (bytes == 0 || (addr == b->addr && bytes == b->bytes))
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}
