#include "time/dma/dma.h"

#include <string.h>

#include "base/arith.h"
#include "base/host_memory.h"

enum { NIL = UINT16_MAX, TXN_LINES = 64, FLUID_CHUNK = 16 << 10 };

/* BURST_READS: its bytes are asked for here; BURST_ASKED: there; BURST_WRITES: they are on their way to their place. */
enum burst_state { BURST_READS, BURST_ASKED, BURST_WRITES };

/* --- life --------------------------------------------------------------------------------------- */

/* Usable bytes of DRAM. */
static uint64_t memory_femtos(const struct params *p)
{
  uint64_t bytes_per_us = params_dram_bytes_per_second(p) / 1000000 * p->dram_efficiency_permille / 1000;
  return div_up(1000000000, bytes_per_us ? bytes_per_us : 1);
}

void dma_init(struct dma *d, struct arena *a, const struct dma_config *cfg)
{
  const struct params *p = cfg->params;
  *d = (struct dma){.cfg = *cfg, .n_engines = p->dma_engines, .lines_left = p->dma_lines};
  requester_init(&d->r, a, &dma_ops, cfg->id, 2 * p->dma_lines);
  d->burst = ARENA_ARRAY(a, struct dma_burst, DMA_BURSTS);
  d->data = ARENA_ARRAY(a, uint8_t, (size_t)DMA_BURSTS * DMA_BURST);
  for (unsigned i = 0; i < DMA_BURSTS; i++) d->burst[i].next = (uint16_t)(i + 1 < DMA_BURSTS ? i + 1 : NIL);
  for (unsigned i = 0; i < DMA_ENGINES; i++) d->engine[i].first = NIL;
  d->memory.femtos_per_byte = memory_femtos(p);
  d->request = params_request_ps(p);
}

void dma_free(struct dma *d)
{
  for (unsigned i = 0; i < d->n_engines; i++) mem_free(d->engine[i].queue);
  mem_free(d->done);
  link_port_free(&d->port);
}

static void dma_start(struct requester *r, struct gmem *image)
{
  ((struct dma *)(void *)r)->image = image;
}

/* --- copies ------------------------------------------------------------------------------------- */

void dma_post(struct dma *d, const struct dma_copy *c)
{
  struct dma_engine *e = &d->engine[c->engine % d->n_engines];
  if (e->n == e->cap) {
    uint32_t cap = e->cap ? 2 * e->cap : 8;
    struct dma_copy *queue = mem_alloc(cap * sizeof *queue);
    for (uint32_t i = 0; i < e->n; i++) queue[i] = e->queue[(e->head + i) & (e->cap - 1)];
    mem_free(e->queue);
    e->queue = queue, e->cap = cap, e->head = 0;
  }
  e->queue[(e->head + e->n++) & (e->cap - 1)] = *c;
  if (e->n == 1) e->ready = later(e->ready, c->arrive);
  if (d->r.wake && e->ready < *d->r.wake) *d->r.wake = e->ready;
}

static struct dma_copy *copy_of(const struct dma_engine *e)
{
  return &e->queue[e->head];
}

bool dma_idle(const struct dma *d)
{
  for (unsigned i = 0; i < d->n_engines; i++)
    if (d->engine[i].n) return false;
  return true;
}

bool dma_take_done(struct dma *d, struct dma_done *out)
{
  if (!d->n_done) return false;
  *out = d->done[d->done_head];
  d->done_head = --d->n_done ? (d->done_head + 1) & (d->done_cap - 1) : 0;
  return true;
}

static void say_moved(const struct dma *d, uint64_t ticket, picos at)
{
  struct dma_mover *m = &d->mover[ticket];
  m->moved++;
  m->at = later(m->at, at);
  part_wake(m->wake, at);
}

void dma_note_done(struct dma *d, const struct dma_done *x)
{
  if (d->n_done == d->done_cap) {
    uint32_t cap = d->done_cap ? 2 * d->done_cap : 8;
    struct dma_done *done = mem_alloc(cap * sizeof *done);
    for (uint32_t i = 0; i < d->n_done; i++) done[i] = d->done[(d->done_head + i) & (d->done_cap - 1)];
    mem_free(d->done);
    d->done = done, d->done_cap = cap, d->done_head = 0;
  }
  d->done[(d->done_head + d->n_done++) & (d->done_cap - 1)] = *x;
}

static void say_done(struct dma *d, const struct dma_engine *e, picos at)
{
  const struct dma_done x = {copy_of(e)->ticket, e->begin, at, e->failed};
  dma_note_done(d, &x);
}

static bool stays_inside(const struct dma_copy *c)
{
  return c->dst_node == DMA_HERE && (c->fill || c->src_node == DMA_HERE);
}

static struct dma_copy *queued(const struct dma_engine *e, uint32_t i)
{
  return &e->queue[(e->head + i) & (e->cap - 1)];
}

/* Copies inside are kernels on a GPU, and wait by the priority of their stream; those over links do not, so none of
 * them is passed. */
static uint32_t highest(const struct dma_engine *e, picos now)
{
  uint32_t best = 0;
  for (uint32_t i = 0; i < e->n && stays_inside(queued(e, i)); i++)
    if (queued(e, i)->arrive <= now && queued(e, i)->priority > queued(e, best)->priority) best = i;
  return best;
}

static void choose_first(struct dma_engine *e)
{
  uint32_t best = highest(e, e->ready);
  const struct dma_copy first = *queued(e, best);
  for (; best; best--) *queued(e, best) = *queued(e, best - 1);
  *queued(e, 0) = first;
}

/* Of an engine, or of what feeds it. */
static uint64_t engine_femtos(const struct dma *d, const struct dma_copy *c)
{
  uint64_t own = params_l2_clock_ps(d->cfg.params) * 1000 / d->cfg.params->dma_bytes_per_cycle;
  return c->staging_mbps ? later(own, div_up(1000000000, c->staging_mbps)) : own;
}

static void begin(const struct dma *d, struct dma_engine *e)
{
  choose_first(e);
  const struct dma_copy *c = copy_of(e);
  e->rate.femtos_per_byte = engine_femtos(d, c);
  const struct dma_progress fresh = {.left = c->bytes * c->rows, .begin = e->ready};
  const struct dma_progress *x = c->before.begun ? &c->before : &fresh;
  e->active = true;
  e->failed = x->failed;
  e->begin = x->begin;
  e->row = x->row, e->column = x->column;
  e->left = x->left;
  e->ready += x->begun ? 0 : c->setup;
  e->last = e->ready;
  e->alone_fs = e->ready * 1000;
}

static bool is_drained(const struct dma_engine *e)
{
  const struct dma_copy *c = copy_of(e);
  return e->row * c->bytes + e->column + e->left == c->bytes * c->rows;
}

/* A higher one waits, and nothing of this one is under way. */
static void let_higher_go(struct dma_engine *e, picos at)
{
  if (e->n < 2 || !highest(e, at) || !is_drained(e)) return;
  copy_of(e)->before = (struct dma_progress){.begun = true, .failed = e->failed, .row = e->row, .column = e->column,
                                             .left = e->left, .begin = e->begin};
  e->active = false;
  e->ready = at;
}

/* n bytes are in their place. */
static void finish(struct dma *d, struct dma_engine *e, uint64_t n, picos at)
{
  e->last = later(e->last, at);
  e->left -= n;
  d->stats.bytes += n;
  if (e->left) {
    let_higher_go(e, at);
    return;
  }
  if (copy_of(e)->in_place) say_moved(d, copy_of(e)->ticket, e->last);
  else say_done(d, e, e->last);
  d->stats.copies++;
  e->active = false;
  e->ready = e->last;
  e->head = --e->n ? (e->head + 1) & (e->cap - 1) : 0;
  if (e->n) e->ready = later(e->ready, copy_of(e)->arrive);
}

/* Alone with the memory of the GPU. */
static bool fluid(const struct dma *d)
{
  unsigned active = 0;
  for (unsigned i = 0; i < d->n_engines; i++) active += d->engine[i].n > 0;
  return !d->cfg.lines && active <= 1 && !(d->cfg.others && d->cfg.others(d->cfg.ctx));
}

/* --- bursts ------------------------------------------------------------------------------------- */

static uint8_t *bytes_of(const struct dma *d, unsigned b)
{
  return d->data + (size_t)b * DMA_BURST;
}

/* Lines that [addr, addr + n) touches. */
static unsigned lines_of(uint64_t addr, uint64_t n)
{
  return (unsigned)((addr + n - 1) / LINE_BYTES - addr / LINE_BYTES + 1);
}

/* Asks slices for, or gives them, the lines of [addr, addr + n). */
static void send_lines(struct dma *d, unsigned b, uint64_t addr, enum mem_op op, picos now)
{
  struct dma_burst *x = &d->burst[b];
  unsigned lines = lines_of(addr, x->n);
  x->pending = (uint16_t)lines;
  for (unsigned i = 0; i < lines; i++) {
    uint64_t line = addr / LINE_BYTES + i;
    unsigned from = i ? 0 : (unsigned)(addr % LINE_BYTES);
    unsigned to = (unsigned)earlier(addr + x->n - line * LINE_BYTES, LINE_BYTES);
    requester_send(&d->r, now + d->request, line, from, to, op, b * TXN_LINES + i);
  }
}

static void send_message(struct dma *d, unsigned b, enum link_msg_kind kind, uint64_t addr, uint16_t node, picos now)
{
  struct dma_burst *x = &d->burst[b];
  const struct link_bytes h = {addr, x->n};
  bool write = kind == LINK_WRITE;
  uint8_t body[sizeof h + DMA_BURST];
  memcpy(body, &h, sizeof h);
  if (write) memcpy(body + sizeof h, bytes_of(d, b), x->n);
  struct link_msg m = {.arrive = later(now, d->port.last_sent),
                       .line = addr / LINE_BYTES,
                       .payload = write ? x->n : 0,
                       .tag = b,
                       .body = (uint32_t)(sizeof h + (write ? x->n : 0)),
                       .from = d->cfg.node,
                       .to = node,
                       .kind = (uint8_t)kind,
                       .port = LINK_PORT_DMA,
                       .program = copy_of(&d->engine[x->engine])->program,
                       .in_place = copy_of(&d->engine[x->engine])->in_place};
  x->pending = 1;
  d->engine[x->engine].on_links += x->n;
  link_port_send(&d->port, &m, body);
}

static void free_burst(struct dma *d, unsigned b, picos now)
{
  struct dma_burst *x = &d->burst[b];
  struct dma_engine *e = &d->engine[x->engine];
  e->failed |= x->failed;
  d->lines_left += lines_of(0, x->n) + 1;
  x->next = d->free;
  d->free = (uint16_t)b;
  finish(d, e, x->n, now);
}

/* To its place there, in the order in which bursts came, as the window allows. */
static void send_or_hold(struct dma *d, unsigned b, picos now)
{
  struct dma_burst *x = &d->burst[b];
  struct dma_engine *e = &d->engine[x->engine];
  const struct dma_copy *c = copy_of(e);
  if (!c->window || e->on_links < c->window) {
    send_message(d, b, LINK_WRITE, x->dst, c->dst_node, now);
    return;
  }
  x->next = NIL;
  if (e->first == NIL) e->first = (uint16_t)b;
  else d->burst[e->last_held].next = (uint16_t)b;
  e->last_held = (uint16_t)b;
}

static void send_held(struct dma *d, struct dma_engine *e, picos now)
{
  while (e->first != NIL && e->on_links < copy_of(e)->window) {
    const unsigned b = e->first;
    e->first = d->burst[b].next;
    send_message(d, b, LINK_WRITE, d->burst[b].dst, copy_of(e)->dst_node, now);
  }
}

/* Its bytes are there: they go to their place. */
static void write_burst(struct dma *d, unsigned b, picos now)
{
  struct dma_burst *x = &d->burst[b];
  const struct dma_copy *c = copy_of(&d->engine[x->engine]);
  x->state = BURST_WRITES;
  if (x->failed) { /* there is nothing to write */
    free_burst(d, b, now);
    return;
  }
  if (c->dst_node != DMA_HERE) {
    send_or_hold(d, b, now);
  } else if (fluid(d)) {
    x->failed |= !c->in_place && !gmem_write(d->image, x->dst, bytes_of(d, b), x->n);
    span_list_add(d->cfg.written, x->dst, x->n);
    server_take(&d->memory, now, x->n);
    free_burst(d, b, now);
  } else {
    send_lines(d, b, x->dst, MEM_STORE, now);
  }
}

/* n bytes from a place in a row on. The pattern once, then what is there again and again. */
static void put_pattern(const struct dma_copy *c, uint64_t at, uint8_t *bytes, uint64_t n)
{
  uint64_t have = earlier(n, c->fill), more;
  for (uint64_t i = 0; i < have; i++) bytes[i] = (uint8_t)(c->src >> 8 * ((at + i) % c->fill));
  for (; have < n; have += more) {
    more = earlier(n - have, have);
    memcpy(bytes + have, bytes, more);
  }
}

static void read_burst(struct dma *d, unsigned b, const struct dma_copy *c, picos now)
{
  struct dma_burst *x = &d->burst[b];
  if (c->fill) {
    put_pattern(c, x->src, bytes_of(d, b), x->n);
    write_burst(d, b, now);
  } else if (c->src_node != DMA_HERE) {
    x->state = BURST_ASKED;
    send_message(d, b, LINK_READ, x->src, c->src_node, now);
  } else if (fluid(d)) {
    x->failed = !gmem_read(d->image, x->src, bytes_of(d, b), x->n);
    write_burst(d, b, later(now, server_take(&d->memory, now, x->n)));
  } else {
    x->state = BURST_READS;
    send_lines(d, b, x->src, MEM_LOAD, now);
  }
}

/* --- engines ------------------------------------------------------------------------------------ */

/* Where the next byte of the row goes, as bursts see it: what the host stages goes to a buffer of its own, wherever the
 * program wants it. */
static uint64_t destination_of(const struct dma_engine *e)
{
  const struct dma_copy *c = copy_of(e);
  const bool buffered = c->staging_mbps && c->dst_node != DMA_HERE;
  return buffered ? e->column : c->dst + e->row * c->dst_pitch + e->column;
}

/* Of the row, as much as a burst takes: up to a multiple of it in the destination. */
static uint64_t next_bytes(const struct dma *d, const struct dma_engine *e, uint64_t most)
{
  const struct dma_copy *c = copy_of(e);
  bool peer = (c->dst_node != DMA_HERE && c->dst_node < d->cfg.sockets) ||
              (c->src_node != DMA_HERE && c->src_node < d->cfg.sockets);
  uint64_t size = peer ? DMA_PEER_BURST : most;
  return earlier(c->bytes - e->column, size - destination_of(e) % size);
}

/* Where the next byte of the row comes from: of a fill, its place in the pattern, which begins anew in each row. */
static uint64_t source_of(const struct dma_engine *e)
{
  const struct dma_copy *c = copy_of(e);
  return c->fill ? e->column : c->src + e->row * c->src_pitch + e->column;
}

static void go_on(struct dma_engine *e, uint64_t n)
{
  e->column += n;
  if (e->column < copy_of(e)->bytes) return;
  e->column = 0;
  e->row++;
}

static bool all_sent(const struct dma_engine *e)
{
  return e->row == copy_of(e)->rows;
}

static uint64_t memory_bytes(const struct dma_copy *c, uint64_t n)
{
  return c->fill ? n : 2 * n;
}

/* n bytes more are sent; when that much would have been moved alone. */
static picos alone(const struct dma *d, struct dma_engine *e, uint64_t n)
{
  e->alone_fs += later(memory_bytes(copy_of(e), n) * d->memory.femtos_per_byte, n * e->rate.femtos_per_byte);
  return e->alone_fs / 1000;
}

/* A chunk inside the GPU that meets nobody: read and written at the rate of DRAM. */
static void move_chunk(struct dma *d, struct dma_engine *e, picos now)
{
  const struct dma_copy *c = copy_of(e);
  uint64_t n = earlier(c->bytes - e->column, FLUID_CHUNK), dst = c->dst + e->row * c->dst_pitch + e->column;
  uint8_t bytes[FLUID_CHUNK];
  if (c->fill)
    put_pattern(c, e->column, bytes, n);
  else
    e->failed |= !gmem_read(d->image, source_of(e), bytes, n);
  e->failed |= !gmem_write(d->image, dst, bytes, n);
  span_list_add(d->cfg.written, dst, n);
  server_take(&d->memory, now, memory_bytes(c, n));
  server_take(&e->rate, now, n);
  e->ready = later(d->memory.free_at_fs, e->rate.free_at_fs) / 1000;
  (void)alone(d, e, n);
  d->stats.fluid_bytes += n;
  go_on(e, n);
  finish(d, e, n, e->ready);
}

/* Whether it has as much under way as its copy may: of what goes out, also what is read here before it is sent. */
static bool window_is_full(const struct dma_engine *e)
{
  enum { READ_AHEAD = 4 };
  const struct dma_copy *c = copy_of(e);
  const uint64_t begun = e->row * c->bytes + e->column, ended = c->bytes * c->rows - e->left;
  if (!c->window) return false;
  return c->dst_node == DMA_HERE ? e->on_links >= c->window : begun - ended >= READ_AHEAD * c->window;
}

/* When an engine can send its next burst, as far as it is its own matter. */
static picos engine_next(const struct dma *d, const struct dma_engine *e)
{
  if (!e->n) return TIME_NEVER;
  if (!e->active) return e->ready;
  if (window_is_full(e)) return TIME_NEVER;
  /* A burst's writes may touch a line more than its reads. */
  if (all_sent(e) || d->free == NIL || d->lines_left < DMA_BURST / LINE_BYTES + 2) return TIME_NEVER;
  const picos at = later(e->ready, e->rate.free_at_fs / 1000);
  return e->n > 1 && highest(e, at) && !is_drained(e) ? TIME_NEVER : at;
}

static void send_burst(struct dma *d, unsigned number, picos now)
{
  struct dma_engine *e = &d->engine[number];
  const struct dma_copy *c = copy_of(e);
  if (stays_inside(c) && fluid(d)) {
    move_chunk(d, e, now);
    return;
  }
  unsigned b = d->free;
  struct dma_burst *x = &d->burst[b];
  d->free = x->next;
  *x = (struct dma_burst){.dst = c->dst + e->row * c->dst_pitch + e->column, .src = source_of(e),
                          .n = (uint32_t)next_bytes(d, e, DMA_BURST), .engine = (uint8_t)number};
  d->lines_left -= lines_of(0, x->n) + 1;
  d->stats.bursts++;
  server_take(&e->rate, now, x->n);
  if (stays_inside(c)) e->ready = later(e->ready, alone(d, e, x->n));
  go_on(e, x->n);
  read_burst(d, b, c, now);
}

/* The first engine that has something to do. */
static picos next_engine(const struct dma *d, unsigned *number)
{
  picos first = TIME_NEVER;
  for (unsigned i = 0; i < d->n_engines; i++) {
    picos at = engine_next(d, &d->engine[i]);
    if (at < first) first = at, *number = i;
  }
  return first;
}

/* --- answers ------------------------------------------------------------------------------------ */

static void answered(struct dma *d, unsigned b, picos now)
{
  struct dma_burst *x = &d->burst[b];
  if (--x->pending) return;
  if (x->state == BURST_WRITES) free_burst(d, b, now);
  else write_burst(d, b, now);
}

static void take_reply(struct dma *d, picos now)
{
  unsigned b = reply_queue_front(&d->r.in)->txn / TXN_LINES;
  reply_queue_pop(&d->r.in);
  answered(d, b, now);
}

static void take_message(struct dma *d, unsigned lane, picos now)
{
  const struct link_msg *m = link_port_front(&d->port, lane);
  unsigned b = m->tag;
  if (m->kind == LINK_DATA) memcpy(bytes_of(d, b), link_msg_body(m), earlier(m->body, d->burst[b].n));
  struct dma_engine *e = &d->engine[d->burst[b].engine];
  e->on_links -= d->burst[b].n;
  d->burst[b].failed |= m->kind == LINK_DATA ? m->body < d->burst[b].n : m->body != 0;
  link_port_pop(&d->port, lane, now);
  send_held(d, e, now);
  answered(d, b, now);
}

/* A line of a burst, at its slice. */
static bool dma_perform(struct requester *r, const struct mem_req *q, picos now, struct gmem_view *direct,
                        struct fault *f)
{
  struct dma *d = (struct dma *)(void *)r;
  unsigned b = q->txn / TXN_LINES, i = q->txn % TXN_LINES;
  struct dma_burst *x = &d->burst[b];
  bool write = x->state == BURST_WRITES;
  uint64_t addr = write ? x->dst : x->src, line = (addr / LINE_BYTES + i) * LINE_BYTES;
  uint64_t from = later(addr, line), to = earlier(addr + x->n, line + LINE_BYTES);
  uint8_t *bytes = bytes_of(d, b) + (from - addr);
  (void)now, (void)direct, (void)f;
  if (write && copy_of(&d->engine[x->engine])->in_place) return true;
  bool ok = write ? gmem_write(d->image, from, bytes, to - from) : gmem_read(d->image, from, bytes, to - from);
  if (!ok) __atomic_store_n(&x->failed, true, __ATOMIC_RELAXED); /* other slices have other lines of it */
  return true;
}

/* --- part --------------------------------------------------------------------------------------- */

static picos dma_run(void *self, picos from, picos to)
{
  struct dma *d = self;
  unsigned number = 0, lane = 0;
  for (;;) {
    const struct mem_reply *reply = reply_queue_front(&d->r.in);
    picos answer = reply ? reply->arrive : TIME_NEVER, message = link_port_next(&d->port, &lane);
    picos engine = next_engine(d, &number), at = later(from, earlier(earlier(answer, message), engine));
    if (at >= to) return earlier(earlier(answer, message), engine);
    if (answer <= at) take_reply(d, at);
    else if (message <= at) take_message(d, lane, at);
    else if (!d->engine[number].active) begin(d, &d->engine[number]);
    else send_burst(d, number, at);
  }
}

static uint64_t dma_progress(const void *self)
{
  const struct dma *d = self;
  return d->stats.bytes + d->stats.bursts;
}

static bool dma_busy(const void *self)
{
  return !dma_idle(self);
}

static void dma_dump(const void *self, FILE *out)
{
  const struct dma *d = self;
  for (unsigned i = 0; i < d->n_engines; i++)
    if (d->engine[i].n)
      fprintf(out, "  copy engine %u: %u copies, %llu bytes left of the first\n", i, d->engine[i].n,
              (unsigned long long)d->engine[i].left);
}

const struct requester_ops dma_ops = {{dma_run, dma_progress, dma_busy, dma_dump}, dma_start, dma_perform};
