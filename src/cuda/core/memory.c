#include "cuda/core/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "base/place.h"
#include "cuda/core/checked.h"
#include "cuda/core/shim.h"

/* Host mappings lie here, far from device addresses, from where the host's own allocators place
 * things, and from the windows of shared and local memory (host/abi.h). */
#define HOST_MAPPINGS     UINT64_C(0x400000000000)
#define HOST_MAPPINGS_END UINT64_C(0x500000000000)

enum { SYNC_CHUNK = 16 << 10 };

static size_t lower(const struct shim *s, uint64_t addr)
{
  size_t lo = 0, hi = s->memory.n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (s->memory.block[mid].addr <= addr) lo = mid + 1;
    else hi = mid;
  }
  return lo; /* first block behind addr */
}

static struct block *add_block(struct shim *s, struct block b)
{
  if (s->memory.n == s->memory.cap) {
    s->memory.cap = s->memory.cap ? 2 * s->memory.cap : 64;
    s->memory.block = realloc(s->memory.block, s->memory.cap * sizeof *s->memory.block);
    NO_MEMORY_IF(!s->memory.block);
  }
  size_t at = lower(s, b.addr);
  memmove(&s->memory.block[at + 1], &s->memory.block[at], (s->memory.n - at) * sizeof *s->memory.block);
  s->memory.n++;
  b.id = s->next_id++;
  s->memory.block[at] = b;
  return &s->memory.block[at];
}

struct block *memory_find(struct shim *s, uint64_t addr)
{
  size_t at = lower(s, addr);
  if (at && addr - s->memory.block[at - 1].addr < s->memory.block[at - 1].bytes) return &s->memory.block[at - 1];
  for (size_t i = 0; i < s->memory.n; i++)
    if (s->memory.block[i].kind == BLOCK_REGISTERED && addr - s->memory.block[i].device < s->memory.block[i].bytes)
      return &s->memory.block[i];
  return NULL;
}

bool memory_on_host(const struct block *b)
{
  return b->kind != BLOCK_DEVICE && b->kind != BLOCK_MAPPED && b->kind != BLOCK_OPENED;
}

bool memory_is_device(struct shim *s, uint64_t addr)
{
  return gmem_ptr(s->device.mem, addr, 1) != NULL;
}

uint64_t memory_total(const struct shim *s)
{
  return (uint64_t)s->preset.params.gpu_memory_mib << 20;
}

/* Guest memory that counts as the board's. */
static uint64_t guest_alloc(struct shim *s, uint64_t bytes, const char *what)
{
  char name[48];
  if (bytes > memory_total(s) - s->memory.device_bytes) return 0;
  snprintf(name, sizeof name, "%s %llu", what, (unsigned long long)s->next_id);
  uint64_t addr = gmem_alloc(s->device.mem, bytes, name);
  if (addr) s->memory.device_bytes += bytes;
  return addr;
}

static void guest_free(struct shim *s, uint64_t addr, uint64_t bytes)
{
  BUG_ON(!gmem_release(s->device.mem, addr));
  checked_freed(s->checked, addr);
  s->memory.device_bytes -= bytes;
}

CUresult memory_alloc(struct shim *s, uint64_t *addr, uint64_t bytes)
{
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *addr = guest_alloc(s, bytes, "allocation");
  if (!*addr) return CUDA_ERROR_OUT_OF_MEMORY;
  add_block(s, (struct block){ .addr = *addr, .bytes = bytes, .device = *addr,
                                  .kind = BLOCK_DEVICE });
  checked_allocated(s->checked, *addr, bytes);
  return CUDA_SUCCESS;
}

/* Host memory at a place that guest and host can both use, or NULL; fd >= 0: of a file, from an offset on. */
static void *map_host(struct shim *s, uint64_t bytes, int fd, uint64_t offset)
{
  int flags = MAP_NORESERVE | MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  uint64_t page = UINT64_C(1) << s->preset.params.vm_page_bits;
  if (!s->memory.host_next) s->memory.host_next = HOST_MAPPINGS;
  while (s->memory.host_next + bytes <= HOST_MAPPINGS_END) {
    void *want = (void *)(uintptr_t)s->memory.host_next; /* a multiple of the page */
    void *got = mmap(want, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
    s->memory.host_next += bytes + page; /* a hole behind each: an overrun faults */
    if (got == want) return got;
    if (got != MAP_FAILED) munmap(got, bytes);
    else if (errno != EEXIST) return NULL;
  }
  return NULL;
}

void *memory_take(struct shim *s, uint64_t bytes)
{
  if (bytes > memory_total(s) - s->memory.device_bytes) return NULL;
  void *host = map_host(s, bytes, -1, 0);
  if (host) s->memory.device_bytes += bytes;
  return host;
}

void *memory_take_file(struct shim *s, uint64_t bytes, int *fd)
{
  if (bytes > memory_total(s) - s->memory.device_bytes) return NULL;
  bool ours = *fd < 0;
  if (ours) *fd = memfd_create("warpstep", MFD_CLOEXEC);
  bool ok = *fd >= 0 && (!ours || ftruncate(*fd, (off_t)bytes) == 0);
  void *host = ok ? map_host(s, bytes, *fd, 0) : NULL;
  if (host) s->memory.device_bytes += bytes;
  else if (ours && *fd >= 0) close(*fd);
  return host;
}

uint64_t memory_open(struct shim *s, int fd, uint64_t offset, uint64_t bytes)
{
  uint64_t page = UINT64_C(1) << s->preset.params.vm_page_bits, inside = offset & (page - 1);
  uint64_t mapped = align_up(inside + bytes, page);
  void *host = map_host(s, mapped, fd, offset - inside);
  if (!host) return 0;
  uint64_t base = (uint64_t)(uintptr_t)host;
  BUG_ON(!gmem_map_host(s->device.mem, base, host, mapped, "memory of another process"));
  add_block(s, (struct block){ .addr = base + inside, .bytes = bytes, .device = base + inside,
                                  .mapped = mapped, .kind = BLOCK_OPENED });
  return base + inside;
}

void memory_give_back(struct shim *s, void *host, uint64_t bytes)
{
  gmem_unmap(s->device.mem, host, bytes);
  s->memory.device_bytes -= bytes;
}

void memory_map(struct shim *s, uint64_t addr, void *host, uint64_t bytes)
{
  char name[48];
  snprintf(name, sizeof name, "mapped memory %llu", (unsigned long long)s->next_id);
  BUG_ON(!gmem_map_host(s->device.mem, addr, host, bytes, name));
  add_block(s, (struct block){ .addr = addr, .bytes = bytes, .device = addr, .kind = BLOCK_MAPPED });
}

CUresult memory_alloc_host(struct shim *s, void **p, uint64_t bytes, enum block_kind kind,
                           unsigned flags)
{
  uint64_t page = UINT64_C(1) << s->preset.params.vm_page_bits;
  char name[48];
  if (bytes == 0 || bytes > HOST_MAPPINGS_END - HOST_MAPPINGS) return CUDA_ERROR_INVALID_VALUE;
  uint64_t mapped = align_up(bytes, page);
  void *host = map_host(s, mapped, -1, 0);
  if (!host) return CUDA_ERROR_OUT_OF_MEMORY;
  snprintf(name, sizeof name, "%s %llu", kind == BLOCK_MANAGED ? "managed memory" : "pinned memory",
           (unsigned long long)s->next_id);
  uint64_t addr = (uint64_t)(uintptr_t)host;
  BUG_ON(!gmem_map_host(s->device.mem, addr, host, mapped, name));
  gmem_trim(s->device.mem, addr, bytes);
  if (kind == BLOCK_PINNED) simulator_place(s->simulator, addr, mapped, true);
  add_block(s, (struct block){ .addr = addr, .bytes = bytes, .device = addr, .mapped = mapped,
                                  .flags = flags, .kind = kind });
  *p = host;
  return CUDA_SUCCESS;
}

static bool overlaps(const struct shim *s, uint64_t addr, uint64_t bytes)
{
  size_t at = lower(s, addr + bytes - 1);
  return at && s->memory.block[at - 1].addr + s->memory.block[at - 1].bytes > addr;
}

CUresult memory_register(struct shim *s, void *p, uint64_t bytes, unsigned flags)
{
  const uint64_t addr = (uint64_t)(uintptr_t)p, page = UINT64_C(1) << PLACE_PAGE_BITS;
  if (!p || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > UINT64_MAX - 2 * page) return CUDA_ERROR_OUT_OF_MEMORY;
  if (overlaps(s, addr, bytes)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  const uint64_t whole = align_up(bytes, page);
  uint64_t base = gmem_alloc(s->device.mem, whole + page, "registered memory"), copy = align_up(base, page);
  if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
  simulator_place(s->simulator, copy, whole, true);
  add_block(s, (struct block){ .addr = addr, .bytes = bytes, .device = copy, .base = base, .flags = flags,
                                  .kind = BLOCK_REGISTERED, .seen = shim_alloc(bytes) });
  return CUDA_SUCCESS;
}

CUresult memory_unregister(struct shim *s, const void *p)
{
  parts_settle(s);
  bool was = memory_free(s, (uint64_t)(uintptr_t)p, 1u << BLOCK_REGISTERED);
  return was ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

static void release(struct shim *s, const struct block *b)
{
  if (b->kind == BLOCK_DEVICE) {
    guest_free(s, b->device, b->bytes);
    if (b->owner) b->owner->released(s, b->owner, b->bytes);
    return;
  }
  uint64_t page = UINT64_C(1) << s->preset.params.vm_page_bits; /* opened memory may lie inside its pages */
  uint64_t inside = b->kind == BLOCK_OPENED ? b->addr & (page - 1) : b->base ? b->device - b->base : 0;
  if (b->kind == BLOCK_PINNED) simulator_place(s->simulator, b->device, b->mapped, false);
  if (b->kind == BLOCK_REGISTERED)
    simulator_place(s->simulator, b->device, align_up(b->bytes, UINT64_C(1) << PLACE_PAGE_BITS), false);
  BUG_ON(!gmem_release(s->device.mem, b->device - inside));
  free(b->seen);
  if (b->mapped) gmem_unmap(s->device.mem, (void *)(uintptr_t)(b->addr - inside), b->mapped);
}

bool memory_has(const struct shim *s, uint64_t addr, unsigned kinds)
{
  size_t at = lower(s, addr);
  return at && s->memory.block[at - 1].addr == addr && kinds >> s->memory.block[at - 1].kind & 1;
}

bool memory_free(struct shim *s, uint64_t addr, unsigned kinds)
{
  size_t at = lower(s, addr);
  if (!memory_has(s, addr, kinds)) return false;
  release(s, &s->memory.block[at - 1]);
  memmove(&s->memory.block[at - 1], &s->memory.block[at], (s->memory.n - at) * sizeof *s->memory.block);
  s->memory.n--;
  return true;
}

void memory_tell_leaks(struct shim *s)
{
  const struct memory *m = &s->memory;
  for (size_t i = 0; i < m->n; i++)
    if (m->block[i].kind == BLOCK_DEVICE) checked_leaked(s->checked, m->block[i].addr, m->block[i].bytes);
}

/* Bytes from `at` on that differ, up to n; *at moves to the first of them. */
static uint64_t next_change(const uint8_t *now, const uint8_t *before, uint64_t n, uint64_t *at)
{
  uint64_t end;
  while (*at < n && now[*at] == before[*at]) ++*at;
  for (end = *at; end < n && now[end] != before[end]; end++) continue;
  return end - *at;
}

static void sync_chunk(struct shim *s, const struct block *b, uint64_t offset, uint64_t n, bool to_device)
{
  uint8_t *host = (uint8_t *)(uintptr_t)b->addr + offset, *seen = b->seen + offset, device[SYNC_CHUNK];
  const uint8_t *now = to_device ? host : device;
  if (!to_device) BUG_ON(!gmem_read(s->device.mem, b->device + offset, device, n));
  if (memcmp(now, seen, n) == 0) return;
  for (uint64_t at = 0, k; (k = next_change(now, seen, n, &at)) != 0; at += k) {
    memcpy(seen + at, now + at, k);
    if (to_device) BUG_ON(!gmem_write(s->device.mem, b->device + offset + at, seen + at, k));
    else memcpy(host + at, seen + at, k);
  }
}

void memory_sync_registered(struct shim *s, bool to_device)
{
  for (size_t i = 0; i < s->memory.n; i++) {
    const struct block *b = &s->memory.block[i];
    if (b->kind != BLOCK_REGISTERED) continue;
    for (uint64_t at = 0; at < b->bytes; at += SYNC_CHUNK)
      sync_chunk(s, b, at, b->bytes - at < SYNC_CHUNK ? b->bytes - at : SYNC_CHUNK, to_device);
  }
}

/* What is mapped stays until it is unmapped (vmm.h). */
static void reset(struct shim *s)
{
  size_t kept = 0;
  for (size_t i = 0; i < s->memory.n; i++) {
    if (s->memory.block[i].kind == BLOCK_MAPPED) s->memory.block[kept++] = s->memory.block[i];
    else release(s, &s->memory.block[i]);
  }
  s->memory.n = kept;
}

const struct shim_part memory_part = { .reset = reset };
