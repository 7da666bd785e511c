/* Guest memory (base/gmem.h): two-level page table, allocations in address order.
 *
 * Addresses have 49 bits, as on current GPUs. Allocations are handed out upwards from GMEM_FIRST
 * and never reused, so that a null pointer plus any sane index, and a stale pointer, hit unmapped
 * pages.
 */
#include "base/gmem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"

/* What an address that is not mapped most likely is: below the end, a null pointer and an offset; up to so far away, a
 * step out of an allocation. */
enum { NULL_END = 64 << 10, NEAR = 64 << 20 };
enum { ADDR_BITS = 49, ALLOC_ALIGN = 512, NAME_MAX_LEN = 48 };
#define GMEM_FIRST 0x700000000ull

struct gmem_allocation {
  uint64_t addr, bytes;
  uint64_t trimmed; /* bytes that were not asked for, at its end */
  bool live;
  bool foreign; /* host memory of somebody else */
  char name[NAME_MAX_LEN];
};

struct gmem {
  unsigned page_bits, leaf_bits;
  uint64_t page_mask; /* offset bits of an address */
  uint8_t ***top;     /* [top index] -> leaf; [leaf index] -> host page */
  uint64_t n_top;
  uint64_t first, end;           /* allocations lie in between */
  uint64_t next;                 /* next free guest address */
  uint64_t gap;                  /* behind an allocation */
  struct gmem_allocation *alloc; /* ascending addresses, released ones included */
  size_t n_alloc, cap_alloc;
  int file;                      /* gmem_share: shared pages, at their addresses; -1: none yet */
  uint64_t file_bytes;
  uint64_t *shared;              /* addresses of the pages in it */
  size_t n_shared;
  bool others;                   /* gmem_expect_others */
  bool backed, follows;          /* all pages are in the file; of another image */
  const struct gmem_listener *listener;
  bool keeps;                    /* what is to be unmapped waits here: */
  struct gmem_mapping {
    void *at;
    uint64_t bytes;
  } *kept;
  uint32_t n_kept, room_kept;
  const struct multicast *multicast;
};

static void *map_host(uint64_t bytes)
{
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  NO_MEMORY_IF(p == MAP_FAILED);
  return p;
}

static void end_gmem(void *g)
{
  gmem_free(g);
}

struct gmem *gmem_new(unsigned page_bits)
{
  BUG_ON(page_bits < 12 || page_bits > 30);
  struct gmem *g = mem_zeroed(1, sizeof *g);
  g->page_bits = page_bits;
  g->leaf_bits = (ADDR_BITS - page_bits) / 2;
  g->page_mask = ((uint64_t)1 << page_bits) - 1;
  g->n_top = (uint64_t)1 << (ADDR_BITS - page_bits - g->leaf_bits);
  g->top = mem_zeroed(g->n_top, sizeof *g->top);
  g->end = (uint64_t)1 << ADDR_BITS;
  g->next = GMEM_FIRST;
  g->file = -1;
  heap_keep(g, end_gmem);
  return g;
}

unsigned gmem_page_bits(const struct gmem *g)
{
  return g->page_bits;
}

static void unmap_foreign(struct gmem *g)
{
  for (size_t i = 0; i < g->n_alloc; i++)
    if (g->alloc[i].live && g->alloc[i].foreign) BUG_ON(!gmem_release(g, g->alloc[i].addr));
}

/* Pages outside of the own range that nobody allocated are of another image. */
static void forget_mirrored(struct gmem *g)
{
  if (g->first) gmem_mirror(g, NULL, 0, g->first, false);
  if (g->end >> ADDR_BITS == 0) gmem_mirror(g, NULL, g->end, ((uint64_t)1 << ADDR_BITS) - g->end, false);
}

void gmem_free(struct gmem *g)
{
  if (!g) return;
  heap_forget(g);
  unmap_foreign(g);
  forget_mirrored(g);
  uint64_t n_leaf = (uint64_t)1 << g->leaf_bits;
  for (uint64_t t = 0; t < g->n_top; t++) {
    if (!g->top[t]) continue;
    for (uint64_t i = 0, n; i < n_leaf; i += n) {
      uint8_t *const run = g->top[t][i]; /* pages that follow each other on the host, too: one call */
      n = 1;
      while (run && i + n < n_leaf && g->top[t][i + n] == run + n * (g->page_mask + 1)) n++;
      if (run) munmap(run, n * (g->page_mask + 1));
    }
    mem_free(g->top[t]);
  }
  gmem_keep_pages(g, false);
  if (g->file >= 0) close(g->file);
  mem_free(g->kept);
  mem_free(g->shared);
  mem_free(g->top);
  mem_free(g->alloc);
  mem_free(g);
}

/* Entry of the page that holds addr; NULL when its leaf table does not exist. */
static uint8_t **page_entry(const struct gmem *g, uint64_t addr)
{
  uint64_t page = addr >> g->page_bits;
  uint8_t **leaf = g->top[page >> g->leaf_bits];
  return leaf ? &leaf[page & (((uint64_t)1 << g->leaf_bits) - 1)] : NULL;
}

static uint8_t *map_file(const struct gmem *g, uint64_t addr, uint64_t bytes)
{
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, g->file, (off_t)addr);
  NO_MEMORY_IF(p == MAP_FAILED);
  return p;
}

/* Fresh host memory for a run of pages. Big buffers are scattered over by kernels: there the host's huge pages
 * save most of its page faults and address translations. */
static uint8_t *host_pages(const struct gmem *g, uint64_t addr, uint64_t bytes)
{
  enum { HUGE_BYTES = 2 << 20 };
  if (g->backed) return map_file(g, addr, bytes);
  if (bytes <= HUGE_BYTES) return map_host(bytes);
  uint8_t *p = map_host(bytes + HUGE_BYTES);
  uint64_t head = -(uintptr_t)p & (HUGE_BYTES - 1);
  if (head) munmap(p, head);
  if (head < HUGE_BYTES) munmap(p + head + bytes, HUGE_BYTES - head);
  (void)madvise(p + head, bytes, MADV_HUGEPAGE); /* without it everything works, only slower */
  return p + head;
}

/* Maps the pages of [first, last] that are not mapped yet; each run of new pages is one host
 * mapping, so that big buffers do not run into the host's limit on mappings. */
static void map_pages(struct gmem *g, uint64_t first, uint64_t last)
{
  uint64_t size = g->page_mask + 1;
  uint64_t n_leaf = (uint64_t)1 << g->leaf_bits;
  first &= ~g->page_mask;
  uint64_t end = (last & ~g->page_mask) + size;
  for (uint64_t at = first; at < end; at += size) {
    uint8_t ***leaf = &g->top[(at >> g->page_bits) >> g->leaf_bits];
    if (!*leaf) *leaf = mem_zeroed(n_leaf, sizeof **leaf);
  }
  while (first < end) {
    if (*page_entry(g, first)) {
      first += size;
      continue;
    }
    uint64_t run = first;
    while (run < end && !*page_entry(g, run)) run += size;
    uint8_t *host = host_pages(g, first, run - first);
    for (; first < run; first += size, host += size) *page_entry(g, first) = host;
  }
}

/* Index of the last allocation that starts at or below addr, or -1. */
static ptrdiff_t alloc_below(const struct gmem *g, uint64_t addr)
{
  size_t lo = 0, hi = g->n_alloc;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (g->alloc[mid].addr <= addr)
      lo = mid + 1;
    else
      hi = mid;
  }
  return (ptrdiff_t)lo - 1;
}

/* A live allocation at addr, in its place in the list. Released ones at this address go. */
static struct gmem_allocation *new_allocation(struct gmem *g, uint64_t addr, const char *name)
{
  ptrdiff_t at = alloc_below(g, addr);
  if (at < 0 || g->alloc[at].addr != addr) {
    at++;
    if (g->n_alloc == g->cap_alloc) {
      g->cap_alloc = g->cap_alloc ? 2 * g->cap_alloc : 64;
      g->alloc = mem_resize(g->alloc, g->cap_alloc, sizeof *g->alloc);
    }
    memmove(&g->alloc[at + 1], &g->alloc[at], (g->n_alloc - (size_t)at) * sizeof *g->alloc);
    g->n_alloc++;
  }
  g->alloc[at] = (struct gmem_allocation){.addr = addr, .live = true};
  snprintf(g->alloc[at].name, sizeof g->alloc[at].name, "%s", name ? name : "");
  return &g->alloc[at];
}

uint64_t gmem_alloc(struct gmem *g, uint64_t bytes, const char *name)
{
  return gmem_alloc_at(g, bytes, ALLOC_ALIGN, name);
}

uint64_t gmem_alloc_at(struct gmem *g, uint64_t bytes, uint64_t align, const char *name)
{
  uint64_t limit = g->end;
  BUG_ON(bytes == 0 || align % ALLOC_ALIGN || align > g->page_mask + 1);
  if (g->next > limit - align || g->gap > limit - align - g->next || bytes > limit - align - g->next - g->gap)
    return 0;
  g->next = align_up(g->next, align);
  struct gmem_allocation *a = new_allocation(g, g->next, name);
  a->bytes = bytes;
  g->next = align_up(g->next + bytes + g->gap, ALLOC_ALIGN);
  /* The first page may be shared with an earlier allocation and have been written past its end. */
  uint64_t head = g->page_mask + 1 - (a->addr & g->page_mask);
  uint8_t **e = page_entry(g, a->addr);
  if (e && *e && !g->follows) memset(*e + (a->addr & g->page_mask), 0, head < bytes ? head : bytes);
  map_pages(g, a->addr, a->addr + bytes - 1);
  if (g->listener) g->listener->allocated(g->listener->ctx, a->addr, bytes, a->name);
  return a->addr;
}

bool gmem_next_range(const struct gmem *g, size_t *cursor, struct gmem_range *r)
{
  while (*cursor < g->n_alloc) {
    const struct gmem_allocation *a = &g->alloc[(*cursor)++];
    if (!a->live) continue;
    *r = (struct gmem_range){ a->addr, a->bytes, a->name };
    return true;
  }
  return false;
}

static struct gmem_place place_of(const struct gmem_allocation *a)
{
  return (struct gmem_place){.addr = a->addr, .bytes = a->bytes - a->trimmed, .live = a->live};
}

bool gmem_place_below(const struct gmem *g, uint64_t addr, struct gmem_place *p)
{
  ptrdiff_t i = alloc_below(g, addr);
  if (i >= 0) *p = place_of(&g->alloc[i]);
  return i >= 0;
}

bool gmem_place_above(const struct gmem *g, uint64_t addr, struct gmem_place *p)
{
  size_t i = (size_t)(alloc_below(g, addr) + 1);
  if (i < g->n_alloc) *p = place_of(&g->alloc[i]);
  return i < g->n_alloc;
}

void gmem_trim(struct gmem *g, uint64_t addr, uint64_t bytes)
{
  ptrdiff_t i = alloc_below(g, addr);
  BUG_ON(i < 0 || g->alloc[i].addr != addr || bytes > g->alloc[i].bytes);
  g->alloc[i].trimmed = g->alloc[i].bytes - bytes;
}

void gmem_set_range(struct gmem *g, uint64_t first, uint64_t end)
{
  BUG_ON(((first | end) & g->page_mask) || first % ALLOC_ALIGN || first >= end || end > (uint64_t)1 << ADDR_BITS);
  g->first = first;
  g->end = end;
  g->next = first;
}

void gmem_set_gap(struct gmem *g, uint64_t bytes)
{
  g->gap = bytes;
}

uint64_t gmem_next_address(const struct gmem *g)
{
  return g->next;
}

void gmem_set_next_address(struct gmem *g, uint64_t addr)
{
  BUG_ON(addr >> ADDR_BITS);
  g->next = align_up(addr, ALLOC_ALIGN);
}

bool gmem_map_host(struct gmem *g, uint64_t addr, void *host, uint64_t bytes, const char *name)
{
  uint64_t size = g->page_mask + 1, n_leaf = (uint64_t)1 << g->leaf_bits;
  if (bytes == 0 || ((addr | bytes | (uintptr_t)host) & g->page_mask) ||
      addr < g->next + size || addr >> ADDR_BITS || bytes > ((uint64_t)1 << ADDR_BITS) - addr)
    return false;
  for (uint64_t at = addr; at < addr + bytes; at += size) {
    uint8_t **e = page_entry(g, at);
    if (e && *e) return false;
  }
  for (uint64_t at = addr; at < addr + bytes; at += size) {
    uint8_t ***leaf = &g->top[(at >> g->page_bits) >> g->leaf_bits];
    if (!*leaf) *leaf = mem_zeroed(n_leaf, sizeof **leaf);
    *page_entry(g, at) = (uint8_t *)host + (at - addr);
  }
  struct gmem_allocation *a = new_allocation(g, addr, name);
  a->bytes = bytes;
  a->foreign = true;
  return true;
}

void gmem_mirror(struct gmem *g, const struct gmem *owner, uint64_t addr, uint64_t bytes, bool show)
{
  const uint64_t size = g->page_mask + 1, n_leaf = (uint64_t)1 << g->leaf_bits, leaf_bytes = size << g->leaf_bits;
  BUG_ON(owner && owner->page_bits != g->page_bits);
  for (uint64_t at = addr & ~g->page_mask, step; at < addr + bytes; at += step) {
    uint8_t ***leaf = &g->top[(at >> g->page_bits) >> g->leaf_bits];
    uint8_t **theirs = show ? page_entry(owner, at) : NULL;
    step = *leaf || theirs ? size : leaf_bytes - (at & (leaf_bytes - 1));
    if (!*leaf && theirs) *leaf = mem_zeroed(n_leaf, sizeof **leaf);
    if (*leaf) *page_entry(g, at) = theirs ? *theirs : NULL;
  }
}

static bool page_in_use(const struct gmem *g, uint64_t page)
{
  for (ptrdiff_t i = alloc_below(g, page + g->page_mask); i >= 0; i--) {
    if (g->alloc[i].live) return g->alloc[i].addr + g->alloc[i].bytes > page;
  }
  return false;
}

uint64_t gmem_allocated(const struct gmem *g, uint64_t addr)
{
  ptrdiff_t i = alloc_below(g, addr);
  return i >= 0 && g->alloc[i].addr == addr && g->alloc[i].live ? g->alloc[i].bytes : 0;
}

void gmem_unmap(struct gmem *g, void *host, uint64_t bytes)
{
  if (!g->keeps) {
    munmap(host, bytes);
    return;
  }
  g->kept = mem_more(g->kept, g->n_kept, &g->room_kept, sizeof *g->kept);
  g->kept[g->n_kept++] = (struct gmem_mapping){host, bytes};
}

void gmem_keep_pages(struct gmem *g, bool keep)
{
  g->keeps = keep;
  while (!keep && g->n_kept) {
    const struct gmem_mapping *m = &g->kept[--g->n_kept];
    munmap(m->at, m->bytes);
  }
}

/* Of a file that stays the bytes must go by themselves; nobody reads them any more, whoever still has a pointer. */
static void drop_page(struct gmem *g, uint64_t addr, uint8_t *host)
{
  if (g->backed && !g->follows)
    (void)fallocate(g->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)addr, (off_t)(g->page_mask + 1));
  gmem_unmap(g, host, g->page_mask + 1);
}

bool gmem_release(struct gmem *g, uint64_t addr)
{
  ptrdiff_t i = alloc_below(g, addr);
  if (i < 0 || g->alloc[i].addr != addr || !g->alloc[i].live) return false;
  struct gmem_allocation *a = &g->alloc[i];
  a->live = false;
  for (uint64_t at = addr & ~g->page_mask; at < addr + a->bytes; at += g->page_mask + 1) {
    /* The page that the next allocation will start in stays: pages in between are whole. */
    if (!a->foreign && (page_in_use(g, at) || at + g->page_mask >= g->next)) continue;
    uint8_t **e = page_entry(g, at);
    if (!a->foreign) drop_page(g, at, *e);
    *e = NULL;
  }
  if (g->listener) g->listener->released(g->listener->ctx, addr);
  return true;
}

bool gmem_map_at(struct gmem *g, uint64_t addr, uint64_t bytes)
{
  BUG_ON(bytes == 0 || ((addr | bytes) & g->page_mask));
  if (addr >> ADDR_BITS || bytes > ((uint64_t)1 << ADDR_BITS) - addr) return false;
  map_pages(g, addr, addr + bytes - 1);
  return true;
}

uint64_t gmem_unmap_at(struct gmem *g, uint64_t addr, uint64_t bytes)
{
  const uint64_t size = g->page_mask + 1, limit = (uint64_t)1 << ADDR_BITS;
  BUG_ON((addr | bytes) & g->page_mask);
  const uint64_t end = addr > limit ? addr : bytes < limit - addr ? addr + bytes : limit;
  uint8_t *run = NULL; /* pages that follow each other on the host, too: one call */
  uint64_t run_bytes = 0, pages = 0;
  for (uint64_t at = addr, step; at < end; at += step) {
    uint8_t **e = page_entry(g, at);
    step = e ? size : (size << g->leaf_bits) - (at & ((size << g->leaf_bits) - 1));
    if (!e || !*e) continue;
    if (run && *e != run + run_bytes) {
      gmem_unmap(g, run, run_bytes);
      run = NULL;
    }
    if (!run) run = *e, run_bytes = 0;
    run_bytes += size;
    pages++;
    *e = NULL;
  }
  if (run) gmem_unmap(g, run, run_bytes);
  return pages;
}

static bool is_shared(const struct gmem *g, uint64_t page)
{
  for (size_t i = 0; i < g->n_shared; i++)
    if (g->shared[i] == page) return true;
  return false;
}

/* Copies a page into the file, where it is not zero, and puts the file's page in its place: pointers to it stay
 * good. */
static bool share_page(struct gmem *g, uint64_t page)
{
  enum { CHUNK = 4096 };
  static const uint8_t zeros[CHUNK];
  uint64_t size = g->page_mask + 1;
  uint8_t *host = *page_entry(g, page);
  if (page + size > g->file_bytes) {
    if (ftruncate(g->file, (off_t)(page + size)) != 0) return false;
    g->file_bytes = page + size;
  }
  for (uint64_t at = 0; at < size; at += CHUNK)
    if (memcmp(host + at, zeros, CHUNK) != 0 &&
        pwrite(g->file, host + at, CHUNK, (off_t)(page + at)) != CHUNK)
      return false;
  if (mmap(host, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, g->file, (off_t)page) != host)
    return false;
  g->shared = mem_resize(g->shared, g->n_shared + 1, sizeof *g->shared);
  g->shared[g->n_shared++] = page;
  return true;
}

int gmem_share_file(struct gmem *g)
{
  if (g->file < 0) g->file = memfd_create("warpstep", MFD_CLOEXEC);
  return g->file;
}

void gmem_expect_others(struct gmem *g)
{
  g->others = true;
}

bool gmem_expects_others(const struct gmem *g)
{
  return g->others;
}

int gmem_share(struct gmem *g, uint64_t addr, uint64_t bytes)
{
  ptrdiff_t i = alloc_below(g, addr);
  if (i < 0 || !g->alloc[i].live || g->alloc[i].foreign || bytes == 0 ||
      addr - g->alloc[i].addr > g->alloc[i].bytes || bytes > g->alloc[i].bytes - (addr - g->alloc[i].addr))
    return -1;
  if (gmem_share_file(g) < 0) return -1;
  gmem_expect_others(g);
  if (g->backed) return g->file;
  for (uint64_t page = addr & ~g->page_mask; page < addr + bytes; page += g->page_mask + 1)
    if (!is_shared(g, page) && !share_page(g, page)) return -1;
  return g->file;
}

bool gmem_back(struct gmem *g)
{
  BUG_ON(g->n_alloc || g->file >= 0);
  if (gmem_share_file(g) < 0 || ftruncate(g->file, (off_t)1 << ADDR_BITS) != 0) return false;
  g->file_bytes = (uint64_t)1 << ADDR_BITS;
  return g->backed = true;
}

void gmem_follow(struct gmem *g, int file)
{
  BUG_ON(g->n_alloc || g->file >= 0);
  g->file = file;
  g->backed = g->follows = true;
}

void gmem_listen(struct gmem *g, const struct gmem_listener *l)
{
  g->listener = l;
}

void gmem_set_multicast(struct gmem *g, const struct multicast *m)
{
  g->multicast = m;
}

const struct multicast *gmem_multicast(const struct gmem *g)
{
  return g->multicast;
}

uint8_t *gmem_ptr(const struct gmem *g, uint64_t addr, size_t len)
{
  if (__builtin_expect(addr >> ADDR_BITS != 0, 0)) return NULL;
  uint64_t off = addr & g->page_mask;
  if (__builtin_expect(len > g->page_mask + 1 - off, 0)) return NULL;
  uint8_t **e = page_entry(g, addr);
  return e && *e ? *e + off : NULL;
}

uint8_t *gmem_page(const struct gmem *g, uint64_t addr, uint64_t *mask)
{
  *mask = g->page_mask;
  if (addr >> ADDR_BITS) return NULL;
  uint8_t **e = page_entry(g, addr);
  return e ? *e : NULL;
}

/* Bytes from addr to the end of its page, at most len. */
static size_t page_part(const struct gmem *g, uint64_t addr, size_t len)
{
  uint64_t left = g->page_mask + 1 - (addr & g->page_mask);
  return left < len ? (size_t)left : len;
}

bool gmem_mapped(const struct gmem *g, uint64_t addr, size_t len)
{
  while (len) {
    size_t n = page_part(g, addr, len);
    if (!gmem_ptr(g, addr, n)) return false;
    addr += n;
    len -= n;
  }
  return true;
}

bool gmem_read(const struct gmem *g, uint64_t addr, void *buf, size_t len)
{
  uint8_t *p = gmem_ptr(g, addr, len);
  if (p) {
    memcpy(buf, p, len);
    return true;
  }
  if (!gmem_mapped(g, addr, len)) return false;
  for (uint8_t *to = buf; len;) {
    size_t n = page_part(g, addr, len);
    memcpy(to, gmem_ptr(g, addr, n), n);
    addr += n, to += n, len -= n;
  }
  return true;
}

bool gmem_write(struct gmem *g, uint64_t addr, const void *buf, size_t len)
{
  uint8_t *p = gmem_ptr(g, addr, len);
  if (p) {
    memcpy(p, buf, len);
    return true;
  }
  if (!gmem_mapped(g, addr, len)) return false;
  for (const uint8_t *from = buf; len;) {
    size_t n = page_part(g, addr, len);
    memcpy(gmem_ptr(g, addr, n), from, n);
    addr += n, from += n, len -= n;
  }
  return true;
}

/* Bytes between addr and the nearest byte of the allocation. */
static uint64_t distance(const struct gmem_allocation *a, uint64_t addr)
{
  if (addr < a->addr) return a->addr - addr;
  return addr - a->addr < a->bytes ? 0 : addr - a->addr - a->bytes + 1;
}

void gmem_describe(const struct gmem *g, uint64_t addr, char *buf, size_t size)
{
  ptrdiff_t i = alloc_below(g, addr);
  const struct gmem_allocation *below = i >= 0 ? &g->alloc[i] : NULL;
  const struct gmem_allocation *above = (size_t)(i + 1) < g->n_alloc ? &g->alloc[i + 1] : NULL;
  if (multicast_span(g->multicast, addr, 1)) {
    snprintf(buf, size, "a multicast object's: only multimem.ld_reduce, .st and .red reach it");
    return;
  }
  if (!below && !above) {
    snprintf(buf, size, "no device memory is allocated");
    return;
  }
  bool up = !below || (above && addr >= below->addr + below->bytes &&
                       above->addr - addr < addr - (below->addr + below->bytes));
  const struct gmem_allocation *a = up ? above : below;
  char where[48];
  uint64_t far = distance(a, addr);
  if (addr < NULL_END && far) {
    if (addr) snprintf(buf, size, "%llu bytes behind a null pointer", (unsigned long long)addr);
    else snprintf(buf, size, "a null pointer");
    return;
  }
  if (far > NEAR && far > a->bytes) {
    snprintf(buf, size, "not near any allocation");
    return;
  }
  if (addr < a->addr) {
    snprintf(where, sizeof where, "%llu bytes before", (unsigned long long)(a->addr - addr));
  } else if (addr < a->addr + a->bytes) {
    snprintf(where, sizeof where, "%llu bytes into", (unsigned long long)(addr - a->addr));
  } else {
    snprintf(where, sizeof where, "%llu bytes past the end of",
             (unsigned long long)(addr - a->addr - a->bytes));
  }
  snprintf(buf, size, "%s %s '%s' (0x%llx, %llu bytes)", where,
           a->live ? "buffer" : "released buffer", a->name, (unsigned long long)a->addr,
           (unsigned long long)a->bytes);
}
