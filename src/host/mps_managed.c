#include "host/mps_managed.h"

#include <string.h>

#include "base/host_memory.h"

enum { PAGE = 1 << UVM_PAGE_BITS, BLOCK = 1 << UVM_BLOCK_BITS };
/* Bytes of all ranges; a time, so that sums with it do not overflow. */
static const uint64_t BYTES_MOST = MPS_MANAGED_MOST;

struct mps_range {
  uint64_t addr, pages, n_blocks;
  struct mps_block *told;
};

static struct mps_range *range_of(const struct mps_client *c, uint64_t addr)
{
  for (uint32_t i = 0; i < c->n_ranges; i++)
    if (addr >= c->range[i].addr && addr - c->range[i].addr < c->range[i].pages * PAGE) return &c->range[i];
  return NULL;
}

bool mps_managed_has(const struct mps_client *c, uint64_t addr, uint64_t bytes)
{
  const struct mps_range *r = range_of(c, addr);
  return r && !((addr | bytes) % PAGE) && bytes && bytes <= r->addr + r->pages * PAGE - addr;
}

/* --- what it says ------------------------------------------------------------------------------- */

static bool meets_another(const struct uvm_space *x, uint64_t addr, uint64_t bytes)
{
  for (uint32_t i = 0; i < x->n; i++)
    if (addr < x->range[i].addr + x->range[i].pages * PAGE && x->range[i].addr < addr + bytes) return true;
  return false;
}

static uint64_t blocks(const struct mps_client *c)
{
  uint64_t n = 0;
  for (uint32_t i = 0; i < c->n_ranges; i++) n += c->range[i].n_blocks;
  return n;
}

static bool add(struct mps_client *c, const struct uvm_machine *m, struct uvm_op *o)
{
  const uint64_t pages = (o->bytes + PAGE - 1) / PAGE;
  if (!o->bytes || o->addr % BLOCK || !mps_client_owns(c, o->addr, o->bytes)) return false;
  if ((o->bytes + BLOCK - 1) / BLOCK > BYTES_MOST / BLOCK - blocks(c)) return false;
  if (meets_another(&m->space, o->addr, o->bytes)) return false;
  o->socket = m->of[0]->cfg.socket;
  c->range = mem_more(c->range, c->n_ranges, &c->room_ranges, sizeof *c->range);
  struct mps_range *r = &c->range[c->n_ranges++];
  *r = (struct mps_range){.addr = o->addr, .pages = pages, .n_blocks = (pages + UVM_BLOCK_PAGES - 1) / UVM_BLOCK_PAGES};
  r->told = mem_zeroed(r->n_blocks, sizeof *r->told);
  return true;
}

static bool drop(struct mps_client *c, uint64_t addr)
{
  struct mps_range *r = range_of(c, addr);
  if (!r || r->addr != addr) return false;
  mem_free(r->told);
  *r = c->range[--c->n_ranges];
  return true;
}

/* Pages of the op are those of the block at its address. */
static void clip_to_block(const struct mps_range *r, struct uvm_op *o)
{
  const uint64_t first = (o->addr - r->addr) / BLOCK * UVM_BLOCK_PAGES, n = r->pages - first;
  struct page_set all = {{0}};
  page_set_add_range(&all, 0, n < UVM_BLOCK_PAGES ? (unsigned)n : UVM_BLOCK_PAGES);
  o->pages = page_set_both(&o->pages, &all);
}

static bool is_sound(struct mps_client *c, const struct uvm_machine *m, struct uvm_op *o)
{
  const struct mps_range *r = range_of(c, o->addr);
  if (o->kind >= UVM_OPS || o->gpu || o->now > MPS_TIME_MOST) return false;
  if (c->call && o->kind != UVM_OP_WRITTEN) return false; /* in the midst of a window no range comes or goes */
  if (o->kind == UVM_OP_ROOM) return true;
  if (o->kind == UVM_OP_ADD) return add(c, m, o);
  if (o->kind == UVM_OP_REMOVE) return drop(c, o->addr);
  if (!r) return false;
  if (o->kind != UVM_OP_ADVISE) {
    clip_to_block(r, o);
    return true;
  }
  return o->n && o->first < r->pages && o->n <= r->pages - o->first && o->policy.prefers <= 0 &&
         o->policy.prefers >= UVM_NOWHERE;
}

bool mps_managed_act(struct mps_client *c, struct uvm_machine *m, struct uvm_op *o, struct uvm_host_fault *f)
{
  if (!is_sound(c, m, o)) return false;
  *f = uvm_machine_do(m, o);
  return true;
}

/* --- what it hears ------------------------------------------------------------------------------ */

struct mps_look mps_managed_all(const struct mps_client *c)
{
  return (struct mps_look){.end = c->n_ranges, .past = UINT64_MAX};
}

struct mps_look mps_managed_behind(const struct mps_client *c, const struct uvm_op *o)
{
  const struct mps_range *r = range_of(c, o->addr);
  if (!r || o->kind == UVM_OP_ROOM || o->kind == UVM_OP_ADD) return (struct mps_look){0};
  const uint32_t range = (uint32_t)(r - c->range);
  const uint64_t block = (o->addr - r->addr) / BLOCK;
  if (o->kind == UVM_OP_ADVISE) return (struct mps_look){range, range + 1, 0, UINT64_MAX};
  return (struct mps_look){range, range + 1, block, block + 1};
}

bool mps_managed_next(struct mps_client *c, const struct uvm_machine *m, struct mps_look *x, struct mps_block *out)
{
  for (; x->range < x->end; x->range++, x->block = 0) {
    const struct mps_range *r = &c->range[x->range];
    const struct uvm_range *is = uvm_space_range(&m->space, r->addr);
    while (x->block < r->n_blocks && x->block < x->past) {
      const uint64_t i = x->block++;
      const struct uvm_block *b = &is->block[i];
      *out = (struct mps_block){r->addr + i * BLOCK, b->host, b->gpu[0].there};
      if (memcmp(&r->told[i].host, &out->host, sizeof out->host) == 0 &&
          memcmp(&r->told[i].there, &out->there, sizeof out->there) == 0)
        continue;
      r->told[i] = *out;
      return true;
    }
  }
  return false;
}

void mps_managed_end(struct mps_client *c, struct uvm_machine *m)
{
  while (c->n_ranges) {
    const struct uvm_op o = {.kind = UVM_OP_REMOVE, .addr = c->range[0].addr};
    if (drop(c, o.addr)) uvm_machine_do(m, &o);
  }
}
