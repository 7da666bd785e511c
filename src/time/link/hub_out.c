#include "time/link/hub_out.h"

#include <string.h>

#include "base/arith.h"
#include "base/line_op.h"
#include "base/place.h"

void hub_out_init(struct hub_out *h, struct arena *a, const struct hub_out_config *cfg)
{
  *h = (struct hub_out){.cfg = *cfg, .reads_left = cfg->reads, .peer_reads_left = cfg->peer_reads,
                        .n_spare = HUB_MESSAGES};
  h->sent = ARENA_ARRAY(a, struct mem_req, HUB_MESSAGES);
  h->sent_at = ARENA_ARRAY(a, picos, HUB_MESSAGES);
  h->spare = ARENA_ARRAY(a, uint16_t, HUB_MESSAGES);
  for (unsigned i = 0; i < HUB_MESSAGES; i++) h->spare[i] = (uint16_t)i;
}

void hub_out_free(struct hub_out *h)
{
  link_port_free(&h->port);
}

void hub_out_start(struct hub_out *h, struct gmem *image)
{
  h->image = image;
  h->fault = (struct fault){0};
}

static unsigned receiver(const struct hub_out *h)
{
  return h->xbar->n_slices + 1;
}

static uint32_t *reads_left(struct hub_out *h, const struct mem_req *r)
{
  return r->to - 1 < h->cfg.sockets ? &h->peer_reads_left : &h->reads_left;
}

static bool is_store(const struct mem_req *r)
{
  return r->op == MEM_STORE;
}

static bool is_atomic(const struct mem_req *r)
{
  return r->op == MEM_ATOMIC || r->op == MEM_RED;
}

/* The core's lanes on this line. */
static bool perform(struct hub_out *h, const struct mem_req *r, struct gmem_window *x, picos now)
{
  struct core *c = h->core[r->from];
  struct gmem_view v = {.image = h->image, .window = x};
  return c->ops->perform(c, r, now, &v, &h->fault);
}

/* --- requests ----------------------------------------------------------------------------------- */

/* A line of a multicast object: its legs, and what is behind them. */
struct to_team {
  struct link_team team;
  uint8_t rest[sizeof(struct link_store) + sizeof(struct line_op)];
};

static struct link_team team_of(const struct hub_out *h, const struct mem_req *r)
{
  const uint64_t addr = line_number(r->line) * LINE_BYTES;
  const struct multicast_span *s = multicast_span(gmem_multicast(h->image), addr, LINE_BYTES);
  struct link_team t = {.n = (uint16_t)s->n};
  for (unsigned i = 0; i < s->n; i++) {
    t.leg[i].line = s->leg[i].addr + (addr - s->addr);
    t.leg[i].node = s->leg[i].node;
  }
  return t;
}

static void send(struct hub_out *h, const struct mem_req *r, enum link_msg_kind kind, uint32_t payload,
                 const void *body, size_t bytes, picos now)
{
  uint16_t tag = h->spare[--h->n_spare];
  const bool legs = r->to == PLACE_MULTICAST;
  struct to_team all;
  unsigned to = r->to - 1u;
  if (legs) {
    all.team = team_of(h, r);
    to = all.team.leg[all.team.leg[0].node == h->cfg.node].node; /* its way leads to a switch that has all of them */
    memcpy(all.rest, body, bytes);
    body = &all;
    bytes += sizeof all.team;
  }
  h->sent[tag] = *r;
  h->sent_at[tag] = now;
  const struct link_msg m = {.arrive = later(now, h->port.last_sent),
                             .line = line_number(r->line),
                             .payload = payload,
                             .tag = tag,
                             .body = (uint32_t)bytes,
                             .from = h->cfg.node,
                             .to = (uint16_t)to,
                             .kind = (uint8_t)kind,
                             .port = LINK_PORT_CORES,
                             .in_place = kind == LINK_WRITE,
                             .legs = legs};
  link_port_send(&h->port, &m, body);
}

/* From the first to the last sector asked for. */
static struct link_bytes bytes_of(const struct mem_req *r)
{
  unsigned first = (unsigned)__builtin_ctz(r->sectors), end = 32 - (unsigned)__builtin_clz(r->sectors);
  return (struct link_bytes){line_number(r->line) * LINE_BYTES + first * SECTOR_BYTES, (end - first) * SECTOR_BYTES};
}

/* What lanes write shows on lines of zeros and of ones alike; the rest is not theirs. */
static bool send_store(struct hub_out *h, const struct mem_req *r, picos now)
{
  struct link_store s = {.line = {line_number(r->line) * LINE_BYTES, LINE_BYTES}};
  struct gmem_window zeros = {.addr = s.line.addr}, ones = {.addr = s.line.addr};
  uint32_t payload = 0;
  memset(ones.bytes, 0xff, sizeof ones.bytes);
  if (!perform(h, r, &zeros, now) || !perform(h, r, &ones, now)) return false;
  memcpy(s.bytes, zeros.bytes, sizeof s.bytes);
  for (unsigned i = 0; i < LINE_BYTES; i++) {
    if (zeros.bytes[i] != ones.bytes[i]) continue;
    s.mask[i / 64] |= (uint64_t)1 << i % 64;
    payload++;
  }
  send(h, r, LINK_STORE, payload, &s, sizeof s, now);
  return true;
}

/* What a copy of an SM stores is in memory when its requests come here: the link carries it. */
static bool send_copied(struct hub_out *h, const struct mem_req *r, picos now)
{
  const struct link_bytes b = bytes_of(r);
  h->stats.copied += count_sectors(r->sectors);
  send(h, r, LINK_WRITE, (uint32_t)b.n, &b, sizeof b, now);
  return true;
}

static bool send_atomic(struct hub_out *h, const struct mem_req *r, picos now)
{
  struct core *c = h->core[r->from];
  struct {
    struct link_bytes line;
    struct line_op op;
  } body = {.line = {line_number(r->line) * LINE_BYTES, r->op == MEM_ATOMIC ? LINE_BYTES : 0}};
  if (!c->ops->line_op || !c->ops->line_op(c, r, &body.op)) {
    h->fault = (struct fault){.kind = FAULT_UNSUPPORTED};
    snprintf(h->fault.text, sizeof h->fault.text, "an atomic on memory behind a link that cannot be performed there");
    return false;
  }
  uint32_t payload = (uint32_t)body.op.lanes * body.op.bytes;
  send(h, r, LINK_ATOMIC, payload, &body, sizeof body.line + line_op_bytes(&body.op), now);
  return true;
}

/* A load of lines of several GPUs, which are reduced to one. False: an ordinary load. */
static bool send_reduce(struct hub_out *h, const struct mem_req *r, picos now)
{
  struct core *c = h->core[r->from];
  struct {
    struct link_bytes at;
    struct line_op op;
  } body = {.at = bytes_of(r)};
  if (!c->ops->line_op || !c->ops->line_op(c, r, &body.op)) return false;
  --*reads_left(h, r);
  send(h, r, LINK_READ, 0, &body, sizeof body.at + line_op_bytes(&body.op), now);
  return true;
}

/* Where there is no memory, lanes fault as they would on memory of this GPU. */
static bool fault(struct hub_out *h, const struct mem_req *r, picos now)
{
  const uint64_t addr = line_number(r->line) * LINE_BYTES;
  if (!perform(h, r, NULL, now)) return false;
  h->fault = (struct fault){.kind = FAULT_ILLEGAL_ADDRESS, .addr = addr};
  snprintf(h->fault.text, sizeof h->fault.text, "no memory at 0x%llx, behind a link", (unsigned long long)addr);
  return false;
}

static bool is_multicast(const struct hub_out *h, const struct mem_req *r)
{
  return r->to == PLACE_MULTICAST &&
         multicast_span(gmem_multicast(h->image), line_number(r->line) * LINE_BYTES, LINE_BYTES);
}

static bool take_request(struct hub_out *h, picos now)
{
  const struct mem_req r = *xbar_front(h->xbar, receiver(h));
  xbar_pop(h->xbar, receiver(h), now);
  const bool legs = is_multicast(h, &r);
  if (!legs && !gmem_ptr(h->image, line_number(r.line) * LINE_BYTES, 1)) return fault(h, &r, now);
  h->stats.requests++;
  if (r.to == PLACE_FAULTS) { /* its sectors count where they are performed */
    uvm_park(h->uvm, &r, now);
    return true;
  }
  h->stats.sectors[mem_req_op(r.kind, r.op)] += count_sectors(r.sectors);
  if (h->uvm) uvm_remote(h->uvm, &r, now);
  if (r.kind == REQ_WRITE) return send_copied(h, &r, now);
  if (is_store(&r)) return send_store(h, &r, now);
  if (legs && r.op != MEM_RED) return (r.op == MEM_LOAD && send_reduce(h, &r, now)) || fault(h, &r, now);
  if (r.op != MEM_RED) --*reads_left(h, &r);
  if (is_atomic(&r)) return send_atomic(h, &r, now);
  const struct link_bytes b = bytes_of(&r);
  send(h, &r, LINK_READ, 0, &b, sizeof b, now);
  return true;
}

/* --- answers ------------------------------------------------------------------------------------ */

/* Lanes run on the bytes that came. */
static bool finish(struct hub_out *h, const struct mem_req *r, const struct link_msg *m, picos now)
{
  struct gmem_window x = {.addr = line_number(r->line) * LINE_BYTES};
  struct link_bytes b = is_atomic(r) ? (struct link_bytes){x.addr, LINE_BYTES} : bytes_of(r);
  if (m->kind == LINK_DATA && m->body == b.n) {
    memcpy(x.bytes + (b.addr - x.addr), link_msg_body(m), b.n);
    return perform(h, r, &x, now);
  }
  return (m->kind == LINK_DONE && m->body == 0) || fault(h, r, now);
}

static bool take_answer(struct hub_out *h, unsigned lane, picos now)
{
  const struct link_msg *m = link_port_front(&h->port, lane);
  const struct mem_req r = h->sent[m->tag];
  bool data = !is_store(&r) && r.op != MEM_RED, ok = finish(h, &r, m, now);
  h->spare[h->n_spare++] = (uint16_t)m->tag;
  if (data) {
    ++*reads_left(h, &r);
    h->stats.reads++;
    h->stats.read_wait += now - h->sent_at[m->tag];
  }
  link_port_pop(&h->port, lane, now);
  if (!ok) return false;
  h->stats.replies++;
  xbar_answer(h->xbar, receiver(h), &r, now, 0, false, data ? count_sectors(r.sectors) * SECTOR_BYTES : 0);
  return true;
}

/* --- managed memory ----------------------------------------------------------------------------- */

/* What waited for a page is sent again by its core. */
static void send_again(struct hub_out *h, picos now)
{
  for (struct mem_req r; fault_buffer_take_ready(&h->uvm->buffer, &r);) {
    r.kind = REQ_AGAIN;
    h->stats.replies++;
    xbar_answer(h->xbar, receiver(h), &r, now, 0, false, 0);
  }
}

/* --- part --------------------------------------------------------------------------------------- */

/* When the first request can be taken. */
static picos request_next(struct hub_out *h)
{
  picos at = xbar_ready(h->xbar, receiver(h));
  if (at == TIME_NEVER || !h->n_spare) return TIME_NEVER;
  const struct mem_req *r = xbar_front(h->xbar, receiver(h));
  if (r->to == PLACE_FAULTS) return at;
  return !is_store(r) && r->op != MEM_RED && !*reads_left(h, r) ? TIME_NEVER : at;
}

static picos hub_out_run(void *self, picos from, picos to)
{
  struct hub_out *h = self;
  unsigned lane = 0;
  if (h->fault.kind) return TIME_NEVER;
  xbar_look(h->xbar, receiver(h));
  for (;;) {
    picos request = request_next(h), answer = link_port_next(&h->port, &lane), next = earlier(request, answer);
    const picos driver = h->uvm ? uvm_gpu_next(h->uvm) : TIME_NEVER;
    if (earlier(next, driver) >= to) return earlier(next, driver);
    /* A request that waited for an answer goes behind it. */
    picos now = later(earlier(next, driver), later(from, h->xbar->slice[receiver(h)].last_out));
    bool ok = true;
    if (driver < next) uvm_gpu_step(h->uvm, now);
    else ok = answer <= request ? take_answer(h, lane, now) : take_request(h, now);
    if (!ok) return TIME_NEVER;
    if (h->uvm) send_again(h, now);
  }
}

static uint64_t hub_out_progress(const void *self)
{
  const struct hub_out *h = self;
  return h->stats.requests + h->stats.replies + (h->uvm ? uvm_progress(h->uvm) : 0);
}

static bool hub_out_busy(const void *self)
{
  const struct hub_out *h = self;
  return h->n_spare < HUB_MESSAGES || xbar_requests_waiting(h->xbar, receiver(h)) || (h->uvm && uvm_gpu_busy(h->uvm));
}

static void hub_out_dump(const void *self, FILE *out)
{
  const struct hub_out *h = self;
  fprintf(out, "  hub: %u requests wait for answers of links, %u in the crossbar\n", HUB_MESSAGES - h->n_spare,
          xbar_requests_waiting(h->xbar, receiver(h)));
}

const struct part_ops hub_out_ops = {hub_out_run, hub_out_progress, hub_out_busy, hub_out_dump};
