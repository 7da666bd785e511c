#include "time/link/fabric.h"

#include "base/arith.h"
#include "base/bug.h"
#include "base/host_memory.h"
#include "time/link/cast_table.h"

struct fabric_node {
  struct link_port *const *port; /* of a domain; NULL: none */
  unsigned n_ports;
  unsigned n_lanes;         /* wires that end here */
  fabric_wake_fn *wake;     /* NULL: no domain is expected */
  fabric_serve_fn *serve;
  void *ctx;
  picos latency; /* of a switch */
  struct cast_table *casts; /* of a switch that sends to several; NULL: another node */
};

struct fabric_wire {
  struct wire wire;
  uint16_t to;
  picos last;              /* what it brought last is there */
  uint16_t lane;           /* its number among those that end there */
  struct link_ring flight; /* to a switch: arrive is when the head is there; to who serves: the last byte */
};

enum { NOT_DUE = UINT16_MAX };

/* When something happens on a wire. */
struct fabric_next {
  picos at;
  uint16_t wire;
};

struct fabric {
  const struct machine_preset *m;
  const struct topology *topology;
  unsigned n_wires, n_nodes;
  struct fabric_wire *wire; /* [2 * link + back] */
  struct fabric_node *node;
  struct fabric_next *heap; /* of wires on which something will happen, the next one first */
  unsigned n_due;           /* of them */
  uint16_t *place;          /* of each wire there; NOT_DUE: nowhere */
  picos waits;     /* the first message at a port that this epoch left there */
  uint64_t moved;
  void (*answered)(void *ctx, const struct link_msg *, const void *bytes); /* NULL: nobody watches */
  void *watch_ctx;
  struct link_log *log; /* NULL: none */
};

/* --- which wire is next ------------------------------------------------------------------------- */

/* Of two of them, the first. */
static bool before(const struct fabric_next *a, const struct fabric_next *b)
{
  return a->at != b->at ? a->at < b->at : a->wire < b->wire;
}

static void put(struct fabric *f, unsigned i, const struct fabric_next *x)
{
  f->heap[i] = *x;
  f->place[x->wire] = (uint16_t)i;
}

/* From place i, which is free, to where it belongs: towards the first one, or away from it. */
static void sift(struct fabric *f, unsigned i, const struct fabric_next *x)
{
  for (; i > 0 && before(x, &f->heap[(i - 1) / 2]); i = (i - 1) / 2) put(f, i, &f->heap[(i - 1) / 2]);
  for (unsigned k; (k = 2 * i + 1) < f->n_due; i = k) {
    if (k + 1 < f->n_due && before(&f->heap[k + 1], &f->heap[k])) k++;
    if (before(x, &f->heap[k])) break;
    put(f, i, &f->heap[k]);
  }
  put(f, i, x);
}

/* Nothing happens on the wire at place i any more, so far. */
static void drop(struct fabric *f, unsigned i)
{
  const struct fabric_next last = f->heap[--f->n_due];
  f->place[f->heap[i].wire] = NOT_DUE;
  if (i < f->n_due) sift(f, i, &last);
}

static void note_next(struct fabric *f, unsigned wire)
{
  const struct fabric_wire *w = &f->wire[wire];
  const struct link_msg *m = link_ring_front(&w->flight);
  const struct fabric_next x = {earlier(wire_next(&w->wire), m ? m->arrive : TIME_NEVER), (uint16_t)wire};
  const unsigned i = f->place[wire];
  if (i == NOT_DUE && x.at != TIME_NEVER) sift(f, f->n_due++, &x);
  else if (i != NOT_DUE && x.at == TIME_NEVER) drop(f, i);
  else if (i != NOT_DUE && f->heap[i].at != x.at) sift(f, i, &x);
}

static picos next_of_all(const struct fabric *f)
{
  return f->n_due ? f->heap[0].at : TIME_NEVER;
}

/* --- building ----------------------------------------------------------------------------------- */

static struct wire_config config_of(const struct link_params *p, bool back)
{
  uint64_t bytes_per_us = (uint64_t)(back ? p->back_mbps : p->mbps) * p->lanes;
  return (struct wire_config){.femtos_per_byte = div_up(1000000000, bytes_per_us),
                              .latency = (picos)p->latency_ns * 1000,
                              .packet_bytes = p->packet_bytes,
                              .copy_packet_bytes = p->copy_packet_bytes,
                              .ack_bytes = p->ack_bytes,
                              .overhead_bytes = p->overhead_bytes,
                              .credits = p->credits * p->lanes};
}

static void build_switch(struct fabric_node *x, const struct switch_params *p, line_reduce_fn *reduce)
{
  x->latency = (picos)p->latency_ns * 1000;
  if (!p->multicast) return;
  x->casts = mem_zeroed(1, sizeof *x->casts);
  cast_table_init(x->casts, p->multicast, reduce);
}

struct fabric *fabric_new(const struct machine_preset *m, const struct topology *t, line_reduce_fn *reduce)
{
  struct fabric *f = mem_zeroed(1, sizeof *f);
  *f = (struct fabric){.m = m, .topology = t, .n_wires = 2 * m->n_links, .n_nodes = machine_nodes(m),
                       .waits = TIME_NEVER};
  f->wire = mem_zeroed(f->n_wires, sizeof *f->wire);
  f->node = mem_zeroed(f->n_nodes, sizeof *f->node);
  f->heap = mem_zeroed(f->n_wires, sizeof *f->heap);
  f->place = mem_zeroed(f->n_wires, sizeof *f->place);
  for (unsigned i = 0; i < f->n_nodes; i++)
    if (machine_node_kind(m, i) == NODE_SWITCH) build_switch(&f->node[i], machine_switch(m, i), reduce);
  for (unsigned i = 0; i < f->n_wires; i++) {
    const struct machine_link *l = &m->links[i / 2];
    const struct wire_config cfg = config_of(&m->link[l->group], i % 2);
    struct fabric_wire *w = &f->wire[i];
    wire_init(&w->wire, &cfg);
    w->to = l->end[1 - i % 2];
    w->lane = (uint16_t)f->node[w->to].n_lanes++;
    f->place[i] = NOT_DUE;
  }
  return f;
}

void fabric_free(struct fabric *f)
{
  if (!f) return;
  for (unsigned i = 0; i < f->n_wires; i++) {
    wire_free(&f->wire[i].wire);
    link_ring_free(&f->wire[i].flight);
  }
  for (unsigned i = 0; i < f->n_nodes; i++) {
    if (f->node[i].casts) cast_table_free(f->node[i].casts);
    mem_free(f->node[i].casts);
  }
  mem_free(f->wire);
  mem_free(f->node);
  mem_free(f->heap);
  mem_free(f->place);
  mem_free(f);
}

void fabric_join(struct fabric *f, unsigned node, struct link_port *const *port, unsigned n)
{
  struct fabric_node *x = &f->node[node];
  BUG_ON(x->n_lanes > LINK_PORT_LANES);
  x->port = port;
  x->n_ports = n;
  for (unsigned i = 0; i < n; i++) port[i]->n_lanes = x->n_lanes;
}

void fabric_expect(struct fabric *f, unsigned node, fabric_wake_fn *wake, void *ctx)
{
  f->node[node].wake = wake;
  f->node[node].ctx = ctx;
}

void fabric_serve(struct fabric *f, unsigned node, fabric_serve_fn *serve, void *ctx)
{
  f->node[node].serve = serve;
  f->node[node].ctx = ctx;
}

void fabric_watch(struct fabric *f, void (*answered)(void *ctx, const struct link_msg *, const void *bytes), void *ctx)
{
  f->answered = answered;
  f->watch_ctx = ctx;
}

void fabric_log(struct fabric *f, struct link_log *log)
{
  f->log = log;
}

picos fabric_epoch(const struct fabric *f, const picos *window)
{
  picos least = TIME_NEVER;
  for (unsigned i = 0; i < f->n_wires; i++) {
    const struct fabric_wire *w = &f->wire[i];
    if (!f->node[w->to].n_ports && !f->node[w->to].wake) continue;
    if (w->wire.cfg.latency <= window[w->to]) return 0;
    least = earlier(least, w->wire.cfg.latency - window[w->to]);
  }
  return least;
}

unsigned fabric_taken(const struct fabric *f, unsigned node, picos *taken, unsigned n)
{
  unsigned found = 0;
  for (unsigned i = 0; i < f->n_wires && found < n; i++) {
    const struct machine_link *l = &f->m->links[i / 2];
    const struct wire *w = &f->wire[i].wire;
    if (l->end[0] == node || l->end[1] == node) taken[found++] = w->stats.bytes * w->cfg.femtos_per_byte / 1000;
  }
  return found;
}

/* --- messages ----------------------------------------------------------------------------------- */

/* Where it goes from there. Answers to a switch's requests go back to it. */
static struct topology_hop next_hop(const struct fabric *f, unsigned node, const struct link_msg *m)
{
  const bool back = m->via && m->via - 1u != node;
  if (!back) return topology_next(f->topology, m->from, node, m->to, m->line);
  return topology_link(f->topology, node, m->via - 1u);
}

/* To the wire that leads on from `node`; m->arrive: when it can go. */
/* body: the bytes behind the header. */
static void send_on(struct fabric *f, unsigned node, const struct link_msg *m, const void *body)
{
  struct topology_hop hop = next_hop(f, node, m);
  unsigned wire = 2u * hop.link + hop.back;
  wire_push(&f->wire[wire].wire, m, body);
  note_next(f, wire);
}

/* A message of a ring, which has its bytes behind it. */
static void forward(struct fabric *f, unsigned node, const struct link_msg *m)
{
  send_on(f, node, m, link_msg_body(m));
}

/* What came in by a wire is let go. */
static void give_back(struct fabric *f, const struct link_msg *m, picos at)
{
  if (m->wire != WIRE_NONE && wire_give_back(&f->wire[m->wire].wire, m, at)) note_next(f, m->wire);
}

void fabric_answer(struct fabric *f, const struct link_msg *to, enum link_msg_kind kind, uint32_t payload,
                   uint32_t body, const void *bytes, picos at)
{
  const struct link_msg m = {.arrive = at, .last = at, .line = to->line, .payload = payload, .tag = to->tag,
                             .body = body, .from = to->to, .to = to->from, .wire = WIRE_NONE, .kind = (uint8_t)kind,
                             .port = to->port};
  if (f->answered) f->answered(f->watch_ctx, &m, bytes);
  send_on(f, to->to, &m, bytes);
}

/* The first message of a domain's ports that can go before `to`. */
static struct link_port *first_port(struct fabric *f, const struct fabric_node *x, picos to)
{
  struct link_port *first = NULL;
  for (unsigned i = 0; i < x->n_ports; i++) {
    const struct link_msg *m = link_ring_front(&x->port[i]->out);
    if (!m) continue;
    if (m->arrive >= to) f->waits = earlier(f->waits, m->arrive);
    else if (!first || m->arrive < link_ring_front(&first->out)->arrive) first = x->port[i];
  }
  return first;
}

/* What domains have sent and taken. What can go only later stays at its port: others may come before it. */
static void collect(struct fabric *f, picos to)
{
  f->waits = TIME_NEVER;
  for (unsigned i = 0; i < f->n_nodes; i++) {
    const struct fabric_node *x = &f->node[i];
    for (unsigned k = 0; k < x->n_ports; k++)
      for (const struct link_msg *m; (m = link_ring_front(&x->port[k]->taken)); link_ring_pop(&x->port[k]->taken))
        give_back(f, m, m->arrive);
    for (struct link_port *p; (p = first_port(f, x, to)); link_ring_pop(&p->out))
      forward(f, i, link_ring_front(&p->out));
  }
}

/* The message is at the next node: in a port, there to be taken; or on its way to a switch or to who serves it. */
static void pass(struct fabric *f, unsigned wire, const struct link_msg *m, const struct wire_passage *p)
{
  struct fabric_wire *w = &f->wire[wire];
  const struct fabric_node *x = &f->node[w->to];
  struct link_ring *to = &w->flight;
  picos at = later(w->last, x->latency ? p->head : p->tail); /* an acknowledgement may have passed others */
  if (x->wake && !x->n_ports) x->wake(x->ctx, w->to);
  if (x->n_ports) {
    struct link_port *port = x->port[link_msg_class(m->kind) == LINK_REQUESTS ? 0 : m->port];
    to = &port->in[w->lane];
    if (port->wake && at < *port->wake) *port->wake = at;
  }
  struct link_msg *there = link_ring_push(to, m, link_msg_body(m));
  there->arrive = w->last = at;
  there->last = p->tail;
  there->wire = (uint16_t)wire;
}

/* --- requests to several ------------------------------------------------------------------------- */

/* To each member: the credit by which it came goes back with the last one. */
static void cast(struct fabric *f, unsigned node, const struct link_msg *m)
{
  struct cast_table *t = f->node[node].casts;
  const uint32_t number = cast_table_enter(t, m);
  const unsigned n = t->entry[number].team.n;
  for (unsigned i = 0; i < n; i++) {
    uint8_t body[CAST_BODY_MAX];
    struct link_msg leg = cast_table_leg(t, number, i, body);
    leg.via = (uint16_t)(node + 1);
    if (i == n - 1) leg.wire = m->wire;
    send_on(f, node, &leg, body);
  }
}

/* m->arrive: when the switch has passed it. */
static void take_cast(struct fabric *f, unsigned node, const struct link_msg *m)
{
  struct cast_table *t = f->node[node].casts;
  BUG_ON(!t);
  if (t->n_spare && !t->held.n) cast(f, node, m);
  else link_ring_push(&t->held, m, link_msg_body(m));
}

/* The last answer to a request makes its own, and room for one that waits. */
static void take_cast_answer(struct fabric *f, unsigned node, const struct link_msg *m)
{
  struct cast_table *t = f->node[node].casts;
  uint8_t bytes[LINE_OP_BYTES];
  if (!cast_table_answer(t, m)) return;
  struct link_msg answer = cast_table_leave(t, m->tag, bytes);
  answer.arrive = m->arrive;
  answer.last = m->last;
  send_on(f, node, &answer, bytes);
  struct link_msg *next = link_ring_front(&t->held);
  if (!next) return;
  next->arrive = later(next->arrive, m->arrive);
  next->last = later(next->last, next->arrive);
  cast(f, node, next);
  link_ring_pop(&t->held);
}

/* --- messages go on ------------------------------------------------------------------------------ */

static void go_on(struct fabric *f, unsigned wire, struct link_msg *m, picos now)
{
  const unsigned node = f->wire[wire].to;
  m->arrive = now + f->node[node].latency;
  m->last += f->node[node].latency;
  if (m->legs) {
    take_cast(f, node, m);
  } else if (m->via == node + 1) {
    give_back(f, m, now);
    take_cast_answer(f, node, m);
  } else {
    forward(f, node, m);
  }
}

static void arrive(struct fabric *f, unsigned wire, picos now)
{
  struct fabric_wire *w = &f->wire[wire];
  const struct fabric_node *x = &f->node[w->to];
  struct link_msg *m = link_ring_front(&w->flight);
  if (m->to != w->to) { /* a switch, or a socket on the way to another node */
    go_on(f, wire, m, now);
  } else {
    BUG_ON(!x->serve);
    give_back(f, m, x->serve(x->ctx, f, m, now));
  }
  link_ring_pop(&w->flight);
}

/* before: what the wire had carried until then. */
static void note_passage(struct fabric *f, unsigned wire, picos now, const struct wire_stats *before)
{
  const struct wire *w = &f->wire[wire].wire;
  link_log_add(f->log, wire, now, w->stats.payload - before->payload, w->stats.bytes - before->bytes,
               w->cfg.femtos_per_byte);
}

static void step(struct fabric *f, unsigned wire, picos now)
{
  struct fabric_wire *w = &f->wire[wire];
  const struct link_msg *landed = link_ring_front(&w->flight);
  if (landed && landed->arrive <= now) {
    arrive(f, wire, now);
  } else {
    struct wire_passage p;
    const struct wire_stats before = w->wire.stats;
    struct link_msg *m = wire_send(&w->wire, now, &p);
    if (m) {
      if (f->log) note_passage(f, wire, now, &before);
      give_back(f, m, now);
      pass(f, wire, m, &p);
      wire_pop(&w->wire, m);
      f->moved++;
    }
  }
  note_next(f, wire);
}

/* --- part --------------------------------------------------------------------------------------- */

static picos fabric_run(void *self, picos from, picos to)
{
  struct fabric *f = self;
  (void)from;
  collect(f, to);
  while (next_of_all(f) < to) step(f, f->heap[0].wire, f->heap[0].at);
  return earlier(next_of_all(f), f->waits);
}

static uint64_t fabric_progress(const void *self)
{
  return ((const struct fabric *)self)->moved;
}

static bool fabric_busy(const void *self)
{
  const struct fabric *f = self;
  for (unsigned i = 0; i < f->n_wires; i++)
    if (wire_busy(&f->wire[i].wire) || f->wire[i].flight.n) return true;
  for (unsigned i = 0; i < f->n_nodes; i++)
    if (f->node[i].casts && cast_table_busy(f->node[i].casts)) return true;
  return f->waits != TIME_NEVER;
}

static void fabric_dump(const void *self, FILE *out)
{
  const struct fabric *f = self;
  for (unsigned i = 0; i < f->n_wires; i++) {
    const struct wire *w = &f->wire[i].wire;
    const struct machine_link *l = &f->m->links[i / 2];
    char a[NODE_NAME_MAX], b[NODE_NAME_MAX];
    if (!wire_busy(w)) continue;
    fprintf(out, "  link %s to %s: %u requests and %u answers wait, credits left %u and %u\n",
            machine_node_name(f->m, l->end[i % 2], a), machine_node_name(f->m, l->end[1 - i % 2], b),
            w->waiting[LINK_REQUESTS].n, w->waiting[LINK_ANSWERS].n, w->credit[LINK_REQUESTS], w->credit[LINK_ANSWERS]);
  }
}

const struct part_ops fabric_ops = {fabric_run, fabric_progress, fabric_busy, fabric_dump};
