#include "time/noc/xbar.h"

#include <stdlib.h>

#include "base/host_memory.h"
#include "time/mem/l2_map.h"

enum { FLIT_BYTES = SECTOR_BYTES, LANE_FIRST_CAP = 4 };

/* --- lanes ------------------------------------------------------------------------------------ */

static void grow(struct xbar_lane *l)
{
  uint32_t cap = l->cap ? 2 * l->cap : LANE_FIRST_CAP;
  struct mem_req *slot = mem_alloc(cap * sizeof *slot);
  for (uint32_t i = 0; i < l->n; i++) slot[i] = l->slot[(l->head + i) & (l->cap - 1)];
  mem_free(l->slot);
  *l = (struct xbar_lane){.slot = slot, .cap = cap, .n = l->n};
}

/* --- SM side ---------------------------------------------------------------------------------- */

static unsigned flits(unsigned bytes)
{
  return bytes ? bytes : FLIT_BYTES;
}

static bool is_far(const struct xbar *x, unsigned sm, unsigned slice)
{
  return x->link && slice < x->n_slices && sm < x->params->gpu_sms &&
         l2_partition_of_slice(x->params, slice) != l2_partition_of_sm(x->params, sm);
}

/* Weak loads go to the near partition, which may have a copy; the others to the line's home. */
static struct l2_place route(const struct xbar *x, unsigned sm, struct mem_req *r)
{
  if (r->to) return (struct l2_place){x->n_slices + 1, 0};
  struct l2_place to = l2_place(x->params, r->line);
  if (!is_far(x, sm, to.slice)) return to;
  if (mem_req_is_weak_read(r->kind))
    return (struct l2_place){l2_peer(x->params, to.slice), to.local | L2_FAR_LINE};
  r->arrive += x->far_extra;
  return to;
}

void xbar_inject(struct xbar *x, unsigned sm, struct req_queue *from)
{
  struct xbar_side *s = &x->sm[sm];
  for (; from->n && s->sent - s->taken < s->buffer; s->sent++) {
    struct mem_req *r = req_queue_front(from);
    struct l2_place to = {.slice = x->n_slices};
    if (!mem_req_is_service(r->kind)) to = route(x, sm, r);
    r->local = to.local;
    inbox_send(&x->request[to.slice], sm, r);
    s->stats.noc_requests++;
    req_queue_pop(from);
  }
  s->held = from->n;
}

picos xbar_stood(struct xbar *x, unsigned sm, struct req_queue *q, picos now)
{
  picos due = TIME_NEVER, earliest = now + x->request_latency;
  for (uint32_t i = 0; i < q->n; i++) {
    picos at = q->slot[(q->head + i) & (q->cap - 1)].arrive;
    if (at < due) due = at;
  }
  if (due >= earliest) return 0;
  picos late = earliest - due;
  for (uint32_t i = 0; i < q->n; i++) q->slot[(q->head + i) & (q->cap - 1)].arrive += late;
  x->sm[sm].stats.noc_blocked += late;
  return late;
}

/* Bytes a reply carries; requests keep their kind on the way back. */
static unsigned reply_bytes(const struct mem_req *r)
{
  bool data = (mem_req_is_weak_read(r->kind) && r->op != MEM_PREFETCH) ||
              (r->kind == REQ_STRONG && r->op != MEM_STORE && r->op != MEM_RED);
  return data ? count_sectors(r->sectors) * SECTOR_BYTES : 0;
}

void xbar_deliver(struct xbar *x, unsigned sm, struct reply_queue *to_sm, picos to)
{
  struct inbox *in = &x->reply[sm];
  struct xbar_side *s = &x->sm[sm];
  inbox_look(in);
  for (; inbox_next(in) < to; inbox_pop(in)) {
    const struct mem_req *r = inbox_front(in);
    unsigned bytes = flits(reply_bytes(r));
    picos at = server_take(&s->in, r->arrive, bytes);
    s->stats.noc_replies++;
    s->stats.noc_reply_bytes += bytes;
    s->stats.noc_reply_wait += at - r->arrive;
    reply_queue_push(to_sm, (struct mem_reply){at, r->line, r->txn, r->kind, r->sectors, r->local & L2_FAR_LINE});
  }
}

picos xbar_sm_next(const struct xbar *x, unsigned sm)
{
  return inbox_next(&x->reply[sm]);
}

/* --- slice side ------------------------------------------------------------------------------- */

void xbar_look(struct xbar *x, unsigned slice)
{
  inbox_look(&x->request[slice]);
}

picos xbar_ready(const struct xbar *x, unsigned slice)
{
  picos arrive = inbox_next(&x->request[slice]), port = x->slice[slice].in.free_at_fs / 1000;
  return arrive > port ? arrive : port;
}

const struct mem_req *xbar_front(const struct xbar *x, unsigned slice)
{
  return inbox_front(&x->request[slice]);
}

/* The crossbar has room for one more message of the SM, which hears of it in the next window. */
static void make_room(struct xbar *x, unsigned sm, picos now)
{
  struct xbar_side *s = &x->sm[sm];
  __atomic_fetch_add(&s->taken, 1, __ATOMIC_RELAXED);
  if (s->held) inbox_wake(&x->reply[sm], now + x->request_latency);
}

void xbar_pop(struct xbar *x, unsigned slice, picos now)
{
  struct xbar_side *s = &x->slice[slice];
  const struct mem_req *r = inbox_front(&x->request[slice]);
  unsigned bytes = flits(mem_req_data_bytes(r->kind, r->op, r->sectors));
  server_take(&s->in, now, bytes);
  s->stats.noc_request_bytes += bytes;
  s->stats.noc_request_wait += now - r->arrive;
  make_room(x, r->from, now);
  inbox_pop(&x->request[slice]);
}

void xbar_answer(struct xbar *x, unsigned slice, const struct mem_req *r, picos now, picos latency,
                 bool of_far, unsigned bytes)
{
  xbar_answer_by(x, slice, NULL, r, now, latency, of_far, bytes);
}

void xbar_answer_by(struct xbar *x, unsigned slice, struct server *port, const struct mem_req *r, picos now,
                    picos latency, bool of_far, unsigned bytes)
{
  struct xbar_side *s = &x->slice[slice];
  struct mem_req m = *r;
  BUG_ON(now < s->last_out);
  s->last_out = now;
  picos at = server_take(port ? port : &s->out, now, flits(bytes));
  s->stats.noc_reply_wait += at - now;
  m.arrive = at + latency + x->reply_latency;
  if (!mem_req_is_weak_read(r->kind) && is_far(x, r->from, slice)) {
    m.arrive += x->far_extra;
    m.local |= L2_FAR_LINE;
  }
  inbox_send(&x->reply[r->from], slice + (of_far ? x->n_slices + XBAR_OTHERS : 0), &m);
}

/* --- link between partitions ------------------------------------------------------------------ */

static void lane_push(struct xbar_lane *l, const struct mem_req *m)
{
  if (l->n == l->cap) grow(l);
  l->slot[(l->head + l->n++) & (l->cap - 1)] = *m;
}

struct mem_req *xbar_lane_front(const struct xbar_lane *l)
{
  return l->n ? &l->slot[l->head] : NULL;
}

void xbar_lane_pop(struct xbar_lane *l)
{
  l->head = (l->head + 1) & (l->cap - 1);
  l->n--;
}

void xbar_link_send(struct xbar *x, unsigned slice, const struct mem_req *r, picos now,
                    unsigned bytes)
{
  struct xbar_link *l = &x->link[slice];
  struct mem_req m = *r;
  m.arrive = server_take(&l->out, now, flits(bytes)) + x->request_latency;
  x->slice[slice].stats.noc_link_bytes += flits(bytes);
  lane_push(&l->sent, &m);
}

void xbar_link_move(struct xbar *x)
{
  for (unsigned i = 0; x->link && i < x->n_slices; i++) {
    struct xbar_lane *from = &x->link[i].sent;
    if (!from->n) continue;
    unsigned peer = l2_peer(x->params, i);
    struct xbar_link *to = &x->link[peer];
    picos *wake = x->request[peer].wake;
    for (struct mem_req *m; (m = xbar_lane_front(from)); xbar_lane_pop(from)) {
      if (wake && m->arrive < *wake) *wake = m->arrive;
      lane_push(m->kind == REQ_READ ? &to->requests : &to->fills, m);
    }
  }
}

unsigned xbar_requests_waiting(const struct xbar *x, unsigned slice)
{
  return inbox_waiting(&x->request[slice]);
}

/* --- life ------------------------------------------------------------------------------------- */

static uint64_t femtos(const struct params *p, uint32_t bytes_per_cycle)
{
  return p->ideal_l2_bandwidth ? 0 : params_l2_clock_ps(p) * 1000 / bytes_per_cycle;
}

void xbar_outward(struct xbar *x, uint32_t bytes_per_cycle)
{
  struct xbar_side *s = &x->slice[x->n_slices + 1];
  s->in.femtos_per_byte = s->out.femtos_per_byte = femtos(x->params, bytes_per_cycle);
}

void xbar_port(struct xbar *x, unsigned sender, uint32_t bytes_per_cycle, unsigned buffer)
{
  x->sm[sender].in.femtos_per_byte = femtos(x->params, bytes_per_cycle);
  x->sm[sender].buffer = buffer;
}

void xbar_init(struct xbar *x, struct arena *a, const struct params *p, unsigned more)
{
  *x = (struct xbar){.params = p, .n_senders = p->gpu_sms + more, .n_slices = p->l2_slices};
  unsigned receivers = x->n_slices + XBAR_OTHERS;
  x->request = ARENA_ARRAY(a, struct inbox, receivers);
  x->reply = ARENA_ARRAY(a, struct inbox, x->n_senders);
  for (unsigned i = 0; i < receivers; i++) inbox_init(&x->request[i], a, x->n_senders);
  for (unsigned i = 0; i < x->n_senders; i++) inbox_init(&x->reply[i], a, 2 * receivers);
  x->sm = ARENA_ARRAY(a, struct xbar_side, x->n_senders);
  x->slice = ARENA_ARRAY(a, struct xbar_side, receivers);
  for (unsigned i = 0; i < x->n_senders; i++) xbar_port(x, i, p->noc_sm_reply_bytes, p->noc_sm_buffer);
  for (unsigned i = 0; i < receivers; i++) {
    x->slice[i].in.femtos_per_byte = femtos(p, p->noc_slice_request_bytes);
    x->slice[i].out.femtos_per_byte = femtos(p, p->noc_slice_reply_bytes);
  }
  x->reply_latency = p->noc_reply_latency * params_l2_clock_ps(p);
  x->request_latency = params_request_ps(p);
  if (p->l2_partitions == 1) return;
  x->far_extra = (p->l2_home_latency - p->l2_latency) * params_l2_clock_ps(p) / 2;
  x->link = ARENA_ARRAY(a, struct xbar_link, x->n_slices);
  for (unsigned i = 0; i < x->n_slices; i++)
    x->link[i].out.femtos_per_byte = femtos(p, p->l2_link_bytes_per_cycle) * (x->n_slices / 2);
}

void xbar_free(struct xbar *x)
{
  for (unsigned i = 0; i < x->n_slices + XBAR_OTHERS; i++) inbox_free(&x->request[i]);
  for (unsigned i = 0; i < x->n_senders; i++) inbox_free(&x->reply[i]);
  for (unsigned i = 0; x->link && i < x->n_slices; i++) {
    mem_free(x->link[i].sent.slot);
    mem_free(x->link[i].requests.slot);
    mem_free(x->link[i].fills.slot);
  }
}

void xbar_sum(const struct xbar *x, struct noc_stats *sum)
{
  struct stat_group all = noc_stats_group("noc", sum);
  *sum = (struct noc_stats){0};
  for (unsigned i = 0; i < x->n_senders; i++) stat_add(all, noc_stats_group("noc", &x->sm[i].stats));
  for (unsigned i = 0; i < x->n_slices + XBAR_OTHERS; i++)
    stat_add(all, noc_stats_group("noc", &x->slice[i].stats));
}
