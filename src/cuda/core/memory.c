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
#include "cuda/core/board_ranks.h"
#include "cuda/core/checked.h"
#include "cuda/core/context_turns.h"
#include "cuda/core/managed.h"
#include "cuda/core/mps.h"
#include "cuda/core/peer_access.h"
#include "cuda/core/shim.h"
#include "host/live_gpu.h"

enum { SYNC_CHUNK = 16 << 10, MANAGED_BLOCK = 2 << 20 };
/* Bytes of an allocation that moves: its books take some 110 KiB for each GiB. */
#define MANAGED_MOST (UINT64_C(256) << 30)

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

static bool is_of_others(const struct block *b) { return b->kind == BLOCK_OPENED || b->kind == BLOCK_IMPORTED; }

bool memory_on_host(const struct block *b)
{
  return b->kind != BLOCK_DEVICE && b->kind != BLOCK_MAPPED && !is_of_others(b);
}

CUresult memory_device_pointer(struct shim *s, void *out, const void *p, unsigned flags)
{
  const uint64_t addr = (uint64_t)(uintptr_t)p;
  const struct block *b = memory_find(s, addr);
  if (!out || flags || !b || !memory_on_host(b)) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t seen = b->device + (addr - b->addr);
  memcpy(out, &seen, sizeof seen);
  return CUDA_SUCCESS;
}

CUresult memory_host_flags(struct shim *s, unsigned *flags, const void *p)
{
  const struct block *b = memory_find(s, (uint64_t)(uintptr_t)p);
  if (!flags || !b || !memory_on_host(b)) return CUDA_ERROR_INVALID_VALUE;
  *flags = b->flags | HOST_ALLOC_MAPPED;
  return CUDA_SUCCESS;
}

bool memory_is_device(struct shim *s, uint64_t addr)
{
  return !program_shows(s, addr) && gmem_ptr(board_memory(s, addr), addr, 1) != NULL;
}

/* Bytes of the GPU's memory; false: they are not there. */
static bool take_room(struct board *b, uint64_t bytes)
{
  if (bytes > board_memory_bytes(b) - b->bytes || (b->shim->mps && !mps_take(b->shim, b, bytes))) return false;
  b->bytes += bytes;
  return true;
}

static void give_room(struct board *b, uint64_t bytes)
{
  if (b->shim->mps) mps_give(b->shim, bytes);
  b->bytes -= bytes;
}

uint64_t memory_left(const struct board *b)
{
  return b->shim->mps ? mps_left(b->shim, b) : board_memory_bytes(b) - b->bytes;
}

/* Guest memory that counts as the GPU's. What fills a page begins at one, as GPUs' drivers have it, though they promise
 * 256 bytes alone: Taichi's runtime counts on 4,096, and operations that an RTX 3080 counted say so (docs/accuracy.md,
 * HeCBench: memtest). */
static uint64_t guest_alloc(struct shim *s, struct board *b, uint64_t bytes, const char *what)
{
  char name[48];
  const uint64_t page = boards_page(s);
  if (!take_room(b, bytes)) return 0;
  snprintf(name, sizeof name, "%s %llu", what, (unsigned long long)s->next_id);
  struct gmem *g = b->device.mem;
  const uint64_t addr = bytes < page ? gmem_alloc(g, bytes, name) : gmem_alloc_at(g, bytes, page, name);
  if (!addr) give_room(b, bytes);
  return addr;
}

static void guest_free(struct shim *s, struct board *b, uint64_t addr, uint64_t bytes)
{
  s->memory.gone++;
  BUG_ON(!gmem_release(b->device.mem, addr));
  checked_freed(s->checked, addr);
  give_room(b, bytes);
}

CUresult memory_alloc(struct shim *s, struct board *b, uint64_t *addr, uint64_t bytes)
{
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *addr = guest_alloc(s, b, bytes, "allocation");
  if (!*addr) return CUDA_ERROR_OUT_OF_MEMORY;
  add_block(s, (struct block){ .addr = *addr, .bytes = bytes, .device = *addr, .board = b,
                                  .kind = BLOCK_DEVICE });
  checked_allocated(s->checked, *addr, bytes);
  peers_refresh(s, b, *addr, bytes);
  return CUDA_SUCCESS;
}

/* Host memory at *next or behind, before `end`, or NULL; fd >= 0: of a file, from an offset on. */
static void *map_free(const struct shim *s, uint64_t *next, uint64_t end, uint64_t bytes, int fd, uint64_t offset)
{
  int flags = MAP_NORESERVE | MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  uint64_t page = boards_page(s);
  while (*next + bytes <= end) {
    void *want = (void *)(uintptr_t)*next; /* a multiple of the page */
    void *got = mmap(want, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
    *next += bytes + page; /* a hole behind each: an overrun faults */
    if (got == want) return got;
    if (got != MAP_FAILED) munmap(got, bytes);
    else if (errno != EEXIST) return NULL;
  }
  return NULL;
}

/* What another process simulates with is of a file, too. */
static void *map_in(struct shim *s, uint64_t *next, uint64_t end, uint64_t bytes, int fd, uint64_t offset)
{
  const int own = s->mps && fd < 0 ? memfd_create("warpstep", MFD_CLOEXEC) : -1;
  const bool ok = !s->mps || fd >= 0 || (own >= 0 && ftruncate(own, (off_t)bytes) == 0);
  void *host = ok ? map_free(s, next, end, bytes, own >= 0 ? own : fd, offset) : NULL;
  if (host && s->mps) mps_mapped(s, host, bytes, own >= 0 ? own : fd, offset);
  if (own >= 0) close(own);
  return host;
}

/* … at a place that guest and host can both use; at: rather there, 0: anywhere. */
static void *map_host_at(struct shim *s, uint64_t bytes, int fd, uint64_t offset, uint64_t at)
{
  uint64_t first = at;
  void *host = at && memory_is_for_host(at) ? map_in(s, &first, at + bytes, bytes, fd, offset) : NULL;
  if (host) return host;
  const struct mps_part part = mps_part_of(s, HOST_MAPPINGS, HOST_MAPPINGS_END, boards_page(s));
  if (!s->memory.host_next) s->memory.host_next = part.first;
  return map_in(s, &s->memory.host_next, part.end, bytes, fd, offset);
}

static void *map_host(struct shim *s, uint64_t bytes, int fd, uint64_t offset)
{
  return map_host_at(s, bytes, fd, offset, 0);
}

/* … for the simulator alone. */
static void *map_image(struct shim *s, uint64_t bytes, int fd)
{
  if (!s->polls) return map_host(s, bytes, fd, 0);
  if (!s->memory.image_next) s->memory.image_next = HOST_MAPPINGS_END;
  return map_in(s, &s->memory.image_next, HOST_IMAGES_END, bytes, fd, 0);
}

void *memory_take(struct shim *s, struct board *b, uint64_t bytes)
{
  const bool room = take_room(b, bytes);
  void *host = room ? map_host(s, bytes, -1, 0) : NULL;
  if (room && !host) give_room(b, bytes);
  return host;
}

void *memory_take_file(struct shim *s, struct board *b, uint64_t bytes, int *fd)
{
  if (!take_room(b, bytes)) return NULL;
  bool ours = *fd < 0;
  if (ours) *fd = memfd_create("warpstep", MFD_CLOEXEC);
  bool ok = *fd >= 0 && (!ours || ftruncate(*fd, (off_t)bytes) == 0);
  void *host = ok ? map_host(s, bytes, *fd, 0) : NULL;
  if (!host) give_room(b, bytes);
  if (!host && ours && *fd >= 0) close(*fd);
  return host;
}

/* Host memory into the images of these GPUs. */
static void show(struct shim *s, board_mask in, uint64_t addr, void *host, uint64_t bytes, const char *name)
{
  for (unsigned i = 0; i < s->boards.n; i++)
    if (in >> i & 1) BUG_ON(!gmem_map_host(s->boards.of[i].device.mem, addr, host, bytes, name));
  if (s->mps && in) mps_show(s, addr, host, bytes, name);
}

static void hide(struct shim *s, board_mask in, uint64_t addr)
{
  s->memory.gone++;
  for (unsigned i = 0; i < s->boards.n; i++)
    if (in >> i & 1) BUG_ON(!gmem_release(s->boards.of[i].device.mem, addr));
}

void memory_expect_others(struct shim *s, board_mask in)
{
  for (unsigned i = 0; i < s->boards.n; i++)
    if (in >> i & 1) gmem_expect_others(s->boards.of[i].device.mem);
}

uint64_t memory_open(struct shim *s, enum block_kind kind, struct board *b, int fd, uint64_t offset, uint64_t bytes,
                     board_mask in)
{
  uint64_t page = boards_page(s), inside = offset & (page - 1);
  uint64_t mapped = align_up(inside + bytes, page);
  void *host = map_host(s, mapped, fd, offset - inside);
  if (!host) return 0;
  uint64_t base = (uint64_t)(uintptr_t)host;
  show(s, in, base, host, mapped, "memory of another process");
  memory_expect_others(s, in);
  add_block(s, (struct block){ .addr = base + inside, .bytes = bytes, .device = base + inside, .board = b, .in = in,
                                  .mapped = mapped, .kind = kind });
  return base + inside;
}

void memory_open_for(struct shim *s, uint64_t addr, board_mask in)
{
  struct block *b = memory_find(s, addr);
  const uint64_t base = addr & ~(boards_page(s) - 1);
  show(s, in & ~b->in, base, (void *)(uintptr_t)base, b->mapped, "memory of another process");
  memory_expect_others(s, in);
  b->in |= in;
}

void memory_give_back(struct board *b, void *host, uint64_t bytes)
{
  mps_unmapped(b->shim, host);
  gmem_unmap(b->device.mem, host, bytes);
  give_room(b, bytes);
}

void memory_map(struct shim *s, struct board *b, uint64_t addr, void *host, uint64_t bytes, board_mask in)
{
  char name[48];
  struct block *there = memory_has(s, addr, 1u << BLOCK_MAPPED) ? memory_find(s, addr) : NULL;
  const board_mask before = there ? there->in : 0;
  snprintf(name, sizeof name, "mapped memory %llu", (unsigned long long)s->next_id);
  hide(s, before & ~in, addr);
  show(s, in & ~before, addr, host, bytes, name);
  if (there) there->in = in;
  else if (in) add_block(s, (struct block){ .addr = addr, .bytes = bytes, .device = addr, .board = b, .in = in,
                                            .kind = BLOCK_MAPPED });
  if (there && !in) memory_free(s, addr, 1u << BLOCK_MAPPED);
}

/* Managed memory that moves, and memory on which the program may poll, has a second mapping, for the simulator. NULL:
 * there is no memory. */
static void *map_twice(struct shim *s, uint64_t bytes, uint64_t at, void **image)
{
  const int fd = memfd_create("shared", MFD_CLOEXEC);
  const bool ok = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0;
  void *host = ok ? map_host_at(s, bytes, fd, 0, at) : NULL;
  *image = host ? map_image(s, bytes, fd) : NULL;
  if (fd >= 0) close(fd);
  if (host && !*image) munmap(host, bytes);
  return *image ? host : NULL;
}

static CUresult alloc_host(struct shim *s, void **p, uint64_t bytes, enum block_kind kind, unsigned flags, uint64_t at)
{
  uint64_t page = boards_page(s);
  char name[48];
  if (bytes == 0 || bytes > HOST_MAPPINGS_END - HOST_MAPPINGS) return CUDA_ERROR_INVALID_VALUE;
  const CUresult served = kind == BLOCK_MANAGED ? board_ranks_refuse(s, "managed memory") : CUDA_SUCCESS;
  if (served != CUDA_SUCCESS) return served;
  uint64_t mapped = align_up(bytes, page);
  const bool may = kind == BLOCK_MANAGED && bytes <= MANAGED_MOST && page >= MANAGED_BLOCK;
  const bool moves = may && managed_moves(s, bytes);
  const bool twice = moves || s->polls;
  void *image = NULL, *host = twice ? map_twice(s, mapped, at, &image) : map_host_at(s, mapped, -1, 0, at);
  if (!host) return CUDA_ERROR_OUT_OF_MEMORY;
  snprintf(name, sizeof name, "%s %llu", kind == BLOCK_MANAGED ? "managed memory" : "pinned memory",
           (unsigned long long)s->next_id);
  uint64_t addr = (uint64_t)(uintptr_t)host;
  const board_mask all = boards_all(&s->boards);
  show(s, all, addr, twice ? image : host, mapped, name);
  for (unsigned i = 0; i < s->boards.n; i++) gmem_trim(s->boards.of[i].device.mem, addr, bytes);
  if (kind == BLOCK_PINNED) board_place_at_host(board_current(s), addr, mapped);
  const struct block *b =
      add_block(s, (struct block){ .addr = addr, .bytes = bytes, .device = addr, .board = board_current(s), .in = all,
                                   .mapped = mapped, .flags = flags, .kind = kind, .image = image, .moves = moves });
  if (moves) managed_add(s, b);
  *p = host;
  return CUDA_SUCCESS;
}

CUresult memory_alloc_host(struct shim *s, void **p, uint64_t bytes, enum block_kind kind, unsigned flags)
{
  return alloc_host(s, p, bytes, kind, flags, 0);
}

CUresult memory_alloc_managed_at(struct shim *s, void **p, uint64_t bytes, uint64_t at)
{
  const CUresult r = alloc_host(s, p, bytes, BLOCK_MANAGED, MANAGED_GLOBAL, at);
  if (r == CUDA_SUCCESS) memory_find(s, (uint64_t)(uintptr_t)*p)->outlives = true;
  return r;
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
  if (!program_reaches(s, addr, bytes, true)) return CUDA_ERROR_INVALID_VALUE;
  struct board *b = board_current(s);
  if (program_shows(s, addr)) { /* kernels reach it where it is */
    add_block(s, (struct block){ .addr = addr, .bytes = bytes, .device = addr, .board = b, .flags = flags,
                                    .kind = BLOCK_REGISTERED });
    return CUDA_SUCCESS;
  }
  const uint64_t whole = align_up(bytes, page);
  uint64_t base = gmem_alloc(b->device.mem, whole + page, "registered memory"), copy = align_up(base, page);
  if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
  board_place_at_host(b, copy, whole);
  add_block(s, (struct block){ .addr = addr, .bytes = bytes, .device = copy, .base = base, .board = b, .flags = flags,
                                  .kind = BLOCK_REGISTERED, .seen = shim_alloc(bytes) });
  s->memory.copied++;
  peers_refresh(s, b, copy, bytes);
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
  if (b->owner) b->owner->released(s, b->owner, b->bytes);
  if (b->kind == BLOCK_DEVICE) return guest_free(s, b->board, b->device, b->bytes);
  uint64_t page = boards_page(s); /* opened memory may lie inside its pages */
  uint64_t inside = is_of_others(b) ? b->addr & (page - 1) : 0;
  if (b->kind == BLOCK_PINNED) board_place_nowhere(b->board, b->device, b->mapped);
  if (b->kind == BLOCK_REGISTERED && !b->base) return;
  if (b->kind == BLOCK_REGISTERED) {
    s->memory.copied--;
    board_place(b->board, b->device, align_up(b->bytes, UINT64_C(1) << PLACE_PAGE_BITS));
    BUG_ON(!gmem_release(b->board->device.mem, b->base));
  } else hide(s, b->in, b->device - inside);
  free(b->seen);
  free(b->sums);
  advice_list_free(&b->advice);
  if (b->moves) managed_remove(s, b);
  if (b->image) mps_unmapped(s, b->image);
  if (b->image) gmem_unmap(b->board->device.mem, b->image, b->mapped);
  if (b->mapped) mps_unmapped(s, (void *)(uintptr_t)(b->addr - inside));
  if (b->mapped) gmem_unmap(b->board->device.mem, (void *)(uintptr_t)(b->addr - inside), b->mapped);
}

bool memory_has(const struct shim *s, uint64_t addr, unsigned kinds)
{
  size_t at = lower(s, addr);
  const struct block *b = at ? &s->memory.block[at - 1] : NULL;
  return b && b->addr == addr && !b->back.kept && kinds >> b->kind & 1;
}

bool memory_free(struct shim *s, uint64_t addr, unsigned kinds)
{
  size_t at = lower(s, addr);
  if (!memory_has(s, addr, kinds)) return false;
  const struct block gone = s->memory.block[at - 1];
  release(s, &gone);
  memmove(&s->memory.block[at - 1], &s->memory.block[at], (s->memory.n - at) * sizeof *s->memory.block);
  s->memory.n--;
  if (!gone.in) peers_refresh(s, gone.board, gone.device, gone.bytes);
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

static void sync_chunk(const struct shim *s, const struct block *b, uint64_t offset, uint64_t n, bool to_device)
{
  const uint64_t host = b->addr + offset;
  uint8_t *seen = b->seen + offset, bytes[SYNC_CHUNK];
  const uint8_t *now = to_device && !program_is_guest(s) ? (const uint8_t *)(uintptr_t)host : bytes;
  struct gmem *mem = b->board->device.mem;
  if (!to_device) BUG_ON(!gmem_read(mem, b->device + offset, bytes, n));
  else if (now == bytes && !program_read(s, bytes, host, n)) return; /* it is mapped no more */
  if (memcmp(now, seen, n) == 0) return;
  for (uint64_t at = 0, k; (k = next_change(now, seen, n, &at)) != 0; at += k) {
    memcpy(seen + at, now + at, k);
    if (to_device) BUG_ON(!gmem_write(mem, b->device + offset + at, seen + at, k));
    else if (!program_write(s, host + at, seen + at, k)) return;
  }
}

void memory_sync_registered(struct shim *s, bool to_device)
{
  if (!s->memory.copied) return;
  for (size_t i = 0; i < s->memory.n; i++) {
    const struct block *b = &s->memory.block[i];
    if (b->kind != BLOCK_REGISTERED || !b->seen) continue;
    for (uint64_t at = 0; at < b->bytes; at += SYNC_CHUNK)
      sync_chunk(s, b, at, b->bytes - at < SYNC_CHUNK ? b->bytes - at : SYNC_CHUNK, to_device);
  }
}

void memory_sync_running(struct shim *s, bool to_device)
{
  if (!s->memory.copied) return;
  for (unsigned i = 0; i < s->boards.n; i++)
    if (board_launches(&s->boards.of[i]) || s->boards.of[i].turn) return memory_sync_registered(s, to_device);
}

/* What is mapped stays until it is unmapped (vmm.h). */
static void reset(struct shim *s, struct board *b)
{
  size_t kept = 0;
  for (size_t i = 0; i < s->memory.n; i++) {
    const struct block *x = &s->memory.block[i];
    if (x->board != b || x->kind == BLOCK_MAPPED || x->outlives) s->memory.block[kept++] = *x;
    else release(s, x);
  }
  s->memory.n = kept;
}

const struct shim_part memory_part = { .reset = reset };
