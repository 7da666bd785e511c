#include "time/sm/sm_port.h"

enum { REQ_QUEUE_CAP = 4096, REPLY_QUEUE_CAP = 8192 };

void sm_port_init(struct sm_port *p, struct arena *a, const struct params *params, unsigned sm, unsigned messages)
{
  p->sm = sm;
  p->period = params_clock_ps(params);
  p->request_time = params_request_ps(params);
  p->request_bytes = params->noc_sm_request_bytes;
  p->free_of_charge = params->ideal_l2_bandwidth;
  p->queue = params->noc_sm_queue;
  p->code_room = params->l1i_mshr_entries;
  p->users = 1;
  p->cluster_bytes = params->cluster_bytes_per_cycle;
  p->cluster_time = params->cluster_hop_latency * p->period;
  if (p->cluster_time < p->request_time) p->cluster_time = p->request_time;
  p->arrival_time = params->cluster_arrive_cycles * p->period;
  tlb_init(&p->tlb, a, params);
  QUEUE_INIT(&p->out, a, struct mem_req, REQ_QUEUE_CAP);
  QUEUE_INIT(&p->in, a, struct mem_reply, REPLY_QUEUE_CAP);
  QUEUE_INIT(&p->cluster_out, a, struct cluster_msg, messages);
  QUEUE_INIT(&p->cluster_in, a, struct cluster_msg, messages);
}

void sm_port_walk(struct sm_port *p, struct arena *a, const struct page_tables *t)
{
  page_wait_open(&p->pages, a, t, &p->tlb.level[0], REQ_QUEUE_CAP, p->request_time);
}

bool sm_port_has_room(const struct sm_port *p, unsigned lines, uint64_t now)
{
  unsigned room = lines + p->code_room;
  return p->free_at <= now + p->queue && p->out.n + p->pages.n + room <= p->out.cap &&
         p->outstanding + room <= p->in.cap;
}

static unsigned port_cycles(const struct sm_port *p, unsigned payload)
{
  if (p->free_of_charge) return 0;
  unsigned cycles = (payload + p->request_bytes - 1) / p->request_bytes;
  return cycles ? cycles : 1;
}

/* The cycle in which the message passes. */
static uint64_t take(struct sm_port *p, unsigned payload, uint64_t now)
{
  uint64_t at = now > p->free_at ? now : p->free_at;
  p->free_at = at + p->users * port_cycles(p, payload);
  return at;
}

/* In cycle `at`, or, where its page is not known, when it is. */
static void translate(struct sm_port *p, struct mem_req *r, uint64_t at)
{
  const bool named = !mem_req_is_service(r->kind) && !(r->line & LINE_LOCAL);
  if (named && !p->pages.tables) at = tlb_translate(&p->tlb, r->line, at, p->stats);
  r->arrive = at * p->period + p->request_time;
  if (named && p->pages.tables && !page_wait_known(&p->pages, r->line))
    page_wait_hold(&p->pages, r, at * p->period, p->stats);
  else req_queue_push(&p->out, *r);
}

void sm_port_send(struct sm_port *p, const struct txn *t, enum req_kind kind, struct txn_line l, uint8_t to,
                  uint64_t now)
{
  uint64_t at = take(p, mem_req_data_bytes(kind, t->op, l.sectors), now);
  struct mem_req r = {.line = l.line,
                      .txn = t->id,
                      .from = (uint16_t)p->sm,
                      .kind = (uint8_t)kind,
                      .sectors = l.sectors,
                      .op = t->op,
                      .wide = l.wide,
                      .repeats = l.repeats & 0x7fu,
                      .floats = t->inst->mem.floats,
                      .grid = t->grid->number,
                      .scope = t->inst->scope,
                      .to = to,
                      .words = l.words};
  translate(p, &r, at);
  p->stats->sent_sectors[mem_req_op(kind, t->op)] += count_sectors(l.sectors);
  p->outstanding++;
}

static void send_code(struct sm_port *p, enum req_kind kind, uint64_t line, uint64_t at)
{
  req_queue_push(&p->out, (struct mem_req){.arrive = at * p->period + p->request_time,
                                           .line = line,
                                           .txn = TXN_NONE,
                                           .from = (uint16_t)p->sm,
                                           .grid = GRID_NONE,
                                           .kind = (uint8_t)kind,
                                           .sectors = ALL_SECTORS,
                                           .op = kind == REQ_PREFETCH ? MEM_PREFETCH : MEM_LOAD});
  p->stats->sent_sectors[L2_OP_CODE] += SECTORS_PER_LINE;
  p->outstanding++;
}

void sm_port_read_code(struct sm_port *p, uint64_t line, uint64_t now)
{
  send_code(p, REQ_CODE, line, take(p, 0, now));
}

void sm_port_prefetch_code(struct sm_port *p, uint64_t line, uint64_t at)
{
  if (p->out.n >= p->out.cap / 2 || p->outstanding >= p->in.cap / 2) return;
  p->stats->code_prefetches++;
  send_code(p, REQ_PREFETCH, line, at);
}

uint64_t sm_port_cluster_take(struct sm_port *p, unsigned bytes, uint64_t now)
{
  uint64_t at = now > p->cluster_free_at ? now : p->cluster_free_at;
  p->cluster_free_at = at + (bytes + p->cluster_bytes - 1) / p->cluster_bytes;
  return at;
}

void sm_port_cluster_send(struct sm_port *p, struct cluster_msg m, unsigned bytes, uint64_t now)
{
  m.arrive = sm_port_cluster_take(p, bytes, now) * p->period +
             (m.kind == CLUSTER_ACCESS ? p->cluster_time : p->arrival_time);
  if (m.arrive < p->cluster_last) m.arrive = p->cluster_last; /* nothing overtakes */
  p->cluster_last = m.arrive;
  cluster_queue_push(&p->cluster_out, m);
}

void sm_port_stood(struct sm_port *p, picos late)
{
  p->free_at += (late + p->period - 1) / p->period;
}
