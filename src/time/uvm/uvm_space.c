#include "time/uvm/uvm_space.h"

#include <string.h>

#include "base/bug.h"
#include "base/host_memory.h"

enum { PAGE = 1 << UVM_PAGE_BITS, BLOCK = 1 << UVM_BLOCK_BITS };
enum { NODE_FAULTS = PLACE_FAULTS - 1, NODE_READS = PLACE_READS - 1 };

/* --- places ------------------------------------------------------------------------------------- */

static void place(const struct uvm_space *x, uint64_t base, const struct page_set *s, int node)
{
  for (unsigned first = 0, n; (n = page_set_run(s, &first)) != 0; first += n)
    places_set(x->places, base + (uint64_t)first * PAGE, (uint64_t)n * PAGE, node);
}

void uvm_space_close(const struct uvm_space *x, uint64_t base, const struct page_set *s)
{
  place(x, base, s, NODE_FAULTS);
}

void uvm_space_open_at_host(const struct uvm_space *x, uint64_t base, const struct page_set *s)
{
  place(x, base, s, x->socket);
}

/* --- ranges ------------------------------------------------------------------------------------- */

static uint32_t behind(const struct uvm_space *x, uint64_t addr)
{
  uint32_t lo = 0, hi = x->n;
  while (lo < hi) {
    const uint32_t mid = (lo + hi) / 2;
    if (x->range[mid].addr <= addr) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

struct uvm_range *uvm_space_range(const struct uvm_space *x, uint64_t addr)
{
  const uint32_t at = behind(x, addr);
  if (!at) return NULL;
  struct uvm_range *r = &x->range[at - 1];
  return addr - r->addr < r->pages * PAGE ? r : NULL;
}

void uvm_space_add(struct uvm_space *x, uint64_t addr, uint64_t bytes)
{
  const uint32_t at = behind(x, addr);
  const uint64_t pages = (bytes + PAGE - 1) / PAGE;
  BUG_ON(addr % BLOCK || !bytes);
  x->range = mem_more(x->range, x->n, &x->room_ranges, sizeof *x->range);
  memmove(&x->range[at + 1], &x->range[at], (x->n++ - at) * sizeof *x->range);
  struct uvm_range *r = &x->range[at];
  *r = (struct uvm_range){.addr = addr, .pages = pages, .mapped = x->coherent,
                          .n_blocks = (uint32_t)((pages + UVM_BLOCK_PAGES - 1) / UVM_BLOCK_PAGES)};
  r->block = mem_zeroed(r->n_blocks, sizeof *r->block);
  places_set(x->places, addr, pages * PAGE, NODE_FAULTS);
}

void uvm_space_remove(struct uvm_space *x, uint64_t addr)
{
  struct uvm_range *r = uvm_space_range(x, addr);
  if (!r || r->addr != addr) return;
  for (uint32_t i = 0; i < r->n_blocks; i++) x->resident -= !page_set_empty(&r->block[i].gpu);
  places_set(x->places, r->addr, r->pages * PAGE, -1);
  mem_free(r->block);
  const size_t i = (size_t)(r - x->range);
  memmove(r, r + 1, (--x->n - i) * sizeof *r);
}

void uvm_space_free(struct uvm_space *x)
{
  for (uint32_t i = 0; i < x->n; i++) mem_free(x->range[i].block);
  mem_free(x->range);
}

struct uvm_block *uvm_range_block(const struct uvm_range *r, uint64_t addr, unsigned *n_pages, uint64_t *base)
{
  const uint64_t i = (addr - r->addr) / BLOCK, left = r->pages - i * UVM_BLOCK_PAGES;
  *n_pages = left < UVM_BLOCK_PAGES ? (unsigned)left : UVM_BLOCK_PAGES;
  *base = r->addr + i * BLOCK;
  return &r->block[i];
}

void uvm_space_map(const struct uvm_space *x, struct uvm_range *r, bool mapped)
{
  r->mapped = mapped;
  for (uint32_t i = 0; i < r->n_blocks; i++) {
    const uint64_t base = r->addr + (uint64_t)i * BLOCK;
    if (mapped) uvm_space_open_at_host(x, base, &r->block[i].host);
    else uvm_space_close(x, base, &r->block[i].host);
  }
}

/* --- pages -------------------------------------------------------------------------------------- */

static struct uvm_block *block_at(const struct uvm_range *r, uint64_t base)
{
  return &r->block[(base - r->addr) / BLOCK];
}

/* Of pages that come, those that stay at the host, too. */
static struct page_set copies(const struct uvm_range *r, const struct uvm_block *b, const struct page_set *s,
                              const struct page_set *written)
{
  struct page_set c = {0};
  if (!r->read_mostly) return c;
  c = page_set_both(s, &b->host);
  page_set_remove(&c, written);
  return c;
}

void uvm_space_arrive(struct uvm_space *x, const struct uvm_range *r, uint64_t base, const struct page_set *s,
                      const struct page_set *written)
{
  struct uvm_block *b = block_at(r, base);
  const struct page_set copied = copies(r, b, s, written);
  const struct page_set again = page_set_both(s, &b->left);
  x->stats.thrashed += uvm_bytes(&again);
  x->resident += page_set_empty(&b->gpu) && !page_set_empty(s);
  page_set_join(&b->gpu, s);
  page_set_join(&b->both, &copied);
  page_set_remove(&b->host, s);
  page_set_remove(&b->left, s);
  x->stats.copied += uvm_bytes(&copied);
  b->used = ++x->stamp;
  b->remote = 0;
  place(x, base, s, -1);
  place(x, base, &copied, NODE_READS);
}

void uvm_space_collapse(struct uvm_space *x, const struct uvm_range *r, uint64_t base, const struct page_set *s)
{
  struct uvm_block *b = block_at(r, base);
  const struct page_set one = page_set_both(s, &b->both);
  x->stats.collapsed += uvm_bytes(&one);
  page_set_remove(&b->both, &one);
  place(x, base, &one, -1);
}

void uvm_space_leave(struct uvm_space *x, const struct uvm_range *r, uint64_t base, const struct page_set *s)
{
  struct uvm_block *b = block_at(r, base);
  const bool was = !page_set_empty(&b->gpu);
  page_set_remove(&b->gpu, s);
  page_set_remove(&b->both, s);
  page_set_join(&b->host, s);
  x->resident -= was && page_set_empty(&b->gpu);
  place(x, base, s, r->mapped ? x->socket : NODE_FAULTS);
}

void uvm_space_touch(const struct uvm_space *x, const struct uvm_range *r, uint64_t base, const struct page_set *s)
{
  page_set_join(&block_at(r, base)->host, s);
  if (r->mapped) uvm_space_open_at_host(x, base, s);
}

bool uvm_space_victim(const struct uvm_space *x, uint64_t but, const struct uvm_range **range, uint64_t *base)
{
  const struct uvm_block *best = NULL;
  bool best_stays = false;
  for (uint32_t k = 0; k < x->n; k++) {
    const struct uvm_range *r = &x->range[k];
    for (uint32_t i = 0; i < r->n_blocks; i++) {
      const struct uvm_block *b = &r->block[i];
      if (page_set_empty(&b->gpu) || r->addr + (uint64_t)i * BLOCK == but) continue;
      if (best && (best_stays == r->stays ? b->used >= best->used : r->stays)) continue;
      best = b, best_stays = r->stays;
      *range = r, *base = r->addr + (uint64_t)i * BLOCK;
    }
  }
  return best;
}
