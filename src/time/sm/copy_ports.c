#include "time/sm/copy_ports.h"

#include "base/bits.h"
#include "base/place.h"
#include "time/sm/mem_unit.h"

static struct step_warp *step_of(const struct mem_unit *u, const struct txn *t)
{
  return u->client[t->sub_core].warps->slot[t->warp].step;
}

static bool copy_piece(void *ctx, uint16_t id, uint32_t k, struct copy_piece *p, uint32_t *bytes)
{
  struct mem_unit *u = ctx;
  struct txn *t = &u->pool.t[id];
  struct step_warp *w = step_of(u, t);
  if (!w->ops->copy_piece(w, &t->access->effect, k, p, u->access.view, u->access.fault)) return false;
  *bytes = t->access->mem.copy.bytes;
  return mem_access_piece(&u->access, t, p->addr, p->bytes);
}

static bool copy_room(void *ctx, uint64_t now)
{
  const struct mem_unit *u = ctx;
  return sm_port_has_room(&u->port, 1, now);
}

static void copy_send(void *ctx, uint16_t id, enum req_kind kind, struct txn_line l, uint64_t now)
{
  struct mem_unit *u = ctx;
  const struct txn *t = &u->pool.t[id];
  const bool moves = t->inst->mem.copy == COPY_LOAD || t->inst->mem.copy == COPY_STORE;
  l.line |= t->grid->space;
  sm_port_send(&u->port, t, kind, l, moves ? mem_access_home_in_time(t, l.line) : (uint8_t)PLACE_OWN, now);
}

/* Data banks, which accesses of the warps use, too. */
static void copy_array(void *ctx, unsigned bytes, uint64_t now)
{
  struct mem_unit *u = ctx;
  struct mem_arbiter *a = &u->arbiter[ARBITER_ACCESSES];
  uint64_t from = now > a->free_at ? now : a->free_at;
  a->free_at = from + (bytes + u->params->l1_bytes_per_cycle - 1) / u->params->l1_bytes_per_cycle;
}

static void copy_leave(void *ctx, unsigned bytes, uint64_t now)
{
  struct mem_unit *u = ctx;
  sm_port_cluster_take(&u->port, bytes, now);
  u->stats->cluster_bytes += bytes;
}

static void copy_deliver(void *ctx, uint16_t id, uint64_t now)
{
  struct mem_unit *u = ctx;
  sm_port_cluster_send(&u->port, (struct cluster_msg){.txn = id, .kind = CLUSTER_ACCESS}, 0, now);
}

static bool copy_perform(void *ctx, uint16_t id)
{
  struct mem_unit *u = ctx;
  return mem_access_late(&u->access, &u->pool.t[id]);
}

void copy_ports_done(struct mem_unit *u, uint16_t id, uint64_t now)
{
  u->pool.t[id].grid->last_answer = now * u->period;
  mem_unit_line_done(u, id, now);
}

static void copy_done(void *ctx, uint16_t id, uint64_t now)
{
  copy_ports_done(ctx, id, now);
}

/* A commit's arrivals in this SM need no network; those elsewhere are left. */
static bool arrive_here(struct mem_unit *u, struct txn *t)
{
  struct mem_copy *c = &t->access->mem.copy;
  struct step_warp *w = step_of(u, t);
  uint32_t here = 0;
  for (uint32_t r = c->ctas; r; r &= r - 1)
    if (w->ops->cluster_worker(w->cta, bits_first(r)) == (int)u->sm) here |= r & -r;
  const uint32_t elsewhere = c->ctas & ~here;
  if (!here) return true;
  c->ctas = here;
  if (!mem_access_late(&u->access, t)) return false;
  c->ctas = elsewhere;
  return true;
}

void copy_ports_message_due(void *ctx, uint16_t id, uint64_t now)
{
  struct mem_unit *u = ctx;
  struct txn *t = &u->pool.t[id];
  if (is_commit(t) && t->access->mem.copy.far && !arrive_here(u, t)) return;
  if (t->access->mem.copy.far)
    copy_deliver(u, id, now);
  else if (copy_perform(u, id))
    copy_done(u, id, now);
  if (u->next_at > now + 1) u->next_at = now + 1;
}

struct copy_ports copy_ports_of(struct mem_unit *u)
{
  return (struct copy_ports){.ctx = u, .piece = copy_piece, .room = copy_room, .send = copy_send, .array = copy_array,
                             .leave = copy_leave, .deliver = copy_deliver, .perform = copy_perform, .done = copy_done};
}
