#include "time/link/hub_in.h"

#include <string.h>

#include "base/arith.h"
#include "base/bug.h"
#include "time/link/line_home.h"

enum { TXN_LINES = 8 }; /* of a job: HUB_JOB_BYTES, and one more when they begin inside a line */

_Static_assert(HUB_JOBS * TXN_LINES <= 1 << 16 && HUB_JOB_BYTES / LINE_BYTES < TXN_LINES, "mem_req.txn holds both");

void hub_in_init(struct hub_in *h, struct arena *a, const struct params *p, unsigned id, line_apply_fn *apply,
                 struct gmem *const *images)
{
  *h = (struct hub_in){
      .apply = apply, .images = images,
      .n_spare = HUB_JOBS, .lines_left = p->dma_lines, .request = params_request_ps(p)};
  requester_init(&h->r, a, &hub_in_ops, id, p->dma_lines);
  h->job = ARENA_ARRAY(a, struct hub_job, HUB_JOBS);
  h->spare = ARENA_ARRAY(a, uint16_t, HUB_JOBS);
  for (unsigned i = 0; i < HUB_JOBS; i++) h->spare[i] = (uint16_t)(HUB_JOBS - 1 - i);
}

void hub_in_free(struct hub_in *h)
{
  link_port_free(&h->port);
}

static void hub_in_start(struct requester *r, struct gmem *image)
{
  ((struct hub_in *)(void *)r)->image = image;
}

/* --- messages ----------------------------------------------------------------------------------- */

static unsigned lines_of(const struct link_bytes *b)
{
  return (unsigned)((b->addr + b->n - 1) / LINE_BYTES - b->addr / LINE_BYTES + 1);
}

/* Line number i of what is asked for: its bytes [from, to). */
static uint64_t line_of(const struct link_bytes *b, unsigned i, unsigned *from, unsigned *to)
{
  uint64_t line = b->addr / LINE_BYTES + i;
  *from = i ? 0 : (unsigned)(b->addr % LINE_BYTES);
  *to = (unsigned)earlier(b->addr + b->n - line * LINE_BYTES, LINE_BYTES);
  return line;
}

static void read_body(struct hub_job *j, const struct link_msg *m)
{
  const uint8_t *body = link_msg_body(m);
  memcpy(&j->at, body, sizeof j->at);
  size_t rest = m->body - sizeof j->at;
  if (m->kind == LINK_STORE) memcpy(&j->store, body, sizeof j->store);
  else if (m->kind == LINK_ATOMIC) memcpy(&j->op, body + sizeof j->at, earlier(rest, sizeof j->op));
  else if (m->kind == LINK_WRITE) memcpy(j->bytes, body + sizeof j->at, earlier(rest, sizeof j->bytes));
  BUG_ON(j->at.n > HUB_JOB_BYTES);
}

/* A masked store, an atomic: the sectors that they touch. */
static void touched(const struct hub_job *j, unsigned *from, unsigned *to)
{
  *from = LINE_BYTES, *to = 0;
  for (unsigned i = 0; i < LINE_BYTES; i++)
    if (j->m.kind == LINK_STORE && j->store.mask[i / 64] >> i % 64 & 1) {
      *from = (unsigned)earlier(*from, i);
      *to = i + 1;
    }
  for (unsigned i = 0; j->m.kind == LINK_ATOMIC && i < j->op.lanes; i++) {
    *from = (unsigned)earlier(*from, j->op.lane[i].offset);
    *to = (unsigned)later(*to, j->op.lane[i].offset + j->op.bytes);
  }
  if (*from >= *to) *from = 0, *to = 1;
}

static enum mem_op op_of(const struct hub_job *j)
{
  if (j->m.kind == LINK_READ) return MEM_LOAD;
  if (j->m.kind != LINK_ATOMIC) return MEM_STORE;
  return j->at.n ? MEM_ATOMIC : MEM_RED;
}

/* Most updates of one word, as slices count them. */
static uint8_t repeats_of(const struct line_op *op)
{
  uint8_t most = 0, n[LINE_BYTES / WORD_BYTES] = {0};
  for (unsigned i = 0; i < op->lanes; i++) {
    uint8_t *x = &n[op->lane[i].offset % LINE_BYTES / WORD_BYTES];
    if (++*x > most) most = *x;
  }
  return most;
}

static void send_line(struct hub_in *h, unsigned number, unsigned i, picos now)
{
  struct hub_job *j = &h->job[number];
  const struct link_bytes line = {j->at.addr, LINE_BYTES};
  bool whole = j->m.kind == LINK_STORE || j->m.kind == LINK_ATOMIC;
  unsigned from, to;
  uint64_t name = line_of(whole ? &line : &j->at, i, &from, &to);
  if (whole) touched(j, &from, &to);
  requester_send(&h->r, now + h->request, name, from, to, op_of(j), number * TXN_LINES + i);
  if (j->m.kind != LINK_ATOMIC) return;
  struct mem_req *q = &h->r.out.slot[(h->r.out.head + h->r.out.n - 1) & (h->r.out.cap - 1)];
  enum { WIDE_BYTES = 8 };
  q->wide = (uint8_t)earlier(UINT8_MAX, j->op.lanes * (j->op.bytes / WIDE_BYTES));
  q->repeats = repeats_of(&j->op) & 0x7fu;
}

static struct gmem *image_for(const struct hub_in *h, const struct hub_job *j)
{
  const bool own = !h->images || !h->images[j->m.from] || gmem_ptr(h->image, j->at.addr, 1);
  return own ? h->image : h->images[j->m.from];
}

static void answer(struct hub_in *h, unsigned number, picos now);

/* Whether a copy engine's bytes need no requests: nobody else uses the memory. */
static bool fluid(const struct hub_in *h, const struct hub_job *j)
{
  return h->others && j->m.port == LINK_PORT_DMA && (j->m.kind == LINK_READ || j->m.kind == LINK_WRITE) &&
         !h->others(h->ctx);
}

/* There and back through the crossbar, which is else in the times of the requests. */
static void move_at_once(struct hub_in *h, unsigned number, picos now)
{
  struct hub_job *j = &h->job[number];
  struct gmem *image = image_for(h, j);
  const uint64_t n = j->at.n;
  j->failed = !(j->m.kind == LINK_READ ? gmem_read(image, j->at.addr, j->bytes, n)
                                       : j->m.in_place || gmem_write(image, j->at.addr, j->bytes, n));
  answer(h, number, server_take(&h->memory, now + 2 * h->request, n));
}

static void take_message(struct hub_in *h, unsigned lane, picos now)
{
  const struct link_msg *m = link_port_front(&h->port, lane);
  unsigned number = h->spare[--h->n_spare];
  struct hub_job *j = &h->job[number];
  j->m = *m;
  j->failed = false;
  read_body(j, m);
  link_port_pop(&h->port, lane, now);
  h->stats.messages++;
  if (fluid(h, j)) {
    move_at_once(h, number, now);
    return;
  }
  bool line = j->m.kind == LINK_STORE || j->m.kind == LINK_ATOMIC;
  j->pending = (uint16_t)(line ? 1 : lines_of(&j->at));
  h->lines_left -= j->pending;
  for (unsigned i = 0; i < j->pending; i++) send_line(h, number, i, now);
}

static void answer(struct hub_in *h, unsigned number, picos now)
{
  struct hub_job *j = &h->job[number];
  bool data = j->m.kind == LINK_READ || (j->m.kind == LINK_ATOMIC && j->at.n);
  uint32_t n = data ? (uint32_t)j->at.n : 0;
  const struct link_msg m = {.arrive = later(now, h->port.last_sent),
                             .line = j->m.line,
                             .payload = j->m.kind == LINK_ATOMIC ? (uint32_t)j->op.lanes * j->op.bytes : n,
                             .tag = j->m.tag,
                             .body = !j->failed ? n : data ? 0 : 1,
                             .from = j->m.to,
                             .to = j->m.from,
                             .kind = data ? LINK_DATA : LINK_DONE,
                             .port = j->m.port,
                             .via = j->m.via};
  link_port_send(&h->port, &m, j->bytes);
  h->spare[h->n_spare++] = (uint16_t)number;
}

static void take_reply(struct hub_in *h, picos now)
{
  unsigned number = reply_queue_front(&h->r.in)->txn / TXN_LINES;
  reply_queue_pop(&h->r.in);
  h->lines_left++;
  if (--h->job[number].pending == 0) answer(h, number, now);
}

/* --- at the slices ------------------------------------------------------------------------------ */

static bool perform_line(struct hub_in *h, struct hub_job *j, unsigned i)
{
  struct gmem *image = image_for(h, j);
  unsigned from, to;
  if (j->m.kind == LINK_STORE) return line_home_store(image, &j->store);
  if (j->m.kind == LINK_ATOMIC) return line_home_atomic(image, h->apply, j->at.addr, &j->op, j->bytes);
  uint64_t addr = line_of(&j->at, i, &from, &to) * LINE_BYTES + from;
  uint8_t *bytes = j->bytes + (addr - j->at.addr);
  if (j->m.kind == LINK_READ) return gmem_read(image, addr, bytes, to - from);
  return j->m.in_place || gmem_write(image, addr, bytes, to - from);
}

static bool hub_in_perform(struct requester *r, const struct mem_req *q, picos now, struct gmem_view *direct,
                           struct fault *f)
{
  struct hub_in *h = (struct hub_in *)(void *)r;
  struct hub_job *j = &h->job[q->txn / TXN_LINES];
  (void)now, (void)direct, (void)f;
  if (!perform_line(h, j, q->txn % TXN_LINES)) __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
  return true;
}

/* --- part --------------------------------------------------------------------------------------- */

static picos hub_in_run(void *self, picos from, picos to)
{
  struct hub_in *h = self;
  unsigned lane = 0;
  for (;;) {
    const struct mem_reply *reply = reply_queue_front(&h->r.in);
    picos back = reply ? reply->arrive : TIME_NEVER, message = link_port_next(&h->port, &lane);
    if (!h->n_spare || h->lines_left < TXN_LINES) message = TIME_NEVER; /* until an answer makes room */
    picos at = later(from, earlier(back, message));
    if (at >= to) return earlier(back, message);
    if (back <= message) take_reply(h, at);
    else take_message(h, lane, at);
  }
}

static uint64_t hub_in_progress(const void *self)
{
  return ((const struct hub_in *)self)->stats.messages;
}

static bool hub_in_busy(const void *self)
{
  const struct hub_in *h = self;
  return h->n_spare < HUB_JOBS;
}

static void hub_in_dump(const void *self, FILE *out)
{
  fprintf(out, "  hub: %u requests of others\n", HUB_JOBS - ((const struct hub_in *)self)->n_spare);
}

const struct requester_ops hub_in_ops = {{hub_in_run, hub_in_progress, hub_in_busy, hub_in_dump}, hub_in_start,
                                         hub_in_perform};
