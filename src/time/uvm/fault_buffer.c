#include "time/uvm/fault_buffer.h"

#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"

enum { PAGE = 1 << UVM_PAGE_BITS, CORE_BITS = 12 };

void fault_buffer_free(struct fault_buffer *b)
{
  if (b->rights) places_free(b->rights);
  mem_free(b->entry);
  mem_free(b->known);
  mem_free(b->parked);
  mem_free(b->ready);
  mem_free(b->order);
  mem_free(b->done);
}

/* --- entries ------------------------------------------------------------------------------------ */

static void forget_entries(struct fault_buffer *b)
{
  b->n_entries = b->n_known = 0;
  if (b->known) memset(b->known, 0, b->known_cap * sizeof *b->known);
}

static uint64_t *known_slot(const struct fault_buffer *b, uint64_t key)
{
  uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
  while (b->known[at & (b->known_cap - 1)] && b->known[at & (b->known_cap - 1)] != key) at++;
  return &b->known[at & (b->known_cap - 1)];
}

static void grow_known(struct fault_buffer *b)
{
  uint64_t *old = b->known;
  const uint32_t n = b->known_cap;
  b->known_cap = n ? 2 * n : 1024;
  b->known = mem_zeroed(b->known_cap, sizeof *b->known);
  for (uint32_t i = 0; i < n; i++)
    if (old[i]) *known_slot(b, old[i]) = old[i];
  mem_free(old);
}

static uint64_t address_of(const struct mem_req *r)
{
  return line_number(r->line) * LINE_BYTES;
}

static uint64_t key_of(const struct mem_req *r)
{
  return (address_of(r) / PAGE << CORE_BITS | (r->from & ((1u << CORE_BITS) - 1))) + 1;
}

static bool is_system_atomic(const struct mem_req *r)
{
  return (r->op == MEM_ATOMIC || r->op == MEM_RED) && r->scope == SCOPE_SYS;
}

/* One entry for each core and page. */
static void enter(struct fault_buffer *b, const struct mem_req *r, picos now)
{
  const uint64_t page = address_of(r) / PAGE, key = key_of(r);
  if (2 * b->n_known >= b->known_cap) grow_known(b);
  uint64_t *slot = known_slot(b, key);
  if (*slot) return;
  *slot = key;
  b->n_known++;
  b->entry = mem_more(b->entry, b->n_entries, &b->room_entries, sizeof *b->entry);
  b->entry[b->n_entries++] = (struct uvm_entry){page, now, r->from, mem_op_writes(r->op), is_system_atomic(r)};
}

static bool faults(const struct fault_buffer *b, const struct mem_req *r)
{
  const unsigned place = place_of(b->places, address_of(r));
  const bool writes = mem_op_writes(r->op);
  if (place == PLACE_FAULTS || (place == PLACE_READS && writes)) return true;
  return place_is_node(place) && place_refuses(b->places, address_of(r), writes, is_system_atomic(r));
}

/* An access of the core to the page waits: those behind it, which the core sends the same way (strong.h), do, too; else
 * they would go to and fro until it is served. */
static bool is_behind(const struct fault_buffer *b, const struct mem_req *r)
{
  return b->n_known && *known_slot(b, key_of(r));
}

static void make_ready(struct fault_buffer *b, const struct mem_req *r)
{
  if (b->taken == b->n_ready) b->taken = b->n_ready = 0;
  b->ready = mem_more(b->ready, b->n_ready, &b->room_ready, sizeof *b->ready);
  b->ready[b->n_ready++] = *r;
}

bool fault_buffer_take_ready(struct fault_buffer *b, struct mem_req *out)
{
  if (b->taken == b->n_ready) return false;
  *out = b->ready[b->taken++];
  return true;
}

bool fault_buffer_park(struct fault_buffer *b, const struct mem_req *r, picos now)
{
  const bool faulty = faults(b, r);
  if (!faulty && !is_behind(b, r)) {
    make_ready(b, r);
    return false;
  }
  b->parked = mem_more(b->parked, b->n_parked, &b->room_parked, sizeof *b->parked);
  b->parked[b->n_parked++] = *r;
  if (faulty) enter(b, r, now);
  return true;
}

/* All that waits is sent again, or faults again. */
static void replay(struct fault_buffer *b, picos now)
{
  uint32_t kept = 0;
  forget_entries(b);
  for (uint32_t i = 0; i < b->n_parked; i++) {
    const struct mem_req r = b->parked[i];
    const bool faulty = faults(b, &r);
    if (!faulty && !is_behind(b, &r)) {
      make_ready(b, &r);
      continue;
    }
    b->parked[kept++] = r;
    if (faulty) enter(b, &r, now);
  }
  b->n_parked = kept;
}

/* --- orders ------------------------------------------------------------------------------------- */

static void say_done(struct fault_buffer *b, const struct uvm_job_done *d)
{
  b->done = mem_more(b->done, b->n_done, &b->room_done, sizeof *b->done);
  b->done[b->n_done++] = *d;
}

bool fault_buffer_take_done(struct fault_buffer *b, struct uvm_job_done *out)
{
  if (!b->n_done) return false;
  *out = b->done[0];
  memmove(b->done, b->done + 1, --b->n_done * sizeof *b->done);
  return true;
}

static void carry_out(struct fault_buffer *b, const struct fault_order *o, picos now)
{
  switch (o->kind) {
  case ORDER_PLACE: places_set(b->places, o->addr, o->bytes, o->node); break;
  case ORDER_RIGHT: places_set(b->rights, o->addr, o->bytes, (int)o->right - 1); break;
  case ORDER_REPLAY: replay(b, now); break;
  case ORDER_DONE: say_done(b, &o->done); break;
  }
}

void fault_buffer_order(struct fault_buffer *b, const struct fault_order *o)
{
  const bool none = b->n_orders == b->first;
  if (none) b->n_orders = b->first = 0;
  if (b->at_once || (none && (!o->at || !b->wake))) {
    carry_out(b, o, o->at);
    return;
  }
  const picos at = none ? o->at : later(o->at, b->order[b->n_orders - 1].at);
  b->order = mem_more(b->order, b->n_orders, &b->room_orders, sizeof *b->order);
  b->order[b->n_orders] = *o;
  b->order[b->n_orders++].at = at;
  if (at < *b->wake) *b->wake = at;
}

void fault_buffer_step(struct fault_buffer *b, picos now)
{
  const struct fault_order o = b->order[b->first++];
  carry_out(b, &o, now);
}

void fault_buffer_connect(struct fault_buffer *b, picos *wake)
{
  while (b->first < b->n_orders) {
    const struct fault_order *o = &b->order[b->first++];
    if (o->kind == ORDER_PLACE || o->kind == ORDER_RIGHT) carry_out(b, o, o->at);
  }
  b->wake = wake;
  b->n_parked = b->n_ready = b->taken = b->n_done = 0;
  forget_entries(b);
}
