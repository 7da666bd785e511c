#include "cuda/core/managed.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arith.h"
#include "base/host_memory.h"
#include "cuda/core/mps.h"
#include "cuda/core/shim.h"
#include "time/uvm/uvm_machine.h"

/* Pages of a block that are on GPUs, and that the host has touched. */
struct touched {
  uint64_t base;
  struct page_set pages;
};

struct managed {
  struct simulator *simulator;
  struct uvm_machine *uvm; /* of a client of a server: what that has told of it */
  int pagemap;
  struct touched *touched; /* in the order of addresses */
  uint32_t n_touched, room_touched, served;
};

enum { HOST_PAGE = 4096, PAGE = 1 << UVM_PAGE_BITS, BLOCK = 1 << UVM_BLOCK_BITS, LEAF = UVM_LEAF_PAGES * PAGE };
_Static_assert((int)PAGE == (int)HOST_PAGE, "a page of the driver is one of the host");

/* What is done to it: here, or by who has the GPU. */
static struct uvm_host_fault act(const struct managed *m, const struct uvm_op *o)
{
  return simulator_act_managed(m->simulator, m->uvm, o);
}

/* --- life --------------------------------------------------------------------------------------- */

/* What tells whether the host has written a page. */
static uint64_t sum_of(const struct block *b, uint64_t addr)
{
  const uint64_t *at = (const uint64_t *)(const void *)((const char *)b->image + (addr - b->addr));
  uint64_t sum = 0;
  for (unsigned i = 0; i < PAGE / sizeof *at; i++) sum = (sum ^ at[i]) * UINT64_C(0x9e3779b97f4a7c15) + (sum >> 29);
  return sum;
}

/* A file's pages: its bytes stay. */
static void empty_mapping(uint64_t addr, uint64_t bytes)
{
  madvise((void *)(uintptr_t)addr, bytes, MADV_DONTNEED);
}

/* Pages that are on the GPU: the program's mapping shows when it touches them, or others of their big pages. */
static void moved(void *ctx, uint64_t addr, uint64_t bytes)
{
  const uint64_t leaf = LEAF, first = addr / leaf * leaf;
  const struct block *b = memory_find(ctx, addr);
  for (uint64_t at = addr; b && b->sums && at < addr + bytes; at += PAGE)
    b->sums[(at - b->addr) / PAGE] = sum_of(b, at);
  empty_mapping(first, align_up(addr + bytes, leaf) - first);
}

static struct managed *start(struct shim *s)
{
  const struct boards *x = &s->boards;
  if (!s->shared || (x->n > 1 && !x->surroundings) || program_is_guest(s) || sysconf(_SC_PAGESIZE) != HOST_PAGE)
    return NULL;
  const int pagemap = open("/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC);
  struct uvm_machine *u = pagemap < 0 ? NULL : simulator_manage(x->of[0].simulator);
  if (!u) {
    if (pagemap >= 0) close(pagemap);
    return NULL;
  }
  struct managed *m = mem_zeroed(1, sizeof *m);
  *m = (struct managed){ .simulator = x->of[0].simulator, .uvm = u, .pagemap = pagemap };
  u->moved = moved;
  u->ctx = s;
  return m;
}

/* A server of several processes has books for so much of each. */
static bool server_takes(const struct uvm_space *x, uint64_t bytes)
{
  uint64_t blocks = (bytes + BLOCK - 1) / BLOCK;
  for (uint32_t i = 0; i < x->n; i++) blocks += x->range[i].n_blocks;
  return blocks <= MPS_MANAGED_MOST / BLOCK;
}

bool managed_moves(struct shim *s, uint64_t bytes)
{
  if (!s->memory.managed) s->memory.managed = start(s);
  const struct managed *m = s->memory.managed;
  return m && (!s->mps || server_takes(&m->uvm->space, bytes));
}

/* The GPU's driver. */
static struct uvm *driver_of(const struct board *b)
{
  struct uvm_machine *m = b->shim->memory.managed->uvm;
  return m->space.n_gpus == 1 ? m->of[0] : uvm_machine_at(m, b->node);
}

static void count_room(const struct shim *s)
{
  for (unsigned i = 0; i < s->boards.n; i++) {
    const struct board *b = &s->boards.of[i];
    const struct uvm_op o = { .kind = UVM_OP_ROOM, .gpu = driver_of(b)->gpu, .n = memory_left(b) / BLOCK };
    if (o.n != s->memory.managed->uvm->space.gpu[o.gpu].room) act(s->memory.managed, &o);
  }
}

void managed_add(struct shim *s, const struct block *b)
{
  madvise((void *)(uintptr_t)b->addr, b->mapped, MADV_NOHUGEPAGE);
  act(s->memory.managed, &(struct uvm_op){ .kind = UVM_OP_ADD, .addr = b->addr, .bytes = b->bytes,
                                           .socket = driver_of(b->board)->cfg.socket });
  count_room(s);
}

void managed_remove(struct shim *s, const struct block *b)
{
  act(s->memory.managed, &(struct uvm_op){ .kind = UVM_OP_REMOVE, .addr = b->addr });
}

unsigned managed_stats(const struct shim *s, struct uvm_stats *out, unsigned n)
{
  const struct managed *m = s->memory.managed;
  for (unsigned i = 0; m && i < s->boards.n && i < n; i++)
    out[i] = m->uvm->space.gpu[driver_of(&s->boards.of[i])->gpu].stats;
  return m ? s->boards.n : 0;
}

/* --- what the host touches ------------------------------------------------------------------------ */

/* linux/fs.h of Linux 6.7 and later, PAGEMAP_SCAN: the mapped pages of a range, hole by hole. */
struct scan {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, inverted, all_of, any_of, tell;
};
struct scan_region {
  uint64_t start, end, categories;
};
enum { SCAN_PRESENT = 1 << 3, SCAN_SWAPPED = 1 << 4, SCAN_REGIONS = 128 };

/* Of these pages, those that are not what they were. */
static struct page_set changed(const struct block *b, uint64_t base, const struct page_set *pages)
{
  struct page_set s = { { 0 } };
  for (unsigned first = 0, n; (n = page_set_run(pages, &first)) != 0; first += n)
    for (unsigned i = first; i < first + n; i++) {
      const uint64_t at = base + (uint64_t)i * PAGE;
      if (sum_of(b, at) != b->sums[(at - b->addr) / PAGE]) page_set_add(&s, i);
    }
  return s;
}

/* Copies of pages that are not what they were when they were made. Others are looked at when they are touched anew. */
static void tell_written(const struct managed *m, const struct block *b, uint64_t base, const struct page_set *both,
                         const struct page_set *touched)
{
  struct page_set written = { { 0 } };
  for (unsigned i = 0; i < UVM_BLOCK_PAGES; i += UVM_LEAF_PAGES) {
    struct page_set leaf = { { 0 } };
    const uint64_t at = base + (uint64_t)i * PAGE;
    page_set_add_range(&leaf, i, UVM_LEAF_PAGES);
    leaf = page_set_both(&leaf, both);
    if (!page_set_has(touched, i) || page_set_empty(&leaf)) continue;
    leaf = changed(b, base, &leaf);
    if (page_set_empty(&leaf)) empty_mapping(at, LEAF);
    page_set_join(&written, &leaf);
  }
  if (page_set_empty(&written)) return;
  act(m, &(struct uvm_op){ .kind = UVM_OP_WROTE, .addr = base, .pages = written });
}

/* Pages that the host has, and GPUs as well. */
static struct page_set copies(const struct managed *m, const struct uvm_block *b)
{
  const struct page_set on = uvm_block_on_gpus(&m->uvm->space, b);
  return page_set_both(&b->host, &on);
}

/* Those that GPUs have are faults of the host. */
static void note_touched(struct managed *m, const struct uvm_block *b, uint64_t base, const struct page_set *pages)
{
  struct page_set on = uvm_block_on_gpus(&m->uvm->space, b);
  on = page_set_both(&on, pages);
  page_set_remove(&on, &b->host);
  if (page_set_empty(&on) || m->uvm->space.coherent) return;
  struct touched *last = m->n_touched ? &m->touched[m->n_touched - 1] : NULL;
  if (last && last->base == base) {
    page_set_join(&last->pages, &on);
    return;
  }
  m->touched = mem_more(m->touched, m->n_touched, &m->room_touched, sizeof *m->touched);
  m->touched[m->n_touched++] = (struct touched){ base, on };
}

/* Whether nobody has some of them. */
static bool has_fresh(const struct managed *m, const struct uvm_block *b, const struct page_set *pages)
{
  const struct page_set on = uvm_block_on_gpus(&m->uvm->space, b);
  struct page_set fresh = *pages;
  page_set_remove(&fresh, &on);
  page_set_remove(&fresh, &b->host);
  return !page_set_empty(&fresh);
}

/* Pages [start, end) have been touched, and count as their whole big pages. Those that are nowhere are the host's. */
static void touch(struct shim *s, const struct uvm_range *r, uint64_t start, uint64_t end)
{
  struct managed *m = s->memory.managed;
  const struct block *b = memory_find(s, r->addr);
  for (uint64_t at = start; at < end; at = at / BLOCK * BLOCK + BLOCK) {
    unsigned n_pages;
    uint64_t base;
    struct page_set pages = { { 0 } };
    const struct uvm_block *block = uvm_range_block(r, at, &n_pages, &base);
    const uint64_t first = (at - base) / PAGE / UVM_LEAF_PAGES * UVM_LEAF_PAGES;
    const uint64_t past = align_up((earlier(end, base + BLOCK) - base) / PAGE, UVM_LEAF_PAGES);
    page_set_add_range(&pages, (unsigned)first, (unsigned)(earlier(past, n_pages) - first));
    if (b->sums) {
      const struct page_set both = copies(m, block);
      tell_written(m, b, base, &both, &pages);
    }
    if (has_fresh(m, block, &pages)) act(m, &(struct uvm_op){ .kind = UVM_OP_FINDS, .addr = base, .pages = pages });
    note_touched(m, block, base, &pages);
  }
}

/* Page by page, where the system cannot say it faster. */
static void look_slowly(struct shim *s, const struct uvm_range *r, uint64_t start, uint64_t end)
{
  const struct managed *m = s->memory.managed;
  uint64_t entry[UVM_BLOCK_PAGES];
  for (uint64_t base = start; base < end; base += BLOCK) {
    const size_t n = earlier(end - base, BLOCK) / PAGE, bytes = n * sizeof *entry;
    if (pread(m->pagemap, entry, bytes, (off_t)(base / HOST_PAGE * sizeof *entry)) != (ssize_t)bytes) return;
    for (size_t i = 0; i < n; i++) /* present, or swapped out */
      if (entry[i] >> 62) touch(s, r, base + i * PAGE, base + (i + 1) * PAGE);
  }
}

static void look_at(struct shim *s, const struct uvm_range *r, uint64_t start, uint64_t end)
{
  const int pagemap = s->memory.managed->pagemap;
  struct scan_region v[SCAN_REGIONS];
  for (uint64_t at = start; at < end;) {
    struct scan q = { .size = sizeof q, .start = at, .end = end, .vec = (uintptr_t)v, .vec_len = SCAN_REGIONS,
                      .any_of = SCAN_PRESENT | SCAN_SWAPPED, .tell = SCAN_PRESENT | SCAN_SWAPPED };
    const int n = ioctl(pagemap, _IOWR('f', 16, struct scan), &q);
    if (n < 0) {
      look_slowly(s, r, at, end);
      return;
    }
    for (int i = 0; i < n; i++) touch(s, r, v[i].start, v[i].end);
    if (q.walk_end <= at) break;
    at = q.walk_end;
  }
}

/* Blocks that are all at the host have nothing new. */
static bool is_of_interest(const struct managed *m, const struct uvm_range *r, uint32_t i)
{
  const uint64_t left = r->pages - (uint64_t)i * UVM_BLOCK_PAGES;
  const struct page_set both = copies(m, &r->block[i]);
  return page_set_count(&r->block[i].host) - page_set_count(&both) < earlier(left, UVM_BLOCK_PAGES);
}

static void look_at_range(struct shim *s, const struct uvm_range *r)
{
  for (uint32_t i = 0, n; i < r->n_blocks; i += n) {
    n = 0;
    while (i + n < r->n_blocks && is_of_interest(s->memory.managed, r, i + n)) n++;
    const uint64_t start = r->addr + (uint64_t)i * BLOCK;
    if (n) look_at(s, r, start, earlier(start + (uint64_t)n * BLOCK, r->addr + r->pages * PAGE));
    else n = 1;
  }
}

void managed_look(struct shim *s)
{
  struct managed *m = s->memory.managed;
  if (!m) return;
  count_room(s);
  m->n_touched = m->served = 0;
  for (uint32_t k = 0; k < m->uvm->space.n; k++) look_at_range(s, &m->uvm->space.range[k]);
}

/* A fault of the host on pages of a block, now. Until when it is put off; 0: it has got all that it gets. */
static uint64_t serve(struct shim *s, const struct touched *t)
{
  struct managed *m = s->memory.managed;
  if (!uvm_space_range(&m->uvm->space, t->base)) return 0;
  const struct uvm_host_fault f = act(m, &(struct uvm_op){ .kind = UVM_OP_TOUCH, .addr = t->base, .pages = t->pages,
                                                           .now = s->time.now });
  s->time.now += f.took;
  return f.until;
}

uint64_t managed_serve(struct shim *s)
{
  struct managed *m = s->memory.managed;
  if (!m || !m->n_touched) return 0;
  for (; m->served < m->n_touched; m->served++) {
    const uint64_t until = serve(s, &m->touched[m->served]);
    if (until) return later(until, s->time.now + 1);
  }
  m->n_touched = 0;
  return s->time.now;
}

/* Bits of GPUs, as the driver numbers them. */
static uint32_t gpus_of(const struct shim *s, board_mask boards)
{
  uint32_t gpus = 0;
  for (unsigned i = 0; i < s->boards.n; i++)
    if (boards >> i & 1) gpus |= 1u << driver_of(&s->boards.of[i])->gpu;
  return gpus;
}

void managed_advise(struct shim *s, struct block *b, uint64_t first, uint64_t end, const struct advice *a)
{
  const struct uvm_space *x = &s->memory.managed->uvm->space;
  const bool device = a->preferred.type == LOCATION_DEVICE;
  struct uvm_policy p = { .read_mostly = a->read_mostly && !x->coherent, .prefers = UVM_NOWHERE };
  if (p.read_mostly && !b->sums) b->sums = shim_alloc(b->mapped / PAGE * sizeof *b->sums);
  if (a->preferred.type) p.prefers = device ? (int)driver_of(board_at(s, a->preferred.id))->gpu : UVM_HOST;
  if (x->coherent || p.prefers == UVM_HOST) p.at_host = UINT32_MAX;
  else p.at_host = gpus_of(s, a->accessed_by);
  p.at_peers = gpus_of(s, a->accessed_by);
  act(s->memory.managed, &(struct uvm_op){ .kind = UVM_OP_ADVISE, .addr = b->addr, .first = first / PAGE,
                                           .n = (end - first) / PAGE, .policy = p });
}

/* --- copies --------------------------------------------------------------------------------------- */

bool managed_has(const struct shim *s, uint64_t addr)
{
  const struct managed *m = s->memory.managed;
  return m && uvm_space_range(&m->uvm->space, addr);
}

bool managed_at_host(const struct shim *s, uint64_t addr)
{
  const struct managed *m = s->memory.managed;
  const struct uvm_range *r = m ? uvm_space_range(&m->uvm->space, addr) : NULL;
  unsigned n_pages;
  uint64_t base;
  if (!r) return false;
  const struct uvm_block *b = uvm_range_block(r, addr, &n_pages, &base);
  const struct page_set on = uvm_block_on_gpus(&m->uvm->space, b);
  const unsigned page = (unsigned)((addr - base) / PAGE);
  return page_set_has(&b->host, page) && !page_set_has(&on, page);
}

struct board *managed_on(const struct shim *s, uint64_t addr)
{
  const struct managed *m = s->memory.managed;
  const struct uvm_range *r = m ? uvm_space_range(&m->uvm->space, addr) : NULL;
  unsigned n_pages;
  uint64_t base;
  if (!r) return NULL;
  const struct uvm_block *b = uvm_range_block(r, addr, &n_pages, &base);
  for (unsigned i = 0; i < s->boards.n; i++)
    if (page_set_has(&b->gpu[driver_of(&s->boards.of[i])->gpu].there, (unsigned)((addr - base) / PAGE)))
      return &s->boards.of[i];
  return NULL;
}

uint64_t managed_fault_ps(const struct shim *s, uint64_t addr)
{
  enum { PS_PER_NS = 1000 };
  const struct managed *m = s->memory.managed;
  if (!managed_has(s, addr) || m->uvm->space.coherent || managed_at_host(s, addr)) return 0;
  return (uint64_t)s->boards.of[0].preset.params.uvm_host_fault_ns * PS_PER_NS;
}

void managed_written(struct shim *s, const struct board *by, uint64_t addr, uint64_t bytes)
{
  const struct managed *m = s->memory.managed;
  for (uint64_t at = addr, end = addr + bytes; m && at < end; at = at / BLOCK * BLOCK + BLOCK) {
    const struct uvm_range *r = uvm_space_range(&m->uvm->space, at);
    unsigned n_pages;
    uint64_t base;
    struct page_set pages = { { 0 } };
    if (!r) return;
    uvm_range_block(r, at, &n_pages, &base);
    const uint64_t past = earlier(end, base + (uint64_t)n_pages * PAGE);
    const unsigned first = (unsigned)((at - base) / PAGE);
    page_set_add_range(&pages, first, (unsigned)((past - base + PAGE - 1) / PAGE) - first);
    act(m, &(struct uvm_op){ .kind = UVM_OP_WRITTEN, .gpu = driver_of(by)->gpu, .addr = base, .pages = pages });
  }
}
